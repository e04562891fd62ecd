"""Show how calls fare in each state, the worst first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from riff_store.filters.predicates import Predicate, Term, all_of, conjuncts
from riff_store.measure import is_thin, mean
from riff_tui.shapes import COUNT, COUNTS, INTERVALS, or_null
from riff_tui.table import Column, Row, Severity, Table
from riff_tui.text.numbers import excluded_text, fixed, percent
from riff_tui.view_query import BuildTable, FilterParts, MadeRows, ViewQuery, outlines
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import BY, EMPTY_STORE, Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.queries.states import SegmentCell, StateCell


SUMMING = "summing up the states"
NO_STATES = "No call that counts has events, and states come from those."
TITLE = "Per-state quality: {scope} (worst first)"
UNITS = (
    "Units: progress, stall, escal, slot_fill shares of calls · revisit entries · dwell agent turns per entry"
    " · lat_p95 seconds, mean over calls · slow share of turns over 4 s."
)

STEPS = (
    "Steps: of the expected calls, whose tasks ask for the state, missed is the share that never came there, wrong_args"
    " that which called the tool with other arguments; --sort=-missed_failed has those first that failed calls missed."
)


def show(query: ViewQuery) -> Table:
    """Return the states with how many calls were errored and, where the filter names a flow, where each state led."""
    from riff_store.queries.states import ORDERED_BY, count_states, state_cells
    from riff_store.queries.sums import takes_long

    def build(whole: bool, parts: FilterParts) -> Table:
        answers = state_cells(query.store, parts.calls, by=query.keys, whole=whole, first=query.first(parts))
        return states(answers, query.keys, flows=_named_flows(query.predicate))

    def table(whole: bool) -> Table:
        found = of_named_flows(query, partial(build, whole), lambda: count_states(query.store, query.keys))
        found = found._replace(title=TITLE.format(scope=flows_of(query.predicate)))
        if not whole:
            return found
        found = with_excluded(query, found)
        if not any(term.field == "flow" for term in _terms_that_hold(query.predicate)):
            return found
        return found._replace(notes=[*found.notes, *successors(outlines(found.rows))])

    if not takes_long(query.store, query.parts().calls, query.keys):
        return table(True)
    later = {column.key for column in (*columns.STATE_METRICS, columns.TO_STATES)} - {*ORDERED_BY, "lost"}
    return query.in_two_parts(table, SUMMING, later)


def of_named_flows(query: ViewQuery, build: BuildTable, count: Callable[[], int]) -> Table:
    """Return a result for which no other calls are read than those of the flows that the filter names, if it does."""
    parts = query.parts()
    named = _flow_terms(parts.rows)
    if parts.calls is None and named:
        found = query.result(parts._replace(calls=all_of(named)), build, count=count)
        if found.matched:
            return found
    return query.result(parts, build, count=count)


def with_excluded(query: ViewQuery, table: Table) -> Table:
    """Count errored calls, which state rows do not have: of the flows on show and of flows without any other call."""
    from riff_store.filters.dimensions import Grouping
    from riff_store.queries.sums import call_sums

    keys = tuple(dict.fromkeys(("flow", *query.request.by)))
    shown = {tuple(row.record[key] for key in keys) for row in outlines(table.rows)}
    counts = call_sums(query.store, query.parts().calls, Grouping(keys))
    left_out = [calls for names, calls in counts.items() if names in shown or not calls.n]
    excluded, failed = sum(calls.excluded for calls in left_out), sum(calls.caller_failed for calls in left_out)
    units, *others = table.notes
    if counts and EMPTY_STORE in others:
        others[others.index(EMPTY_STORE)] = NO_STATES
    left = [f"Excluded: {excluded_text(excluded, failed)}."] if excluded else []
    return table._replace(notes=[units, *left, *others])


def flows_of(predicate: Predicate | None) -> str:
    """Name the flows that a filter leaves, for a title."""
    named = [term for term in _terms_that_hold(predicate) if term.field == "flow"]
    if len(named) == 1 and named[0].operator in ("=", "contains"):
        return f"{'' if named[0].operator == '=' else 'flows with '}{named[0].value}"
    return "all flows" if predicate is None else "filtered flows"


def _flow_terms(predicate: Predicate | None) -> list[Term]:
    return [term for term in _terms_that_hold(predicate) if (term.field, term.operator) == ("flow", "=")]


def _named_flows(predicate: Predicate | None) -> set[str]:
    """Return the flows that a filter names, none if it names none."""
    return {str(term.value) for term in _flow_terms(predicate)}


def _terms_that_hold(predicate: Predicate | None) -> list[Term]:
    """Return the terms that have as they are, neither negated nor one of several."""
    return [part for part in conjuncts(predicate) if isinstance(part, Term)]


def states(
    answers: Sequence[StateCell], by: Sequence[str] = (), scope: str = "all flows", flows: Collection[str] = ()
) -> Table:
    """Return the matrix, in the order of the answers; `by` names further keys, `scope` the flows it is about.

    Steps have columns where tasks of these flows ask for some; without any it is of all.
    """
    from riff_store.queries.states import StateCells

    keys = ["flow", "state", *(key for key in by if key not in ("flow", "state"))]
    asked = list(answers.told) if isinstance(answers, StateCells) else answers
    has_steps = any(cell.steps is not None and (not flows or cell.keys["flow"] in flows) for cell in asked)
    return Table(
        view="states",
        title=TITLE.format(scope=scope),
        columns=[
            *columns.keys(keys),
            columns.HIDDEN_SEGMENT,
            columns.FAILED_HERE,
            columns.N,
            *columns.STATE_METRICS,
            *(columns.STEPS if has_steps else ()),
            columns.TO_STATES,
        ],
        rows=MadeRows(
            len(answers),
            lambda at: _outline(answers[at], keys, has_steps),
            lambda at, outline: _row(answers[at], outline, keys),
        ),
        notes=[UNITS, *([STEPS] if has_steps else []), *cells.typed_note(asked, flows)],
    )


def record_of(cell: StateCell | SegmentCell) -> dict[str, Any]:
    """Return a cell's means by metric, unrounded."""
    return {key: cell.figure(key) for key in columns.STATE_METRIC_KEYS}


