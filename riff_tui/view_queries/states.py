"""Add to the tables of states and segments what their rows do not hold: the flows they are about, errored calls."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from riff_store.predicates import Predicate, Term, conjuncts
from riff_store.queries.dimensions import Grouping
from riff_store.queries.states import ORDERED_BY, state_cells
from riff_store.queries.sums import call_sums, takes_long
from riff_tui.table import Table
from riff_tui.view_queries.view_query import FilterParts, ViewQuery
from riff_tui.views.parts.callers import excluded_text
from riff_tui.views.parts.columns import STATE_METRICS, TO_STATES
from riff_tui.views.spec import EMPTY_STORE

SUMMING = "summing up the states"
NO_STATES = "No call that counts has events, and states come from those."


def finish_segments(query: ViewQuery, table: Table) -> Table:
    """Add the flows that the table is about, and how many calls were errored."""
    from riff_tui.views.segments import TITLE

    return _with_excluded(query, replace(table, title=TITLE.format(scope=_flows_of(query.predicate))))


def show_states(query: ViewQuery) -> Table:
    """Return the states, with the same added and, where the filter names a flow, where each state led to."""
    from riff_tui.views.states import TITLE, successors

    def build(whole: bool, parts: FilterParts) -> Table:
        return query.build(state_cells(query.store, parts.calls, by=query.keys, whole=whole))

    def table(whole: bool) -> Table:
        found = query.result(query.parts(), partial(build, whole))
        found = replace(found, title=TITLE.format(scope=_flows_of(query.predicate)))
        if not whole:
            return found
        found = _with_excluded(query, found)
        if not any(term.field == "flow" for term in _terms_that_hold(query.predicate)):
            return found
        return replace(found, notes=[*found.notes, *successors(found.rows)])

    if not takes_long(query.store, query.parts().calls, query.keys):
        return table(True)
    later = {column.key for column in (*STATE_METRICS, TO_STATES)} - {*ORDERED_BY, "lost"}
    return query.in_two_parts(table, SUMMING, later)


def _with_excluded(query: ViewQuery, table: Table) -> Table:
    """Count errored calls, which state rows do not hold: of the flows on show and of flows without any other call."""
    keys = tuple(dict.fromkeys(("flow", *query.request.by)))
    shown = {tuple(row.record[key] for key in keys) for row in table.rows}
    counts = call_sums(query.store, query.parts().calls, Grouping(keys))
    left_out = [calls for names, calls in counts.items() if names in shown or not calls.n]
    excluded, failed = sum(calls.excluded for calls in left_out), sum(calls.caller_failed for calls in left_out)
    units, *others = table.notes
    if counts and EMPTY_STORE in others:
        others[others.index(EMPTY_STORE)] = NO_STATES
    left = [f"Excluded: {excluded_text(excluded, failed)}."] if excluded else []
    return replace(table, notes=[units, *left, *others])


def _flows_of(predicate: Predicate | None) -> str:
    """Name the flows that a filter leaves, for a title."""
    named = [term for term in _terms_that_hold(predicate) if term.field == "flow"]
    if len(named) == 1 and named[0].operator in ("=", "contains"):
        return f"{'' if named[0].operator == '=' else 'flows with '}{named[0].value}"
    return "all flows" if predicate is None else "filtered flows"


def _terms_that_hold(predicate: Predicate | None) -> list[Term]:
    """Return the terms that hold as they stand, neither negated nor one of several."""
    return [part for part in conjuncts(predicate) if isinstance(part, Term)]
