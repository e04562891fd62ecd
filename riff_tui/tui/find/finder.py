"""Find the next row that passes a test, however far away: page by page, until it is found or given up."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from riff_tui.table import Row
from riff_tui.tui.data.paged_rows import PAGE, PagedRows, is_loaded

if TYPE_CHECKING:
    from textual.worker import Worker

    from riff_tui.tui.host import Host

RowTest: TypeAlias = Callable[[Row], bool]

# So many rows are looked at without anybody having to wait for it.
_NEAR = 1_000
_PATIENCE_S = 0.3


@dataclass(frozen=True, slots=True)
class FindTarget:
    """Describe what to find: its name, the test of a row, and what to do when the cursor is there."""

    name: str
    test: RowTest
    arrive: Callable[[], object] = lambda: None


class Finder:
    """Move the cursor of a screen to what is to be found; any other key stops a long search."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._worker: Worker[Any] | None = None
        self._index = 0

    @property
    def is_searching(self) -> bool:
        """Return whether rows are still being searched."""
        return self._worker is not None and not self._worker.is_finished

    def stop(self, *, silent: bool = False) -> None:
        """Search no further, and unless it shall be `silent` say how far it went."""
        if self._worker is not None:
            self._worker.cancel()
            self._worker = None
        if not silent:
            self._host.say(f"stopped looking at row {self._index + 1:,}; the cursor stayed where it was")

    def find(self, target: FindTarget, direction: int) -> None:
        """Go to the next (1) or the previous (-1) row that passes, or say that there is none."""
        body = self._host.body
        rows, index = body.table.rows, body.cursor + direction
        end = max(-1, index - _NEAR) if direction < 0 else min(len(rows), index + _NEAR)
        while index != end and 0 <= index < len(rows) and is_loaded(rows, index):
            if target.test(rows[index]):
                self._arrive(index, target)
                return
            index += direction
        if 0 <= index < len(rows):
            self._worker = self._host.run(partial(self._search, target, rows, index, direction), "find", exclusive=True)
        else:
            self._miss(target, direction)

    async def _search(self, target: FindTarget, rows: Sequence[Row], index: int, direction: int) -> None:
        host, said_at = self._host, time.monotonic()
        self._index = index
        while 0 <= self._index < len(rows):
            found = await host.worker.ask(partial(_search_page, rows, self._index, direction, target.test))
            body = host.body
            if body.table.rows is not rows:
                return
            if found is not None:
                self._arrive(found, target)
                return
            page = self._index // PAGE
            self._index = (page + 1) * PAGE if direction > 0 else page * PAGE - 1
            if time.monotonic() - said_at > _PATIENCE_S:
                said_at = time.monotonic()
                host.say(f"looking for {target.name}: row {self._index + 1:,} of {len(rows):,} … Esc stops")
        self._miss(target, direction)

    def _arrive(self, index: int, target: FindTarget) -> None:
        self._host.say("")
        self._host.body.cursor = index
        target.arrive()

    def _miss(self, target: FindTarget, direction: int) -> None:
        loaded = self._host.loaded
        among = "" if loaded is None or loaded.main.deferred is None else " in what is read so far"
        self._host.say(f"no {target.name} {'below' if direction > 0 else 'above'}{among}", "warn")


def _search_page(rows: Sequence[Row], index: int, direction: int, test: RowTest) -> int | None:
    """Return the index of the first row of a page that passes, from `index` on; its page is loaded then."""
    first = index // PAGE * PAGE
    stop = min(first + PAGE, len(rows))
    page = rows.read(first, stop) if isinstance(rows, PagedRows) else rows[first:stop]
    way = range(index, stop) if direction > 0 else range(index, first - 1, -1)
    found = next((each for each in way if test(page[each - first])), None)
    if found is not None and isinstance(rows, PagedRows) and not rows.has(found):
        rows.load(found // PAGE)
    return found
