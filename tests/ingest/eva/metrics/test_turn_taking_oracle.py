"""Turn-taking once more, from the formulas of 10.3 alone, held against what is computed of random audio."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.surface.ingest import LoggedEntry, MetricContext, RecordFiles, turn_taking

Spans = list[tuple[float, float]]
TURNS = range(-1, 5)


def latency_score(ms: float, *, tool: bool) -> float:
    sweet, late = (3000, 5000) if tool else (2000, 3500)
    if ms <= -500 or ms >= late:
        return 0.0
    if ms < 500:
        return (ms + 500) / 1000
    return 1.0 if ms <= sweet else (late - ms) / (late - sweet)


def overlap(one: tuple[float, float], other: tuple[float, float]) -> float:
    return min(one[1], other[1]) - max(one[0], other[0])


def evidence_of(context: MetricContext, turn: int, *, tool: bool) -> tuple[str, float, dict[str, Any]]:
    """The reason, the score and the evidence of a turn in which both sides were heard."""
    users, agents = context.audio_timestamps_user_turns, context.audio_timestamps_assistant_turns
    user, agent = users[turn] or [], agents[turn] or []
    found: dict[str, Any] = {"has_tool_call": tool}
    broke_in = yielded = None
    if turn in context.assistant_interrupted_turns:
        both = 1000 * sum(max(0.0, overlap(u, a)) for u in user for a in agent)
        broke_in = max(0.0, 0.5 * (1 - both / 2000))
        n = sum(any(overlap(u, a) > 0.001 for u in user) for a in agent)
        found |= {"overlap_ms": round(both, 3), "overlap_score": round(broke_in, 4), "n_interrupt_segments": n}
        if n >= 1:
            count = max(0.0, 0.5 * (1 - (n - 1) / 2))
            found["interrupt_count_score"] = round(count, 4)
            broke_in = min(broke_in, count)
        end = user[-1][1]
        later = [start for start, _ in agent if start > end]
        if later and not any(start <= end < stop for start, stop in agent):
            after = (min(later) - end) * 1000
            found["post_interrupt_latency_ms"] = round(after, 3)
            found["post_interrupt_latency_score"] = round(latency_score(after, tool=tool), 4)
            broke_in = min(broke_in, latency_score(after, tool=tool))
    before = agents.get(turn - 1)
    if turn in context.user_interrupted_turns and before:
        went_on = max(0.0, before[-1][1] - user[0][0]) * 1000
        yielded = max(0.0, 1 - went_on / 2000)
        found |= {"yield_ms": round(went_on, 3), "yield_score": round(yielded, 4)}
    if broke_in is not None and yielded is not None:
        return "dual_interrupt", round(min(broke_in, yielded), 4), found
    if broke_in is not None:
        return "agent_interrupt", round(broke_in, 4), found
    if yielded is not None:
        return "user_interrupt", round(yielded, 4), found
    ms = context.latency_assistant_turns[turn] * 1000
    score = latency_score(ms, tool=tool)
    return "latency", round(score, 4), {**found, "latency_ms": round(ms, 3), "latency_score": round(score, 4)}


def rates_of(latencies: dict[int, float], tools: set[int]) -> dict[str, float]:
    ranked, n = sorted(latencies.values()), len(latencies)
    early = sum(ms < 200 for ms in ranked)
    late = sum(ms >= (4000 if turn in tools else 2750) for turn, ms in latencies.items())
    return {
        "mean_latency_ms": round(sum(ranked) / n, 3),
        "p50_latency_ms": round(ranked[min(n - 1, int(0.5 * n))], 3),
        "p90_latency_ms": round(ranked[min(n - 1, int(0.9 * n))], 3),
        "early_rate": round(early / n, 4),
        "late_rate": round(late / n, 4),
        "on_time_rate": round((n - early - late) / n, 4),
    }


def means_of(evidence: dict[int, dict[str, Any]]) -> dict[str, float]:
    found = {}
    for name, key, digits in (
        ("agent_interruption.mean_overlap_ms", "overlap_ms", 3),
        ("agent_interruption.mean_overlap_score", "overlap_score", 4),
        ("agent_interruption.mean_count_score", "interrupt_count_score", 4),
        ("agent_interruption.mean_post_interrupt_latency_ms", "post_interrupt_latency_ms", 3),
        ("agent_interruption.mean_post_interrupt_latency_score", "post_interrupt_latency_score", 4),
        ("user_interruption.mean_yield_ms", "yield_ms", 3),
        ("user_interruption.mean_yield_score", "yield_score", 4),
    ):
        values = [each[key] for each in evidence.values() if key in each]
        if values:
            found[name] = round(sum(values) / len(values), digits)
    return found


# Moments on which the thresholds lie, some between, and most of them where sides touch or overlap.
steps = st.one_of(
    st.sampled_from([-2.0, -1.0, -0.5, -0.4, -0.002, -0.001, 0.0, 0.0005]),
    st.sampled_from([0.2, 0.5, 1.0, 1.999, 2.0, 2.75, 2.7505, 3.0, 3.5, 4.0, 5.0]),
)
lengths = st.sampled_from([0.0, 0.001, 0.002, 0.4, 1.0, 2.0])
segments = st.one_of(st.none(), *[st.lists(st.tuples(steps, lengths), max_size=3)] * 4)
some_turns = st.frozensets(st.sampled_from(list(TURNS)), max_size=5)


def context_of(audio: dict[int, Any], ai: frozenset[int], ui: frozenset[int], tools: frozenset[int]) -> MetricContext:
    """Segments one after the other, each so long after the end of the one before it."""
    now, context = 100.0, MetricContext(assistant_interrupted_turns=ai, user_interrupted_turns=ui)
    users, agents = context.audio_timestamps_user_turns, context.audio_timestamps_assistant_turns
    for turn, sides in sorted(audio.items()):
        for by_turn, side in zip((users, agents), sides, strict=True):
            spans: Spans = []
            for step, length in side or ():
                spans.append((round(now + step, 4), round(now + step + length, 4)))
                now = spans[-1][1]
            by_turn[turn] = spans or None
        user, agent = users[turn], agents[turn]
        if user and agent:
            context.latency_assistant_turns[turn] = round(agent[0][0] - user[-1][1], 6)
    context.conversation_trace = [
        LoggedEntry("tool_call", turn, tool_name="x", parameters={}) for turn in sorted(tools)
    ]
    return context


def is_heard(context: MetricContext, turn: int) -> bool:
    users, agents = context.audio_timestamps_user_turns, context.audio_timestamps_assistant_turns
    return turn != 0 and bool(users.get(turn)) and bool(agents.get(turn))


@settings(max_examples=examples(120))
@given(
    st.dictionaries(st.sampled_from(list(TURNS)), st.tuples(segments, segments), min_size=2, max_size=6),
    some_turns,
    some_turns,
    some_turns,
    st.frozensets(st.sampled_from(list(TURNS)), max_size=1),
)
def test_turn_taking_is_what_the_formulas_say(
    audio: dict[int, Any], ai: frozenset[int], ui: frozenset[int], tools: frozenset[int], nudged: frozenset[int]
) -> None:
    context = context_of(audio, ai, ui, tools)
    context.fallback_turn_ids = nudged
    heard = [turn for turn in TURNS if is_heard(context, turn)]
    wanted = {turn: evidence_of(context, turn, tool=turn in tools) for turn in heard}
    wanted |= {turn: ("turn_end_fallback", 0.0, {"has_tool_call": turn in tools}) for turn in nudged}
    found = turn_taking(context, RecordFiles())
    assert found.details["per_turn_reason"] == {turn: reason for turn, (reason, _, _) in wanted.items()}
    assert found.details["per_turn_evidence"] == {turn: evidence for turn, (_, _, evidence) in wanted.items()}
    scores = {turn: score for turn, (_, score, _) in wanted.items()}
    assert found.details["per_turn_score"] == scores
    assert found.details["num_turns"] == max(audio, default=0)
    assert found.score == (round(sum(scores[turn] for turn in sorted(scores)) / len(scores), 4) if scores else 0.0)
    if not heard:
        assert found.sub_metrics is None
        return
    evidence = {turn: wanted[turn][2] for turn in sorted(wanted)}
    broken = [each["n_interrupt_segments"] for each in evidence.values() if "overlap_ms" in each]
    parts = {name: part.score for name, part in (found.sub_metrics or {}).items()}
    assert parts == {
        **rates_of({turn: context.latency_assistant_turns[turn] * 1000 for turn in heard}, set(tools)),
        **means_of(evidence),
        "agent_interruption.rate": round(len(ai & set(heard)) / len(heard), 4),
        "agent_interruption.num_interruptions": sum(broken) if broken else None,
        "user_interruption.rate": round(len(ui & set(heard)) / len(heard), 4),
        "fallback_nudge.rate": round(len(nudged) / len(context.audio_timestamps_assistant_turns), 4),
        "fallback_nudge.count": len(nudged) or None,
    }
