"""Choose what a voice call scores in the store: what its logs tell, else what EVA stored (docs/formats.md, 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from riff_ingest.eva.metrics.compute import COMPUTED
from riff_ingest.eva.metrics.score import MetricScore
from riff_ingest.eva.stored_metrics import is_judged
from riff_store.metrics import metric_of

MISMATCH = 0.05
_TASK = "task_completion"


@dataclass(slots=True)
class CallAspects:
    """Hold the `measured` aspects of a call, why others could not be, and where stored scores differ from them."""

    measured: dict[str, float] = field(default_factory=dict)
    unmeasured: dict[str, str] = field(default_factory=dict)
    mismatches: list[str] = field(default_factory=list)


def aspects_of(computed: Mapping[str, MetricScore], stored: Mapping[str, MetricScore]) -> CallAspects:
    """Return the aspects that need no judge, on their own scales: computed ones, and stored ones where these fail."""
    found = CallAspects()
    known = {name: score for name, score in stored.items() if name in COMPUTED and not is_judged(score)}
    for name in (*COMPUTED, *(own for own in computed if own not in COMPUTED)):
        ours, theirs = (_value(name, scores.get(name)) for scores in (computed, known))
        value = theirs if ours is None else ours
        if value is not None:
            found.measured[name] = value
        elif name in computed and (reason := _reason(name, computed[name])):
            found.unmeasured[name] = reason
        # Whether the task was done is told in words of its own.
        if name != _TASK and ours is not None and theirs is not None and abs(ours - theirs) > MISMATCH:
            found.mismatches.append(f"{name} stored as {theirs:g}, recomputed as {ours:g}")
    return found


def _reason(name: str, score: MetricScore) -> str | None:
    """Return why a metric is not measured, `None` where it does not apply."""
    if score.error is not None or score.score is None or score.skipped or name in COMPUTED:
        return score.error
    return f"{score.score:g} is not on its scale"


def _value(name: str, score: MetricScore | None) -> float | None:
    """Return a score on the metric's own scale, `None` where nothing was measured."""
    if score is None or score.error is not None or score.skipped or score.score is None:
        return None
    if score.details.get("num_evaluated") == 0 and not score.details.get("missed_turn"):
        return None  # a mean of no turns, which EVA puts down as 0
    metric = metric_of(name)
    return score.score if metric is not None and metric.holds(score.score) else None
