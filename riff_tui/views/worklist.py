"""The worklist: weakest flows, weakest segments, root-cause states, each a place to drill to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from riff_store.answers import FlowCell, SegmentCell, StateCell, Worklist
from riff_store.measure import Measure
from riff_tui.numbers import fixed
from riff_tui.table import Column, Row, Section, Table
from riff_tui.views import cells, columns

TITLE = "What to work on (flow → segment → state)"
STUCK = 0.7
HIGH = 0.25
LONG_DWELL = 3
SLOW = 8
GUARD_ERRORS = 0.5

_COLUMNS = (
    Column("list", "List", kind="name", help="Which of the three lists the place stands in."),
    Column("rank", "Rank", kind="count", help="Its rank in that list, the most urgent first; thin places come last."),
    *columns.keys(("flow", "agent", "segment", "state")),
    columns.N,
    Column("reasons", "Reasons", kind="object", help="What is wrong there."),
    columns.CORRECTNESS,
    *columns.STATE_METRICS,
    Column("worst_state", "worst member", kind="text", help="The state of the segment that a mean would hide."),
)


def worklist(answer: Worklist) -> Table:
    """Three ranked lists, as the query ranked and cut them (metrics.md, section 6)."""
    flows = [_flow(rank, cell) for rank, cell in enumerate(answer.flows, 1)]
    segments = [_segment(rank, cell) for rank, cell in enumerate(answer.segments, 1)]
    states = [_state(rank, cell) for rank, cell in enumerate(answer.states, 1)]
    return Table(
        view="worklist",
        title=TITLE,
        columns=_COLUMNS,
        rows=[*flows, *segments, *states],
        notes=[*_excluded(answer.excluded), *_drill(states or segments or flows)],
        sections=[
            Section("Weakest flows", "x", tuple(row.id for row in flows)),
            Section("Weakest segments", "!", tuple(row.id for row in segments)),
            Section("Root-cause states", "*", tuple(row.id for row in states)),
        ],
    )


def state_reasons(cell: StateCell) -> dict[str, str]:
    """Why a state is on the list: the metric behind each reason, and what it says."""
    found = _rates(cell.measures, "escalates")
    progress = cells.mean(cell.measures, "progress")
    stuck = progress is not None and progress < STUCK
    dwell = cells.mean(cell.measures, "dwell_turns")
    if stuck and dwell is not None and dwell > LONG_DWELL:
        found["dwell_turns"] = f"dwell {fixed(dwell, 1)}"
    latency = cells.mean(cell.measures, "latency_p95")
    if latency is not None and latency > SLOW:
        found["latency_p95"] = f"lat_p95 {fixed(latency, 1)} s"
    guards = cells.mean(cell.measures, "guard_error")
    if guards is not None and guards >= GUARD_ERRORS:
        found["guard_error"] = f"guard errors {fixed(guards, 2, trim=True)}"
    slots = cells.mean(cell.measures, "slot_fill_rate")
    if stuck and slots is not None and slots < STUCK:
        said = fixed(progress, 2, trim=True)
        found["slot_fill_rate"] = f"slot_fill {fixed(slots, 1)} (stuck, prog {said})"
    if cell.missed:
        found["missed"] = f"missed {fixed(cell.missed, 2, trim=True)} of {cell.expected}"
    if cell.wrong_args:
        found["wrong_args"] = f"wrong_args {fixed(cell.wrong_args, 2, trim=True)}"
    return found


def _flow(rank: int, cell: FlowCell) -> Row:
    flow, agent = cell.keys.get("flow"), cell.keys.get("agent")
    correctness = cells.mean(cell.aspects, "correctness")
    reason = f"correctness {fixed(correctness, 1)}"
    return _row(
        "flows",
        rank,
        cell.n,
        {"flow": flow, "agent": agent, "segment": None, "state": None},
        [reason],
        {"correctness": correctness},
        place=flow or "",
        summary=f"{reason}  (agent {agent}, n {_count(cell.n)})",
    )


def _segment(rank: int, cell: SegmentCell) -> Row:
    flow, segment = cell.keys.get("flow"), cell.keys.get("segment")
    worst = cell.worst.keys.get("state")
    measured = {key: cells.mean(cell.measures, key) for key in ("stall", "escalation", "progress")}
    reasons = [
        f"{word} {fixed(measured[key], 2, trim=True)}"
        for key, word in (("stall", "stall"), ("escalation", "escal"), ("progress", "progress"))
    ]
    thin = f", n {_count(cell.n)}" if cells.is_thin(cell.n) else ""
    return _row(
        "segments",
        rank,
        cell.n,
        {"flow": flow, "agent": None, "segment": segment, "state": None},
        reasons,
        {**measured, "worst_state": worst},
        place=f"{flow}/{segment}",
        summary=f"{'  '.join(reasons)}  (worst: {worst}{thin})",
    )


def _state(rank: int, cell: StateCell) -> Row:
    flow, state = cell.keys.get("flow"), cell.keys.get("state")
    reasons = state_reasons(cell)
    measured = {key: cells.mean(cell.measures, key) for key in columns.STATE_METRIC_KEYS if key in reasons}
    if "slot_fill_rate" in reasons:
        measured["progress"] = cells.mean(cell.measures, "progress")
    steps = {key: value for key, value in (("missed", cell.missed), ("wrong_args", cell.wrong_args)) if key in reasons}
    thin = f" (n {_count(cell.n)})" if cells.is_thin(cell.n) else ""
    return _row(
        "states",
        rank,
        cell.n,
        {"flow": flow, "agent": None, "segment": cell.segment, "state": state},
        list(reasons.values()),
        measured | steps,
        place=f"{flow}/{state}",
        summary=" · ".join(reasons.values()) + thin,
    )


def _row(
    listed: str,
    rank: int,
    n: int,
    names: Mapping[str, str | None],
    reasons: list[str],
    measured: Mapping[str, Any],
    *,
    place: str,
    summary: str,
) -> Row:
    record = {"list": listed, "rank": rank, **names, "n": n, "reasons": reasons, **measured}
    # A state is found by its flow and name alone; its segment would only narrow the way down.
    led = {
        key: name for key, name in names.items() if name is not None and not (listed == "states" and key == "segment")
    }
    where = cells.where(led)
    return Row(
        f"{listed}: {where}",
        record,
        display={"place": place, "summary": summary, "reasons": "; ".join(reasons)},
        severity={"": "bad"} if rank <= 3 else {"": "warn"},
        thin=cells.is_thin(n),
        where=where,
    )


def _rates(measures: Mapping[str, Measure], escalates: str) -> dict[str, str]:
    found = {}
    for key, word in (("stall", "stall"), ("escalation", escalates)):
        value = cells.mean(measures, key)
        if value is not None and value >= HIGH:
            found[key] = f"{word} {fixed(value, 2, trim=True)}"
    return found


def _count(n: int) -> str:
    return f"{n}~" if cells.is_thin(n) else str(n)


def _excluded(count: int) -> Iterable[str]:
    if count:
        yield f"Excluded: {count} errored {'call is' if count == 1 else 'calls are'} in no mean."


def _drill(rows: list[Row]) -> Iterable[str]:
    if rows:
        flow = cells.where({"flow": rows[0].record["flow"]})
        yield f"Drill: riff-tui dump states --where {cells.shell_quoted(flow)}"
