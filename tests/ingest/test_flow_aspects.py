"""Computed scores of a call, each against its definition in docs/metrics.md, section 4."""

from __future__ import annotations

from typing import Any

import pytest

from tests.surface.ingest import (
    Contract,
    Conversation,
    SlotFilled,
    StateContract,
    StateEntered,
    StateExited,
    ToolCall,
    Turn,
    TurnComplete,
    compute_flow_aspects,
)
from tests.surface.store import UsageError

CONTRACT = Contract(
    success_terminals=["booked"],
    final_statuses=["ok"],
    required_slots=["name", "date"],
    completion_slots=["date", "reference"],
)


def call(**given: Any) -> Conversation:
    settings: dict[str, Any] = {
        "conversation_id": "c-1",
        "flow": "viewing",
        "contract": CONTRACT,
        "completed": True,
        "stop_reason": "terminal",
        "final_state": "booked",
        "final_status": "ok",
        "slots": {"name": "Ann", "date": "Tuesday", "reference": 0},
        "events": [StateEntered("a"), TurnComplete(1000), StateExited("a", "booked"), StateEntered("booked")],
    }
    return Conversation(**(settings | given))


def correctness(**given: Any) -> float | None:
    return compute_flow_aspects(call(**given))["correctness"]


def test_a_call_that_kept_its_contract_is_correct() -> None:
    assert correctness() == 10.0


def test_correctness_is_zero_without_a_success_terminal() -> None:
    assert correctness(final_state="a", events=[StateEntered("a")]) == 0.0


def test_a_success_terminal_that_was_passed_counts_as_reached() -> None:
    assert correctness(final_state=None) == 10.0


def test_correctness_falls_with_the_share_of_slots_and_counts_a_slot_in_both_lists_once() -> None:
    assert correctness(slots={"name": "Ann"}) == pytest.approx(10 / 3)
    assert correctness(slots={"name": None, "date": ""}) == pytest.approx(10 / 3)


def test_a_slot_seen_in_the_events_is_filled() -> None:
    events = [StateEntered("booked"), SlotFilled("reference", False, "a"), SlotFilled("date", None, "a")]
    assert correctness(slots={"name": "Ann"}, events=events) == pytest.approx(20 / 3)


def test_a_slot_that_the_callers_facts_contradict_counts_as_not_filled() -> None:
    assert correctness(facts={"name": "ANN", "date": "tuesday", "reference": 0}) == 10.0
    assert correctness(facts={"name": "Anne"}) == pytest.approx(20 / 3)
    assert correctness(facts={"phone": "555"}) == 10.0


def test_a_slot_that_is_corrected_later_is_filled() -> None:
    events = [
        StateEntered("a"),
        SlotFilled("name", "Anne", "a"),
        SlotFilled("name", "Ann", "a"),
        StateExited("a", "booked"),
        StateEntered("booked"),
    ]
    slots = {"date": "Tuesday", "reference": 0}
    assert correctness(slots=slots, events=events, facts={"name": "Ann"}) == 10.0
    assert correctness(slots=slots, events=events[:2] + events[3:], facts={"name": "Ann"}) == pytest.approx(20 / 3)
    assert correctness(slots={**slots, "name": "Ann"}, events=events[:2] + events[3:], facts={"name": "Ann"}) == 10.0


def test_a_wrong_slot_of_a_state_counts_where_the_flow_does_not_ask_for_it() -> None:
    contract = Contract(success_terminals=["booked"], states={"a": StateContract(required_slots=["name", "phone"])})
    assert correctness(contract=contract, facts={"name": "Ann"}) == 10.0
    assert correctness(contract=contract, facts={"name": "Bob"}) == 0.0
    assert correctness(contract=contract, facts={"reference": 7}) == 10.0


DEEDS = Contract(
    success_terminals=["booked"],
    escalation_terminals=["human"],
    required_tools=["log"],
    states={"a": StateContract(tool="book"), "b": StateContract(tool=["pay", "print"]), "c": StateContract(tool="x")},
)
ALL = [ToolCall("book"), ToolCall("pay"), ToolCall("print"), ToolCall("log")]


def left(*states: str) -> list[Any]:
    """Return the events of a call that went through these states to its goal."""
    ways = zip(states, [*states[1:], "booked"], strict=True)
    return [event for state, to in ways for event in (StateEntered(state), StateExited(state, to))]


def deeds(*done: ToolCall, **given: Any) -> float | None:
    return correctness(**({"contract": DEEDS, "events": left("a", "b"), "tool_calls": list(done)} | given))


def test_correctness_is_the_share_of_deeds_of_the_states_left_forward_and_of_the_flow() -> None:
    assert deeds(*ALL) == 10.0
    assert deeds() == 0.0
    assert deeds(*ALL[1:]) == pytest.approx(20 / 3)
    assert deeds(ALL[0], ALL[1], ALL[3]) == pytest.approx(20 / 3)
    assert deeds(*ALL[:3]) == pytest.approx(20 / 3)


@pytest.mark.parametrize(
    "bad",
    [
        ToolCall("book", error="503"),
        ToolCall("book", fits=False),
        ToolCall("book", by="caller"),
    ],
)
def test_only_a_good_call_of_the_agent_is_the_deed(bad: ToolCall) -> None:
    assert deeds(bad, *ALL[1:]) == pytest.approx(20 / 3)
    assert deeds(bad, *ALL) == deeds(*ALL, bad) == 10.0
    assert deeds(ToolCall("book", error="", fits=True), *ALL[1:]) == 10.0


