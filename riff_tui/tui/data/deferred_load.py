"""Load what was left for later once a location is on the screen; going anywhere else gives it up."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.worker import Worker

    from riff_tui.tui.data.loader import LoadedView
    from riff_tui.tui.host import Host
    from riff_tui.tui.panes.header import Header
    from riff_tui.tui.widgets.bars import BottomLine

# Words that change more often than this cannot be read, but must be sent.
_MIN_INTERVAL_S = 0.25


class DeferredLoad:
    """Load the rest of what a screen shows step by step, and say how far it is."""

    def __init__(self, host: Host, header: Header, bottom: BottomLine) -> None:
        self._host = host
        self._header = header
        self._bottom = bottom
        self._worker: Worker[Any] | None = None
        self._loaded: LoadedView | None = None
        self._left: LoadedView | None = None
        self._step = ""
        self._said = ""
        self._said_at = 0.0

    def begin(self, loaded: LoadedView) -> None:
        """Load what a view left for later, if anything, and nothing else any more."""
        self.cancel()
        if loaded.deferred is not None:
            self._loaded = loaded
            self._said_at = time.monotonic()
            self._worker = self._host.run(partial(self._load, loaded), "deferred")
            self._host.set_timer(_MIN_INTERVAL_S, self._say_step)

    @property
    def is_loading(self) -> bool:
        """Return whether something is being loaded."""
        return self._worker is not None and not self._worker.is_finished

    def cancel(self) -> None:
        """Load no further."""
        self._left = None
        if self._worker is not None:
            self._worker.cancel()
            self._worker = None
            self._step = ""
            self._say("")

    def give_way(self) -> None:
        """Leave the thread that queries to somebody who goes elsewhere."""
        if self.is_loading:
            self.cancel()
            self._left = self._loaded

    def resume(self) -> None:
        """Load what gave way after all, if its location is still the one that is shown."""
        left, self._left = self._left, None
        if left is not None and self._host.loaded is left:
            self.begin(left)

    def stop(self) -> None:
        """Load no further because the user wants that, and say how to load it after all."""
        self.cancel()
        loaded = self._host.loaded
        if loaded is not None and loaded.neighbors is not None:
            missing = "latencies are" if "blast" in loaded.neighbors.extras else "latencies and who starves are"
            self._header.set_progress(f"{missing} not read: r reads them")
        self._host.say("stopped; r reads it again")

    async def _load(self, loaded: LoadedView) -> None:
        assert loaded.deferred is not None
        try:
            table = await self._host.worker.follow(loaded.deferred(), self._progress)
        except Exception as error:  # said; what is on the screen stays
            self._host.fail(error)
        else:
            self._say("")
            if self._host.loaded is loaded:
                self._host.renew(loaded.completed(table), changed=False)

    def _progress(self, step: str) -> None:
        self._step = step
        if time.monotonic() - self._said_at >= _MIN_INTERVAL_S:
            self._say_step()

    def _say_step(self) -> None:
        """Say how far it is, unless all is there by now."""
        if self._step and self.is_loading:
            self._said_at = time.monotonic()
            self._say(f"{self._step} · Esc stops it")
            loaded = self._host.loaded
            if loaded is not None and loaded.neighbors is not None and "blast" in loaded.neighbors.extras:
                self._header.set_progress(self._step)

    def _say(self, text: str) -> None:
        """Say something in the bottom line unless something else stands there."""
        if self._bottom.said in ("", self._said):
            self._host.say(text)
        self._said = text
