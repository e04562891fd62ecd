"""What one sets aside while walking, for as long as the session keeps it: marks of each list, columns of each view."""

from __future__ import annotations

from collections.abc import Callable

from riff_tui.tui.navigation.location import Location
from riff_tui.tui.session.column_choice import ColumnChoice
from riff_tui.tui.session.marks import Marks
from riff_tui.tui.session.session_file import SessionFile
from riff_tui.view_registry import spec_of


class ListState:
    """Marks by list, and choices of columns by view."""

    def __init__(self, session: Callable[[], SessionFile]) -> None:
        self._session = session
        self.marks = Marks(lambda: session().state.marks, lambda name, ids: session().mark(name, ids))

    def choice(self, place: Location) -> ColumnChoice:
        """The columns that one chose for a place's rows."""
        return ColumnChoice.of(self._session().state.columns.get(_view(place), ()))

    def choose(self, place: Location, choice: ColumnChoice) -> None:
        """Take other columns for all places whose rows are alike."""
        self._session().choose_columns(_view(place), choice.words or None)


def _view(place: Location) -> str:
    """The view of the rows: those of a state are conversations."""
    return spec_of(place.view).rows_of or place.view
