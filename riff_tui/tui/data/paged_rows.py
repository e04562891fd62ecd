"""Rows of a long list for a screen that must not wait: those at hand at once, the others when they have come."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import overload

from riff_tui.lazy_rows import LazyRows
from riff_tui.table import Row

PAGE = 256
_KEPT = 32
# More than half of the rows that a screen can show.
_AROUND = 60
# So many pages before and behind are looked through for a row that is written anew.
_SOUGHT = 8


class PagedRows(Sequence[Row]):
    """Pages of `rows`, which may ask the store when they are touched.

    Touching a row that is not at hand gives a blank one and tells `missing` its index; `load` reads
    a page and belongs on another thread.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        self._pages: OrderedDict[int, Sequence[Row]] = OrderedDict()
        self.missing: Callable[[int], None] = lambda index: None

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        page = self._pages.get(index // PAGE)
        if page is None:
            self.missing(index)
            return Row("", {})
        return page[index % PAGE]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def has(self, index: int) -> bool:
        """Whether a row is at hand."""
        return index // PAGE in self._pages

    @property
    def indices(self) -> Iterable[int]:
        """Where the rows at hand are."""
        pages = (range(page * PAGE, page * PAGE + len(rows)) for page, rows in self._pages.items())
        return itertools.chain.from_iterable(pages)

    def read(self, start: int, stop: int) -> Sequence[Row]:
        """Some rows, which are not kept: for who goes through many of them; belongs on another thread."""
        return self._rows[start:stop]

    def load(self, page: int) -> None:
        """Read a page; those used longest ago are let go."""
        start = page * PAGE
        self._pages[page] = self._rows[start : start + PAGE]
        if len(self._pages) > _KEPT:
            self._pages.popitem(last=False)

    def follow(self, before: PagedRows, index: int, row_id: str) -> None:
        """Have the row at hand that was at `index` of an earlier answer to the same question, and those around it."""
        place: int | None = None
        if isinstance(self._rows, LazyRows) and isinstance(before._rows, LazyRows):
            place = self._rows.place_of(before._rows, index)
        if place is None:
            place = self._sought(row_id, index)
        for near in (place - _AROUND, place + _AROUND, place):
            page = max(0, min(near, len(self) - 1)) // PAGE
            if len(self) and page not in self._pages:
                self.load(page)

    def _sought(self, row_id: str, index: int) -> int:
        """Where the row of that id is, looked for around `index` and not too far, else `index`."""
        here = max(0, min(index, len(self) - 1)) // PAGE
        pages = sorted(range(max(0, here - _SOUGHT), here + _SOUGHT + 1), key=lambda page: abs(page - here))
        for page in pages:
            for offset, row in enumerate(self.read(page * PAGE, (page + 1) * PAGE)):
                if row.id == row_id:
                    return page * PAGE + offset
        return index


def at_hand(rows: Sequence[Row], index: int) -> bool:
    """Whether touching a row asks nobody."""
    return rows.has(index) if isinstance(rows, PagedRows) else True


def all_at_hand(rows: Sequence[Row]) -> bool:
    """Whether every row can be looked at without asking anybody."""
    if isinstance(rows, PagedRows):
        return all(rows.has(start) for start in range(0, len(rows), PAGE))
    return isinstance(rows, list | tuple)


def indices_at_hand(rows: Sequence[Row]) -> Iterable[int]:
    """Where the rows are that can be looked at without asking anybody."""
    return rows.indices if isinstance(rows, PagedRows) else range(len(rows)) if isinstance(rows, list | tuple) else ()


def position(rows: Sequence[Row], row_id: str, index: int) -> int:
    """Where the row of an id is: at `index`, else wherever it went; of a long list only what is at hand is searched."""
    index = max(0, min(index, len(rows) - 1))
    if not len(rows) or not row_id or (at_hand(rows, index) and rows[index].id == row_id):
        return index
    found = (each for each in range(len(rows)) if at_hand(rows, each) and rows[each].id == row_id)
    return next(found, index)
