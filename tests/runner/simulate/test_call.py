"""Calls read like calls: both sides talk, values are real and of every type, and some calls break."""

from __future__ import annotations

from collections import Counter

from tests.surface.ingest import Conversation, GuardEvaluated, SlotFilled, encode_line, transcript_document
from tests.surface.runner import stage_of


def test_a_call_is_about_as_long_as_real_ones(conversations: list[Conversation]) -> None:
    turns = [len(call.turns) for call in conversations]
    sizes = [len(encode_line(transcript_document(call))) for call in conversations]
    assert 12 <= sum(turns) / len(turns) <= 20
    assert max(turns) <= 45
    assert 4_500 <= sum(sizes) / len(sizes) <= 8_000


def test_words_vary_and_hold_what_displays_trip_over(conversations: list[Conversation]) -> None:
    texts = [turn.text for call in conversations for turn in call.turns]
    assert len(set(texts)) > len(texts) / 4
    assert any("[noise]" in text for text in texts)
    assert sum(not text.isascii() for text in texts) > 500
    assert not any("{" in text or "}" in text or "  " in text for text in texts)
    assert all(text.strip() == text and text for text in texts)


def test_every_turn_of_the_agent_is_placed_and_timed(conversations: list[Conversation]) -> None:
    for call in conversations:
        for turn in call.turns:
            assert (turn.state is not None) == (turn.latency_ms is not None) == (turn.role == "agent")
            assert turn.t is not None


def test_two_of_a_hundred_calls_break_and_say_why(conversations: list[Conversation]) -> None:
    broken = [call for call in conversations if call.errored]
    assert 0.01 <= len(broken) / len(conversations) <= 0.035
    for call in broken:
        assert call.error
        assert (call.completed, call.stop_reason) == (False, "error")
        assert call.error_count() >= 1


def test_calls_end_in_many_ways(conversations: list[Conversation]) -> None:
    stops = Counter(call.stop_reason for call in conversations)
    assert set(stops) == {"terminal", "hangup", "max_turns", "loop", "timeout", "error"}
    for call in conversations:
        stage = stage_of(call.flow)
        assert call.completed == (call.final_state in stage.successes)
        if call.final_state in stage.escalations:
            assert call.final_status == "transferred"


def test_slots_hold_values_of_every_type_falsy_ones_too(conversations: list[Conversation]) -> None:
    values = [event.value for call in conversations for event in call.events if isinstance(event, SlotFilled)]
    kinds = {(type(value), bool(value)) for value in values}
    assert {(int, False), (int, True), (bool, False), (bool, True), (str, False), (str, True)} == kinds


def test_final_slots_are_those_that_became_public(conversations: list[Conversation]) -> None:
    for call in conversations:
        filled = [event.slot for event in call.events if isinstance(event, SlotFilled)]
        assert list(call.slots) == filled


def test_guards_pass_fail_and_raise(conversations: list[Conversation]) -> None:
    guards = [event for call in conversations for event in call.events if isinstance(event, GuardEvaluated)]
    assert {event.result for event in guards} == {True, False, None}
    assert {event.error for event in guards} == {None, "LookupError: service map has no answer"}


def test_tools_are_called_and_sometimes_fail(conversations: list[Conversation]) -> None:
    calls = [(call, tool) for call in conversations for tool in call.tool_calls]
    assert any(tool.error for _, tool in calls)
    for call, tool in calls:
        assert not tool.error or any(f"{tool.name}: {tool.error}" == error["message"] for error in _errors(call))


def test_callers_have_facts_and_tools_know_the_state_that_is_there_to_call_them(
    conversations: list[Conversation],
) -> None:
    for call in conversations:
        assert call.contract is not None
        assert call.channel == "voice"
        assert call.completed is False or not [slot for slot in call.slots if call.slots[slot] != call.facts[slot]]
        for tool in call.tool_calls:
            assert tool.state is not None
            assert tool.name in call.contract.terms.tools[tool.state]
            assert tool.seq is not None
            before = [event for event in call.events if event.t is not None and tool.t is not None and event.t < tool.t]
            assert tool.seq >= len(before)


def _errors(call: Conversation) -> list[dict[str, str]]:
    assert isinstance(call.errors, list)
    return call.errors
