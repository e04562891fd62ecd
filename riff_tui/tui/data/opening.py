"""Do what comes before something opens: a list to pick from, a note, a call; what is typed meanwhile waits for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from riff_tui.tui.data.query_worker import Work
from riff_tui.tui.navigation.navigator import PATIENCE_S, Navigator

if TYPE_CHECKING:
    from textual.worker import Worker

    from riff_tui.tui.host import Host
    from riff_tui.tui.widgets.bars import BottomLine


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
