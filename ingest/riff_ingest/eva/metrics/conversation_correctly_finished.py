"""Did the agent answer the caller to the end (10.8)?"""

from __future__ import annotations

from typing import Any

from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.metrics.files import RecordFiles
from riff_ingest.eva.metrics.last_speaker import AGENT_TIMEOUT, agent_timed_out, last_audio_speaker
from riff_ingest.eva.metrics.score import Score

NAME = "conversation_correctly_finished"


def conversation_correctly_finished(context: MetricContext, files: RecordFiles) -> Score:
    """0.0 where the call ended of inactivity after the caller had spoken, else 1.0 (10.8)."""
    left = agent_timed_out(context)
    details: dict[str, Any] = {
        "conversation_ended_reason": context.conversation_ended_reason,
        "last_audio_speaker": last_audio_speaker(context),
    }
    if left:
        details["reason"] = AGENT_TIMEOUT
    value = 0.0 if left else 1.0
    return Score(NAME, value, value, details)
