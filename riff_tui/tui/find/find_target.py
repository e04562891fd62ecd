"""Go to the next row of which something is true, however far away: page by page, until it is found or given up."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from riff_tui.table import Row
from riff_tui.tui.data.paged_rows import PAGE, PagedRows, at_hand

if TYPE_CHECKING:
    from riff_tui.tui.screens.explorer import ExplorerScreen

RowTest: TypeAlias = Callable[[Row], bool]

GROUP = "hunt"
# So many rows are looked at without anybody having to wait for it.
_NEAR = 1_000
_PATIENCE_S = 0.3


@dataclass(frozen=True, slots=True)
class FindTarget:
    """What is looked for: what it is called, how a row is known to have it, and what to do when the cursor is there."""

    name: str
    test: RowTest
    there: Callable[[], object] = lambda: None


class Finder:
    """Moves the cursor of a screen to what is looked for; any other key ends a long way."""

    def __init__(self, screen: ExplorerScreen) -> None:
        self._screen = screen
        self._at = 0

    @property
    def is_under_way(self) -> bool:
        """Whether rows are still being looked through."""
        return any(worker.group == GROUP and not worker.is_finished for worker in self._screen.workers)

    def stop(self, *, word: bool = True) -> None:
        """Look no further; say how far it went, if a word is wanted."""
        self._screen.workers.cancel_group(self._screen, GROUP)
        if word:
            self._screen.say(f"stopped looking at row {self._at + 1:,}; the cursor stayed where it was")

    def go(self, target: FindTarget, direction: int) -> None:
        """Go to the next (1) or the previous (-1) row that has it, or say that there is none."""
        rows = self._screen.body.table.rows
        index = self._screen.body.cursor + direction
        end = max(-1, index - _NEAR) if direction < 0 else min(len(rows), index + _NEAR)
        while index != end and 0 <= index < len(rows) and at_hand(rows, index):
            if target.test(rows[index]):
                self._arrive(index, target)
                return
            index += direction
        if 0 <= index < len(rows):
            far = self._far(target, rows, index, direction)
            self._screen.run_worker(far, group=GROUP, exclusive=True, exit_on_error=False)
        else:
            self._miss(target, direction)

    async def _far(self, target: FindTarget, rows: Sequence[Row], index: int, direction: int) -> None:
        worker, told = self._screen.explorer.worker, time.monotonic()
        self._at = index
        while 0 <= self._at < len(rows):
            found = await worker.ask(partial(_look, rows, self._at, direction, target.test))
            if self._screen.body.table.rows is not rows:
                return
            if found is not None:
                self._arrive(found, target)
                return
            self._at = _next_page(self._at, direction)
            if time.monotonic() - told > _PATIENCE_S:
                told = time.monotonic()
                self._screen.say(f"looking for {target.name}: row {self._at + 1:,} of {len(rows):,} … Esc stops")
        self._miss(target, direction)

    def _arrive(self, index: int, target: FindTarget) -> None:
        self._screen.say("")
        self._screen.body.cursor = index
        target.there()

    def _miss(self, target: FindTarget, direction: int) -> None:
        self._screen.say(f"no {target.name} {'below' if direction > 0 else 'above'}", "warn")


def _look(rows: Sequence[Row], index: int, direction: int, test: RowTest) -> int | None:
    """The first row of this page that has it, from `index` on; then the page is at hand."""
    first = index // PAGE * PAGE
    stop = min(first + PAGE, len(rows))
    page = rows.read(first, stop) if isinstance(rows, PagedRows) else rows[first:stop]
    way = range(index, stop) if direction > 0 else range(index, first - 1, -1)
    found = next((place for place in way if test(page[place - first])), None)
    if found is not None and isinstance(rows, PagedRows) and not rows.has(found):
        rows.load(found // PAGE)
    return found


def _next_page(index: int, direction: int) -> int:
    page = index // PAGE
    return (page + 1) * PAGE if direction > 0 else page * PAGE - 1
