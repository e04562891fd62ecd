"""Read what was left for later once a place is on the screen; going anywhere else gives it up."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from riff_tui.tui.data.loader import LoadedView

if TYPE_CHECKING:
    from textual.worker import Worker

    from riff_tui.tui.screens.explorer import ExplorerScreen

# Words that change more often than this cannot be read, but must be sent.
_APART_S = 0.25


class DeferredLoad:
    """Reads the rest of what a screen shows, step by step, and says how far it is."""

    def __init__(self, screen: ExplorerScreen) -> None:
        self._screen = screen
        self._worker: Worker[Any] | None = None
        self._said = ""
        self._said_at = 0.0

    def begin(self, reading: LoadedView) -> None:
        """Read what a reading left for later, if anything, and nothing else any more."""
        self.give_up()
        if reading.deferred is not None:
            self._said_at = time.monotonic()
            self._worker = self._screen.run_worker(self._read(reading), group="rest", exit_on_error=False)

    @property
    def waits(self) -> bool:
        """Whether something is being read."""
        return self._worker is not None and not self._worker.is_finished

    def give_up(self) -> None:
        """Read no further."""
        if self._worker is not None:
            self._worker.cancel()
            self._worker = None
            self._tell("")

    def leave(self) -> None:
        """Read no further because somebody said so."""
        self.give_up()
        self._screen.head.tell("latencies are not read: r reads them")
        self._screen.say("left it; r reads it again")

    async def _read(self, reading: LoadedView) -> None:
        assert reading.deferred is not None
        try:
            table = await self._screen.explorer.worker.follow(reading.deferred(), self._progress)
        except Exception as error:  # said; what is on the screen stays
            self._screen.fail(error)
        else:
            self._tell("")
            if self._screen.loaded is reading:
                self._screen.renew(reading.completed(table), changed=False)

    def _progress(self, doing: str) -> None:
        if time.monotonic() - self._said_at >= _APART_S:
            self._said_at = time.monotonic()
            self._tell(f"{doing} · Esc leaves it")
            self._screen.head.tell(doing)

    def _tell(self, said: str) -> None:
        """Words in the line below that disturb no others."""
        if self._screen.bottom.said in ("", self._said):
            self._screen.say(said)
        self._said = said
