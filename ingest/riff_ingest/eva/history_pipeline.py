"""From a merged history to the context of a call: extraction, then reconciliation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from riff_ingest.eva.audio import AudioByTurn, Segments, latencies, segments
from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.history import ASSISTANT, USER, as_events
from riff_ingest.eva.labels import Texts
from riff_ingest.eva.reconcile import reconcile
from riff_ingest.eva.spoken import spoken_only
from riff_ingest.eva.trace import grouped, label_interruptions, tools_of
from riff_ingest.eva.turns import PipelineType, extract
from riff_ingest.eva.warnings import Warnings


def process_history(history: Iterable[Any], pipeline_type: PipelineType = "cascade") -> MetricContext:
    """The context of merged events `{timestamp_ms, source, event_type, data}`, taken in the given order.

    Events that cannot be used are left out and named in the context's `warnings`; nothing raises.
    """
    warnings = Warnings()
    context = context_of(history, pipeline_type, warnings)
    context.warnings = warnings.lines()
    return context


def context_of(
    history: Iterable[Any], pipeline_type: PipelineType, warnings: Warnings, *, check_spoken: bool = True
) -> MetricContext:
    """The same, with what is wrong added to `warnings`; without `check_spoken` unspoken texts stay."""
    events = as_events(history, warnings)
    turns = extract(events, pipeline_type, warnings)
    tools = tools_of(turns.trace)
    last_moment = events[-1].timestamp_ms / 1000 if events else 0.0
    audio_user = segments(turns, USER, last_moment)
    audio_assistant = segments(turns, ASSISTANT, last_moment)
    checked = pipeline_type != "s2s" and check_spoken
    trace = grouped(spoken_only(turns.trace, turns.pieces) if checked else turns.trace)
    label_interruptions(trace, sorted(turns.assistant_interrupted), sorted(turns.user_interrupted))
    num_assistant_turns = len(turns.heard_assistant if pipeline_type == "s2s" else turns.meant_assistant)
    num_user_turns = len(turns.heard_user)
    turns.heard_user, turns.meant_user, user_turns = _aligned(turns.heard_user, turns.meant_user, audio_user)
    turns.heard_assistant, turns.meant_assistant, assistant_turns = _aligned(
        turns.heard_assistant, turns.meant_assistant, audio_assistant
    )
    found_latencies = latencies(audio_user, audio_assistant)
    reconcile(trace, turns, pipeline_type)
    return MetricContext(
        pipeline_type=pipeline_type,
        transcribed_assistant_turns=turns.heard_assistant,
        transcribed_user_turns=turns.heard_user,
        intended_assistant_turns=turns.meant_assistant,
        intended_user_turns=turns.meant_user,
        audio_timestamps_assistant_turns=assistant_turns,
        audio_timestamps_user_turns=user_turns,
        latency_assistant_turns=found_latencies,
        num_assistant_turns=num_assistant_turns,
        num_user_turns=num_user_turns,
        num_tool_calls=len(tools.params),
        tool_called=tools.called,
        tool_params=tools.params,
        tool_responses=tools.responses,
        conversation_trace=trace,
        assistant_interrupted_turns=frozenset(turns.assistant_interrupted),
        user_interrupted_turns=frozenset(turns.user_interrupted),
        fallback_turn_ids=frozenset(turns.nudged),
        started_ms=min((event.timestamp_ms for event in events if event.timestamp_ms > 0), default=None),
    )


def _aligned(heard: Texts, meant: Texts, audio: dict[int, Segments]) -> tuple[Texts, Texts, AudioByTurn]:
    """The turns of one side with the keys of all (R7.7)."""
    keys = sorted(heard.keys() | meant.keys() | audio.keys())
    return (
        {turn: heard.get(turn, "") for turn in keys},
        {turn: meant.get(turn, "") for turn in keys},
        {turn: audio.get(turn) for turn in keys},
    )
