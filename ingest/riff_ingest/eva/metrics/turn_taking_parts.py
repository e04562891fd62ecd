"""Compute the parts of turn-taking: rates, means and counts over the turns of a call (10.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.history import whole
from riff_ingest.eva.metrics.files import RecordFiles
from riff_ingest.eva.metrics.score import MetricScore, part, rate
from riff_ingest.eva.metrics.turn_timing import TimingRules, TurnAudio, tool_turns

_METRIC = "turn_taking"


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
    return {each.name.removeprefix(f"{_METRIC}."): each for each in parts}


def _latencies(context: MetricContext, audible: Mapping[int, TurnAudio], rules: TimingRules) -> Iterable[MetricScore]:
    tools = tool_turns(context)
    by_turn = {turn: audio.latency_ms for turn, audio in audible.items()}
    limits = {turn: rules.limits(tool=turn in tools) for turn in by_turn}
    count = len(by_turn)
    early = sum(ms < limits[turn].counted_early for turn, ms in by_turn.items())
    late = sum(ms >= limits[turn].counted_late for turn, ms in by_turn.items())
    ranked = sorted(by_turn.values())
    yield part(_METRIC, "mean_latency_ms", round(sum(ranked) / count, 3))
    for share in (0.5, 0.9):
        at = min(count - 1, int(share * count))
        yield part(_METRIC, f"p{round(share * 100)}_latency_ms", round(ranked[at], 3))
    yield rate(_METRIC, "on_time_rate", (count - early - late) / count)
    yield rate(_METRIC, "early_rate", early / count)
    yield rate(_METRIC, "late_rate", late / count)


def _agent_interruptions(
    context: MetricContext, audible: Mapping[int, TurnAudio], evidence: Iterable[Mapping[str, Any]]
) -> Iterable[MetricScore]:
    seen = [each for each in evidence if "overlap_ms" in each]
    share = len(audible.keys() & context.assistant_interrupted_turns) / len(audible)
    yield rate(_METRIC, "agent_interruption.rate", share)
    count = float(sum(each["n_interrupt_segments"] for each in seen)) if seen else None
    yield part(_METRIC, "agent_interruption.num_interruptions", count)
    yield from _means("agent_interruption", "overlap_ms", "overlap_score", seen)
    counted = [each["interrupt_count_score"] for each in seen if "interrupt_count_score" in each]
    yield from _mean("agent_interruption.mean_count_score", counted, 4, is_value=True)
    yield from _means("agent_interruption", "post_interrupt_latency_ms", "post_interrupt_latency_score", seen)


def _user_interruptions(
    context: MetricContext, audible: Mapping[int, TurnAudio], evidence: Iterable[Mapping[str, Any]]
) -> Iterable[MetricScore]:
    share = len(audible.keys() & context.user_interrupted_turns) / len(audible)
    yield rate(_METRIC, "user_interruption.rate", share)
    yield from _means("user_interruption", "yield_ms", "yield_score", evidence)


def _nudges(context: MetricContext) -> Iterable[MetricScore]:
    turns, nudged = len(context.audio_timestamps_assistant_turns), len(context.fallback_turn_ids)
    if turns:
        yield rate(_METRIC, "fallback_nudge.rate", nudged / turns)
    yield part(_METRIC, "fallback_nudge.count", float(nudged) if nudged else None)


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
        yield rate(_METRIC, "pretoolspeech_rate", sum(groups) / len(groups))


def _means(side: str, ms: str, value: str, evidence: Iterable[Mapping[str, Any]]) -> Iterable[MetricScore]:
    """Yield the means of a measure and of what it is worth, of the figures as they are shown."""
    seen = [each for each in evidence if ms in each]
    yield from _mean(f"{side}.mean_{ms}", [each[ms] for each in seen], 3)
    yield from _mean(f"{side}.mean_{value}", [each[value] for each in seen], 4, is_value=True)


def _mean(key: str, values: Sequence[float], digits: int, *, is_value: bool = False) -> Iterable[MetricScore]:
    if values:
        mean = round(sum(values) / len(values), digits)
        yield part(_METRIC, key, mean, mean if is_value else None)
