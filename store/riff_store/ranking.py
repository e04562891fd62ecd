"""Order the matrices and choose for the worklist (docs/metrics.md, sections 2 and 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from riff_store.answers.cells import FlowCell, SegmentCell, StateCell
from riff_store.answers.steps import StepCounts
from riff_store.measure import THIN, Measure

WEAK_CORRECTNESS = 7.0
HIGH = 0.25
HEALTHY_PROGRESS = 0.7
LONG_DWELL = 3.0
SLOW = 8.0
GUARD_ERRORS = 0.5
_HUMANS = frozenset(("human", "humans", "agent", "agents", "person", "operator", "representative"))


def mean(measures: Mapping[str, Measure], metric: str) -> float | None:
    """Return a cell's mean, `None` where it was not measured."""
    found = measures.get(metric)
    return None if found is None else found.mean


def worst_first(cell: StateCell | SegmentCell) -> tuple[Any, ...]:
    """Sort by stall down, progress up, escalation down, n down, then names; not measured comes last."""
    return (
        *_falling(mean(cell.measures, "stall")),
        *_rising(mean(cell.measures, "progress")),
        *_falling(mean(cell.measures, "escalation")),
        -cell.n,
        tuple(name or "" for name in cell.keys.values()),
    )


def least_operable_first(cell: FlowCell) -> tuple[Any, ...]:
    """Sort by operability up, then blend up, then names; not measured comes last, and thin cells after all others."""
    return (
        is_thin(cell),
        *_rising(cell.operability),
        *_rising(cell.blend),
        tuple(name or "" for name in cell.keys.values()),
    )


def is_weak_flow(cell: FlowCell) -> bool:
    """Say whether a flow stands on the worklist."""
    correctness = mean(cell.aspects, "correctness")
    return correctness is not None and correctness < WEAK_CORRECTNESS


def is_weak_segment(cell: SegmentCell) -> bool:
    """Say whether a segment stands on the worklist."""
    return _at_least(cell.measures, "stall", HIGH) or _at_least(cell.measures, "escalation", HIGH)


def reasons(cell: StateCell) -> tuple[str, ...]:
    """Return the metrics that make a state a root cause, the gravest kind first; none where it is none.

    Where tasks ask for steps, a state that a call ended in says nothing of why it failed, and handing over is an end
    as well (docs/metrics.md, section 9).
    """
    if cell.asks_steps and is_handover(cell.keys.get("state") or ""):
        return ()
    measures, steps = cell.measures, cell.steps
    stuck = _less_than(measures, "progress", HEALTHY_PROGRESS)
    found = {
        "stall": not cell.asks_steps and _at_least(measures, "stall", HIGH),
        "escalation": not cell.asks_steps and _at_least(measures, "escalation", HIGH),
        "missed": steps is not None and steps.missed_failed > 0,
        "wrong_args": steps is not None and steps.wrong_failed > 0,
        "dwell_turns": stuck and _more_than(measures, "dwell_turns", LONG_DWELL),
        "latency_p95": _more_than(measures, "latency_p95", SLOW),
        "guard_error": _at_least(measures, "guard_error", GUARD_ERRORS),
        # With healthy progress a slot that stays empty is one that the caller had filled before.
        "slot_fill_rate": stuck and _less_than(measures, "slot_fill_rate", HEALTHY_PROGRESS),
    }
    return tuple(metric for metric, holds in found.items() if holds)


def is_handover(state: str) -> bool:
    """Say whether a derived state hands the call over to a human, by the words of the tool's name."""
    first, *others = state.removeprefix("user:").lower().split("_")
    return first == "transfer" and not _HUMANS.isdisjoint(others)


def loss(cell: StateCell | SegmentCell) -> tuple[float, ...]:
    """Return by what root causes are ranked, the gravest first: calls lost, then stall and half of escalation.

    In a flow whose tasks ask for steps the failed calls that missed the step count instead (docs/metrics.md,
    section 9).
    """
    if isinstance(cell, StateCell) and cell.asks_steps:
        return (0.0,) if cell.steps is None else loss_by_step(cell.steps)
    share = (mean(cell.measures, "stall") or 0.0) + 0.5 * (mean(cell.measures, "escalation") or 0.0)
    return -float(cell.lost or 0), -share


def loss_by_step(steps: StepCounts) -> tuple[float, ...]:
    """Return by what steps are ranked: failed calls that missed it, their share, those that took it wrongly."""
    return -float(steps.missed_failed), -(steps.missed_failed_share or 0.0), -float(steps.wrong_failed)


class OfCalls(Protocol):
    """Describe a cell that `n` calls stand behind."""

    @property
    def n(self) -> int: ...


def is_thin(cell: OfCalls) -> bool:
    """Return whether too few calls stand behind a cell to trust it."""
    # Calls that should have taken a step stand behind a cell as well as those that did.
    steps = getattr(cell, "steps", None)
    return max(cell.n, 0 if steps is None else steps.expected) < THIN


def _less_than(measures: Mapping[str, Measure], metric: str, bound: float) -> bool:
    value = mean(measures, metric)
    return value is not None and value < bound


def _at_least(measures: Mapping[str, Measure], metric: str, bound: float) -> bool:
    value = mean(measures, metric)
    return value is not None and value >= bound


def _more_than(measures: Mapping[str, Measure], metric: str, bound: float) -> bool:
    value = mean(measures, metric)
    return value is not None and value > bound


def _rising(value: float | None) -> tuple[bool, float]:
    return value is None, value or 0.0


def _falling(value: float | None) -> tuple[bool, float]:
    return value is None, -(value or 0.0)
