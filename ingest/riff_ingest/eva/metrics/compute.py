"""Compute every metric that needs no judge; one that fails costs no other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import comb
from types import MappingProxyType
from typing import TypeAlias

from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.history import AUDIT, SIMULATOR
from riff_ingest.eva.metrics.conversation_end import (
    conversation_completed_on_time,
    conversation_correctly_finished,
    conversation_valid_end,
)
from riff_ingest.eva.metrics.files import RecordFiles
from riff_ingest.eva.metrics.registry import METRICS, OwnMetric, applies, own_score, threshold
from riff_ingest.eva.metrics.scenario_outcome import authentication_success, task_completion
from riff_ingest.eva.metrics.score import NO_SIMULATOR, NO_TURNS, MetricScore, unmeasured
from riff_ingest.eva.metrics.stt_wer import stt_wer
from riff_ingest.eva.metrics.tool_call_validity import tool_call_validity
from riff_ingest.eva.metrics.turn_taking import turn_taking
from riff_ingest.eva.metrics.turn_timing import response_speed

Metric: TypeAlias = Callable[[MetricContext, RecordFiles], MetricScore]

COMPUTED: MappingProxyType[str, Metric] = MappingProxyType(
    {
        "task_completion": task_completion,
        "turn_taking": turn_taking,
        "response_speed": response_speed,
        "tool_call_validity": tool_call_validity,
        "stt_wer": stt_wer,
        "authentication_success": authentication_success,
        "conversation_correctly_finished": conversation_correctly_finished,
        "conversation_completed_on_time": conversation_completed_on_time,
        "conversation_valid_end": conversation_valid_end,
    }
)
"""The metrics that need no judge; all others are taken as EVA stored them."""


_LOGS = {AUDIT: "the audit log, which is missing or empty", SIMULATOR: NO_SIMULATOR}


def compute_metrics(
    context: MetricContext, files: RecordFiles, own: Mapping[str, OwnMetric] = MappingProxyType({})
) -> dict[str, MetricScore]:
    """Return the score of every metric that applies to the call's pipeline, and of one's `own`; none of them raises.

    One that needs a log which shows nothing is null with an error. If one side has no turn at all, each of them has an
    error and is 0.0, as in EVA (10.0), but null if the simulator's log is what is missing.
    """
    names = [name for name in COMPUTED if applies(name, context.pipeline_type)]
    compute = _computed if context.num_assistant_turns and context.num_user_turns else _silent
    found = {name: _lacking(name, context) or compute(name, context, files) for name in names}
    return found | {name: own_score(name, function, context) for name, function in own.items()}


def _lacking(name: str, context: MetricContext) -> MetricScore | None:
    """Return the score of a metric that needs a log which shows nothing, `None` if all that it needs is there."""
    missing = [log for log in METRICS[name].needs if not context.may_have(log)]
    return unmeasured(name, f"it needs {' and '.join(map(_LOGS.__getitem__, missing))}") if missing else None


def _silent(name: str, context: MetricContext, files: RecordFiles) -> MetricScore:
    value = 0.0 if context.may_have(SIMULATOR) else None
    return MetricScore(name, value, value, error=NO_TURNS)


def _computed(name: str, context: MetricContext, files: RecordFiles) -> MetricScore:
    try:
        return COMPUTED[name](context, files)
    except Exception as error:  # the logs are strangers' data, and a metric that fails must not cost the others
        return MetricScore(name, error=f"cannot be computed: {type(error).__name__}")


# Combine metrics into composites of a call, and passes into rates over its trials (11).
ACCURACY = ("task_completion", "faithfulness", "agent_speech_fidelity")
EXPERIENCE = ("conversation_progression", "turn_taking", "conciseness")
TOLERANCE = 1e-9


def composites(scores: Mapping[str, MetricScore], metrics_version: str | None = None) -> dict[str, float | None]:
    """Return the six composites of a call, `None` if too little was measured.

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
    """Return 1.0 if every metric reaches its threshold, else 0.0; `None` if one is missing or has an error.

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
    """Return the mean of the values that there are, `None` if there is none."""
    found = [score.value for name in names if (score := scores.get(name)) is not None]
    values = [value for value in found if value is not None]
    return sum(values) / len(values) if values else None


def reaches(value: float, limit: float) -> bool:
    """Return whether a value is at least as high as a threshold, but for how numbers are written."""
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
    """Return which trials of a record passed a composite; `None` if there are fewer than k or one is not known."""
    if len(values) < k:
        return None
    found = [value >= 1.0 for value in values if value is not None]
    return found if len(found) == len(values) else None


def pass_rates(passes: Sequence[bool], k: int) -> tuple[float, float, float] | None:
    """Return pass@k, pass^k and its theoretical value for the trials of a record.

    `None` if there are fewer than k.
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
    """Return whether pass@k is formed of a metric at all."""
    return name not in METRICS or METRICS[name].in_trials
