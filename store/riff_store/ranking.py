"""Order the matrices and choose for the worklist (docs/metrics.md, sections 2 and 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from riff_store.answers.cells import FlowCell, SegmentCell, StateCell
from riff_store.measure import THIN, Measure

WEAK_CORRECTNESS = 7.0
HIGH = 0.25
HEALTHY_PROGRESS = 0.7
LONG_DWELL = 3.0
SLOW = 8.0
GUARD_ERRORS = 0.5


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
    """Return the metrics that make a state a root cause, the gravest kind first; none where it is none."""
    measures = cell.measures
    stuck = _less_than(measures, "progress", HEALTHY_PROGRESS)
    found = {
        "stall": _at_least(measures, "stall", HIGH),
        "escalation": _at_least(measures, "escalation", HIGH),
        "missed": bool(cell.missed_failed),
        "dwell_turns": stuck and _more_than(measures, "dwell_turns", LONG_DWELL),
        "latency_p95": _more_than(measures, "latency_p95", SLOW),
        "guard_error": _at_least(measures, "guard_error", GUARD_ERRORS),
        # With healthy progress a slot that stays empty is one that the caller had filled before.
        "slot_fill_rate": stuck and _less_than(measures, "slot_fill_rate", HEALTHY_PROGRESS),
    }
    return tuple(metric for metric, holds in found.items() if holds)


def loss(cell: StateCell | SegmentCell, *, expects_steps: bool = False) -> tuple[float, float]:
    """Return by what root causes are ranked, the gravest first: calls lost, then stall and half of escalation.

    In a flow whose tasks ask for steps (`expects_steps`), where a call ended says nothing of why: there the
    failed calls that missed the step count (docs/metrics.md, section 9).
    """
    if expects_steps and isinstance(cell, StateCell):
        return -float(cell.missed_failed or 0), 0.0
    share = (mean(cell.measures, "stall") or 0.0) + 0.5 * (mean(cell.measures, "escalation") or 0.0)
    return -float(cell.lost or 0), -share


def is_thin(cell: FlowCell | SegmentCell | StateCell) -> bool:
    """Say whether too few calls stand behind a cell to trust it."""
    expected = cell.expected or 0 if isinstance(cell, StateCell) else 0
    return max(cell.n, expected) < THIN


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
