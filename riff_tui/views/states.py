"""The state matrix: how calls fare in each state, the worst first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from riff_store.answers import StateCell
from riff_tui.table import Row, Table
from riff_tui.views import cells, columns

TITLE = "Per-state quality: {scope} (worst first)"
UNITS = (
    "Units: progress, stall, escal, slot_fill shares of calls · revisit entries · dwell agent turns per entry"
    " · lat_p95 seconds, mean over calls."
)


def states(
    answers: Sequence[StateCell], by: Sequence[str] = (), scope: str = "all flows", *, successors: bool = False
) -> Table:
    """The matrix; `by` names the keys beyond flow and state, `scope` the flows it is about.

    With `successors` the notes say where each state led to, with counts.
    """
    keys = ["flow", "state", *(key for key in by if key not in ("flow", "state"))]
    ordered = sorted(answers, key=lambda cell: cells.worst_first(cell.keys, cell.n, cell.measures))
    asked = any(cell.expected is not None for cell in ordered)
    steps = [columns.EXPECTED, columns.MISSED, columns.WRONG_ARGS] if asked else []
    return Table(
        view="states",
        title=TITLE.format(scope=scope),
        columns=[
            *columns.keys(keys),
            columns.HIDDEN_SEGMENT,
            columns.N,
            *columns.STATE_METRICS,
            *steps,
            columns.TO_STATES,
        ],
        rows=[_row(cell, keys, asked) for cell in ordered],
        notes=[UNITS, *(_successors(ordered) if successors else ())],
    )


def record_of(cell: StateCell) -> dict[str, Any]:
    """A cell's means by metric, unrounded."""
    return {key: cells.mean(cell.measures, key) for key in columns.STATE_METRIC_KEYS}


def _row(cell: StateCell, keys: Sequence[str], asked: bool) -> Row:
    names = {key: cell.keys.get(key) for key in keys}
    record: dict[str, Any] = {**names, "segment": cell.segment, "n": cell.n, **record_of(cell)}
    record["to_states"] = dict(cell.to_states)
    if asked:
        record |= {"expected": cell.expected, "missed": cell.missed, "wrong_args": cell.wrong_args}
    record["intervals"] = cells.intervals(cell.measures)
    where = cells.where(names)
    return Row(where, record, severity=cells.state_marks(record), thin=cells.is_thin(cell.n), where=where)


def _successors(ordered: Sequence[StateCell]) -> list[str]:
    lines = []
    for cell in ordered:
        if cell.to_states:
            ranked = sorted(cell.to_states.items(), key=lambda step: (-step[1], step[0]))
            listed = ", ".join(f"{state} {count}" for state, count in ranked)
            extra = [name for key, name in cell.keys.items() if key not in ("flow", "state") and name]
            place = " ".join([cell.keys.get("state") or "", *(f"({name})" for name in extra)])
            lines.append(f"{place} → {listed}")
    return lines