def test_a_state_that_was_not_left_forward_owes_no_deed() -> None:
    assert deeds(*ALL[1:], events=left("b")) == 10.0
    handed = [StateEntered("c"), StateExited("c", "human"), StateEntered("human"), *left("a", "b")]
    assert deeds(*ALL, events=handed) == 10.0
    assert deeds(*ALL, events=[*left("a", "b"), StateEntered("c"), StateExited("c", "c")], final_state="c") == 10.0
    assert deeds(*ALL, events=[*left("a", "b"), StateEntered("c"), StateExited("c", "a")]) == pytest.approx(30 / 4)


def test_a_state_from_which_a_call_says_that_it_reached_the_goal_was_left() -> None:
    assert deeds(*ALL[1:], events=[*left("b")[:1], StateEntered("a")]) == pytest.approx(20 / 3)
    assert deeds(*ALL[1:], events=[*left("b"), StateEntered("a")], final_state=None) == 10.0


def test_success_without_the_deed_is_none_though_no_tool_was_called() -> None:
    contract = Contract(success_terminals=["booked"], states={"a": StateContract(tool="book")})
    assert correctness(contract=contract) == 0.0
    assert correctness(contract=contract, events=[]) == 10.0


def test_a_status_off_contract_is_wrong() -> None:
    assert correctness(final_status="maybe") == 0.0


def test_parts_that_the_contract_does_not_define_count_as_one() -> None:
    assert correctness(contract=Contract(success_terminals=["booked"]), slots={}, final_status=None) == 10.0
    assert correctness(contract=Contract(final_statuses=["ok"]), final_state="nowhere", events=[]) == 10.0
    assert correctness(contract=Contract(success_terminals=[], final_statuses=["ok"]), final_state="nowhere") == 10.0


def test_a_call_without_a_contract_has_no_correctness_rather_than_a_good_one() -> None:
    assert correctness(contract=None) is None


def test_what_the_source_knows_of_the_task_goes_before_the_contract() -> None:
    assert correctness(passed=False) == 0.0
    assert correctness(passed=True, final_state="lost", contract=None) == 10.0


def test_derived_states_alone_say_nothing_of_success() -> None:
    escalations = Contract(escalation_terminals=["transfer"])
    assert correctness(origin="derived", contract=escalations) is None
    assert correctness(origin="derived", contract=CONTRACT) == 10.0
    assert correctness(contract=escalations) == 10.0


def test_a_source_may_bring_what_no_event_tells() -> None:
    assert compute_flow_aspects(call(measured={"turn_taking": 2.5}))["turn_taking"] == 2.5


@pytest.mark.parametrize(
    ("completed", "stop_reason", "score"),
    [(True, "terminal", 10), (True, "hangup", 0), (False, "terminal", 0), (None, None, None), (None, "max_turns", 0)],
)
def test_completion_needs_the_flag_and_a_terminal_stop(
    completed: bool | None, stop_reason: str | None, score: float | None
) -> None:
    assert compute_flow_aspects(call(completed=completed, stop_reason=stop_reason))["completion"] == score


@pytest.mark.parametrize(
    ("errors", "stop_reason", "score"),
    [
        ([], "terminal", 10.0),
        (["x"], "terminal", 7.5),
        (2, "loop", 2.5),
        ([{"kind": "k"}] * 3, "max_turns", 0.0),
        (9, "unsafe", 0.0),
        ([], "timeout", 10.0),
    ],
)
def test_errors_and_bad_stops_cost_two_and_a_half_each(errors: Any, stop_reason: str, score: float) -> None:
    assert compute_flow_aspects(call(errors=errors, stop_reason=stop_reason))["errors"] == score


def test_latency_is_seconds_over_the_whole_call() -> None:
    events = [StateEntered("a"), TurnComplete(1000), StateEntered("booked"), TurnComplete(2000), TurnComplete(None)]
    found = compute_flow_aspects(call(events=events))
    assert found["latency_p95"] == pytest.approx(1.95)
    assert found["latency_mean"] == pytest.approx(1.5)
    assert found["turn_count"] == 3


def test_a_call_without_turns_has_no_latency() -> None:
    found = compute_flow_aspects(call(events=[StateEntered("a")]))
    assert (found["latency_p95"], found["latency_mean"], found["turn_count"]) == (None, None, 0)


def test_without_events_brought_scores_are_used_and_turns_are_read_from_what_was_said() -> None:
    turns = [Turn("agent", "Hi", latency_ms=500), Turn("caller", "Yes"), Turn("agent", "Bye")]
    found = compute_flow_aspects(call(events=[], turns=turns, aspects={"correctness": 6.5, "latency_p95": 0.9}))
    assert (found["correctness"], found["latency_p95"]) == (6.5, 0.9)
    assert (found["latency_mean"], found["turn_count"]) == (0.5, 2)


def test_without_events_and_turns_nothing_is_invented() -> None:
    found = compute_flow_aspects(call(events=[]))
    assert (found["latency_p95"], found["turn_count"]) == (None, None)


def test_with_events_the_events_win_over_brought_scores() -> None:
    assert compute_flow_aspects(call(aspects={"correctness": 1.0}))["correctness"] == 10.0


def test_a_conversation_of_a_wrong_shape_is_refused() -> None:
    with pytest.raises(UsageError, match=r"conversation: .*turns"):
        compute_flow_aspects({"conversation_id": "c", "flow": "f", "turns": 3})
