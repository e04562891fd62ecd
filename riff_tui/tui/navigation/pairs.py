"""Two rows of a list become a place of their own, which asks the store for both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from riff_tui.errors import UsageError
from riff_tui.request import Request
from riff_tui.table import Row, Table
from riff_tui.tui.data.paged_rows import indices_at_hand
from riff_tui.tui.navigation.location import Location
from riff_tui.tui.navigation.scope_filters import carried, narrowed
from riff_tui.view_queries.sort_limit import ordered
from riff_tui.view_registry import spec_of
from riff_tui.views.side_by_side import VIEW, label, side_by_side

if TYPE_CHECKING:
    from riff_tui.tui.data.loader import ShowView


def wanted(marked: Sequence[str], row: Row | None) -> tuple[str, ...]:
    """The ids of the rows to compare: both marked ones, or the one that is marked and the one under the cursor."""
    if len(marked) == 1 and row is not None and row.id != marked[0]:
        return (marked[0], row.id)
    return tuple(marked) if len(marked) == 2 else ()


def paired(place: Location, table: Table, ids: Sequence[str]) -> Location:
    """The place that compares two rows of a list, under the conditions on calls that hold there.

    Of two runs the earlier one comes first, in whatever order they were marked: what is asked is what changed.
    """
    ids = _in_time(table, ids)
    # A call is what it is, wherever it was found.
    scope = "" if spec_of(table.view).row_kind == "call" else narrowed(place.scope, carried(place.filter, table))
    return Location(VIEW, crumb=_crumb(table, ids), scope=scope, of=table.view, pair=tuple(ids))


def turned(place: Location) -> Location:
    """The same two rows, the other one first."""
    a, b = place.pair
    return replace(place, pair=(b, a))


def compared(show: ShowView, place: Location) -> Table:
    """Ask for both rows and put them side by side; raises `UsageError` where one of them is gone."""
    (first, a), (second, b) = (_one(show, place, row_id) for row_id in place.pair)
    keys = {column.key for column in first.columns}
    columns = [*first.columns, *(column for column in second.columns if column.key not in keys)]
    table = side_by_side(replace(first, columns=columns), a, b)
    return ordered(table, place.sort) if place.sort else table


def _one(show: ShowView, place: Location, row_id: str) -> tuple[Table, Row]:
    table = show(place.of, Request(where=narrowed(place.scope, row_id)))
    row = next((row for row in table.rows if row.id == row_id), None)
    if row is None:
        raise UsageError(f"no call is left behind {row_id} here, so there is nothing to compare it with")
    return table, row


def _in_time(table: Table, ids: Sequence[str]) -> Sequence[str]:
    """The ids in order of time where they are of runs that are shown, both with a time; else as they were given."""
    if spec_of(table.view).row_kind != "run":
        return ids
    began = {row.id: row.record.get("started_at") for row in table.rows if row.id in ids}
    times = [began.get(row_id) for row_id in ids]
    return ids if None in times else sorted(ids, key=lambda row_id: began[row_id] or 0)


def _crumb(table: Table, ids: Sequence[str]) -> str:
    """Both rows in few words, where they can be seen."""
    found = {table.rows[index].id: table.rows[index] for index in indices_at_hand(table.rows)}
    rows = [found[row_id] for row_id in ids if row_id in found]
    return " | ".join(label(table, row, rows) for row in rows) if len(rows) == len(ids) else "comparison"