def segment_marks(cell: SegmentCell, record: Mapping[str, Any]) -> dict[str, Severity]:
    """Mark the metrics of a segment and its worst state, which marks the row as well."""
    marks = cells.state_marks(record, typed=cell.typed)
    ill = cells.stall_mark(mean(cell.worst.measures, "stall")) if not is_thin(cell.worst) else None
    if ill:
        marks["worst_state"] = ill
        marks[""] = cells.worst_of([ill, marks.get("", ill)]) or ill
    return marks


def _outline(cell: StateCell, keys: Sequence[str], has_steps: bool) -> Row:
    names = {key: cell.keys.get(key) for key in keys}
    record: dict[str, Any] = {**names, "segment": cell.segment, "n": cell.n, "failed": cell.failed}
    record |= record_of(cell)
    record["to_states"] = dict(cell.to_states)
    if has_steps:
        record |= cells.step_record(cell.steps)
    where = cells.where(names)
    return Row(where, record, thin=is_thin(cell), where=where)


def _row(cell: StateCell, outline: Row, keys: Sequence[str]) -> Row:
    record = {**outline.record, "intervals": cells.intervals(cell.measures)}
    leads = _leads({key: cell.keys.get(key) for key in keys}, cell)
    return outline._replace(
        record=record,
        severity=cells.state_marks(record, typed=cell.typed),
        counts=cells.counts_of(cell.n, cell.measures),
        order="correctness" if leads else "",
        leads=leads,
    )


def _leads(names: Mapping[str, str | None], cell: StateCell) -> str:
    """Return the filter of the calls that failed by a step that tasks ask for: they may not have come to its state."""
    if cell.steps is None or not (cell.failed or cell.steps.missed_failed or cell.steps.wrong_failed):
        return ""
    if cell.failed > (cell.steps.missed_failed or cell.steps.wrong_failed):
        return cells.where({"first_failed" if key == "state" else key: name for key, name in names.items()})
    return cells.missed_step_filter(names, cell.steps)


def successors(rows: Iterable[Row]) -> list[str]:
    """Return where each state of the rows led to, with counts, a line each."""
    lines = []
    for row in rows:
        to_states: Mapping[str, int] = row.record["to_states"]
        if to_states:
            ranked = sorted(to_states.items(), key=lambda step: (-step[1], step[0]))
            listed = ", ".join(f"{state} {count}" for state, count in ranked)
            further = [f"({row.record[key]})" for key in BY if key != "flow" and row.record.get(key) is not None]
            lines.append(f"{' '.join([row.record['state'], *further])} → {listed}")
    return lines


SPEC = ViewSpec(
    name="states",
    title="Per-state quality",
    help=(
        "How calls fare in each state: most stalls first, then least progress.",
        "A row of fewer than five calls is thin and its n carries ~.",
        "With flow=F in the filter, each state's successors follow below the table.",
    ),
    order=40,
    aliases=("state-matrix",),
    show=show,
    keys=("flow", "state"),
    rows={"to_states": COUNTS, "intervals": INTERVALS, "lost": or_null(COUNT), **columns.STEP},
    sometimes=tuple(columns.STEP),
    columns=(
        *columns.keys(("flow", "state")),
        columns.HIDDEN_SEGMENT,
        columns.FAILED_HERE,
        columns.N,
        *columns.STATE_METRICS,
        *columns.STEPS,
        columns.TO_STATES,
    ),
    order_by="-stall",
    first=("failed", "n", "expected", "missed", "wrong_args"),
    comparable=True,
    splits=True,
    words=Words(nouns=("state", "states")),
    screen=Screen(
        key="3",
        help="The states of this flow or segment; press again for more.",
        depth=2,
        below=lambda row: "conversations" if row.leads else "neighbors" if row.record["n"] else "",
        walk=("flow", "agent", "segment"),
    ),
)

