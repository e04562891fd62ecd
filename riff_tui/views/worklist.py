"""Show what to work on: weakest flows, weakest segments, root-cause states, each a place to drill to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from riff_store.measure import is_thin, mean
from riff_tui.table import Column, Row, Section, Table, in_one_step
from riff_tui.text.numbers import fixed
from riff_tui.text.words import excluded_text
from riff_tui.view_query import FilterParts, ViewQuery
from riff_tui.views.parts import cells, columns
from riff_tui.views.parts.cells import what_is_first
from riff_tui.views.spec import EMPTY_STORE, Filters, Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.queries.flows import FlowCell
    from riff_store.queries.states import SegmentCell, StateCell
    from riff_store.queries.steps import FirstToMend
    from riff_store.queries.worklist import Worklist

RANKING = "ranking segments and states"
FLOWS_ALONE = "Segments and states are still being ranked."
_ALL = 10**9
_STATES = ("flow", "state")
_NAMED = 3
Cell: TypeAlias = "FlowCell | SegmentCell | StateCell"
TITLE = "What to work on (flow → segment → state)"
_COLUMNS = (
    Column("list", "List", kind="name", help="Which of the three lists the place stands in."),
    Column("rank", "Rank", kind="count", help="Its rank in that list, the most urgent first; thin places come last."),
    *columns.keys(("flow", "agent", "segment", "state")),
    columns.LOST,
    columns.N,
    Column("reasons", "Reasons", kind="object", help="What is wrong there."),
    columns.CORRECTNESS,
    columns.SUCCESS,
    Column("failed_calls", "failed", kind="count", better="lower", help="Calls that were not correct and complete."),
    *(column for column in columns.STATE_METRICS if column is not columns.LOST),
    *columns.STEPS,
    Column("worst_state", "worst member", kind="text", help="The state of the segment that a mean would hide."),
)


def show(query: ViewQuery) -> Table:
    """Return the three ranked lists, as many of each as requested; where that takes long, a screen sees flows first."""
    from riff_store.queries.conversations import count_conversations
    from riff_store.queries.sums import takes_long
    from riff_store.queries.worklist import worklist as asked

    def table(whole: bool) -> Table:
        def build(parts: FilterParts) -> Table:
            return worklist(asked(query.store, parts.calls, _ALL, whole=whole))

        return query.result(query.parts(), build)

    if query.is_slow_on_screen and query.request.sort is None and takes_long(query.store, query.parts().calls, _STATES):
        flows = table(False)
        if flows.rows:
            return replace(
                flows,
                total=None,
                matched=None,
                notes=[FLOWS_ALONE],
                sections=flows.sections[:1],
                deferred=partial(in_one_step, RANKING, partial(table, True)),
            )
    found = table(True)
    if found.rows or count_conversations(query.store):
        return found
    return replace(found, notes=[*found.notes, EMPTY_STORE])


def worklist(answer: Worklist) -> Table:
    """Return three ranked lists, as the query ranked and cut them (docs/metrics.md, section 6)."""
    flows = [_flow(rank, cell) for rank, cell in enumerate(answer.flows, 1)]
    segments = [_segment(rank, cell) for rank, cell in enumerate(answer.segments, 1)]
    states = [_state(rank, cell) for rank, cell in enumerate(answer.states, 1)]
    return Table(
        view="worklist",
        title=TITLE,
        **what_is_first(answer.first),
        columns=_COLUMNS,
        rows=[*flows, *segments, *states],
        notes=[
            *_by_steps(answer),
            *_not_known(answer),
            *_excluded(answer),
            *_drill(answer.first, states or segments or flows),
        ],
        sections=[
            Section("Weakest flows", "x", tuple(row.id for row in flows)),
            Section("Weakest segments", "!", tuple(row.id for row in segments)),
            Section("Root-cause states", "*", tuple(row.id for row in states)),
        ],
    )


def reason_texts(cell: StateCell) -> dict[str, str]:
    """Return why a state is on the list: the metric behind each reason, and what it says."""
    from riff_store.queries.states import reasons

    return {metric: _REASON_TEXTS[metric](cell) for metric in reasons(cell)}


def _share(cell: StateCell, metric: str) -> str:
    return fixed(mean(cell.measures, metric), 2, trim=True)


def _tenths(cell: StateCell, metric: str) -> str:
    return fixed(mean(cell.measures, metric), 1)


_REASON_TEXTS: Mapping[str, Callable[[StateCell], str]] = {
    "stall": lambda cell: f"stall {_share(cell, 'stall')}",
    "escalation": lambda cell: f"escalates {_share(cell, 'escalation')}",
    "missed": lambda cell: "" if cell.steps is None else cells.missed_step_text(cell.steps),
    "wrong_args": lambda cell: "" if cell.steps is None else cells.wrong_step_text(cell.steps),
    "dwell_turns": lambda cell: f"dwell {_tenths(cell, 'dwell_turns')}",
    "latency_p95": lambda cell: f"lat_p95 {_tenths(cell, 'latency_p95')} s",
    "guard_error": lambda cell: f"guard errors {_share(cell, 'guard_error')}",
    "slot_fill_rate": lambda cell: (
        f"slot_fill {_tenths(cell, 'slot_fill_rate')} (stuck, prog {_share(cell, 'progress')})"
    ),
}


_ORDERS: Mapping[str, str] = {
    **{metric: f"-{metric}" for metric in _REASON_TEXTS},
    "stall": "-lost",
    "escalation": "-lost",
    "missed": "correctness",
    "wrong_args": "correctness",
    "slot_fill_rate": "slot_fill_rate",
}
"""The orders in which calls show the reasons, the worst call first."""


def _flow(rank: int, cell: FlowCell) -> Row:
    flow, agent = cell.keys.get("flow"), cell.keys.get("agent")
    correctness = mean(cell.aspects, "correctness")
    reason = f"correctness {fixed(correctness, 1)}"
    failed = None if cell.success.mean is None else cell.success.n - round(cell.success.mean * cell.success.n)
    return _row(
        "flows",
        rank,
        cell,
        {"flow": flow, "agent": agent, "segment": None, "state": None},
        [reason],
        {"correctness": correctness, "success_rate": cell.success.mean, "failed_calls": failed},
        place=flow or "",
        summary=f"{reason}  (agent {agent}, n {_count(cell)})" + (f"  {failed:,} failed" if failed else ""),
        lost=cell.lost,
        order="correctness",
    )


def _segment(rank: int, cell: SegmentCell) -> Row:
    flow, segment = cell.keys.get("flow"), cell.keys.get("segment")
    worst = cell.worst.keys.get("state")
    measured = {key: mean(cell.measures, key) for key in ("stall", "escalation", "progress")}
    found = [
        f"{word} {fixed(measured[key], 2, trim=True)}"
        for key, word in (("stall", "stall"), ("escalation", "escal"), ("progress", "progress"))
    ]
    thin = f", n {_count(cell)}" if is_thin(cell) else ""
    return _row(
        "segments",
        rank,
        cell,
        {"flow": flow, "agent": None, "segment": segment, "state": None},
        found,
        {**measured, "worst_state": worst},
        place=f"{flow}/{segment}",
        summary=f"{'  '.join(found)}  (worst: {worst}{thin})" + _lost(cell),
        lost=cell.lost,
        order=_ORDERS["stall"],
    )


def _state(rank: int, cell: StateCell) -> Row:
    flow, state = cell.keys.get("flow"), cell.keys.get("state")
    found, n = reason_texts(cell), cell.n
    measured: dict[str, Any] = {key: cell.figure(key) for key in columns.STATE_METRIC_KEYS if key in found}
    if "slot_fill_rate" in found:
        measured["progress"] = mean(cell.measures, "progress")
    if "missed" in found or "wrong_args" in found:
        measured |= cells.step_record(cell.steps)
        # Calls that missed a step were never in its state.
        measured["n"] = n = cell.n if cell.steps is None else cell.steps.expected
    thin = f" (n {n}~)" if is_thin(cell) else ""
    return _row(
        "states",
        rank,
        cell,
        {"flow": flow, "agent": None, "segment": cell.segment, "state": state},
        list(found.values()),
        measured,
        place=f"{flow}/{state}",
        summary=" · ".join(found.values()) + thin + _lost(cell),
        lost=cell.lost,
        order=_ORDERS[next(iter(found))] if found else "",
        leads=cells.missed_step_filter({"flow": flow, "state": state}, cell.steps),
    )


def _lost(cell: SegmentCell | StateCell) -> str:
    return f"  lost {cell.lost:,} of {cell.n:,}" if cell.lost else ""


def _row(
    listed: str,
    rank: int,
    cell: Cell,
    names: Mapping[str, str | None],
    texts: list[str],
    measured: Mapping[str, Any],
    *,
    place: str,
    summary: str,
    lost: int | None,
    order: str,
    leads: str = "",
) -> Row:
    record = {"list": listed, "rank": rank, **names, "lost": lost, "n": cell.n, "reasons": texts, **measured}
    # A state is found by its flow and name alone; its segment would only narrow the way down.
    led = {
        key: name for key, name in names.items() if name is not None and not (listed == "states" and key == "segment")
    }
    where = cells.where(led)
    return Row(
        f"{listed}: {where}",
        record,
        display={"place": place, "summary": summary, "reasons": "; ".join(texts)},
        severity={"": "bad"} if rank <= 3 else {"": "warn"},
        thin=is_thin(cell),
        where=where,
        order=order,
        leads=leads,
    )


def _count(cell: Cell) -> str:
    return f"{cell.n}~" if is_thin(cell) else str(cell.n)


def _not_known(answer: Worklist) -> Iterable[str]:
    """Say where calls that were lost are not known: they tell no states, or an older version read their files."""
    listed: Sequence[Cell] = (*answer.flows, *answer.segments, *answer.states)
    if answer.first is None and any(cell.n and cell.lost is None for cell in listed):
        yield "Lost: not known where calls tell no states, or riff-tui ingest PATH... has to read their files again."


def _by_steps(answer: Worklist) -> Iterable[str]:
    """Say in which flows states are ranked by steps and why, and which steps are on no list."""
    if answer.by_steps:
        flows = ", ".join(answer.by_steps[:_NAMED]) + _more(answer.by_steps)
        yield (
            f"Steps: in flows whose tasks ask for steps ({flows}) states are ranked by the failed calls that missed"
            " the step: a stall in a derived state says where a call ended, not why."
        )
    if answer.by_ends:
        flows = ", ".join(answer.by_ends[:_NAMED]) + _more(answer.by_ends)
        yield (
            f"Derived: the states of {flows} are the tools that were called: one that lost calls says where they ended,"
            " not why, and no task names steps that would tell."
        )
    if answer.handovers:
        missed = [
            f"{cell.keys['flow']}/{cell.keys['state']} ({cells.short_step_text(cell.steps)})"
            for cell in answer.handovers
            if cell.steps is not None
        ]
        yield f"Not listed: steps that hand over to a human, {', '.join(missed[:_NAMED])}{_more(missed)}."


def _more(named: Sequence[str]) -> str:
    return f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""


def _excluded(answer: Worklist) -> Iterable[str]:
    if answer.excluded:
        yield f"Excluded: {excluded_text(answer.excluded, answer.caller_failed)}."


def _drill(first: FirstToMend | None, rows: list[Row]) -> Iterable[str]:
    if rows or first:
        flow = cells.where({"flow": first.flow if first else rows[0].record["flow"]})
        yield f"Drill: riff-tui dump states --where {cells.shell_quoted(flow)}"


_BELOW = {"flows": "segments", "segments": "states", "states": "neighbors"}


def _below(row: Row) -> str:
    return "conversations" if row.leads else _BELOW.get(str(row.record.get("list")), "")


SPEC = ViewSpec(
    name="worklist",
    title="What to work on",
    help=(
        "The state behind most failed calls, then the weakest flows, segments and states, ten of each.",
        "Each place says why it stands there, and how many calls it lost; thin places come last.",
        "The last line leads further down.",
    ),
    order=10,
    aliases=("analyze",),
    show=show,
    limit=10,
    columns=_COLUMNS,
    filters=Filters(fields=tuple(column.key for column in columns.STEPS), calls=True),
    words=Words(
        nouns=("entry", "entries"),
        empty="Nothing stands out: no flow is weak, no state stalls.",
        empty_store="",
        ranked="by what to fix first",
    ),
    screen=Screen(key="0", help="What to work on: the weakest flows, segments and states.", below=_below),
)
