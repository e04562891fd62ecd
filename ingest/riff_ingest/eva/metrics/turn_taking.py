"""Measure whether the agent began to speak when it should, and gave way when it should (10.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.history import whole
from riff_ingest.eva.metrics.conversation_end import agent_timed_out
from riff_ingest.eva.metrics.files import RecordFiles
from riff_ingest.eva.metrics.score import MetricScore, part, rate
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
    """Describe how well a turn was timed, by which rule, and the figures that the rule used."""

    value: float
    reason: Reason
    evidence: Evidence


def turn_taking(context: MetricContext, files: RecordFiles, rules: TimingRules = TODAY) -> MetricScore:
    """Return the mean of the turns in which both sides were heard.

    0.0 if the agent left the caller waiting (10.3).
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


def turn_taking_parts(
    context: MetricContext,
    files: RecordFiles,
    audible: Mapping[int, TurnAudio],
    evidence: Sequence[Mapping[str, Any]],
    rules: TimingRules,
) -> dict[str, MetricScore]:
    """Return all parts of a call in which at least one turn is audible; one that was not measured is absent or `None`.

    Rates and values are normalised as they are; milliseconds, counts and tokens have no normalised score.
    """
    parts = [
        *_latencies(context, audible, rules),
        *_agent_interruptions(context, audible, evidence),
        *_user_interruptions(context, audible, evidence),
        *_nudges(context),
        *_speech_before_tools(files.audit_entries),
        *_mean("mean_output_tokens", files.output_tokens, 3),
        *_mean("mean_reasoning_tokens", files.reasoning_tokens, 3),
    ]
    return {each.name.removeprefix(f"{NAME}."): each for each in parts}


def _latencies(context: MetricContext, audible: Mapping[int, TurnAudio], rules: TimingRules) -> Iterable[MetricScore]:
    tools = tool_turns(context)
    by_turn = {turn: audio.latency_ms for turn, audio in audible.items()}
    limits = {turn: rules.limits(tool=turn in tools) for turn in by_turn}
    count = len(by_turn)
    early = sum(ms < limits[turn].counted_early for turn, ms in by_turn.items())
    late = sum(ms >= limits[turn].counted_late for turn, ms in by_turn.items())
    ranked = sorted(by_turn.values())
    yield part(NAME, "mean_latency_ms", round(sum(ranked) / count, 3))
    for share in (0.5, 0.9):
        at = min(count - 1, int(share * count))
        yield part(NAME, f"p{round(share * 100)}_latency_ms", round(ranked[at], 3))
    yield rate(NAME, "on_time_rate", (count - early - late) / count)
    yield rate(NAME, "early_rate", early / count)
    yield rate(NAME, "late_rate", late / count)


def _agent_interruptions(
    context: MetricContext, audible: Mapping[int, TurnAudio], evidence: Iterable[Mapping[str, Any]]
) -> Iterable[MetricScore]:
    seen = [each for each in evidence if "overlap_ms" in each]
    share = len(audible.keys() & context.assistant_interrupted_turns) / len(audible)
    yield rate(NAME, "agent_interruption.rate", share)
    count = float(sum(each["n_interrupt_segments"] for each in seen)) if seen else None
    yield part(NAME, "agent_interruption.num_interruptions", count)
    yield from _means("agent_interruption", "overlap_ms", "overlap_score", seen)
    counted = [each["interrupt_count_score"] for each in seen if "interrupt_count_score" in each]
    yield from _mean("agent_interruption.mean_count_score", counted, 4, is_value=True)
    yield from _means("agent_interruption", "post_interrupt_latency_ms", "post_interrupt_latency_score", seen)


def _user_interruptions(
    context: MetricContext, audible: Mapping[int, TurnAudio], evidence: Iterable[Mapping[str, Any]]
) -> Iterable[MetricScore]:
    share = len(audible.keys() & context.user_interrupted_turns) / len(audible)
    yield rate(NAME, "user_interruption.rate", share)
    yield from _means("user_interruption", "yield_ms", "yield_score", evidence)


def _nudges(context: MetricContext) -> Iterable[MetricScore]:
    turns, nudged = len(context.audio_timestamps_assistant_turns), len(context.fallback_turn_ids)
    if turns:
        yield rate(NAME, "fallback_nudge.rate", nudged / turns)
    yield part(NAME, "fallback_nudge.count", float(nudged) if nudged else None)


def _speech_before_tools(entries: Iterable[Mapping[str, Any]]) -> Iterable[MetricScore]:
    """Yield the share of groups of tools before which the agent spoke, since the caller last did (quirk 9)."""
    timed = [(time, entry) for entry in entries if (time := whole(entry.get("timestamp"))) is not None]
    groups: list[bool] = []
    spoke = in_group = False
    for _, entry in sorted(timed, key=lambda each: each[0]):
        match entry.get("message_type"):
            case "tool_call" | "tool_response":
                if not in_group:
                    groups.append(spoke)
                in_group = True
            case "user":
                spoke = in_group = False
            case "assistant":
                said = entry.get("value")
                spoke = spoke or (isinstance(said, str) and bool(said.strip()))
                in_group = False
    if groups:
        yield rate(NAME, "pretoolspeech_rate", sum(groups) / len(groups))


def _means(side: str, ms: str, value: str, evidence: Iterable[Mapping[str, Any]]) -> Iterable[MetricScore]:
    """Yield the means of a measure and of what it is worth, of the figures as they are shown."""
    seen = [each for each in evidence if ms in each]
    yield from _mean(f"{side}.mean_{ms}", [each[ms] for each in seen], 3)
    yield from _mean(f"{side}.mean_{value}", [each[value] for each in seen], 4, is_value=True)


def _mean(key: str, values: Sequence[float], digits: int, *, is_value: bool = False) -> Iterable[MetricScore]:
    if values:
        mean = round(sum(values) / len(values), digits)
        yield part(NAME, key, mean, mean if is_value else None)
