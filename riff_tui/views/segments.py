"""Show each phase of a flow with the member state that does worst."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from riff_store.measure import is_thin, mean
from riff_tui.table import Column, Row, Table
from riff_tui.text.numbers import fixed
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import Screen, ViewSpec, Words
from riff_tui.views.states import UNITS, flows_of, with_excluded

if TYPE_CHECKING:
    from riff_store.queries.states import SegmentCell
    from riff_tui.view_query import ViewQuery

TITLE = "Per-segment quality: {scope} (worst first)"

_WORST = (
    Column("worst_state", "worst member", kind="text", help="The state of the segment that a mean would hide."),
    Column("worst_stall", "worst_stall", unit="share", better="lower", decimals=2, trim=True, shown=False,
           help="The worst member's own stall."),
    Column("worst_n", "worst_n", kind="count", shown=False, help="Calls behind the worst member."),
    Column("cohesion", "cohesion", unit="share", better="lower", decimals=2, trim=True, shown=False,
           help="How far apart its states are: the largest less the smallest progress of one."),
    Column("least_state", "least progress", kind="text", shown=False, help="The state with the least progress."),
    Column("most_state", "most progress", kind="text", shown=False, help="The state with the most progress."),
)  # fmt: skip


def show(query: ViewQuery) -> Table:
    """Return the segments, with the flows that the table is about and how many calls were errored."""
    from riff_store.queries.states import segment_cells

    table = query.result(
        query.parts(), lambda parts: segments(segment_cells(query.store, parts.calls, by=query.keys), query.keys)
    )
    return with_excluded(query, replace(table, title=TITLE.format(scope=flows_of(query.predicate))))


def segments(answers: Sequence[SegmentCell], by: Sequence[str] = (), scope: str = "all flows") -> Table:
    """Return the matrix, in the order of the answers; `by` names further keys, `scope` the flows it is about."""
    keys = ["flow", "segment", *(key for key in by if key not in ("flow", "segment"))]
    return Table(
        view="segments",
        title=TITLE.format(scope=scope),
        columns=[*columns.keys(keys), columns.N, *columns.STATE_METRICS, *_WORST],
        rows=[_row(cell, keys) for cell in answers],
        notes=[UNITS],
    )


def _row(cell: SegmentCell, keys: Sequence[str]) -> Row:
    names = {key: cell.keys.get(key) for key in keys}
    worst, stall = cell.worst.keys.get("state"), mean(cell.worst.measures, "stall")
    record: dict[str, Any] = {**names, "n": cell.n}
    record |= {key: cell.figure(key) for key in columns.STATE_METRIC_KEYS}
    record |= {"worst_state": worst, "worst_stall": stall, "worst_n": cell.worst.n}
    record |= _cohesion(cell)
    record["intervals"] = cells.intervals(cell.measures)
    where = cells.where(names)
    marks = cells.state_marks(record)
    ill = cells.stall_mark(stall) if not is_thin(cell.worst) else None
    if ill:
        marks["worst_state"] = ill
        marks[""] = cells.worst_of([ill, marks.get("", ill)]) or ill
    return Row(
        where,
        record,
        display={"worst_state": f"{worst} (stall {fixed(stall, 2, trim=True)}, n {cell.worst.n})"},
        severity=marks,
        thin=is_thin(cell),
        where=where,
    )


def _cohesion(cell: SegmentCell) -> dict[str, Any]:
    """Return how far the states of a segment lie apart, and the two that do."""
    low, high = mean(cell.least.measures, "progress"), mean(cell.most.measures, "progress")
    return {
        "cohesion": None if low is None or high is None else high - low,
        "least_state": cell.least.keys.get("state"),
        "most_state": cell.most.keys.get("state"),
    }


SPEC = ViewSpec(
    name="segments",
    title="Per-segment quality",
    help=(
        "The phases of each flow: means over the rows of their states, the worst first.",
        "A phase's mean can hide one bad state, so the worst member stands in the row.",
        "Drill into a phase with states --where 'flow=F segment=S'.",
    ),
    order=30,
    aliases=("segment-matrix",),
    show=show,
    keys=("flow", "segment"),
    columns=(*columns.keys(("flow", "segment")), columns.N, *columns.STATE_METRICS, *_WORST),
    order_by="-stall",
    # A phase's worst member stands where it is seen, whatever else has no room.
    last=("revisit", "dwell_turns", "latency_p95", "slot_fill_rate"),
    comparable=True,
    splits=True,
    words=Words(nouns=("segment", "segments")),
    screen=Screen(
        key="2", help="The segments of this flow; press again to widen.", below="states", walk=("flow", "agent")
    ),
)
