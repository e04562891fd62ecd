"""How often a scenario is passed when it is tried several times (11)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import comb

from riff_ingest.eva.metrics.composites import reaches
from riff_ingest.eva.metrics.registry import METRICS, threshold
from riff_ingest.eva.metrics.score import Score


def pass_at_k(trials: int, passing: int, k: int) -> float:
    """The chance that of k trials, drawn without putting back, at least one passed."""
    if k == 0 or trials - passing < k:
        return 1.0
    return 1 - comb(trials - passing, k) / comb(trials, k)


def pass_power_k(trials: int, passing: int, k: int) -> float:
    """The chance that of k trials, drawn without putting back, every one passed: pass^k."""
    if k == 0:
        return 1.0
    return 0.0 if passing < k else comb(passing, k) / comb(trials, k)


def theoretical_power_k(trials: int, passing: int, k: int) -> float:
    """The chance of k passes in a row, were each trial as likely to pass as those that were made."""
    return (passing / trials) ** k


def verdicts(name: str, scores: Iterable[Score], metrics_version: str | None = None) -> list[bool]:
    """Which trials of a record passed a metric; those with an error and skipped ones are left out."""
    limit = threshold(name, metrics_version)
    return [
        reaches(score.value, limit)
        for score in scores
        if not score.skipped and score.error is None and score.value is not None
    ]


def composite_verdicts(values: Sequence[float | None], k: int) -> list[bool] | None:
    """Which trials of a record passed a composite; `None` where there are fewer than k or one is not known."""
    if len(values) < k:
        return None
    found = [value >= 1.0 for value in values if value is not None]
    return found if len(found) == len(values) else None


def pass_rates(passes: Sequence[bool], k: int) -> tuple[float, float, float] | None:
    """pass@k, pass^k and its theoretical value for the trials of a record; `None` where there are fewer than k."""
    trials, passing = len(passes), sum(passes)
    if not trials or trials < k:
        return None
    return (
        pass_at_k(trials, passing, k),
        pass_power_k(trials, passing, k),
        theoretical_power_k(trials, passing, k),
    )


def counts_in_trials(name: str) -> bool:
    """Whether pass@k is formed of a metric at all."""
    return name not in METRICS or METRICS[name].in_trials
