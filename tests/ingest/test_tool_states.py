"""States of calls that have none of their own: the tools that were called."""

from __future__ import annotations

import pytest

from tests.surface.ingest import (
    Contract,
    GuardEvaluated,
    StateEntered,
    ToolSegments,
    ToolStates,
    TurnComplete,
    hands_over,
    read_stream,
    tool_changes,
)
from tests.surface.ingest import segments_segment_of_tool as segment_of_tool


def test_the_state_is_the_tool_last_called_and_opening_before_the_first() -> None:
    found = ToolStates()
    found.say("agent", "Hello", 0.0)
    found.call("find_user", t=1.0)
    found.call("find_user", t=2.0)
    found.say("agent", "There you are", 3.0, 1000.0)
    found.call("toggle_data", by="caller", t=4.0)
    found.call("toggle_data", t=5.0)
    assert found.states == ["opening", "find_user", "user:toggle_data", "toggle_data"]
    assert [turn.state for turn in found.turns] == ["opening", "find_user"]
    stream = read_stream(found.events, Contract())
    assert stream.defects == {}
    assert stream.turns == 2


def test_a_call_that_begins_with_a_tool_opens_all_the_same() -> None:
    found = ToolStates()
    found.call("lookup", t=0.0)
    assert found.states == ["opening", "lookup"]


def test_a_failed_tool_is_a_guard_error_in_its_own_visit_and_counts_against_the_agent() -> None:
    found = ToolStates()
    found.call("pay", error="declined")
    found.call("toggle_data", by="caller", error="no signal")
    guards = [event for event in found.events if isinstance(event, GuardEvaluated)]
    assert [(guard.guard, guard.error) for guard in guards] == [("pay", "declined")]
    assert [call.error for call in found.tool_calls] == ["declined", "no signal"]


@pytest.mark.parametrize("latency", [-1.0, 1e12, None])
def test_a_latency_that_cannot_be_one_is_not_measured(latency: float | None) -> None:
    found = ToolStates()
    found.say("agent", "Hello", 0.0, latency)
    assert [event.latency_ms for event in found.events if isinstance(event, TurnComplete)] == [None]


@pytest.mark.parametrize(
    ("tool", "segment"),
    [
        ("find_user_id_by_email", "auth"),
        ("transfer_to_human_agents", "exit"),
        ("getOrder", "lookup"),
        ("check_status_bar", "lookup"),
        ("calculate", "other"),
        ("book_reservation", "action"),
        ("run_speed_test", "verify"),
    ],
)
def test_the_name_of_a_tool_tells_its_phase(tool: str, segment: str) -> None:
    assert segment_of_tool(tool) == segment


def test_users_say_which_phase_a_tool_belongs_to() -> None:
    segments = ToolSegments.of({"user:*": "self-help", "book*": "booking"})
    assert segments.segment("book_room", "action") == "booking"
    assert segments.segment("user:book_room") == "self-help"
    assert segments.segment("think", "other") == "other"
    found = ToolStates(segments)
    found.call("book_room", by="caller")
    assert [event.segment for event in found.events if isinstance(event, StateEntered)] == ["opening", "self-help"]


@pytest.mark.parametrize(
    ("tool", "human"),
    [
        ("transfer_to_human_agents", True),
        ("transferToOperator", True),
        ("transfer_call", True),
        ("transfer-to-agent", True),
        ("transfer", True),
        ("escalate_to_supervisor", True),
        ("transfer_money", False),
        ("transfer_to_billing_agent", False),
        ("get_transfer_fee", False),
    ],
)
def test_a_hand_over_to_a_human_is_told_from_transfers_of_anything_else(tool: str, human: bool) -> None:
    assert hands_over(tool) is human


def test_the_first_state_may_have_a_name_and_a_source_may_move_a_call_itself() -> None:
    found = ToolStates(opening="greeter")
    found.move("booking", 1.0)
    found.call("book", t=2.0, state=found.state)
    found.move("booking", 3.0)
    assert found.states == ["greeter", "booking"]
    assert read_stream(found.events, Contract()).defects == {}


def test_a_call_of_a_tool_knows_its_state_and_its_place() -> None:
    found = ToolStates()
    found.say("agent", "Hello", 0.0)
    found.call("find_user")
    found.call("find_user", changes=False, fits=False)
    found.say("agent", "There you are")
    found.call("book")
    places = [(call.state, call.seq, call.changes, call.fits) for call in found.tool_calls]
    assert places == [("find_user", 5, None, None), ("find_user", 5, False, False), ("book", 9, None, None)]


@pytest.mark.parametrize(
    "name",
    ["get_user", "get-user", "getUserDetails", "GetUser", "GET_USER", "user.get", "crm__find_user", "lookup", "look_up",
     "search", "CheckCoverage", "crm/list_orders", "GET /users", "Search the docs", "think", "verify_identity",
     "transfer_to_human_agents"],
)  # fmt: skip
def test_a_tool_that_only_reads_is_known_by_its_first_word(name: str) -> None:
    assert not tool_changes(name, None, None)


@pytest.mark.parametrize(
    "name",
    ["book", "update_search", "checkout", "check_in_guest", "checkOut", "getaway_offer", "POST /users", "cancel_order",
     "forget_get", "user_get", "", "123", "crm.create_user", "POST"],
)  # fmt: skip
def test_every_other_tool_changes_something(name: str) -> None:
    assert tool_changes(name, None, None)


def test_what_the_source_told_goes_before_the_flow_and_that_before_the_name() -> None:
    contract = Contract(changing_tools=["get_quote", "both"], reading_tools=["book", "both"])
    assert tool_changes("get_quote", contract, None)
    assert not tool_changes("book", contract, None)
    assert tool_changes("both", contract, None)
    assert not tool_changes("get_other", contract, None)
    assert not tool_changes("get_quote", contract, False)
    assert tool_changes("book", contract, True)
