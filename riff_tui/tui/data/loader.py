"""Load the tables that a location shows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from riff_tui.errors import RiffError
from riff_tui.filters import Filter
from riff_tui.request import Request
from riff_tui.table import Deferred, Table, in_one_step, run_steps, with_deferred
from riff_tui.tui.backend import ShowView
from riff_tui.tui.data.paged_rows import PAGE, PagedRows, index_of
from riff_tui.tui.navigation.folding import folded_by, wants_folding
from riff_tui.tui.navigation.location import Location, Stack
from riff_tui.tui.navigation.pairs import load_pair
from riff_tui.tui.navigation.scope_filters import without_bare_words
from riff_tui.view_registry import spec_of

STALLED_FIRST = "-stall"
READING_CALLS = "reading the conversations"


@dataclass(frozen=True, slots=True)
class LoadedView:
    """Hold the table that is walked and, for a state, its neighbours with its metrics and latencies."""

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
            return replace(self, main=table)
        return replace(self, neighbors=table)


def load(show: ShowView, location: Location, *, hurry: bool = False) -> LoadedView:
    """Load what a location shows; what takes long is left to the `deferred` query of the result.

    In a `hurry` that is also the list of calls of a state that very many came through.
    """
    if location.kind != "state":
        return LoadedView(load_rows(show, location))
    where = location.scope & Filter.of(without_bare_words(location.filter.predicate))
    request = Request(where=where.text, predicate=where.predicate, defer=True)
    neighbors = show(location.view, request)
    if hurry and not location.filter and "blast" not in neighbors.extras:
        return LoadedView(_awaited(show, location), neighbors)
    return LoadedView(load_rows(show, location), neighbors)


def _awaited(show: ShowView, location: Location) -> Table:
    """Return no rows, which are still to be read."""
    view = spec_of(location.view).screen.rows_of
    return Table(view, "", (), (), deferred=partial(in_one_step, READING_CALLS, partial(load_rows, show, location)))


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
    request = Request(
        where=where.text,
        predicate=where.predicate,
        sort=location.chosen_order or None,
        trend=spec.trend,
        defer=True,
        sides=location.between,
        aspect=location.aspect or None,
        by=location.splits,
    )
    table = show(location.view, request)
    if wants_folding(location, table):
        table = show(location.view, replace(request, by=folded_by(location)))
    return with_deferred(table, partial(_paged, location=location))


def load_all_rows(show: ShowView, location: Location) -> Table:
    """Load the rows that one walks through, of a list of calls all at once however long they take to count."""
    table = load_rows(show, location)
    return run_steps(table.deferred()) if is_begun(table) and table.deferred is not None else table


def is_begun(table: Table) -> bool:
    """Return whether these are the first calls of a list whose others are still counted."""
    return table.deferred is not None and isinstance(table.rows, PagedRows)


def load_again(show: ShowView, location: Location, before: LoadedView) -> LoadedView:
    """Load what a location shows anew; of a long list the page with the row under the cursor, wherever it is."""
    loaded = load(show, location)
    rows, old = loaded.main.rows, before.main.rows
    if isinstance(rows, PagedRows) and isinstance(old, PagedRows):
        rows.follow(old, location.index, location.row)
    return loaded


def load_list(show: ShowView, stack: Stack) -> tuple[Location, LoadedView] | None:
    """Load the list that a conversation lies in, with the cursor on it; `None` where there is none that can be read."""
    if len(stack) < 2 or spec_of(stack[-2].view).row_kind != "call":
        return None
    location = stack[-2]
    try:
        loaded = load(show, location)
    except RiffError:
        return None
    return replace(location, index=index_of(loaded.main.rows, location.row, location.index)), loaded


def changed_rows(before: Table, after: Table) -> frozenset[str]:
    """Return the ids of rows that say something else than before; of a list read whole, also of rows that are new."""
    rows = after.rows if isinstance(after.rows, list | tuple) else ()
    old = {row.id: row for row in before.rows} if isinstance(before.rows, list | tuple) else {}
    return frozenset(row.id for row in rows if old.get(row.id) != row) if old else frozenset()


def _paged(table: Table, location: Location) -> Table:
    """Return the table with rows that keep no screen waiting; the page around the location's row is loaded."""
    if isinstance(table.rows, list | tuple):
        return table
    rows = PagedRows(table.rows)
    rows.load(max(0, min(location.index, len(rows) - 1)) // PAGE)
    if location.row and not location.index:
        rows.find(location.row)
    return replace(table, rows=rows)
