"""Fold a matrix that has too many rows into its flows, and unfold a flow into its agents."""

from __future__ import annotations

from dataclasses import replace

from riff_tui.filters import Filter
from riff_tui.table import Row, Table
from riff_tui.tui.navigation.history import History
from riff_tui.tui.navigation.location import Location
from riff_tui.tui.navigation.scope_filters import fixed_fields, name_term, narrow
from riff_tui.view_registry import spec_of

MOST_UNFOLDED = 40
"""With more rows than these, a matrix that can be regrouped begins with a row for each of its first names."""


def folded_by(location: Location) -> tuple[str, ...]:
    """Return the names by which the rows of a location fold, none where they do not."""
    spec = spec_of(location.view)
    return spec.keys[:1] if spec.regroups and len(spec.keys) > 1 and not location.pair else ()


def is_folded(location: Location) -> bool:
    """Return whether a location shows its rows folded."""
    return bool(location.by) and location.by == folded_by(location)


def wants_folding(location: Location, table: Table) -> bool:
    """Return whether the rows of a location are too many, and nobody said how to tell them apart."""
    by = folded_by(location)
    if not by or location.by or set(by) & fixed_fields(location.where.predicate):
        return False
    # Rows that are read as they come into view are not all read for this.
    is_long = isinstance(table.rows, list | tuple) and len(table.rows) > MOST_UNFOLDED
    return is_long and len({row.record.get(by[0]) for row in table.rows}) < len(table.rows)


def with_folding(history: History, table: Table) -> History:
    """Return the history with how the rows that were loaded are told apart, where that is not the view's own way."""
    here, by = history.here, folded_by(history.here)
    columns = {column.key for column in table.columns}
    folded = bool(by) and not here.by and not columns & set(spec_of(here.view).keys[1:])
    return history.alter(replace(here, by=by)) if folded else history


def fold(history: History, row: Row | None) -> History:
    """Return where the key that folds leads: from a folded row into it, from there back, else to the folded rows."""
    here = history.here
    by = folded_by(here)
    if is_folded(here):
        name = str((row.record.get(by[0]) if row else None) or "")
        scope = narrow(here.scope.predicate, name_term(by[0], name))
        return history.down(Location(here.view, name, Filter.of(scope), here.filter, by=spec_of(here.view).keys))
    above = history.stack[-2:-1]
    return history.up() if above and is_folded(above[0]) else history.regroup(by)


def unfold_all(history: History) -> History:
    """Return every row of this location, or from there the folded ones."""
    here = history.here
    return history.regroup(spec_of(here.view).keys if is_folded(here) else folded_by(here))
