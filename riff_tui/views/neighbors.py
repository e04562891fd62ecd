"""Show a state between its predecessors and successors, and what starves if it breaks."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from riff_store.filters.predicates import And, Predicate, Term, all_of, conjuncts, terms
from riff_store.measure import mean
from riff_tui.charts import histogram
from riff_tui.charts.ego_graph import of_neighborhood
from riff_tui.charts.neighbor_figure import LEGEND, WIDTH, EgoFigure
from riff_tui.errors import UsageError
from riff_tui.table import Column, Row, Severity, Table, in_one_step, run_steps
from riff_tui.text.numbers import fixed
from riff_tui.view_query import FilterParts, ViewQuery
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import Filters, Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.queries.latencies import LatencyReading, PooledLatency
    from riff_store.queries.neighbors import BlastRadius, Neighbor, Neighborhood
    from riff_store.queries.states import StateCell


COUNTING = "counting who starves without it"
COUNTED_LATER = 10_000
"""Of more calls than these in its flow a screen shows a state before each of them was looked at."""
QUICK_CALLS = 600
"""So many transcripts are read before anybody notices."""
SHARES = ("p50", "p95", "p99")
_TITLE = "Turns by latency, pooled over all {turns:,} of {calls:,} calls"
_COLUMNS: Sequence[Column] = (
    Column("direction", "Direction", kind="name", help="in: leads here; self: stays here; out: is led to."),
    columns.STATE,
    Column("count", "count", kind="count", help="How often the step was taken."),
    columns.share("share", "share", help="Share of all steps into, or out of, the state."),
    columns.share(
        "stall", "stall", better="lower", strong=True,
        help="Share of calls that ended in that neighbour, neither completed nor handed over.",
    ),
    columns.N,
    Column(
        "suspicion", "suspicion", decimals=2, better="lower", short="susp",
        help="How much failing goes with the step: 1 where those calls that took it failed and no others (Ochiai).",
    ),
    Column(
        "p", "p", decimals=3, shown=False,
        help="How likely it is by chance that calls which took the step fail so much more, or less, often (Fisher).",
    ),
)  # fmt: skip


def show(query: ViewQuery) -> Table:
    """Return the state between its neighbours; raises `UsageError` where the filter does not name one state."""
    from riff_store.queries.latencies import LatencyReading
    from riff_store.queries.neighbors import begun, completed

    flow, state, rest = named_state(query.predicate)
    parts = replace(query, predicate=all_of(rest)).parts()
    calls = calls_around(state, parts.calls)

    def table(around: Neighborhood, pooled: PooledLatency | None) -> Table:
        return query.result(FilterParts(rows=parts.rows), lambda _: neighbors(around, pooled), recounts=False)

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
        elif not (isinstance(part, Term) and part.field == "segment" and part.operator == "="):
            rest.append(part)
    if set(named) != {"flow", "state"}:
        missing = " and ".join(f"{field}=" for field in ("flow", "state") if field not in named)
        raise UsageError(
            f"neighbors needs {missing} in the filter, such as --where 'flow=apartment_viewing state=collect_details'"
        )
    return named["flow"], named["state"], rest


def calls_around(state: str, calls: Predicate | None) -> Predicate | None:
    """Return the calls that a filter leaves around a state: those that a list of calls with `state=` added holds.

    What it says of states is said of the rows of a call then, not of the states that a graph is made of.
    """
    from riff_store.filters.predicates import is_of_states, of_calls

    if not any(is_of_states(term) for term in terms(calls)):
        return calls
    return of_calls(And((Term("state", "=", state), *conjuncts(calls))))


def in_steps(reading: LatencyReading, table: Callable[[PooledLatency | None], Table]) -> Generator[str, None, Table]:
    """Read on, say how far it is, and end with the table that holds it all."""
    for done in reading.steps():
        yield f"reading latencies: {done:,} of {reading.kept:,} transcripts"
    return table(reading.answer())


def neighbors(answer: Neighborhood, pooled: PooledLatency | None = None) -> Table:
    """Return rows for the steps in, to itself and out; `extras` hold what the state reaches, where that is known.

    `pooled` is the latency over all turns in the state, None where it has not been asked for.
    """
    from riff_store.queries.neighbors import Neighbor

    graph = of_neighborhood(answer)
    n, stall = (answer.cell.n, mean(answer.cell.measures, "stall")) if answer.cell else (0, None)
    loop = Neighbor(answer.state, answer.loops, graph.loops_share, stall, n, suspicion=answer.loop)
    rows = [
        *(_row(answer.flow, "in", step) for step in _ranked(answer.predecessors)),
        *([_row(answer.flow, "self", loop)] if answer.loops else []),
        *(_row(answer.flow, "out", step) for step in _ranked(answer.successors)),
    ]
    return Table(
        view="neighbors",
        title=f"Neighbours of {answer.state} in {answer.flow}",
        columns=_COLUMNS,
        rows=rows,
        notes=list(_notes(answer, pooled)),
        extras={
            **cells.values_of(answer, "flow state calls"),
            **(_blast_record(answer.blast) if answer.is_whole else {}),
            "metrics": _metrics(answer.cell),
            **({"typed": True} if answer.cell and answer.cell.typed else {}),
            **({} if answer.steps is None else {"step": cells.step_record(answer.steps)}),
            **latency_extras(pooled),
        },
        figure=StateFigure(graph, answer.blast, pooled),
    )


def _ranked(steps: Sequence[Neighbor]) -> list[Neighbor]:
    return sorted(steps, key=lambda step: (-step.count, step.state))


def _blast_record(blast: BlastRadius) -> dict[str, Any]:
    return {
        "blast": [cells.values_of(victim, "state through reached starved n") for victim in blast.victims],
        "blast_basis": blast.basis,
        "reach": {victim.state: victim.through for victim in blast.victims},
    }


def _row(flow: str, direction: str, step: Neighbor) -> Row:
    record = {
        "direction": direction,
        **cells.values_of(step, "state count share stall n"),
        "suspicion": None if step.suspicion is None else step.suspicion.ochiai,
        "p": None if step.suspicion is None else step.suspicion.p,
    }
    if step.outcome is not None:
        record["outcome"] = step.outcome
    marks: dict[str, Severity] = {}
    if step.stall is not None and step.stall >= 0.15:
        marks["stall"] = marks[""] = "bad" if step.stall >= 0.25 else "warn"
    # An outcome is no working state: it has no calls of its own to be few.
    thin = step.outcome is None and step.n is not None and cells.is_thin(step.n)
    return Row(
        f"{direction} {step.state}",
        record,
        severity=marks,
        thin=thin,
        where="" if step.outcome else cells.where({"flow": flow, "state": step.state}),
    )


def _metrics(cell: StateCell | None) -> dict[str, Any] | None:
    if cell is None:
        return None
    means = {key: cell.figure(key) for key in columns.STATE_METRIC_KEYS}
    asked = {} if cell.steps is None else cells.step_record(cell.steps)
    return {"segment": cell.segment, "n": cell.n, **means, **asked, "intervals": cells.intervals(cell.measures)}


def _notes(answer: Neighborhood, pooled: PooledLatency | None) -> Iterator[str]:
    if answer.predecessors or answer.successors:
        yield f"Graph: {LEGEND}"
    if answer.cell is None or answer.cell.n == 0:
        yield f"No call has been in {answer.state}."
    else:
        yield from _measured(answer.cell)
        yield from cells.typed_note([answer.cell])
        if pooled is not None:
            yield latency_text(pooled, answer.cell.n)
    if answer.steps is not None:
        yield cells.asked_step_text(answer.steps)
    if answer.is_whole:
        yield from _blast_notes(answer)


def _blast_notes(answer: Neighborhood) -> Iterator[str]:
    blast = answer.blast
    if not blast.is_ordered:
        yield "Blast radius: the order of visits is not known of every call; riff-tui ingest PATH... reads them again."
    elif not blast.victims:
        yield f"Blast radius: no call came to another state after {answer.state}."
    elif blast.basis == "files":
        yield f"Blast radius: no call went on from {answer.state}; the flow's files say what lies behind it."
    else:
        if blast.basis == "agents":
            yield f"Blast radius: none of these calls went on from {answer.state}; those of other agents did."
        yield (
            "Blast radius: through, the share of a state's calls that had been here before; reached, of the calls that"
            " went on from here those that came there; starved, the calls that it would have seen more, had none been"
            " lost here."
        )


def _measured(cell: StateCell) -> Iterator[str]:
    yield f"{cell.segment}, n {cell.n}{'~' if cells.is_thin(cell.n) else ''}, with 95 % intervals:"
    intervals = cells.intervals(cell.measures)
    for column in columns.STATE_METRICS:
        measure = cell.measures.get(column.key)
        if measure is None or measure.mean is None:
            continue
        text = f"{column.title} {fixed(measure.mean, 2, trim=True)}"
        if interval := intervals.get(column.key):
            text += f" ({' to '.join(fixed(end, 2, trim=True) for end in interval)})"
        if measure.n < cell.n:
            text += f" of {measure.n:,}{'~' if cells.is_thin(measure.n) else ''}"
        yield text


@dataclass(frozen=True, slots=True)
class StateFigure(EgoFigure):
    """Draw the graph of a state, its blast radius and, where latencies are known, how they spread."""

    pooled: PooledLatency | None = None

    def draw(self, *, ascii_only: bool = False, width: int = WIDTH) -> list[str]:
        """Return the lines of all of it, none wider than `width` cells or 78."""
        lines = EgoFigure.draw(self, ascii_only=ascii_only, width=width)
        if self.pooled is None or not self.pooled.buckets:
            return lines
        title = _TITLE.format(turns=self.pooled.turns, calls=self.pooled.calls)
        columns = histogram.draw(self.pooled.buckets, ascii_only=ascii_only, width=width)
        return [*lines, "", title[:width], *columns]


def latency_text(pooled: PooledLatency, n: int) -> str:
    """Return the percentiles, or why there are none; `n` calls have been in the state."""
    if not pooled.turns:
        return f"lat(s) {latency_reason(pooled)}"
    figures = ", ".join(f"{share} {fixed(getattr(pooled, share), 2, trim=True)}" for share in SHARES)
    missing = f" (of {n} calls {pooled.kept} transcripts were kept)" if pooled.kept < n else ""
    return f"lat(s) pooled over all {pooled.turns} turns of {pooled.calls} calls{missing}: {figures}"


def latency_reason(pooled: PooledLatency) -> str:
    """Return why there are no percentiles."""
    if pooled.too_many:
        return f"pooled over all turns: not read for more than {pooled.kept - 1:,} calls; narrow the filter"
    if not pooled.kept:
        return "pooled over all turns: not available, no transcripts were kept"
    return "pooled over all turns: not measured, the kept transcripts hold no latency"


def latency_extras(pooled: PooledLatency | None) -> Mapping[str, Any]:
    """Return the keys of the JSON form: the 95th percentile, and all else that is known."""
    if pooled is None or not pooled.turns:
        return {"pooled_latency_p95": None, "pooled_latency": None}
    spread = [{"from": each.low, "to": each.high, "turns": each.count} for each in pooled.buckets]
    known = {share: getattr(pooled, share) for share in SHARES}
    known |= {"turns": pooled.turns, "calls": pooled.calls, "kept": pooled.kept, "buckets": spread}
    return {"pooled_latency_p95": pooled.p95, "pooled_latency": known}


SPEC = ViewSpec(
    name="neighbors",
    title="Neighbours of a state",
    help=(
        "One state between the states before and after it, with counts and shares of the steps.",
        "The filter has to name it: flow=F state=S.",
        "The blast radius lists the states that starve if it breaks, with the calls that each would have seen more.",
    ),
    order=170,
    show=show,
    columns=_COLUMNS,
    # The filter names the state in the middle, and its metrics choose calls.
    filters=Filters(call_fields=("state", "stall")),
    row_kind="call",
    words=Words(noun="state", label="neighbours", nouns=("conversation", "conversations"), empty_store=""),
    screen=Screen(
        kind="state",
        key="v",
        help="The neighbour graph of the state under the cursor; in a state, go round: its graph, its latencies, its"
        " conversations alone, all of it.",
        depth=3,
        below="conversation",
        walk=("flow", "agent", "segment", "state"),
        rows_of="conversations",
    ),
)
