"""Compute every metric that needs no judge; one that fails costs no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from riff_ingest.eva.metrics.own import OwnMetric, own_score
from riff_ingest.eva.metrics.registry import METRICS, applies
from riff_ingest.eva.metrics.response_speed import response_speed
from riff_ingest.eva.metrics.scenario_outcome import authentication_success, task_completion
from riff_ingest.eva.metrics.score import NO_SIMULATOR, NO_TURNS, MetricScore, unmeasured
from riff_ingest.eva.metrics.stt_wer import stt_wer
from riff_ingest.eva.metrics.tool_call_validity import tool_call_validity
from riff_ingest.eva.metrics.turn_taking import turn_taking

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

    One that needs a log which says nothing is null with an error. Where one side has no turn at all, each of them has
    an error and is 0.0, as in EVA (10.0), but null where the simulator's log is what is missing.
    """
    names = [name for name in COMPUTED if applies(name, context.pipeline_type)]
    compute = _computed if context.num_assistant_turns and context.num_user_turns else _silent
    found = {name: _lacking(name, context) or compute(name, context, files) for name in names}
    return found | {name: own_score(name, function, context) for name, function in own.items()}


def _lacking(name: str, context: MetricContext) -> MetricScore | None:
    """Return the score of a metric that needs a log which says nothing, `None` where all that it needs is there."""
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
