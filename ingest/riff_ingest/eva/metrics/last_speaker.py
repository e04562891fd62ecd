"""Who was heard last, and did the agent leave the caller without an answer (9.2)?"""

from __future__ import annotations

from typing import Literal

from riff_ingest.eva.audio import last_end
from riff_ingest.eva.context import MetricContext

AGENT_TIMEOUT = "agent_timeout_on_user_turn"


def last_audio_speaker(context: MetricContext) -> Literal["user", "assistant"] | None:
    """The side whose audio ended last, the assistant where both ended at once; `None` where nobody was heard."""
    user = last_end(context.audio_timestamps_user_turns)
    assistant = last_end(context.audio_timestamps_assistant_turns)
    if user is None:
        return None if assistant is None else "assistant"
    return "user" if assistant is None or user > assistant else "assistant"


def agent_timed_out(context: MetricContext) -> bool:
    """Whether the call ended of inactivity after the caller had spoken."""
    return context.conversation_ended_reason == "inactivity_timeout" and last_audio_speaker(context) == "user"
