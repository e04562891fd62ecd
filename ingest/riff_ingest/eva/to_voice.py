"""Keep the voice of a call beside its transcript: lanes of audio, what each side said and heard, and timing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from riff_ingest.eva.aspects import CallAspects
from riff_ingest.eva.audio import AudioByTurn
from riff_ingest.eva.call_clock import CallClock
from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.metrics.score import MetricScore
from riff_ingest.eva.tools import tool_name
from riff_ingest.eva.trace import LoggedEntry
from riff_ingest.sources.lenient_json import is_deep
from riff_store.voice import Span, Task, TraceEntry, Voice, VoiceTurn


def voice_of(
    context: MetricContext,
    moments: CallClock,
    task: Task,
    timing: MetricScore | None,
    aspects: CallAspects,
) -> Voice:
    """Return the kept form of a call's context; `timing` has the score of each turn, `aspects` those of the call."""
    details = timing.details if timing is not None else {}
    return Voice(
        pipeline=context.pipeline_type,
        language=context.language,
        ended=context.conversation_ended_reason,
        caller=list(_spans(context.audio_timestamps_user_turns, moments)),
        agent=list(_spans(context.audio_timestamps_assistant_turns, moments)),
        turns=[_turn(context, turn, details) for turn in _turns(context)],
        trace=[_entry(entry, moments) for entry in context.conversation_trace],
        task=task,
        turn_taking=aspects.measured.get("turn_taking"),
        warnings=list(context.warnings),
        unmeasured=aspects.unmeasured,
    )


def task_of(passed: bool | None, source: str | None, score: MetricScore | None) -> Task:
    """Tell whether the task was done and, where the score tells, how the database differs from the expected one."""
    details = score.details if score is not None else {}
    message = details.get("message")
    return Task(
        passed=passed,
        source=source,
        message=message if isinstance(message, str) else None,
        diff=_object(details.get("diff")),
        mismatches=_object(details.get("auth_mismatches")),
    )


def _spans(audio: AudioByTurn, moments: CallClock) -> Iterator[Span]:
    for turn in sorted(audio):
        for start, end in audio[turn] or ():
            begins, ends = moments.since(start), moments.since(end)
            if begins is not None and ends is not None:
                yield Span(turn, begins, ends)


def _turns(context: MetricContext) -> list[int]:
    return sorted(
        context.transcribed_assistant_turns.keys()
        | context.transcribed_user_turns.keys()
        | context.fallback_turn_ids
        | {entry.turn_id for entry in context.conversation_trace}
    )


def _turn(context: MetricContext, turn: int, details: Mapping[str, Any]) -> VoiceTurn:
    return VoiceTurn(
        turn,
        caller_meant=context.intended_user_turns.get(turn) or None,
        caller_heard=context.transcribed_user_turns.get(turn) or None,
        agent_meant=context.intended_assistant_turns.get(turn) or None,
        agent_heard=context.transcribed_assistant_turns.get(turn) or None,
        latency=context.latency_assistant_turns.get(turn),
        agent_interrupted=turn in context.assistant_interrupted_turns,
        caller_interrupted=turn in context.user_interrupted_turns,
        nudged=turn in context.fallback_turn_ids,
        score=_of_turn(details, "per_turn_score", turn),
        reason=_of_turn(details, "per_turn_reason", turn),
        evidence=_of_turn(details, "per_turn_evidence", turn) or {},
    )


def _of_turn(details: Mapping[str, Any], name: str, turn: int) -> Any:
    by_turn = details.get(name)
    return by_turn.get(turn) if isinstance(by_turn, Mapping) else None


def _entry(entry: LoggedEntry, moments: CallClock) -> TraceEntry:
    if entry.role is not None:
        return TraceEntry(entry.type, entry.turn_id, moments.of(entry), role=entry.role, text=entry.content)
    value = entry.parameters if entry.type == "tool_call" else entry.tool_response
    kept = None if is_deep(value) else value
    return TraceEntry(entry.type, entry.turn_id, moments.of(entry), tool=tool_name(entry.tool_name), value=kept)


def _object(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) and not is_deep(value) else {}
