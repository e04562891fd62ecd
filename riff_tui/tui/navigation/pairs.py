"""Put two rows of a list side by side in a location of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from riff_tui.errors import UsageError
from riff_tui.filters import Filter
from riff_tui.request import Request
from riff_tui.table import Row, Table, label
from riff_tui.tui.data.paged_rows import loaded_indices
from riff_tui.tui.navigation.kept_place import place_name
from riff_tui.tui.navigation.location import Location
from riff_tui.tui.navigation.scope_filters import about_calls, narrow
from riff_tui.tui.navigation.sides import scope_of, sides_of
from riff_tui.view_query import ordered
from riff_tui.view_registry import spec_of
from riff_tui.views.compare import SIDE_BY_SIDE, side_by_side

if TYPE_CHECKING:
    from riff_tui.tui.backend import ShowView


def pair_ids(marked: Sequence[str], row: Row | None) -> tuple[str, ...]:
    """Return the ids of the rows to compare: both marked ones, or the one marked and the one under the cursor."""
    if len(marked) == 1 and row is not None and row.id != marked[0]:
        return (marked[0], row.id)
    return tuple(marked) if len(marked) == 2 else ()


def pair_location(location: Location, table: Table, ids: Sequence[str]) -> Location:
    """Return the location that compares two rows of a list, under the conditions on calls that hold there.

    Of two runs the earlier one comes first, in whatever order they were marked: the question is what changed.
    """
    ids = _in_time(table, ids)
    # A call is what it is, wherever it was found.
    is_call = spec_of(table.view).row_kind == "call"
    scope = None if is_call else narrow(location.scope.predicate, about_calls(location.filter.predicate, table))
    return Location(
        SIDE_BY_SIDE,
        crumb=_crumb(table, ids),
        scope=Filter.of(scope),
        of=table.view,
        pair=tuple(ids),
        by=location.splits,
        aspect=location.aspect,
    )


def tested_location(location: Location, table: Table, ids: Sequence[str]) -> Location | None:
    """Return the location of the tested comparison of two rows, if they are two runs or two agents of one flow."""
    found = {table.rows[index].id: table.rows[index] for index in loaded_indices(table.rows)}
    rows = [found[row_id] for row_id in _in_time(table, ids) if row_id in found]
    if len(rows) != 2:
        return None
    pair = side_by_side(table, *rows)
    sides = sides_of(pair)
    if not sides:
        return None
    scope = narrow(location.scope.predicate, about_calls(location.filter.predicate, table))
    within = scope_of(pair, scope)
    crumb = ": ".join(
        filter(None, (place_name(within, location.scope.predicate), _crumb(table, [row.id for row in rows])))
    )
    return Location("compare", crumb, Filter.of(within), sides=sides)


def swapped(location: Location) -> Location:
    """Return the same two rows, the other one first."""
    a, b = location.pair
    return replace(location, pair=(b, a))


def load_pair(show: ShowView, location: Location) -> Table:
    """Ask for both rows and put them side by side; raise `UsageError` if one of them is gone."""
    (first, a), (second, b) = (_load_row(show, location, row_id) for row_id in location.pair)
    keys = {column.key for column in first.columns}
    columns = [*first.columns, *(column for column in second.columns if column.key not in keys)]
    table = side_by_side(replace(first, columns=columns), a, b)
    return ordered(table, location.sort) if location.sort else table


def _load_row(show: ShowView, location: Location, row_id: str) -> tuple[Table, Row]:
    scope, aspect = location.scope.predicate, location.aspect or None
    # A level of a factor is what it is among all others; the id of any other row is a filter that finds it.
    where = Filter.of(scope if spec_of(location.of).aspects else narrow(scope, Filter(row_id).predicate))
    asked = Request(where=where.text, predicate=where.predicate, by=location.by, aspect=aspect)
    table = show(location.of, asked)
    row = next((row for row in table.rows if row.id == row_id), None)
    if row is None:
        raise UsageError(f"no call of {row_id} is left here, so it cannot be compared")
    return table, row


def _in_time(table: Table, ids: Sequence[str]) -> Sequence[str]:
    """Return the ids in order of time if they are of runs in the table, both with a time; else as they are."""
    if spec_of(table.view).row_kind != "run":
        return ids
    began = {row.id: row.record.get("started_at") for row in table.rows if row.id in ids}
    times = [began.get(row_id) for row_id in ids]
    return ids if None in times else sorted(ids, key=lambda row_id: began[row_id] or 0)


def _crumb(table: Table, ids: Sequence[str]) -> str:
    """Return both rows in few words if they are loaded."""
    found = {table.rows[index].id: table.rows[index] for index in loaded_indices(table.rows)}
    rows = [found[row_id] for row_id in ids if row_id in found]
    return " | ".join(label(table, row, rows) for row in rows) if len(rows) == len(ids) else "comparison"