SEGMENTS_TITLE = "Per-segment quality: {scope} (worst first)"

_N = columns.N._replace(
    help="Calls that came to a state of it, of all its states together; below 5 the row is thin and carries `~`.",
)
_WORST = (
    columns.WORST_STATE,
    columns.share("worst_stall", "worst_stall", better="lower", shown=False, help="The worst member's own stall."),
    Column("worst_n", "worst_n", kind="count", shown=False, help="Calls behind the worst member."),
    columns.share(
        "cohesion", "cohesion", better="lower", shown=False,
        help="How far apart its states are: the largest less the smallest progress of one.",
    ),
    Column("least_state", "least progress", kind="text", shown=False, help="The state with the least progress."),
    Column("most_state", "most progress", kind="text", shown=False, help="The state with the most progress."),
)  # fmt: skip


def show_segments(query: ViewQuery) -> Table:
    """Return the segments, with the flows that the table is about and how many calls were errored."""
    from riff_store.queries.states import count_segments, segment_cells

    def build(parts: FilterParts) -> Table:
        answers = segment_cells(query.store, parts.calls, by=query.keys)
        return segments(answers, query.keys, flows=_named_flows(query.predicate))

    table = of_named_flows(query, build, lambda: count_segments(query.store, query.keys))
    return with_excluded(query, table._replace(title=SEGMENTS_TITLE.format(scope=flows_of(query.predicate))))


def segments(
    answers: Sequence[SegmentCell], by: Sequence[str] = (), scope: str = "all flows", flows: Collection[str] = ()
) -> Table:
    """Return the matrix, in the order of the answers; `by` names further keys, `scope` the flows it is about."""
    keys = ["flow", "segment", *(key for key in by if key not in ("flow", "segment"))]
    return Table(
        view="segments",
        title=SEGMENTS_TITLE.format(scope=scope),
        columns=[*columns.keys(keys), columns.FAILED_HERE, _N, *columns.STATE_METRICS, *_WORST],
        rows=MadeRows(
            len(answers),
            lambda at: _segment_outline(answers[at], keys),
            lambda at, outline: _segment_row(answers[at], outline, keys),
        ),
        notes=[UNITS, *cells.typed_note(answers, flows)],
    )


def _segment_outline(cell: SegmentCell, keys: Sequence[str]) -> Row:
    names = {key: cell.keys.get(key) for key in keys}
    low, high = mean(cell.least.measures, "progress"), mean(cell.most.measures, "progress")
    record: dict[str, Any] = {
        **names,
        "n": cell.n,
        "failed": cell.failed,
        **record_of(cell),
        "worst_state": cell.worst.keys.get("state"),
        "worst_stall": mean(cell.worst.measures, "stall"),
        "worst_n": cell.worst.n,
        "cohesion": None if low is None or high is None else high - low,
        "least_state": cell.least.keys.get("state"),
        "most_state": cell.most.keys.get("state"),
    }
    where = cells.where(names)
    return Row(where, record, thin=is_thin(cell), where=where if cell.n or cell.failed else "")


def _segment_row(cell: SegmentCell, outline: Row, keys: Sequence[str]) -> Row:
    record = {**outline.record, "intervals": cells.intervals(cell.measures)}
    worst, stall, leads = record["worst_state"], record["worst_stall"], ""
    if not cell.n and cell.failed:
        # Calls are blamed on a step that they never came to: no state of the phase has a row, and the calls prove it.
        others = {key: cell.keys.get(key) for key in keys if key != "segment"}
        leads = cells.where({**others, "first_failed": worst})
    return outline._replace(
        record=record,
        display={"worst_state": f"{worst} (stall {percent(stall)}, n {cell.worst.n})"},
        posted={"worst_state": f"{worst} (stall {fixed(stall, 2, trim=True)}, n {cell.worst.n})"},
        severity=segment_marks(cell, record),
        counts=cells.counts_of(cell.n, cell.measures),
        leads=leads,
    )


SEGMENTS = ViewSpec(
    name="segments",
    title="Per-segment quality",
    help=(
        "The phases of each flow: means over the rows of their states, the worst first.",
        "A phase's mean can hide one bad state, so the row shows the worst member.",
        "Drill into a phase with states --where 'flow=F segment=S'.",
    ),
    order=30,
    aliases=("segment-matrix",),
    show=show_segments,
    keys=("flow", "segment"),
    rows={"intervals": INTERVALS, "lost": or_null(COUNT)},
    columns=(*columns.keys(("flow", "segment")), columns.FAILED_HERE, _N, *columns.STATE_METRICS, *_WORST),
    order_by="-stall",
    # A phase's worst member is where it is seen, whatever else has no room.
    last=("revisit", "dwell_turns", "latency_p95", "slot_fill_rate"),
    comparable=True,
    splits=True,
    words=Words(nouns=("segment", "segments")),
    screen=Screen(
        key="2",
        help="The segments of this flow; press again for more.",
        below=lambda row: "conversations" if row.leads else "states",
        walk=("flow", "agent"),
    ),
)
SPECS = (SPEC, SEGMENTS)
