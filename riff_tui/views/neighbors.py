"""Show a state between its predecessors and successors, and what is never reached if it breaks."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from riff_store.filters.predicates import And, Predicate, Term, all_of, conjuncts, is_of_states, of_calls, terms
from riff_store.measure import mean
from riff_store.vocabulary import DEAD_END
from riff_tui.charts import histogram
from riff_tui.charts.ego_graph import ENDED, START, EgoGraph, of_neighborhood
from riff_tui.charts.neighbor_figure import EgoFigure, legend
from riff_tui.errors import UsageError
from riff_tui.shapes import COUNT, COUNTS, FLAG, INTERVALS, NUMBER, TEXT, by_name, list_of, numbers, or_null, record
from riff_tui.table import Column, Row, Severity, Table, in_one_step, run_steps
from riff_tui.text.numbers import counted, fixed, percent
from riff_tui.view_query import FilterParts, ViewQuery
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import Filters, Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.queries.latencies import LatencyReading, PooledLatency
    from riff_store.queries.neighbors import BlastRadius, Neighbor, Neighborhood, Terminus
    from riff_store.queries.states import StateCell


COUNTING = "counting what is never reached without it"
COUNTED_LATER = 10_000
"""Of more calls than these in its flow a screen shows a state before each of them was looked at."""
QUICK_CALLS = 600
"""So many transcripts are read before anybody notices."""
LONGER = 1.5
"""How many times as long as elsewhere a visit takes that is worth a word."""
SHARES = ("p50", "p95", "p99")
_TITLE = "Turns by latency, pooled over all {turns:,} of {calls:,} calls"
_COLUMNS: Sequence[Column] = (
    Column("direction", "Direction", kind="name", help="in: leads here; self: stays here; out: is led to."),
    columns.STATE,
    Column("count", "count", kind="count", help="How often the step was taken; 0 where only the flow's files have it."),
    columns.share(
        "share", "share",
        help="Share of the times that calls came to the state, those that begin there counted, or that they left it,"
        " those that end there counted.",
    ),
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
    """Return the state between its neighbours; raises `UsageError` if the filter does not name one state."""
    from riff_store.queries.latencies import LatencyReading
    from riff_store.queries.neighbors import begun, completed

    flow, state, rest = named_state(query.predicate)
    parts = query._replace(predicate=all_of(rest)).parts()
    calls = calls_around(state, parts.calls)

    def table(around: Neighborhood, pooled: PooledLatency | None) -> Table:
        return query.result(FilterParts(rows=parts.rows), lambda _: neighbors(around, pooled), recounts=False)

    def whole(around: Neighborhood) -> Table:
        with query.store.snapshot():
            around = completed(query.store, around, calls)
            reading = LatencyReading(query.store, flow, state, calls)
        read_on = partial(in_steps, reading, partial(table, around))
        if query.request.defer and reading.kept > QUICK_CALLS and not reading.too_many:
            return table(around, None)._replace(deferred=read_on)
        return run_steps(read_on())

    with query.store.snapshot():
        around = begun(query.store, flow, state, calls)
        if query.request.defer and around.calls > COUNTED_LATER:
            return table(around, None)._replace(deferred=partial(in_one_step, COUNTING, partial(whole, around)))
        return whole(around)


def named_state(predicate: Predicate | None) -> tuple[str, str, list[Predicate]]:
    """Return the flow and the state that a filter names, and what else it reports of calls.

    Raises `UsageError` if it names none or two.
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
    """Return the calls that a filter leaves around a state: those of a list of calls with `state=` added.

    What it asks of states is asked of the rows of a call then, not of the states that a graph is made of.
    """
    if not any(is_of_states(term) for term in terms(calls)):
        return calls
    return of_calls(And((Term("state", "=", state), *conjuncts(calls))))


def in_steps(reading: LatencyReading, table: Callable[[PooledLatency | None], Table]) -> Generator[str, None, Table]:
    """Read on, report how far it is, and end with the table that has it all."""
    for done in reading.steps():
        yield f"reading latencies: {done:,} of {reading.kept:,} transcripts"
    return table(reading.answer())


