"""Show how calls fare in each state, the worst first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from riff_store.ranking import is_thin
from riff_tui.table import Row, Table
from riff_tui.views.parts import cells, columns, steps
from riff_tui.views.spec import BY, ViewSpec

if TYPE_CHECKING:
    from riff_store.answers.cells import StateCell

TITLE = "Per-state quality: {scope} (worst first)"
UNITS = (
    "Units: progress, stall, escal, slot_fill shares of calls · revisit entries · dwell agent turns per entry"
    " · lat_p95 seconds, mean over calls."
)

STEPS = (
    "Steps: of the expected calls, whose tasks ask for the state, missed is the share that never came there, wrong_args"
    " that which called the tool with other arguments; --sort=-missed_failed has those first that failed calls missed."
)


def states(answers: Sequence[StateCell], by: Sequence[str] = (), scope: str = "all flows") -> Table:
    """Return the matrix, in the order of the answers; `by` names further keys, `scope` the flows it is about."""
    keys = ["flow", "state", *(key for key in by if key not in ("flow", "state"))]
    has_steps = any(cell.steps is not None for cell in answers)
    return Table(
        view="states",
        title=TITLE.format(scope=scope),
        columns=[
            *columns.keys(keys),
            columns.HIDDEN_SEGMENT,
            columns.N,
            *columns.STATE_METRICS,
            *(columns.STEPS if has_steps else ()),
            columns.TO_STATES,
        ],
        rows=[_row(cell, keys, has_steps) for cell in answers],
        notes=[UNITS, *([STEPS] if has_steps else [])],
    )


def record_of(cell: StateCell) -> dict[str, Any]:
    """Return a cell's means by metric, unrounded."""
    return {key: cell.figure(key) for key in columns.STATE_METRIC_KEYS}


def _row(cell: StateCell, keys: Sequence[str], has_steps: bool) -> Row:
    names = {key: cell.keys.get(key) for key in keys}
    record: dict[str, Any] = {**names, "segment": cell.segment, "n": cell.n, **record_of(cell)}
    record["to_states"] = dict(cell.to_states)
    if has_steps:
        record |= steps.record_of(cell.steps)
    record["intervals"] = cells.intervals(cell.measures)
    where, leads = cells.where(names), steps.leads(names, cell.steps)
    return Row(
        where,
        record,
        severity=cells.state_marks(record),
        thin=is_thin(cell),
        where=where,
        order="correctness" if leads else "",
        leads=leads,
    )


def _below(row: Row) -> str:
    return "conversations" if row.leads else "neighbors"


def successors(rows: Sequence[Row]) -> list[str]:
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
        "A row behind which fewer than five calls stand is thin and its n carries ~.",
        "With flow=F in the filter, each state's successors follow below the table.",
    ),
    order=40,
    aliases=("state-matrix",),
    key="3",
    key_help="The states of this flow or segment; press again to widen.",
    build=states,
    show="riff_tui.view_queries.states:show_states",
    keys=("flow", "state"),
    columns=(
        *columns.keys(("flow", "state")),
        columns.HIDDEN_SEGMENT,
        columns.N,
        *columns.STATE_METRICS,
        *columns.STEPS,
        columns.TO_STATES,
    ),
    splits=True,
    nouns=("state", "states"),
    depth=2,
    below=_below,
    walk=("flow", "agent", "segment"),
    comparable=True,
    first=("n", "expected", "missed", "wrong_args"),
    order_by="-stall",
)
