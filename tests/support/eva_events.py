"""Events of a call's history, written as one would tell them; times are in seconds since some moment."""

from __future__ import annotations

from typing import Any

from riff_ingest.eva import MetricContext, process_history
from tests.surface.ingest import PipelineType

Happening = dict[str, Any]
START = 1_700_000_000


def _event(at: float, source: str, event_type: str, data: Any) -> Happening:
    return {"timestamp_ms": round((START + at) * 1000), "source": source, "event_type": event_type, "data": data}


def heard(at: float, text: str) -> Happening:
    """The agent's recogniser delivers a piece of what the caller says."""
    return _event(at, "audit_log", "user", text)


def wrote(at: float, text: str) -> Happening:
    """The agent's model has written a text."""
    return _event(at, "audit_log", "assistant", text)


def voiced(at: float, text: str, kind: str = "tts_text") -> Happening:
    """The agent's voice is given a text."""
    return _event(at, "pipecat", kind, {"frame": text})


def called(at: float, tool: str, **parameters: Any) -> Happening:
    """The agent calls a tool."""
    return _event(at, "audit_log", "tool_call", {"tool": tool, "parameters": parameters})


def answered(at: float, tool: str, response: Any) -> Happening:
    """A tool responds."""
    return _event(at, "audit_log", "tool_response", {"tool": tool, "response": response})


def nudged(at: float) -> Happening:
    """The caller stays silent, and the agent is to say something."""
    return _event(at, "audit_log", "turn_fallback", {})


def caller_starts(at: float) -> Happening:
    """The caller's audio begins."""
    return _event(at, "user_simulator", "audio_start", {"user": "simulated_user", "audio_timestamp": START + at})


def caller_ends(at: float) -> Happening:
    """The caller's audio ends."""
    return _event(at, "user_simulator", "audio_end", {"user": "simulated_user", "audio_timestamp": START + at})


def agent_starts(at: float) -> Happening:
    """The agent's audio begins."""
    return _event(at, "user_simulator", "audio_start", {"user": "assistant", "audio_timestamp": START + at})


def agent_ends(at: float) -> Happening:
    """The agent's audio ends."""
    return _event(at, "user_simulator", "audio_end", {"user": "assistant", "audio_timestamp": START + at})


def meant(at: float, text: str) -> Happening:
    """The simulator was told to say a text."""
    return _event(at, "user_simulator", "user_speech", {"data": {"text": text}})


def caught(at: float, text: str) -> Happening:
    """The caller's side has understood something of the agent."""
    return _event(at, "user_simulator", "assistant_speech", {"data": {"text": text}})


def session_ended(at: float) -> Happening:
    """The connection is closed."""
    return _event(at, "user_simulator", "connection_state", {"data": {"state": "session_ended"}})


def greeting() -> list[Happening]:
    """The agent greets in turn 0, and is heard to."""
    return [
        wrote(0, "Bakery, good morning."),
        voiced(0.1, "Bakery, good morning."),
        agent_starts(0.2),
        caught(1, "Bakery good morning"),
        agent_ends(1.2),
    ]


def asks(at: float, text: str, *, for_seconds: float = 1.0, recognised: str | None = None) -> list[Happening]:
    """The caller says something and is heard."""
    end = at + for_seconds
    return [
        caller_starts(at),
        meant(at + 0.1, text),
        caller_ends(end),
        heard(end + 0.1, text if recognised is None else recognised),
    ]


def replies(at: float, text: str, *, for_seconds: float = 1.0) -> list[Happening]:
    """The agent says something and is heard."""
    return [
        wrote(at - 0.2, text),
        voiced(at - 0.1, text),
        agent_starts(at),
        caught(at + 0.1, text),
        agent_ends(at + for_seconds),
    ]


def context_of(*events: Happening | list[Happening], pipeline: PipelineType = "cascade") -> MetricContext:
    """The context of these events in the given order; there is nothing in them that cannot be used."""
    flat = [each for event in events for each in (event if isinstance(event, list) else [event])]
    context = process_history(flat, pipeline)
    assert context.warnings == []
    return context


def told(context: MetricContext) -> list[tuple[str | None, int, str | None]]:
    """The messages of a trace: who said what in which turn; a tool is as its name."""
    return [
        (entry.role, entry.turn_id, entry.content) if entry.role else (entry.type, entry.turn_id, entry.tool_name)
        for entry in context.conversation_trace
    ]
