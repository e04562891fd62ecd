"""What a matrix answers: one cell for each row, with the measures behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from riff_store.answers.edits import Edit
from riff_store.measure import Measure


@dataclass(frozen=True, slots=True)
class FlowCell:
    """A cell of the flow matrix: what was asked for in `keys` (flow, agent and any `by`), and its means.

    `aspects` maps a computed aspect to its measure, `humanness` a judge to its own; latencies are
    seconds. `successes` is the rate of calls with correctness 10. `last_edit` is the flow's last before the
    latest run of the cell.
    """

    keys: Mapping[str, str | None]
    n: int
    excluded: int
    aspects: Mapping[str, Measure]
    humanness: Mapping[str, Measure]
    successes: Measure | None
    operability: float | None
    trend: Sequence[float | None] = ()
    last_edit: Edit | None = None


@dataclass(frozen=True, slots=True)
class StateCell:
    """A cell of the state matrix; `keys` hold flow, state and any `by`.

    `measures` are progress, stall, escalation, revisit, dwell_turns, latency_p95 (seconds), guard_error
    and slot_fill_rate. A state that a flow file describes and no call has seen has n = 0. `expected`
    counts the calls whose task asks for the state, `missed` and `wrong_args` are shares of them;
    of the `failed` ones among them `missed_failed` never came there.
    """

    keys: Mapping[str, str | None]
    segment: str
    n: int
    measures: Mapping[str, Measure]
    to_states: Mapping[str, int]
    expected: int | None = None
    missed: float | None = None
    wrong_args: float | None = None
    failed: int | None = None
    missed_failed: int | None = None


@dataclass(frozen=True, slots=True)
class SegmentCell:
    """A cell of the segment matrix, with the member that does worst; of that only its measures are asked."""

    keys: Mapping[str, str | None]
    n: int
    measures: Mapping[str, Measure]
    worst: StateCell
