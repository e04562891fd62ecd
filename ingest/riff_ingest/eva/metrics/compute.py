"""Compute every metric that needs no judge; one that fails costs no other."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import TypeAlias

from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.metrics.conversation_end import (
    conversation_completed_on_time,
    conversation_correctly_finished,
    conversation_valid_end,
)
from riff_ingest.eva.metrics.files import RecordFiles
from riff_ingest.eva.metrics.registry import applies
from riff_ingest.eva.metrics.response_speed import response_speed
from riff_ingest.eva.metrics.scenario_outcome import authentication_success, task_completion
from riff_ingest.eva.metrics.score import NO_TURNS, MetricScore
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


def compute_metrics(context: MetricContext, files: RecordFiles) -> dict[str, MetricScore]:
    """Return the score of every metric that applies to the call's pipeline; none of them raises.

    Where one side has no turn at all, each of them is 0.0 with an error, as in EVA (10.0).
    """
    names = [name for name in COMPUTED if applies(name, context.pipeline_type)]
    if not (context.num_assistant_turns and context.num_user_turns):
        return {name: MetricScore(name, 0.0, 0.0, error=NO_TURNS) for name in names}
    return {name: _computed(name, context, files) for name in names}


def _computed(name: str, context: MetricContext, files: RecordFiles) -> MetricScore:
    try:
        return COMPUTED[name](context, files)
    except Exception as error:  # the logs are strangers' data, and a metric that fails must not cost the others
        return MetricScore(name, error=f"cannot be computed: {type(error).__name__}")
