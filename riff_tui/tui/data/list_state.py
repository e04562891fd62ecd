"""Keep what a user sets in lists: the marked rows of each list, the columns chosen for each view."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from riff_tui.table import Column, Row, Table
from riff_tui.tui.data.paged_rows import is_loaded, loaded_indices
from riff_tui.tui.data.session import SessionFile
from riff_tui.tui.navigation.location import Location
from riff_tui.view_registry import spec_of

INTERVAL = "intervals."
_WIDE = "wide"


@dataclass(frozen=True, slots=True)
class ColumnChoice:
    """Keep what was changed of a view's own columns; a column that it does not name is shown as the view says.

    `shown` and `hidden` are keys, `wide` says that nothing is cut to the line.
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
        return replace(
            self,
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
    """Return whether the rows are entries of ranked lists, which say in words what others have columns for."""
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
        return ColumnChoice.of(self._session.state.columns.get(_view_of_rows(location), ()))

    def choose_columns(self, location: Location, choice: ColumnChoice) -> None:
        """Choose other columns for all locations whose rows are alike."""
        self._session.choose_columns(_view_of_rows(location), choice.words or None)


def _view_of_rows(location: Location) -> str:
    """Return the view of the rows: those of a state are conversations."""
    return spec_of(location.view).screen.rows_of or location.view
