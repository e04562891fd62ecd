"""Keep a long list as pages: a row that is not loaded is blank until its page has come."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, overload

from riff_tui.table import LazyRows, Row

if TYPE_CHECKING:
    pass

PAGE = 256
_MAX_PAGES = 32
# More than half of the rows that a screen can show.
_MARGIN = 60
# So many pages before and behind are searched for a row of a list that was loaded anew.
_SEARCHED_PAGES = 8


class PagedRows(Sequence[Row]):
    """Keep pages of `rows`, which may query the store when they are touched.

    Touching a row that is not loaded gives a blank one and passes its index to `missing`; `load` loads a page and
    belongs on another thread.
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
        """Return whether a row is loaded."""
        return index // PAGE in self._pages

    @property
    def indices(self) -> Iterable[int]:
        """Return the indices of the loaded rows."""
        pages = (range(page * PAGE, page * PAGE + len(rows)) for page, rows in self._pages.items())
        return itertools.chain.from_iterable(pages)

    def read(self, start: int, stop: int) -> Sequence[Row]:
        """Return some rows without keeping them, for a search through many; belongs on another thread."""
        return self._rows[start:stop]

    def load(self, page: int) -> None:
        """Load a page; those loaded longest ago are dropped."""
        start = page * PAGE
        self._pages[page] = self._rows[start : start + PAGE]
        if len(self._pages) > _MAX_PAGES:
            self._pages.popitem(last=False)

    def follow(self, before: PagedRows, index: int, row_id: str) -> None:
        """Load the row that was at `index` of an earlier result of the same query, and those around it."""
        found: int | None = None
        if isinstance(self._rows, LazyRows) and isinstance(before._rows, LazyRows):
            found = self._rows.place_of(before._rows, index)
        if found is None:
            found = self._search(row_id, index)
        for near in (found - _MARGIN, found + _MARGIN, found):
            page = max(0, min(near, len(self) - 1)) // PAGE
            if len(self) and page not in self._pages:
                self.load(page)

    def find(self, row_id: str) -> None:
        """Load the page that the row of that id is on, if it is near the beginning."""
        page = self._search(row_id, 0) // PAGE
        if page not in self._pages:
            self.load(page)

    def _search(self, row_id: str, index: int) -> int:
        """Return the index of the row of that id, searched for on the pages around `index`, else `index`."""
        here = max(0, min(index, len(self) - 1)) // PAGE
        pages = sorted(
            range(max(0, here - _SEARCHED_PAGES), here + _SEARCHED_PAGES + 1), key=lambda page: abs(page - here)
        )
        for page in pages:
            for offset, row in enumerate(self.read(page * PAGE, (page + 1) * PAGE)):
                if row.id == row_id:
                    return page * PAGE + offset
        return index


def is_loaded(rows: Sequence[Row], index: int) -> bool:
    """Return whether a row can be looked at without a query."""
    return rows.has(index) if isinstance(rows, PagedRows) else True


def all_loaded(rows: Sequence[Row]) -> bool:
    """Return whether every row can be looked at without a query."""
    if isinstance(rows, PagedRows):
        return all(rows.has(start) for start in range(0, len(rows), PAGE))
    return isinstance(rows, list | tuple)


def loaded_indices(rows: Sequence[Row]) -> Iterable[int]:
    """Return the indices of the rows that can be looked at without a query."""
    return rows.indices if isinstance(rows, PagedRows) else range(len(rows)) if isinstance(rows, list | tuple) else ()


def index_of(rows: Sequence[Row], row_id: str, index: int) -> int:
    """Return the index of the row of an id, `index` where it is not found; of a long list loaded rows are searched."""
    index = max(0, min(index, len(rows) - 1))
    if not len(rows) or not row_id or (is_loaded(rows, index) and rows[index].id == row_id):
        return index
    found = (each for each in range(len(rows)) if is_loaded(rows, each) and rows[each].id == row_id)
    return next(found, index)
