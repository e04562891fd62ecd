"""Blend operability: could this flow, led by this agent, be put in front of callers?

The blend, its weights and its caps are in docs/metrics.md, section 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

WEIGHTS = {"correctness": 0.35, "completion": 0.20, "errors": 0.15, "latency": 0.10, "humanness": 0.20}
PARTS = ("correctness", "completion", "errors", "latency_p95")
"""The computed aspects that operability blends."""
SLOWEST = 15.0
FULL = 10.0
CAP_INCORRECT = 4.0
CAP_INCOMPLETE = 6.0


def operability(
    correctness: float | None,
    completion: float | None,
    errors: float | None,
    latency_p95: float | None,
    humanness: Mapping[str, float | None] | None,
) -> float | None:
    """Blend a cell's means into one score of 0 to 10, `None` without correctness.

    Means are on the scale 0 to 10, `latency_p95` is in seconds, `humanness` maps each judge to its
    mean. What was not measured drops out and the other weights grow in proportion.
    """
    blend = computed_blend(correctness, completion, errors, latency_p95)
    return None if blend is None else blended(blend, humanness_score(humanness))


def operability_of(
    aspects: Mapping[str, float | None], humanness: Mapping[str, float | None] | None, *, capped: bool = True
) -> float | None:
    """Blend computed aspects by their names and the scores of judges; without caps it sorts what these make equal."""
    blend = computed_blend(*[aspects.get(part) for part in PARTS])
    if blend is None:
        return None
    return blended(blend if capped else blend._replace(cap=FULL), humanness_score(humanness))


def succeeded(served: bool | None, correctness: float | None, completion: float | None) -> bool | None:
    """Return whether a call was served, correct and complete; what is not measured drops out.

    A part that is missed decides; `None` if none is and it is not known whether the call was served.
    """
    parts = (correctness, completion)
    if served is False or any(part is not None and part < FULL for part in parts):
        return False
    return served


class Blend(NamedTuple):
    """Describe operability without humanness: weighted scores, their weights, and the cap of the result."""

    scores: float
    weight: float
    cap: float


def computed_blend(
    correctness: float | None, completion: float | None, errors: float | None, latency_p95: float | None
) -> Blend | None:
    """Blend the part of operability that is without judges, so that judges can be added one by one."""
    if correctness is None:
        return None
    weight = WEIGHTS["correctness"]
    scores = weight * correctness
    if completion is not None:
        scores += WEIGHTS["completion"] * completion
        weight += WEIGHTS["completion"]
    if errors is not None:
        scores += WEIGHTS["errors"] * errors
        weight += WEIGHTS["errors"]
    if latency_p95 is not None:
        scores += WEIGHTS["latency"] * latency_score(latency_p95)
        weight += WEIGHTS["latency"]
    return Blend(scores, weight, _cap(correctness, completion))


def blended(blend: Blend, humanness: float | None) -> float:
    """Return operability with a score of humanness, or without any."""
    scores, weight, cap = blend
    if humanness is not None:
        scores, weight = scores + WEIGHTS["humanness"] * humanness, weight + WEIGHTS["humanness"]
    # A blend of tens may miss 10 by the last bit.
    return min(round(scores / weight, 12), cap)


def latency_score(seconds: float) -> float:
    """Return seconds per turn on the scale 0 to 10: 10 for none, 0 from 15 seconds on."""
    return min(FULL, max(0.0, FULL * (1 - seconds / SLOWEST)))


def humanness_score(judges: Mapping[str, float | None] | None) -> float | None:
    """Return the median over the judges that scored."""
    return median([score for score in (judges or {}).values() if score is not None])


def median(scores: Iterable[float]) -> float | None:
    """Return the middle one of scores, or the mean of the two; `None` without any."""
    scores = sorted(scores)
    if not scores:
        return None
    middle = len(scores) // 2
    return scores[middle] if len(scores) % 2 else (scores[middle - 1] + scores[middle]) / 2


def _cap(correctness: float, completion: float | None) -> float:
    if correctness < FULL:
        return CAP_INCORRECT
    if completion is not None and completion < FULL:
        return CAP_INCOMPLETE
    return FULL
