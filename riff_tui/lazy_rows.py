"""Fetch rows a page at a time when they come into view, so that a long list opens at once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import overload

from riff_tui.table import Row

PAGE = 256
KEPT_PAGES = 16


class LazyRows(Sequence[Row]):
    """Hold `count` rows over `fetch(offset, limit)`; the pages used last are kept.

    `keys` name the rows, so that a row of another window can be found in this one, with `find` where they can tell.
    """

    def __init__(
        self,
        count: int,
        fetch: Callable[[int, int], Sequence[Row]],
        keys: Sequence[int] | None = None,
        find: Callable[[int], int | None] | None = None,
    ) -> None:
        self._count = count
        self._fetch = fetch
        self._keys = keys
        self._find = find or self._search
        self._pages: OrderedDict[int, Sequence[Row]] = OrderedDict()

    def place_of(self, other: LazyRows, place: int) -> int | None:
        """Return where the row is that stands at a place of another window, if it is here."""
        if self._keys is None or other._keys is None or not 0 <= place < len(other):
            return None
        key = other._keys[place]
        if place < len(self) and self._keys[place] == key:
            return place
        return self._find(key)

    def _search(self, key: int) -> int | None:
        return next((place for place, each in enumerate(self._keys or ()) if each == key), None)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return [self._row(place) for place in range(*index.indices(self._count))]
        place = index + self._count if index < 0 else index
        if not 0 <= place < self._count:
            raise IndexError(index)
        return self._row(place)

    def __iter__(self) -> Iterator[Row]:
        for start in range(0, self._count, PAGE):
            yield from self._page(start // PAGE)

    def _row(self, place: int) -> Row:
        page, offset = divmod(place, PAGE)
        return self._page(page)[offset]

    def _page(self, number: int) -> Sequence[Row]:
        page = self._pages.get(number)
        if page is None:
            start = number * PAGE
            page = self._fetch(start, min(PAGE, self._count - start))
            self._pages[number] = page
            if len(self._pages) > KEPT_PAGES:
                self._pages.popitem(last=False)
        else:
            self._pages.move_to_end(number)
        return page
