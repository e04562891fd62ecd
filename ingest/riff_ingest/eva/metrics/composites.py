"""Combine metrics into composites of a call, and passes into rates over its trials (11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import comb

from riff_ingest.eva.metrics.registry import METRICS, threshold
from riff_ingest.eva.metrics.score import MetricScore

ACCURACY = ("task_completion", "faithfulness", "agent_speech_fidelity")
EXPERIENCE = ("conversation_progression", "turn_taking", "conciseness")
TOLERANCE = 1e-9


def composites(scores: Mapping[str, MetricScore], metrics_version: str | None = None) -> dict[str, float | None]:
    """Return the six composites of a call, `None` where too little was measured.

    Before 2.0.0 of the metrics turn-taking passed from 0.5 on.
    """
    accuracy = passed(scores, ACCURACY, metrics_version)
    experience = passed(scores, EXPERIENCE, metrics_version)
    known = accuracy is not None and experience is not None
    return {
        "EVA-A_pass": accuracy,
        "EVA-X_pass": experience,
        "EVA-A_mean": mean(scores, ACCURACY),
        "EVA-X_mean": mean(scores, EXPERIENCE),
        "EVA-overall_mean": mean(scores, (*ACCURACY, *EXPERIENCE)),
        "EVA-overall_pass": float(accuracy == experience == 1.0) if known else None,
    }


def passed(scores: Mapping[str, MetricScore], names: Iterable[str], metrics_version: str | None = None) -> float | None:
    """Return 1.0 where every metric reaches its threshold, else 0.0; `None` where one is missing or has an error.

    Skipped metrics are left out; where all are, the answer is `None`.
    """
    verdicts = []
    for name in names:
        score = scores.get(name)
        if score is None or score.error is not None:
            return None
        if score.skipped:
            continue
        if score.value is None:
            return None
        verdicts.append(reaches(score.value, threshold(name, metrics_version)))
    return float(all(verdicts)) if verdicts else None


def mean(scores: Mapping[str, MetricScore], names: Iterable[str]) -> float | None:
    """Return the mean of the values that there are, `None` where there is none."""
    found = [score.value for name in names if (score := scores.get(name)) is not None]
    values = [value for value in found if value is not None]
    return sum(values) / len(values) if values else None


def reaches(value: float, limit: float) -> bool:
    """Tell whether a value is at least as high as a threshold, but for how numbers are written."""
    return value >= limit - TOLERANCE


def pass_at_k(trials: int, passing: int, k: int) -> float:
    """Return the chance that of k trials, drawn without putting back, at least one passed."""
    if k == 0 or trials - passing < k:
        return 1.0
    return 1 - comb(trials - passing, k) / comb(trials, k)


def pass_power_k(trials: int, passing: int, k: int) -> float:
    """Return the chance that of k trials, drawn without putting back, every one passed: pass^k."""
    if k == 0:
        return 1.0
    return 0.0 if passing < k else comb(passing, k) / comb(trials, k)


def theoretical_power_k(trials: int, passing: int, k: int) -> float:
    """Return the chance of k passes in a row, were each trial as likely to pass as those that were made."""
    return (passing / trials) ** k


def verdicts(name: str, scores: Iterable[MetricScore], metrics_version: str | None = None) -> list[bool]:
    """Return which trials of a record passed a metric; those with an error and skipped ones are left out."""
    limit = threshold(name, metrics_version)
    return [
        reaches(score.value, limit)
        for score in scores
        if not score.skipped and score.error is None and score.value is not None
    ]


def composite_verdicts(values: Sequence[float | None], k: int) -> list[bool] | None:
    """Return which trials of a record passed a composite; `None` where there are fewer than k or one is not known."""
    if len(values) < k:
        return None
    found = [value >= 1.0 for value in values if value is not None]
    return found if len(found) == len(values) else None


def pass_rates(passes: Sequence[bool], k: int) -> tuple[float, float, float] | None:
    """Return pass@k, pass^k and its theoretical value for the trials of a record.

    `None` where there are fewer than k.
    """
    trials, passing = len(passes), sum(passes)
    if not trials or trials < k:
        return None
    return (
        pass_at_k(trials, passing, k),
        pass_power_k(trials, passing, k),
        theoretical_power_k(trials, passing, k),
    )


def counts_in_trials(name: str) -> bool:
    """Tell whether pass@k is formed of a metric at all."""
    return name not in METRICS or METRICS[name].in_trials
