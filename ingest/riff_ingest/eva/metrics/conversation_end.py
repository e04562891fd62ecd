"""Measure how a call ended: who spoke last, in time or not, answered to the end or not (10.7 to 10.9)."""

from __future__ import annotations

from typing import Any, Literal

from riff_ingest.eva.context import MetricContext, last_end
from riff_ingest.eva.history import SIMULATOR
from riff_ingest.eva.logs import CONNECTION, last_event, reason_of, says_goodbye
from riff_ingest.eva.metrics.files import RecordFiles
from riff_ingest.eva.metrics.score import NO_SIMULATOR, MetricScore, unmeasured

AGENT_TIMEOUT = "agent_timeout_on_user_turn"
COMPLETED_ON_TIME = "conversation_completed_on_time"
CORRECTLY_FINISHED = "conversation_correctly_finished"
VALID_END = "conversation_valid_end"
INACTIVITY = "inactivity_timeout"


def last_audio_speaker(context: MetricContext) -> Literal["user", "assistant"] | None:
    """Return the side whose audio ended last, the assistant where both ended at once; `None` if nobody was heard."""
    user = last_end(context.audio_timestamps_user_turns)
    assistant = last_end(context.audio_timestamps_assistant_turns)
    if user is None:
        return None if assistant is None else "assistant"
    return "user" if assistant is None or user > assistant else "assistant"


def agent_timed_out(context: MetricContext) -> bool:
    """Return whether the call ended of inactivity after the caller had spoken (9.2)."""
    return context.conversation_ended_reason == INACTIVITY and last_audio_speaker(context) == "user"


def conversation_completed_on_time(context: MetricContext, files: RecordFiles) -> MetricScore:
    """Return 0.0 if the call was ended because it took too long, else 1.0 (10.9)."""
    ended = context.conversation_ended_reason
    late = ended == "time_limit_exceeded"
    value = 0.0 if late else 1.0
    return MetricScore(COMPLETED_ON_TIME, value, value, {"conversation_ended_reason": ended, "timed_out": late})


def conversation_correctly_finished(context: MetricContext, files: RecordFiles) -> MetricScore:
    """Return 0.0 if the call ended of inactivity after the caller had spoken, else 1.0 (10.8).

    Who was heard last before the inactivity is known from the simulator's log alone.
    """
    if context.conversation_ended_reason == INACTIVITY and not context.may_have(SIMULATOR):
        return unmeasured(CORRECTLY_FINISHED, f"it needs {NO_SIMULATOR}")
    left = agent_timed_out(context)
    details: dict[str, Any] = {
        "conversation_ended_reason": context.conversation_ended_reason,
        "last_audio_speaker": last_audio_speaker(context),
    }
    if left:
        details["reason"] = AGENT_TIMEOUT
    value = 0.0 if left else 1.0
    return MetricScore(CORRECTLY_FINISHED, value, value, details)


def conversation_valid_end(context: MetricContext, files: RecordFiles) -> MetricScore:
    """Return 1.0 if the simulator's log ends with a goodbye, or where the agent left the caller waiting (10.7).

    A log whose last line cannot be read is an error, for then nobody knows how the call ended; without a log the score
    is null.
    """
    if agent_timed_out(context):
        return MetricScore(VALID_END, 1.0, 1.0, {"ended_properly": True, "reason": AGENT_TIMEOUT})
    place = {"file_path": files.simulator_log}
    event, problem = last_event(files.simulator_end)
    if event is None:
        value = None if files.simulator_end is None else 0.0
        return MetricScore(VALID_END, value, value, {"ended_properly": False, **place}, error=problem)
    kind = event.get("type")
    if kind != CONNECTION:
        why = {"reason": "the last event is not a connection_state"}
        return MetricScore(VALID_END, 0.0, 0.0, {"ended_properly": False, "last_event_type": kind, **place, **why})
    if not says_goodbye(kind, event):
        why = {"reason": f"the session ended for another reason than goodbye: {reason_of(event)}"}
        return MetricScore(VALID_END, 0.0, 0.0, {"ended_properly": False, "last_event_type": kind, **place, **why})
    return MetricScore(VALID_END, 1.0, 1.0, {"ended_properly": True, "last_event_type": kind, **place})
