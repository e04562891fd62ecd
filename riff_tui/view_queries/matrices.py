"""The matrices and the worklist: which queries they ask, and what the filter narrows, calls or rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from riff_store.predicates import Predicate, all_of
from riff_tui.filters import split, take_judges
from riff_tui.table import Table, drained, in_a_step
from riff_tui.view_queries.result import ViewResult, added_aspects, fields_of, keys_of, scope_of, terms_said
from riff_tui.view_queries.sort_limit import excluded_text
from riff_tui.view_registry import spec_of
from riff_tui.views.spec import EMPTY_STORE

if TYPE_CHECKING:
    from riff_store.answers.neighbors import PooledLatency
    from riff_store.database import Store
    from riff_tui.catalog import Request

WORKLIST_LIMIT = 10
NO_STATES = "No call that counts has events, and states come from those."
_ALL = 10**9


def ask_flows(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.flows import flow_cells
    from riff_store.queries.scope import needs
    from riff_tui.views.flows import flows

    by = keys_of(("flow", "agent"), request.by)
    judges, rest = take_judges(predicate)
    calls, rows = split(rest, {*fields_of("flows", request.by), *added_aspects(rest)})

    def table(*, trend: bool, edits: bool = True) -> Table:
        def make(some: Predicate | None) -> Table:
            # All rows are only counted, unless they are what was asked for.
            own = some is calls
            return flows(flow_cells(store, some, by, judges, trend=trend and own, edits=edits and own), request.by)

        return ViewResult(request, calls, rows).of(make)

    if request.trend and request.hurried and needs(calls, by) == "base":
        steps = partial(in_a_step, "reading how it went run by run", partial(table, trend=True))
        return replace(table(trend=False, edits=False), rest=steps)
    return table(trend=request.trend)


def ask_segments(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.segments import segment_cells
    from riff_tui.views.segments import segments

    by = keys_of(("flow", "segment"), request.by)
    calls, rows = split(predicate, fields_of("segments", request.by))

    def make(calls: Predicate | None) -> Table:
        return segments(segment_cells(store, calls, by=by), request.by, scope_of(predicate))

    return _with_excluded(store, calls, request, ViewResult(request, calls, rows).of(make))


def ask_states(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.states import state_cells
    from riff_tui.views.states import states, successors

    by = keys_of(("flow", "state"), request.by)
    calls, rows = split(predicate, fields_of("states", request.by))

    def make(calls: Predicate | None) -> Table:
        return states(state_cells(store, calls, by=by), request.by, scope_of(predicate))

    table = _with_excluded(store, calls, request, ViewResult(request, calls, rows).of(make))
    if not any(term.field == "flow" for term in terms_said(predicate)):
        return table
    return replace(table, notes=[*table.notes, *successors(table.rows)])


def ask_neighbors(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.latencies import LatencyReading
    from riff_store.queries.neighbors import neighborhood
    from riff_tui.view_queries.one_state import QUICK_CALLS, calls_around, in_steps, named_state
    from riff_tui.views.neighbors import neighbors

    flow, state, rest = named_state(predicate)
    said, rows = split(all_of(rest), spec_of("neighbors").row_fields)
    calls = calls_around(state, said)
    with store.snapshot():
        around, reading = neighborhood(store, flow, state, calls), LatencyReading(store, flow, state, calls)

    def table(pooled: PooledLatency | None) -> Table:
        return ViewResult(request, None, rows).of(lambda _: neighbors(around, pooled), recount=False)

    if request.hurried and reading.kept > QUICK_CALLS and not reading.too_many:
        return replace(table(None), rest=lambda: in_steps(reading, table))
    return drained(in_steps(reading, table))


def ask_worklist(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.conversations import count_conversations
    from riff_store.queries.worklist import worklist as ranked
    from riff_tui.views.worklist import worklist

    limit = WORKLIST_LIMIT if request.limit is None else request.limit
    calls, _ = split(predicate, ())
    answer = ViewResult(replace(request, limit=limit), calls, None)
    table = answer.of(lambda narrowed: worklist(ranked(store, narrowed, _ALL)), recount=False)
    return table if table.rows or count_conversations(store) else replace(table, notes=[*table.notes, EMPTY_STORE])


def _with_excluded(store: Store, calls: Predicate | None, request: Request, table: Table) -> Table:
    """State rows hold no errored calls, so those of the flows on show and of flows without any other are counted."""
    from riff_store.queries.dimensions import Grouping
    from riff_store.queries.sums import call_counts

    keys = keys_of(("flow",), request.by)
    shown = {tuple(row.record[key] for key in keys) for row in table.rows}
    counts = call_counts(store, calls, Grouping(keys))
    excluded = sum(errored for names, (n, errored) in counts.items() if names in shown or not n)
    units, *others = table.notes
    if counts and EMPTY_STORE in others:
        others[others.index(EMPTY_STORE)] = NO_STATES
    left = [f"Excluded: {excluded_text(excluded)}."] if excluded else []
    return replace(table, notes=[units, *left, *others])
