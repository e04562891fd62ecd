"""When the agent should speak, and when it should not: figures by hand from 10.3."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.eva_calls import NO_FILES, call, parts_of, waits
from tests.surface.ingest import (
    FIRST,
    TODAY,
    MetricScore,
    RecordFiles,
    Segments,
    count_value,
    overlap_value,
    rules_of,
    turn_taking,
    yield_value,
)


def scored(score: MetricScore, turn: int) -> tuple[float, str, dict[str, Any]]:
    return tuple(score.details[f"per_turn_{kind}"][turn] for kind in ("score", "reason", "evidence"))


@pytest.mark.parametrize(
    ("ms", "plain", "tool"),
    [
        (-501, 0, 0),
        (-500, 0, 0),
        (-250, 0.25, 0.25),
        (0, 0.5, 0.5),
        (499, 0.999, 0.999),
        (500, 1, 1),
        (2000, 1, 1),
        (2750, 0.5, 1),
        (3000, 1 / 3, 1),
        (3499, 1 / 1500, 1501 / 2000),
        (3500, 0, 0.75),
        (4000, 0, 0.5),
        (5000, 0, 0),
    ],
)
def test_a_latency_is_worth_what_the_page_says(ms: float, plain: float, tool: float) -> None:
    assert TODAY.plain.value(ms) == pytest.approx(plain)
    assert TODAY.tool.value(ms) == pytest.approx(tool)


def test_overlap_interruptions_and_giving_way_are_worth_what_the_page_says() -> None:
    assert [overlap_value(ms) for ms in (0, 1000, 2000, 3000)] == [0.5, 0.25, 0, 0]
    assert [count_value(count) for count in (1, 2, 3, 4)] == [0.5, 0.25, 0, 0]
    assert [yield_value(ms) for ms in (0, 500, 2000, 3000)] == [1, 0.75, 0, 0]


def test_the_first_rules_gave_tools_more_time() -> None:
    assert [FIRST.tool.value(ms) for ms in (4000, 5500, 7000)] == [1, 0.5, 0]
    assert FIRST.plain == TODAY.plain
    assert [rules_of(version) for version in (None, "v0.1.3", "0.1.9", "0.2", "0.3.1", "odd")] == [
        TODAY, FIRST, FIRST, TODAY, TODAY, TODAY,
    ]  # fmt: skip
    assert rules_of("0.1.2") is None, "a judge gave it"


def test_turns_are_scored_by_latency_where_nobody_interrupted() -> None:
    score = turn_taking(call(*waits(1.0, 2.75, 4.0), tools_in=[3]), NO_FILES)
    assert scored(score, 1) == (1.0, "latency", {"latency_ms": 1000.0, "latency_score": 1.0, "has_tool_call": False})
    assert scored(score, 2)[0] == 0.5
    assert scored(score, 3) == (0.5, "latency", {"latency_ms": 4000.0, "latency_score": 0.5, "has_tool_call": True})
    assert (score.score, score.normalized_score) == (0.6667, 0.6667)
    assert {key: score.details[key] for key in ("num_turns", "num_evaluated", "missed_turn")} == {
        "num_turns": 3, "num_evaluated": 3, "missed_turn": False,
    }  # fmt: skip


def test_only_turns_with_audio_of_both_sides_are_looked_at_and_never_the_greeting() -> None:
    spoken: Segments = [(1.0, 2.0)]
    user = {0: spoken, 1: spoken, 2: None, 3: spoken, 4: [], 5: spoken}
    agent = {0: spoken, 1: spoken, 2: spoken, 3: None, 4: spoken, 7: None}
    score = turn_taking(call(user, agent), NO_FILES)
    assert list(score.details["per_turn_score"]) == [1]
    assert score.details["num_turns"] == 7


def test_nothing_to_look_at_is_0_without_an_error() -> None:
    score = turn_taking(call({0: [(1.0, 2.0)]}, {0: [(1.0, 2.0)]}), NO_FILES)
    assert (score.score, score.error, score.sub_metrics) == (0.0, None, None)
    assert score.details["num_turns"] == 0
    assert turn_taking(call(), NO_FILES).details["num_turns"] == 0


def test_a_nudged_turn_is_0_whether_anything_was_heard_or_not() -> None:
    score = turn_taking(call(*waits(1.0, 1.0), nudged=[2, 9], tools_in=[9], barged_in=[2]), NO_FILES)
    assert scored(score, 2) == (0.0, "turn_end_fallback", {"has_tool_call": False})
    assert scored(score, 9) == (0.0, "turn_end_fallback", {"has_tool_call": True})
    assert (score.score, score.details["num_evaluated"]) == (0.3333, 3)
    parts = parts_of(score)
    assert (parts["fallback_nudge.rate"], parts["fallback_nudge.count"]) == (1.0, 2.0)
    assert parts["agent_interruption.rate"] == 0.5
    assert parts["agent_interruption.num_interruptions"] is None


def test_only_nudged_turns_without_audio_have_no_parts() -> None:
    score = turn_taking(call(nudged=[1]), NO_FILES)
    assert (score.score, score.details["num_evaluated"], score.sub_metrics) == (0.0, 1, None)


def test_an_agent_who_barges_in_is_worth_the_least_of_what_it_did() -> None:
    """The caller speaks from 0 to 4 and from 5 to 6; the agent at 1, at 3 and after 0.8 s again."""
    user = {1: [(0.0, 4.0), (5.0, 6.0)]}
    agent = {1: [(1.0, 1.4), (3.9, 5.1), (6.8, 8.0)]}
    score = turn_taking(call(user, agent, barged_in=[1]), NO_FILES)
    assert scored(score, 1) == (
        0.25,
        "agent_interrupt",
        {
            "overlap_ms": 600.0,
            "overlap_score": 0.35,
            "n_interrupt_segments": 2,
            "interrupt_count_score": 0.25,
            "post_interrupt_latency_ms": 800.0,
            "post_interrupt_latency_score": 1.0,
            "has_tool_call": False,
        },
    )


def test_what_follows_a_barge_in_counts_by_the_limits_of_the_turn() -> None:
    user, agent = {1: [(0.0, 4.0)]}, {1: [(1.0, 1.4), (8.5, 9.0)]}
    score = turn_taking(call(user, agent, barged_in=[1]), NO_FILES)
    assert scored(score, 1)[0] == 0.0
    assert scored(turn_taking(call(user, agent, barged_in=[1], tools_in=[1]), NO_FILES), 1)[0] == 0.25


def test_an_agent_who_still_speaks_when_the_caller_stops_has_no_latency_after_it() -> None:
    for agent in ([(3.0, 5.0), (7.0, 8.0)], [(4.0, 5.0)], [(1.0, 4.0)]):
        _, _, evidence = scored(turn_taking(call({1: [(0.0, 4.0)]}, {1: agent}, barged_in=[1]), NO_FILES), 1)
        assert "post_interrupt_latency_ms" not in evidence


def test_touching_is_no_interruption() -> None:
    """A barge-in of a millisecond is one of overlap alone."""
    user, agent = {1: [(0.0, 4.0)]}, {1: [(3.9995, 5.0)]}
    value, reason, evidence = scored(turn_taking(call(user, agent, barged_in=[1]), NO_FILES), 1)
    assert (value, reason, evidence["n_interrupt_segments"]) == (0.4999, "agent_interrupt", 0)
    assert evidence["overlap_ms"] == 0.5
    assert "interrupt_count_score" not in evidence


def test_an_interrupted_agent_is_worth_how_soon_it_gave_way() -> None:
    user = {1: [(0.0, 1.0)], 2: [(4.0, 5.0)]}
    agent = {1: [(2.0, 4.5)], 2: [(5.5, 6.0)]}
    score = turn_taking(call(user, agent, interrupted=[2]), NO_FILES)
    assert scored(score, 2) == (
        0.75,
        "user_interrupt",
        {"yield_ms": 500.0, "yield_score": 0.75, "has_tool_call": False},
    )


def test_an_agent_who_had_stopped_already_gave_way_at_once() -> None:
    user = {1: [(0.0, 1.0)], 2: [(4.0, 5.0)]}
    score = turn_taking(call(user, {1: [(2.0, 3.5)], 2: [(9.0, 9.5)]}, interrupted=[2]), NO_FILES)
    assert scored(score, 2)[:2] == (1.0, "user_interrupt")


def test_without_anything_heard_before_an_interruption_is_scored_by_latency() -> None:
    user, agent = waits(1.0)
    score = turn_taking(call(user, agent, interrupted=[1]), NO_FILES)
    assert scored(score, 1)[1] == "latency"
    assert parts_of(score)["user_interruption.rate"] == 1.0
    assert "user_interruption.mean_yield_ms" not in parts_of(score)


def test_where_both_interrupted_the_worse_counts() -> None:
    user = {1: [(0.0, 1.0)], 2: [(4.0, 6.0)]}
    agent = {1: [(2.0, 4.2)], 2: [(5.0, 5.5), (7.0, 8.0)]}
    value, reason, evidence = scored(turn_taking(call(user, agent, barged_in=[2], interrupted=[2]), NO_FILES), 2)
    assert (value, reason) == (0.375, "dual_interrupt")
    assert (evidence["overlap_score"], evidence["yield_score"]) == (0.375, 0.9)


def test_an_agent_who_left_the_caller_waiting_is_0() -> None:
    user, agent = waits(1.0)
    left = call({**user, 2: [(300.0, 301.0)]}, agent, conversation_ended_reason="inactivity_timeout")
    score = turn_taking(left, NO_FILES)
    assert (score.score, score.details["missed_turn"], score.details["per_turn_score"]) == (0.0, True, {1: 1.0})
    assert parts_of(score)["on_time_rate"] == 1.0
    assert turn_taking(call(user, agent, conversation_ended_reason="inactivity_timeout"), NO_FILES).score == 1.0


def test_parts_tell_of_latencies() -> None:
    """Late is 2750 ms, with a tool 4000 ms; early is less than 200 ms."""
    score = turn_taking(call(*waits(0.1, 0.2, 2.75, 3.9, 4.0), tools_in=[4, 5]), NO_FILES)
    parts = parts_of(score)
    assert {key: parts[key] for key in parts if "latency" in key or "rate" in key} == {
        "mean_latency_ms": 2190.0,
        "p50_latency_ms": 2750.0,
        "p90_latency_ms": 4000.0,
        "on_time_rate": 0.4,
        "early_rate": 0.2,
        "late_rate": 0.4,
        "agent_interruption.rate": 0.0,
        "user_interruption.rate": 0.0,
        "fallback_nudge.rate": 0.0,
    }
    found = score.sub_metrics or {}
    assert found["early_rate"].normalized_score == 0.2
    assert found["mean_latency_ms"].normalized_score is None
    assert found["agent_interruption.rate"].name == "turn_taking.agent_interruption.rate"


def test_parts_tell_of_interruptions_in_means_of_what_is_shown() -> None:
    user = {1: [(0.0, 4.0)], 2: [(10.0, 14.0)], 3: [(20.0, 21.0)]}
    agent = {1: [(1.0, 2.0), (5.0, 6.0)], 2: [(13.0, 15.0)], 3: [(22.0, 23.0)]}
    score = turn_taking(call(user, agent, barged_in=[1, 2], interrupted=[2, 3]), NO_FILES)
    parts = parts_of(score)
    assert {key: value for key, value in parts.items() if "interruption" in key} == {
        "agent_interruption.rate": 0.6667,
        "agent_interruption.num_interruptions": 2.0,
        "agent_interruption.mean_overlap_ms": 1000.0,
        "agent_interruption.mean_overlap_score": 0.25,
        "agent_interruption.mean_count_score": 0.5,
        "agent_interruption.mean_post_interrupt_latency_ms": 1000.0,
        "agent_interruption.mean_post_interrupt_latency_score": 1.0,
        "user_interruption.rate": 0.6667,
        "user_interruption.mean_yield_ms": 0.0,
        "user_interruption.mean_yield_score": 1.0,
    }


def entry(at: object, kind: str, value: object = "x") -> dict[str, Any]:
    return {"timestamp": at, "message_type": kind, "value": value}


def log(kinds: str) -> list[dict[str, Any]]:
    """Entries of the audit log one after the other."""
    return [entry(at, kind) for at, kind in enumerate(kinds.split())]


@pytest.mark.parametrize(
    ("entries", "rate"),
    [
        ([], None),
        (log("assistant user"), None),
        (log("tool_call tool_response"), 0.0),
        (log("assistant tool_call tool_response tool_call"), 1.0),
        (log("assistant user tool_call"), 0.0),
        (log("user assistant tool_call llm_call tool_call"), 1.0),
        # An earlier group does not take the agent's words away from the next one (quirk 9).
        ([*log("tool_call assistant tool_call"), entry(8, "assistant", ""), entry(9, "tool_call")], 0.6667),
        ([entry(1, "assistant", "  "), entry(2, "assistant", {"x": 1}), entry(3, "tool_call")], 0.0),
        ([entry("3", "tool_call"), entry("2", "assistant"), entry(1, "user"), entry("no time", "user")], 1.0),
        ([entry(1, "tool_call"), entry(1, "assistant")], 0.0),
    ],
)
def test_groups_of_tools_are_counted_by_whether_the_agent_spoke_before(
    entries: list[dict[str, Any]], rate: float | None
) -> None:
    score = turn_taking(call(*waits(1.0)), RecordFiles(audit_entries=entries))
    assert parts_of(score).get("pretoolspeech_rate") == rate


def test_tokens_are_means_of_what_is_known() -> None:
    files = RecordFiles(output_tokens=[1, 2, 2], reasoning_tokens=[])
    parts = parts_of(turn_taking(call(*waits(1.0)), files))
    assert parts["mean_output_tokens"] == 1.667
    assert "mean_reasoning_tokens" not in parts


MOMENT = st.floats(0, 30)
SPANS = st.none() | st.lists(st.tuples(MOMENT, MOMENT), max_size=4)
AUDIO = st.dictionaries(st.integers(-1, 5), SPANS, max_size=6)
TURNS = st.frozensets(st.integers(-1, 6))


@given(AUDIO, AUDIO, TURNS, TURNS, TURNS, TURNS, st.sampled_from([None, "inactivity_timeout"]))
def test_whatever_the_audio_every_value_is_between_0_and_1(
    user: dict[int, Segments | None],
    agent: dict[int, Segments | None],
    barged_in: frozenset[int],
    interrupted: frozenset[int],
    nudged: frozenset[int],
    tools: frozenset[int],
    ended: str | None,
) -> None:
    context = call(
        user, agent, barged_in=barged_in, interrupted=interrupted, nudged=nudged, tools_in=tools,
        conversation_ended_reason=ended,
    )  # fmt: skip
    score = turn_taking(context, NO_FILES)
    assert score.score is not None
    assert 0 <= score.score <= 1
    assert all(0 <= value <= 1 for value in score.details["per_turn_score"].values())
    parts = score.sub_metrics or {}
    for key, part in parts.items():
        if part.normalized_score is not None and key != "fallback_nudge.rate":
            assert 0 <= part.normalized_score <= 1, key
    if parts:
        shares = sum(parts[key].score or 0 for key in ("on_time_rate", "early_rate", "late_rate"))
        assert shares == pytest.approx(1, abs=0.0002)
    order = call(
        dict(reversed(user.items())), dict(reversed(agent.items())), barged_in=barged_in, interrupted=interrupted,
        nudged=nudged, tools_in=sorted(tools, reverse=True), conversation_ended_reason=ended,
    )  # fmt: skip
    assert turn_taking(order, NO_FILES).to_dict() == score.to_dict()
