"""Computed scores of a call, each against its definition in docs/metrics.md, section 4."""

from __future__ import annotations

from typing import Any

import pytest

from tests.surface.ingest import (
    Contract,
    Conversation,
    SlotFilled,
    StateEntered,
    StateExited,
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
