"""Keep what a user sets in lists: the marked rows of each list, the columns of each view."""

from __future__ import annotations

from collections.abc import Sequence

from riff_tui.table import Row
from riff_tui.tui.data.paged_rows import is_loaded, loaded_indices
from riff_tui.tui.navigation.location import Location
from riff_tui.tui.session.column_choice import ColumnChoice
from riff_tui.tui.session.session_file import SessionFile
from riff_tui.view_registry import spec_of


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
        """Mark a row that stands at `index`, or remove its mark; return whether it has one by now."""
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
        found = {index for index in loaded_indices(rows) if rows[index].id in ids}
        for row_id in ids:
            index = self._indices.get((location.cache_key, row_id))
            if index is not None and index < len(rows) and not is_loaded(rows, index):
                found.add(index)
        return min((index for index in found if index > cursor), default=min(found, default=None))

    def kept_order(self, location: Location) -> str | None:
        """Return the order that is kept for a location's view, `None` where it is the view's own."""
        return self._session.state.sorts.get(location.view)

    def keep_order(self, location: Location, order: str | None) -> None:
        """Keep an order for a location's view from one visit to the next, `None` for the view's own."""
        self._session.sort(location.view, order)

    def columns(self, location: Location) -> ColumnChoice:
        """Return the columns that were chosen for a location's rows."""
        return ColumnChoice.of(self._session.state.columns.get(_view(location), ()))

    def choose_columns(self, location: Location, choice: ColumnChoice) -> None:
        """Choose other columns for all locations whose rows are alike."""
        self._session.choose_columns(_view(location), choice.words or None)


def _view(location: Location) -> str:
    """Return the view of the rows: those of a state are conversations."""
    return spec_of(location.view).screen.rows_of or location.view
