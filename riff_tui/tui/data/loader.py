"""Load the tables that a location shows, put two rows side by side, and keep what was loaded lately."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from riff_tui.catalog import Request
from riff_tui.descent import about_calls, narrow, without_bare_words
from riff_tui.errors import RiffError, UsageError
from riff_tui.filters import Filter
from riff_tui.table import Deferred, Row, Table, as_read, in_one_step, label, run_steps, with_deferred
from riff_tui.tui.data.backend import ShowView
from riff_tui.tui.data.lists import PAGE, PagedRows, index_of, loaded_places
from riff_tui.tui.navigation.history import may_fold, wants_folding
from riff_tui.tui.navigation.location import CacheKey, Location, Stack, scope_of, sides_of
from riff_tui.tui.navigation.stacks import place_name
from riff_tui.view_query import MadeRows, ordered, outlines
from riff_tui.view_registry import spec_of
from riff_tui.views.compare import SIDE_BY_SIDE, side_by_side

STALLED_FIRST = "-stall"
READING_CALLS = "reading the conversations"


class LoadedView(NamedTuple):
    """Keep the table that is walked and, for a state, its neighbours with its metrics and latencies."""

    main: Table
    neighbors: Table | None = None

    @property
    def source(self) -> Table:
        """Return the table whose dump prints what the location is about."""
        return self.neighbors or self.main

    @property
    def dumps(self) -> list[str]:
        """Return the commands that print all of it."""
        return [table.dump for table in (self.neighbors, self.main) if table is not None and table.dump]

    @property
    def deferred(self) -> Deferred | None:
        """Return what was left for later, of a state its list of calls first."""
        return self.main.deferred if self.is_awaited else self.source.deferred

    @property
    def is_awaited(self) -> bool:
        """Return whether the neighbours of a state are there before its list of calls."""
        return self.neighbors is not None and self.main.deferred is not None

    def completed(self, table: Table) -> LoadedView:
        """Return the same with the table that the deferred query ended with."""
        if self.neighbors is None or self.is_awaited:
            return self._replace(main=table)
        return self._replace(neighbors=table)


def load(show: ShowView, location: Location, *, hurry: bool = False) -> LoadedView:
    """Load what a location shows; what takes long is left to the `deferred` query of the result.

    In a `hurry` that is also the list of calls of a state that very many came through.
    """
    if location.kind != "state":
        table = load_rows(show, location)
        # What one row represents is in no count of rows.
        is_folded = bool(table.folded) and not location.unfolded
        return LoadedView(as_read(table)._replace(matched=None, total=None) if is_folded else table)
    where = location.scope & Filter.of(without_bare_words(location.filter.predicate))
    request = Request(where=where.text, predicate=where.predicate, defer=True)
    neighbors = show(location.view, request)
    if hurry and not location.filter and "blast" not in neighbors.extras:
        # No rows, which are still to be read.
        read = partial(in_one_step, READING_CALLS, partial(load_rows, show, location))
        return LoadedView(Table(spec_of(location.view).screen.rows_of, "", (), (), deferred=read), neighbors)
    return LoadedView(load_rows(show, location), neighbors)


def load_rows(show: ShowView, location: Location) -> Table:
    """Load only the rows that one walks through."""
    if location.pair:
        return load_pair(show, location)
    if location.kind == "conversation":
        return show(location.view, Request(where=location.scope.text, predicate=location.scope.predicate, text=True))
    spec, where = spec_of(location.view), location.where
    if spec.screen.rows_of:
        request = Request(where=where.text, predicate=where.predicate, sort=location.chosen_order or STALLED_FIRST)
        return with_deferred(show(spec.screen.rows_of, request), partial(_paged, location=location))
    request = location.request._replace(trend=spec.trend, defer=True, fold=may_fold(location))
    table = show(location.view, request)
    if wants_folding(location, table):
        table = show(location.view, request._replace(by=may_fold(location)))
    return with_deferred(table, partial(_paged, location=location))


def load_all_rows(show: ShowView, location: Location) -> Table:
    """Load the rows that one walks through, of a list of calls all at once however long they take to count."""
    table = load_rows(show, location)
    return run_steps(table.deferred()) if is_begun(table) and table.deferred is not None else table


def is_begun(table: Table) -> bool:
    """Return whether rows are still to come: these are the first calls of a list, or none was found so far."""
    if table.deferred is None:
        return False
    return not len(table.rows) or isinstance(table.rows, PagedRows) or spec_of(table.view).row_kind == "call"


def load_again(show: ShowView, location: Location, before: LoadedView) -> LoadedView:
    """Load what a location shows again; of a long list the page with the row under the cursor, wherever it is."""
    loaded = load(show, location)
    rows, old = loaded.main.rows, before.main.rows
    if isinstance(rows, PagedRows) and isinstance(old, PagedRows):
        rows.follow(old, location.index, location.row)
    return loaded


def load_list(show: ShowView, stack: Stack) -> tuple[Location, LoadedView] | None:
    """Load the list that a conversation is in, with the cursor on it; `None` if there is none that can be read."""
    if len(stack) < 2 or spec_of(stack[-2].view).row_kind != "call":
        return None
    location = stack[-2]
    try:
        loaded = load(show, location)
    except RiffError:
        return None
    return replace(location, index=index_of(loaded.main.rows, location.row, location.index)), loaded


def changed_rows(before: Table, after: Table) -> frozenset[str]:
    """Return the ids of rows that changed; of a list read whole, also of rows that are new."""
    rows, old_rows = (
        outlines(table.rows) if isinstance(table.rows, list | tuple | MadeRows) else () for table in (after, before)
    )
    old = {row.id: row for row in old_rows}
    return frozenset(row.id for row in rows if old.get(row.id) != row) if old else frozenset()


def _paged(table: Table, location: Location) -> Table:
    """Return the table with rows that keep no screen waiting; the page around the location's row is loaded."""
    if isinstance(table.rows, list | tuple):
        return table
    if isinstance(table.rows, MadeRows):
        return table if len(table.rows) > PAGE else table._replace(rows=list(table.rows))
    rows = PagedRows(table.rows)
    rows.load(max(0, min(location.index, len(rows) - 1)) // PAGE)
    if location.row and not location.index:
        rows.find(location.row)
    return table._replace(rows=rows)


def pair_ids(marked: Sequence[str], row: Row | None) -> tuple[str, ...]:
    """Return the ids of the rows to compare: both marked ones, or the one marked and the one under the cursor."""
    if len(marked) == 1 and row is not None and row.id != marked[0]:
        return (marked[0], row.id)
    return tuple(marked) if len(marked) == 2 else ()


def pair_location(location: Location, table: Table, ids: Sequence[str]) -> Location:
    """Return the location that compares two rows of a list, under the conditions on calls that have there.

    Of two runs the earlier one comes first, in whatever order they were marked: the question is what changed.
    """
    ids = _in_time(table, ids)
    # A call is what it is, wherever it was found.
    is_call = spec_of(table.view).row_kind == "call"
    scope = None if is_call else narrow(location.scope.predicate, about_calls(location.filter.predicate, table))
    return Location(
        SIDE_BY_SIDE,
        crumb=_pair_crumb(table, ids),
        scope=Filter.of(scope),
        of=table.view,
        pair=tuple(ids),
        by=location.splits,
        aspect=location.aspect,
    )


def tested_location(location: Location, table: Table, ids: Sequence[str]) -> Location | None:
    """Return the location of the tested comparison of two rows, if they are two runs or two agents of one flow."""
    pair = pair_of_sides(table, ids)
    if pair is None:
        return None
    scope = narrow(location.scope.predicate, about_calls(location.filter.predicate, table))
    within = scope_of(pair, scope)
    crumb = ": ".join(
        filter(None, (place_name(within, location.scope.predicate), _pair_crumb(table, _in_time(table, ids))))
    )
    return Location("compare", crumb, Filter.of(within), sides=sides_of(pair))


def pair_of_sides(table: Table, ids: Sequence[str]) -> Table | None:
    """Return two rows side by side if they are loaded, and are two runs or two agents of one flow."""
    found = loaded_places(table.rows, ids)
    rows = [table.rows[found[row_id]] for row_id in _in_time(table, ids) if row_id in found]
    pair = side_by_side(table, *rows) if len(rows) == 2 else None
    return pair if pair is not None and sides_of(pair) else None


def swapped(location: Location) -> Location:
    """Return the same two rows, the other one first."""
    a, b = location.pair
    return replace(location, pair=(b, a))


def load_pair(show: ShowView, location: Location) -> Table:
    """Ask for both rows and put them side by side; raise `UsageError` if one of them is gone."""
    (first, a), (second, b) = (_load_row(show, location, row_id) for row_id in location.pair)
    keys = {column.key for column in first.columns}
    columns = [*first.columns, *(column for column in second.columns if column.key not in keys)]
    table = side_by_side(first._replace(columns=columns), a, b)
    return ordered(table, location.sort) if location.sort else table


def _load_row(show: ShowView, location: Location, row_id: str) -> tuple[Table, Row]:
    scope, aspect = location.scope.predicate, location.aspect or None
    spec = spec_of(location.of)
    # A level of a factor, or a route, is what it is among all others; any other row is found by its id, a filter.
    is_among_others = spec.aspects or (spec.filters.calls and spec.row_kind == "cell")
    where = Filter.of(scope if is_among_others else narrow(scope, Filter(row_id).predicate))
    asked = Request(where=where.text, predicate=where.predicate, by=location.by, aspect=aspect, outline=True)
    table = show(location.of, asked)
    row = next((row for row in table.rows if row.id == row_id), None)
    if row is None:
        raise UsageError(f"no call of {row_id} is left here, so it cannot be compared")
    return table, row


def _in_time(table: Table, ids: Sequence[str]) -> Sequence[str]:
    """Return the ids in order of time if they are of runs in the table, both with a time; else as they are."""
    if spec_of(table.view).row_kind != "run":
        return ids
    began = {row.id: row.record.get("started_at") for row in outlines(table.rows) if row.id in ids}
    times = [began.get(row_id) for row_id in ids]
    return ids if None in times else sorted(ids, key=lambda row_id: began[row_id] or 0)


def _pair_crumb(table: Table, ids: Sequence[str]) -> str:
    """Return both rows in few words if they are loaded."""
    found = loaded_places(table.rows, ids)
    rows = [table.rows[found[row_id]] for row_id in ids if row_id in found]
    return " | ".join(label(table, row, rows) for row in rows) if len(rows) == len(ids) else "comparison"


MAX_VIEWS = 12


class ResultCache:
    """Keep the views of the locations visited last; those above the present one are never dropped."""

    def __init__(self) -> None:
        self._views: OrderedDict[CacheKey, LoadedView] = OrderedDict()
        self._stale: CacheKey | None = None

    def recall(self, location: Location) -> LoadedView | None:
        """Return what was loaded for a location of the same query, if it is kept."""
        return self._views.get(location.cache_key)

    def keep(self, stack: Stack, loaded: LoadedView) -> None:
        """Keep what was loaded for the location on top of a stack."""
        key = stack[-1].cache_key
        if self._views.get(key) is not loaded and self._stale == key:
            self._stale = None
        self._views[key] = loaded
        for location in stack:
            if location.cache_key in self._views:
                self._views.move_to_end(location.cache_key)
        while len(self._views) > max(MAX_VIEWS, len(stack)):
            self._views.popitem(last=False)

    def is_stale(self, location: Location) -> bool:
        """Return whether what is kept of a location was loaded before the data changed."""
        return location.cache_key == self._stale

    def forget(self, but: Location | None = None) -> None:
        """Drop everything, or everything but one location, which becomes stale."""
        kept = self.recall(but) if but is not None else None
        self._stale = but.cache_key if but is not None else None
        self._views.clear()
        if but is not None and kept is not None:
            self._views[but.cache_key] = kept


def is_voice(table: Table | None) -> bool:
    """Return whether a table shows a voice call."""
    return table is not None and table.view == "conversation" and "voice" in table.extras
