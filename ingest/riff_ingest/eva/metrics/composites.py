"""Accuracy and experience of a call as a whole: EVA-A, EVA-X and both together (11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from riff_ingest.eva.metrics.registry import threshold
from riff_ingest.eva.metrics.score import Score

ACCURACY = ("task_completion", "faithfulness", "agent_speech_fidelity")
EXPERIENCE = ("conversation_progression", "turn_taking", "conciseness")
TOLERANCE = 1e-9


def composites(scores: Mapping[str, Score], metrics_version: str | None = None) -> dict[str, float | None]:
    """The six composites of a call, `None` where too little was measured.

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


def passed(scores: Mapping[str, Score], names: Iterable[str], metrics_version: str | None = None) -> float | None:
    """1.0 where every metric reaches its threshold, else 0.0; `None` where one is missing or has an error.

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


def mean(scores: Mapping[str, Score], names: Iterable[str]) -> float | None:
    """The mean of the values that there are, `None` where there is none."""
    found = [score.value for name in names if (score := scores.get(name)) is not None]
    values = [value for value in found if value is not None]
    return sum(values) / len(values) if values else None


def reaches(value: float, limit: float) -> bool:
    """Whether a value is at least as high as a threshold, but for how numbers are written."""
    return value >= limit - TOLERANCE
