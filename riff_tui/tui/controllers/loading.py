"""Load what was left for later, the pages of long lists, and what comes before something opens."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from riff_tui.table import Row
from riff_tui.tui.controllers.navigator import PATIENCE_S, Navigator
from riff_tui.tui.data.paged_rows import PAGE, PagedRows
from riff_tui.tui.data.query_worker import Work

if TYPE_CHECKING:
    from textual.worker import Worker

    from riff_tui.tui.data.loader import LoadedView
    from riff_tui.tui.host import Host
    from riff_tui.tui.widgets.bars import BottomLine
    from riff_tui.tui.widgets.header import Header


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

    def suspend(self) -> None:
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
        """Show how far it is, unless all is there by now."""
        if self._step and self.is_loading:
            self._said_at = time.monotonic()
            self._say(f"{self._step} · Esc stops it")
            loaded = self._host.loaded
            if loaded is not None and loaded.neighbors is not None and "blast" in loaded.neighbors.extras:
                self._header.set_progress(self._step)

    def _say(self, text: str) -> None:
        """Show something in the bottom line unless something else stands there."""
        if self._bottom.said in ("", self._said):
            self._host.say(text)
        self._said = text


class Opening:
    """Run work that ends with something to type into or with another location; call `done` when it has ended."""

    def __init__(self, host: Host, bottom: BottomLine, navigator: Navigator, done: Callable[[], None]) -> None:
        self._host = host
        self._bottom = bottom
        self._navigator = navigator
        self._done = done
        self._worker: Worker[Any] | None = None
        self._number = 0
        self._tell: Callable[[str], None] = self._say
        self._said = ""
        self._has_failed = False
        self.is_for_text = False
        """Whether the work that was begun last ends with something to type into."""

    @property
    def is_loading(self) -> bool:
        """Return whether something is about to open."""
        return self._worker is not None and not self._worker.is_finished

    def begin(
        self, work: Work, reading: str, tell: Callable[[str], None] | None = None, *, is_for_text: bool = True
    ) -> None:
        """Begin the work; where it takes a while, `tell` what it is reading, without that in the bottom line."""
        self._tell, self.is_for_text, self._has_failed = tell or self._say, is_for_text, False
        self._number += 1
        self._worker = worker = self._host.run(partial(self._run, work, self._number), "opening", exclusive=True)
        self._host.set_timer(PATIENCE_S, partial(self._ask_for_patience, worker, reading))

    def stop(self) -> bool:
        """Open nothing after all; return whether something was about to open."""
        if self._worker is None or self._worker.is_finished:
            return False
        self._worker.cancel()
        self._worker = None
        self._number += 1
        self._tell("stopped")
        return True

    def take_failure(self) -> bool:
        """Return whether nothing opened in the end, and forget it."""
        has_failed, self._has_failed = self._has_failed, False
        return has_failed

    async def _run(self, work: Work, number: int) -> None:
        before = self._host.location.cache_key
        try:
            await work()
            if self._said and self._bottom.said == self._said:
                self._host.say("")
        finally:
            if number == self._number:
                is_elsewhere = self._host.location.cache_key != before
                self._has_failed = not (self._host.is_typing or self._navigator.is_coming or is_elsewhere)
                self._host.call_later(self._done)

    def _ask_for_patience(self, worker: Worker[Any], reading: str) -> None:
        if worker is self._worker and self.is_loading:
            self._tell(f"reading {reading} … · Esc stops it")

    def _say(self, text: str) -> None:
        self._said = text
        self._host.say(text)


class PageLoader:
    """Load the missing pages of long lists in the background, each once however often it is wanted."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._wanted: set[tuple[int, int]] = set()
        self._loading: set[Worker[Any]] = set()

    def load(self, rows: Sequence[Row], index: int, then: Callable[[], None]) -> None:
        """Load the page that a row is on, and call `then` when it has come."""
        page = index // PAGE
        if isinstance(rows, PagedRows) and (id(rows), page) not in self._wanted:
            self._wanted.add((id(rows), page))
            self._loading = {each for each in self._loading if not each.is_finished}
            self._loading.add(self._host.run(partial(self._load, rows, page, then), "pages"))

    def suspend(self) -> None:
        """Load no more of what is on its way; rows that are drawn without their page ask for it anew."""
        for each in self._loading:
            each.cancel()
        self._loading.clear()

    async def _load(self, rows: PagedRows, page: int, then: Callable[[], None]) -> None:
        try:
            await self._host.worker.ask(lambda: rows.load(page))
        except Exception as error:  # said; the rows stay blank and are wanted again when they are drawn
            self._host.fail(error)
        else:
            then()
        finally:
            self._wanted.discard((id(rows), page))