def neighbors(answer: Neighborhood, pooled: PooledLatency | None = None) -> Table:
    """Return rows for the steps in, to itself and out; `extras` have what the state reaches, if that is known.

    `pooled` is the latency over all turns in the state, None where it has not been asked for.
    """
    graph = of_neighborhood(answer)
    return Table(
        view="neighbors",
        title=f"Neighbours of {answer.state} in {answer.flow}",
        columns=_COLUMNS,
        rows=list(_rows(answer, graph)),
        notes=list(_notes(answer, graph, pooled)),
        lead=_sentence(answer),
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


def _sentence(answer: Neighborhood) -> str:
    """Return how many calls fail in the state and how, and how long they stay if that is longer than elsewhere."""
    cell, said = answer.cell, []
    if cell is None:
        return ""
    if cell.failed:
        ended = answer.ends.count if answer.ends else 0
        kinds = ", ".join(_kind(kind, n, ended) for kind, n in cell.blames.items())
        # A step that was never taken is blamed on a state that the call may not have come to.
        if cell.asks_steps or cell.failed > cell.n:
            blamed = "is" if cell.failed == 1 else "are"
            said.append(f"{cells.calls_text(cell.failed, 'failed ')} {blamed} blamed on it: {kinds}.")
        else:
            said.append(f"FAILS {percent(cell.failed / cell.n)}: {kinds}.")
    dwell, elsewhere = mean(cell.measures, "dwell_turns"), answer.elsewhere
    if not cells.is_thin(cell.n) and dwell and elsewhere and dwell >= max(LONGER * elsewhere, elsewhere + 0.5):
        said.append(f"{fixed(dwell)} turns a visit (elsewhere {fixed(elsewhere)}).")
    return " ".join(said)


def _kind(kind: str, n: int, ended: int) -> str:
    if kind == "hand-off":
        return f"{n:,} handed to a human"
    if kind == DEAD_END:
        return f"{n:,} end{'s' if n == 1 else ''} here" if n == ended else counted(n, "dead end")
    return f"{kind} {n:,}"


def never_reached(blast: Sequence[Mapping[str, Any]]) -> str:
    """Return which states calls that were lost here did not come to, and how many would have; `blast` as in JSON.

    It is a guess where not all that went on from here came there.
    """
    missed = [(victim, fixed(victim["starved"], 0)) for victim in blast if victim["starved"]]
    said = [f"{victim['state']} {'' if victim['reached'] == 1 else 'about '}{n}" for victim, n in missed if n != "0"]
    return f"never reached because of it: {' · '.join(said)}" if said else ""


def _rows(answer: Neighborhood, graph: EgoGraph) -> Iterator[Row]:
    from riff_store.queries.neighbors import Neighbor

    before, after = (
        _ranked([*steps, *([terminus] if terminus else [])])
        for steps, terminus in ((answer.predecessors, answer.starts), (answer.successors, answer.ends))
    )
    for step in before:
        yield _row(answer, "in", step)
    if answer.loops:
        n, stall = (answer.cell.n, mean(answer.cell.measures, "stall")) if answer.cell else (0, None)
        yield _row(
            answer, "self", Neighbor(answer.state, answer.loops, graph.loops_share, stall, n, suspicion=answer.loop)
        )
    for step in after:
        yield _row(answer, "out", step)


def _ranked(steps: Sequence[Neighbor | Terminus]) -> list[Neighbor | Terminus]:
    return sorted(steps, key=lambda step: (-step.count, not hasattr(step, "state"), getattr(step, "state", "")))


def _blast_record(blast: BlastRadius) -> dict[str, Any]:
    return {
        "blast": [cells.values_of(victim, "state through reached starved n") for victim in blast.victims],
        "blast_basis": blast.basis,
        "reach": {victim.state: victim.through for victim in blast.victims},
    }


def _row(answer: Neighborhood, direction: str, step: Neighbor | Terminus) -> Row:
    state: str | None = getattr(step, "state", None)
    suspicion = getattr(step, "suspicion", None)
    record = {
        "direction": direction,
        "state": state,
        **cells.values_of(step, "count share stall n"),
        "suspicion": None if suspicion is None else suspicion.ochiai,
        "p": None if suspicion is None else suspicion.p,
    }
    outcome = getattr(step, "outcome", ENDED if direction == "out" else START)
    if outcome is not None:
        record["outcome"] = outcome
    display = {}
    if state is None:
        record["stop_reasons"] = dict(getattr(step, "stop_reasons", {}))
        display["state"] = "(start)" if direction == "in" else "ends here"
    marks: dict[str, Severity] = {}
    if step.stall is not None and step.stall >= 0.15 and outcome != START:
        marks["stall"] = marks[""] = "bad" if step.stall >= 0.25 else "warn"
    # An outcome is not a working state: it has no calls of its own to be few.
    thin = outcome is None and step.n is not None and cells.is_thin(step.n)
    way = "came_from" if direction == "in" else "went_to"
    return Row(
        f"{direction} {state}" if state is not None else f"{direction}:{outcome}",
        record,
        display,
        severity=marks,
        thin=thin,
        where="" if outcome else cells.where({"flow": answer.flow, "state": state}),
        leads=f"{cells.where({'flow': answer.flow})} errored=no ({cells.where({'state': answer.state, way: state})})",
    )


def _metrics(cell: StateCell | None) -> dict[str, Any] | None:
    if cell is None:
        return None
    means = {key: cell.figure(key) for key in columns.STATE_METRIC_KEYS}
    asked = {} if cell.steps is None else cells.step_record(cell.steps)
    return {
        "segment": cell.segment,
        "n": cell.n,
        "failed": cell.failed,
        **means,
        **asked,
        "intervals": cells.intervals(cell.measures),
    }


def _notes(answer: Neighborhood, graph: EgoGraph, pooled: PooledLatency | None) -> Iterator[str]:
    n = answer.cell.n if answer.cell else 0
    times = [sum(one.count for one in side) + graph.loops for side in (graph.predecessors, graph.successors)]
    once = n in times or not any(times)
    if said := legend(graph, "calls that came in" if once else "times that calls were in it"):
        yield f"Graph: {said}."
    if answer.cell is None or answer.cell.n == 0:
        yield f"No call that counts has been in {answer.state}."
    else:
        yield from _measured(answer.state, answer.cell)
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
        yield f"Blast radius: no call went on from {answer.state}; the flow's files show what is behind it."
    else:
        if blast.basis == "agents":
            yield f"Blast radius: none of these calls went on from {answer.state}; those of other agents did."
        yield (
            "Blast radius: through, the share of a state's calls that had been here before; reached, of the calls that"
            " went on from here those that came there; unreached, the calls that would also have come there if none"
            " were lost here."
        )


def _measured(state: str, cell: StateCell) -> Iterator[str]:
    yield f"{state}, n {cell.n}{'~' if cells.is_thin(cell.n) else ''}, with 95 % intervals:"
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

    def draw(self, *, ascii_only: bool = False, width: int | None = None) -> list[str]:
        """Return the lines of all of it, none wider than `width` cells."""
        lines = EgoFigure.draw(self, ascii_only=ascii_only, width=width)
        if self.pooled is None or not self.pooled.buckets:
            return lines
        title = _TITLE.format(turns=self.pooled.turns, calls=self.pooled.calls)
        columns = histogram.draw(self.pooled.buckets, ascii_only=ascii_only, **({"width": width} if width else {}))
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
        return f"pooled over all turns: not read for more than {pooled.kept - 1:,} calls; filter further"
    if not pooled.kept:
        return "pooled over all turns: not available, no transcripts were kept"
    if not pooled.spoken:
        return "pooled over all turns: not measured, the agent never speaks in this state"
    return "pooled over all turns: not measured, no turn in this state has a latency"


def latency_extras(pooled: PooledLatency | None) -> Mapping[str, Any]:
    """Return the keys of the JSON form: the 95th percentile, and all else that is known."""
    if pooled is None or not pooled.turns:
        return {"pooled_latency_p95": None, "pooled_latency": None}
    spread = [{"from": each.low, "to": each.high, "turns": each.count} for each in pooled.buckets]
    known = {share: getattr(pooled, share) for share in SHARES}
    known |= {"turns": pooled.turns, "calls": pooled.calls, "kept": pooled.kept, "buckets": spread}
    return {"pooled_latency_p95": pooled.p95, "pooled_latency": known}


_BLASTED = record({"state": TEXT, "n": COUNT, "through": NUMBER, "reached": NUMBER, "starved": or_null(NUMBER)})
_BUCKET = record({"from": NUMBER, "to": or_null(NUMBER), "turns": COUNT})
_METRICS = {
    "segment": or_null(TEXT),
    **dict.fromkeys(("n", "failed"), COUNT),
    **numbers(columns.STATE_METRIC_KEYS),
    "intervals": INTERVALS,
}
_TOP = {
    "flow": TEXT,
    "state": TEXT,
    "calls": COUNT,
    "blast": list_of(_BLASTED),
    "blast_basis": or_null(TEXT),
    "reach": by_name(NUMBER),
    "metrics": or_null(record({**_METRICS, **columns.STEP}, sometimes=columns.STEP)),
    "typed": FLAG,
    "step": record(columns.STEP),
    "pooled_latency_p95": or_null(NUMBER),
    "pooled_latency": or_null(
        record(
            {
                **numbers(("p50", "p95", "p99")),
                **dict.fromkeys(("turns", "calls", "kept"), COUNT),
                "buckets": list_of(_BUCKET),
            }
        )
    ),
}


SPEC = ViewSpec(
    name="neighbors",
    title="Neighbours of a state",
    help=(
        "One state between the states before and after it, with counts and shares of the steps.",
        "The filter has to name it: flow=F state=S.",
        "The blast radius lists the states that are never reached because of it, each with the calls that it lacks.",
    ),
    order=170,
    aliases=("neighbours",),
    show=show,
    rows={"outcome": TEXT, "stop_reasons": COUNTS, "n": or_null(COUNT), "state": or_null(TEXT)},
    top=_TOP,
    sometimes=("outcome", "stop_reasons", "step", "typed"),
    columns=_COLUMNS,
    # The filter names the state in the middle, and its metrics choose calls.
    filters=Filters(call_fields=("state", "stall")),
    row_kind="call",
    words=Words(noun="state", label="neighbours", nouns=("conversation", "conversations"), empty_store=""),
    screen=Screen(
        kind="state",
        key="v",
        help="The neighbour graph of the state under the cursor; in a state, go round: its graph, its latencies, its"
        " conversations alone, all of it; in a call, its whole timeline, or less of it.",
        depth=3,
        below="conversation",
        walk=("flow", "agent", "segment", "state"),
        rows_of="conversations",
    ),
)
