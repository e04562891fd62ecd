"""Keep a long list as pages, and what a user sets in lists: marked rows, chosen columns, a kept order."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple, overload

from riff_tui.table import Column, LazyRows, Row, Table
from riff_tui.tui.data.session import SessionFile
from riff_tui.tui.navigation.location import Location
from riff_tui.view_query import MadeRows, outlines
from riff_tui.view_registry import spec_of

PAGE = 256
_MAX_PAGES = 32
# More than half of the rows that a screen can show.
_MARGIN = 60
# So many pages before and behind are searched for a row of a list that was loaded again.
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
    return isinstance(rows, list | tuple | MadeRows)


def loaded_places(rows: Sequence[Row], ids: Collection[str]) -> dict[str, int]:
    """Return where the rows of some ids are, as far as they can be looked at without a query."""
    if isinstance(rows, PagedRows):
        return {rows[place].id: place for place in rows.indices if rows[place].id in ids}
    if not ids or not isinstance(rows, list | tuple | MadeRows):
        return {}
    return {row.id: place for place, row in enumerate(outlines(rows)) if row.id in ids}


def index_of(rows: Sequence[Row], row_id: str, index: int) -> int:
    """Return the index of the row of an id, `index` if it is not found; of a long list loaded rows are searched."""
    index = max(0, min(index, len(rows) - 1))
    if not len(rows) or not row_id or (is_loaded(rows, index) and rows[index].id == row_id):
        return index
    if isinstance(rows, PagedRows):
        return loaded_places(rows, (row_id,)).get(row_id, index)
    return next((place for place, row in enumerate(outlines(rows)) if row.id == row_id), index)


# Keep what a user sets in lists: the marked rows of each list, the columns chosen for each view.
INTERVAL = "intervals."
_WIDE = "wide"


class ColumnChoice(NamedTuple):
    """Keep what was changed of a view's own columns; a column that it does not name is shown as in the view.

    `shown` and `hidden` are keys, `wide` shows that nothing is cut to the line.
    """

    shown: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    wide: bool = False

    @staticmethod
    def of(words: Iterable[str]) -> ColumnChoice:
        """Return the choice that `words` wrote, without what makes no sense in it."""
        words = list(words)
        return ColumnChoice(
            frozenset(word[1:] for word in words if word.startswith("+")),
            frozenset(word[1:] for word in words if word.startswith("-")),
            _WIDE in words,
        )

    @property
    def words(self) -> tuple[str, ...]:
        """Return the choice as words: `+key` for what is shown, `-key` for what is not, `wide`."""
        changed = [*(f"+{key}" for key in sorted(self.shown)), *(f"-{key}" for key in sorted(self.hidden))]
        return (*changed, *([_WIDE] if self.wide else []))

    def asking(self, usual: Collection[str], wanted: Collection[str], offered: Collection[str]) -> ColumnChoice:
        """Return the choice with these columns `wanted` of those `offered`; the view itself shows the `usual` ones."""
        return self._replace(
            shown=self.shown.difference(offered) | {key for key in offered if key in wanted and key not in usual},
            hidden=self.hidden.difference(offered) | {key for key in offered if key not in wanted and key in usual},
        )


AS_IT_IS = ColumnChoice()


def stays(column: Column) -> bool:
    """Return whether a column is always shown: the names by which one knows a row."""
    return column.kind == "name" and column.shown


def with_intervals(columns: Sequence[Column], rows: Iterable[Row]) -> list[Column]:
    """Return the columns, each metric that has an interval in some row followed by a column of it."""
    measured = {key for row in rows for key in (row.record.get("intervals") or ())}
    measured -= {column.key.removeprefix(INTERVAL) for column in columns if column.key.startswith(INTERVAL)}
    found: list[Column] = []
    for column in columns:
        found.append(column)
        if column.key in measured:
            found.append(_interval(column))
    return found


def is_ranked(table: Table) -> bool:
    """Return whether the rows are entries of ranked lists, which have in words what others have columns for."""
    return bool(table.sections and spec_of(table.view).words.ranked)


def offered(table: Table, columns: Iterable[Column]) -> list[Column]:
    """Return the columns that one can show or hide, `columns` being all that there are."""
    return [] if is_ranked(table) else [column for column in columns if not stays(column)]


def _interval(column: Column) -> Column:
    return Column(
        f"{INTERVAL}{column.key}", f"{column.title} 95%", unit=column.unit, decimals=max(column.decimals, 1),
        trim=column.trim, shown=False, path=("intervals", column.key),
        help=f"The 95 % interval of {column.title}.",
    )  # fmt: skip


def list_of(location: Location) -> str:
    """Return the name of the list that a location shows: its view, and what the rows above narrow it to."""
    return f"{location.view} {location.scope.text}".rstrip()


class ListState:
    """Keep marks by list, whatever its order and its filter, and choices of columns by view in a session."""

    def __init__(self, session: SessionFile) -> None:
        self._session = session
        self._indices: dict[tuple[object, str], int] = {}

    def marks(self, location: Location) -> tuple[str, ...]:
        """Return the ids of the marked rows, the first that was marked first."""
        return self._session.state.marks.get(list_of(location), ())

    def toggle_mark(self, location: Location, row: Row, index: int) -> bool:
        """Mark a row that is at `index`, or remove its mark; return whether it has one by now."""
        before = self.marks(location)
        is_new = row.id not in before
        self._indices[location.cache_key, row.id] = index
        after = (*before, row.id) if is_new else tuple(each for each in before if each != row.id)
        self._session.mark(list_of(location), after)
        return is_new

    def clear_marks(self, location: Location) -> int:
        """Remove every mark of a list; return how many there were."""
        count = len(self.marks(location))
        self._session.mark(list_of(location), ())
        return count

    def next_mark(self, location: Location, rows: Sequence[Row], cursor: int) -> int | None:
        """Return the index of the next marked row below `cursor`, from the top again below the last, `None` for none.

        Of a long list only loaded rows are looked at, and where others were marked in this same order.
        """
        ids = frozenset(self.marks(location))
        found = set(loaded_places(rows, ids).values())
        for row_id in ids:
            index = self._indices.get((location.cache_key, row_id))
            if index is not None and index < len(rows) and not is_loaded(rows, index):
                found.add(index)
        return min((index for index in found if index > cursor), default=min(found, default=None))

    def columns(self, location: Location) -> ColumnChoice:
        """Return the columns that were chosen for a location's rows."""
        return ColumnChoice.of(self._session.state.columns.get(_view_of_rows(location), ()))

    def choose_columns(self, location: Location, choice: ColumnChoice) -> None:
        """Choose other columns for all locations whose rows are alike."""
        self._session.choose_columns(_view_of_rows(location), choice.words or None)


def _view_of_rows(location: Location) -> str:
    """Return the view of the rows: those of a state are conversations."""
    return spec_of(location.view).screen.rows_of or location.view
