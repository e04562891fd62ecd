"""Ask for the neighbours of the one state that a filter names, and leave latencies of many calls for later."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from riff_store.predicates import And, Predicate, Term, all_of, conjuncts, terms
from riff_store.queries.latencies import LatencyReading
from riff_store.queries.neighbors import begun, completed
from riff_store.queries.scope import is_of_states, of_calls
from riff_tui.errors import UsageError
from riff_tui.table import Table, in_one_step, run_steps
from riff_tui.view_queries.view_query import FilterParts, ViewQuery
from riff_tui.views.neighbors import neighbors

if TYPE_CHECKING:
    from riff_store.answers.cells import Neighborhood, PooledLatency

COUNTING = "counting who starves without it"
COUNTED_LATER = 10_000
"""Of more calls than these in its flow a screen shows a state before each of them was looked at."""
QUICK_CALLS = 600
"""So many transcripts are read before anybody notices."""


def show_neighbors(query: ViewQuery) -> Table:
    """Return the state between its neighbours; raises `UsageError` where the filter does not name one state."""
    flow, state, rest = named_state(query.predicate)
    parts = replace(query, predicate=all_of(rest)).parts()
    calls = calls_around(state, parts.calls)

    def table(around: Neighborhood, pooled: PooledLatency | None) -> Table:
        return query.result(FilterParts(rows=parts.rows), lambda _: neighbors(around, pooled))

    def whole(around: Neighborhood) -> Table:
        with query.store.snapshot():
            around = completed(query.store, around, calls)
            reading = LatencyReading(query.store, flow, state, calls)
        read_on = partial(in_steps, reading, partial(table, around))
        if query.request.defer and reading.kept > QUICK_CALLS and not reading.too_many:
            return replace(table(around, None), deferred=read_on)
        return run_steps(read_on())

    with query.store.snapshot():
        around = begun(query.store, flow, state, calls)
        if query.request.defer and around.calls > COUNTED_LATER:
            return replace(table(around, None), deferred=partial(in_one_step, COUNTING, partial(whole, around)))
        return whole(around)


def named_state(predicate: Predicate | None) -> tuple[str, str, list[Predicate]]:
    """Return the flow and the state that a filter names, and what else it says of calls.

    Raises `UsageError` where it names none or two.
    """
    named: dict[str, str] = {}
    rest: list[Predicate] = []
    for part in conjuncts(predicate):
        if isinstance(part, Term) and part.field in ("flow", "state") and part.operator == "=":
            if named.setdefault(part.field, str(part.value)) != part.value:
                raise UsageError(f"neighbors needs one {part.field}, and the filter names two")
        elif not _is_place(part):
            rest.append(part)
    if set(named) != {"flow", "state"}:
        missing = " and ".join(f"{field}=" for field in ("flow", "state") if field not in named)
        raise UsageError(
            f"neighbors needs {missing} in the filter, such as --where 'flow=apartment_viewing state=collect_details'"
        )
    return named["flow"], named["state"], rest


def _is_place(part: Predicate) -> bool:
    """Say if a part only tells where the state lies: the way to it leads through its segment, and chooses no calls."""
    return isinstance(part, Term) and part.field == "segment" and part.operator == "="


def calls_around(state: str, calls: Predicate | None) -> Predicate | None:
    """Return the calls that a filter leaves around a state: those that a list of calls with `state=` added holds.

    What it says of states is said of the rows of a call then, not of the states that a graph is made of.
    """
    if not any(is_of_states(term) for term in terms(calls)):
        return calls
    return of_calls(And((Term("state", "=", state), *conjuncts(calls))))


def in_steps(reading: LatencyReading, table: Callable[[PooledLatency | None], Table]) -> Generator[str, None, Table]:
    """Read on, say how far it is, and end with the table that holds it all."""
    for done in reading.steps():
        yield f"reading latencies: {done:,} of {reading.kept:,} transcripts"
    return table(reading.answer())
