"""Measure whether the agent began to speak when it should, and gave way when it should (10.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.metrics.conversation_end import agent_timed_out
from riff_ingest.eva.metrics.files import RecordFiles
from riff_ingest.eva.metrics.score import MetricScore
from riff_ingest.eva.metrics.turn_taking_parts import turn_taking_parts
from riff_ingest.eva.metrics.turn_timing import (
    TODAY,
    Limits,
    TimingRules,
    TurnAudio,
    audible_turns,
    count_value,
    overlap_value,
    tool_turns,
    yield_ms,
    yield_value,
)

NAME = "turn_taking"
Reason: TypeAlias = Literal["latency", "agent_interrupt", "user_interrupt", "dual_interrupt", "turn_end_fallback"]
Evidence: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Timing:
    """Hold how well a turn was timed, by which rule, and the figures that the rule used."""

    value: float
    reason: Reason
    evidence: Evidence


def turn_taking(context: MetricContext, files: RecordFiles, rules: TimingRules = TODAY) -> MetricScore:
    """Return the mean of the turns in which both sides were heard.

    0.0 where the agent left the caller waiting (10.3).
    """
    audible = audible_turns(context)
    timings = _timings(context, audible, rules)
    missed = agent_timed_out(context)
    values = [timing.value for timing in timings.values()]
    value = 0.0 if missed or not values else round(sum(values) / len(values), 4)
    heard = context.audio_timestamps_user_turns.keys() | context.audio_timestamps_assistant_turns.keys()
    details = {
        "per_turn_score": {turn: timing.value for turn, timing in timings.items()},
        "per_turn_reason": {turn: timing.reason for turn, timing in timings.items()},
        "per_turn_evidence": {turn: timing.evidence for turn, timing in timings.items()},
        "num_turns": max(heard, default=0),
        "num_evaluated": len(timings),
        "missed_turn": missed,
    }
    evidence = [timing.evidence for timing in timings.values()]
    parts = turn_taking_parts(context, files, audible, evidence, rules) if audible else None
    return MetricScore(NAME, value, value, details, sub_metrics=parts)


def _timings(context: MetricContext, audible: dict[int, TurnAudio], rules: TimingRules) -> dict[int, Timing]:
    tools = tool_turns(context)
    found = {}
    for turn in sorted(audible.keys() | context.fallback_turn_ids):
        has_tool = turn in tools
        if turn in context.fallback_turn_ids:
            timing = Timing(0.0, "turn_end_fallback", {})
        else:
            timing = _timing(context, turn, audible[turn], rules.limits(tool=has_tool))
        timing.evidence["has_tool_call"] = has_tool
        found[turn] = timing
    return found


def _timing(context: MetricContext, turn: int, audio: TurnAudio, limits: Limits) -> Timing:
    barged_in = _agent_interrupted(audio, limits) if turn in context.assistant_interrupted_turns else None
    gave_way = _user_interrupted(context, turn) if turn in context.user_interrupted_turns else None
    if barged_in is not None and gave_way is not None:
        evidence = barged_in.evidence | gave_way.evidence
        return Timing(min(barged_in.value, gave_way.value), "dual_interrupt", evidence)
    timing = barged_in or gave_way
    if timing is not None:
        return timing
    value = round(limits.value(audio.latency_ms), 4)
    return Timing(value, "latency", {"latency_ms": round(audio.latency_ms, 3), "latency_score": value})


def _agent_interrupted(audio: TurnAudio, limits: Limits) -> Timing:
    overlap, count, following = audio.overlap_ms, audio.interruptions, audio.post_interrupt_ms
    values = [overlap_value(overlap)]
    evidence: Evidence = {
        "overlap_ms": round(overlap, 3),
        "overlap_score": round(values[0], 4),
        "n_interrupt_segments": count,
    }
    if count:
        values.append(count_value(count))
        evidence["interrupt_count_score"] = round(values[-1], 4)
    if following is not None:
        values.append(limits.value(following))
        evidence["post_interrupt_latency_ms"] = round(following, 3)
        evidence["post_interrupt_latency_score"] = round(values[-1], 4)
    return Timing(round(min(values), 4), "agent_interrupt", evidence)


def _user_interrupted(context: MetricContext, turn: int) -> Timing | None:
    went_on = yield_ms(context, turn)
    if went_on is None:
        return None
    value = round(yield_value(went_on), 4)
    return Timing(value, "user_interrupt", {"yield_ms": round(went_on, 3), "yield_score": value})
