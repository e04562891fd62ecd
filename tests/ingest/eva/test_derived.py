"""States that nobody named: where a call was, by the tools that it called."""

from __future__ import annotations

from typing import Any

import pytest

from tests.surface.ingest import (
    GENERIC_ERROR,
    CallClock,
    Derived,
    GuardEvaluated,
    LoggedEntry,
    MetricContext,
    StateEntered,
    StateExited,
    TurnComplete,
    derive,
    error_of,
    guessed_type,
    is_transfer,
    tool_types,
)
from tests.surface.ingest import derived_segment_of_tool as segment_of_tool

START = 1_780_000_000_000


def agent(turn: int, text: str = "Yes.", at: int | None = None) -> LoggedEntry:
    return LoggedEntry("intended", turn, at, role="assistant", content=text)


def caller(turn: int, text: str = "Please.", at: int | None = START) -> LoggedEntry:
    return LoggedEntry("transcribed", turn, at, role="user", content=text)


def call(turn: int, tool: Any, at: int = START, **parameters: Any) -> LoggedEntry:
    return LoggedEntry("tool_call", turn, at, tool_name=tool, parameters=parameters)


def answer(turn: int, tool: str, **response: Any) -> LoggedEntry:
    return LoggedEntry(
        "tool_response", turn, START + 1000, tool_name=tool, tool_response=response or {"status": "success"}
    )


def of(*trace: LoggedEntry, said_goodbye: bool = True, types: dict[str, str] | None = None, **given: Any) -> Derived:
    spoken = {entry.turn_id: entry.content for entry in trace if entry.role == "assistant"}
    context = MetricContext(
        conversation_trace=list(trace), **{"started_ms": START, "intended_assistant_turns": spoken, **given}
    )
    return derive(context, CallClock(context), types or {}, said_goodbye=said_goodbye)


def test_a_call_opens_works_in_its_tools_and_closes() -> None:
    found = of(
        agent(0), caller(1), call(1, "get_seat"), answer(1, "get_seat"), agent(1),
        caller(2), call(2, "assign_seat"), answer(2, "assign_seat"), agent(2), caller(3), agent(3),
    )  # fmt: skip
    assert found.states == ["opening", "get_seat", "assign_seat", "closing"]
    assert [event.segment for event in found.events if isinstance(event, StateEntered)] == [
        "opening", "read", "write", "closing",
    ]  # fmt: skip
    exits = [(event.state, event.to_state) for event in found.events if isinstance(event, StateExited)]
    assert exits == [("opening", "get_seat"), ("get_seat", "assign_seat"), ("assign_seat", "closing")]
    assert [turn.state for turn in found.turns] == [
        "opening", "opening", "get_seat", "get_seat", "assign_seat", "closing", "closing",
    ]  # fmt: skip


def test_the_same_tool_again_at_once_is_one_visit() -> None:
    found = of(agent(0), call(1, "search"), agent(1), call(2, "search"), agent(2), call(3, "book"), call(3, "search"))
    assert found.states == ["opening", "search", "book", "search"]
    assert len(found.tool_calls) == 4


@pytest.mark.parametrize(
    ("said_goodbye", "states"), [(True, ["opening", "book", "closing"]), (False, ["opening", "book"])]
)
def test_only_a_call_that_ended_well_closes(said_goodbye: bool, states: list[str]) -> None:
    assert of(agent(0), call(1, "book"), agent(1), agent(2), said_goodbye=said_goodbye).states == states


def test_what_is_said_in_the_turn_of_the_last_tool_closes_nothing() -> None:
    assert of(agent(0), caller(1), call(1, "book"), agent(1)).states == ["opening", "book"]


def test_a_farewell_of_the_caller_alone_closes() -> None:
    found = of(agent(0), caller(1), call(1, "book"), agent(1), caller(2))
    assert found.states[-1] == "closing"
    assert found.turns[-1].state == "closing"


def test_a_call_without_tools_opens_and_closes() -> None:
    assert of(agent(0), caller(1), agent(1), caller(2), agent(2)).states == ["opening", "closing"]


def test_latencies_go_to_the_state_in_which_the_agent_began_to_answer_and_a_barge_in_has_none() -> None:
    found = of(
        agent(0), caller(1), agent(1, "One moment."), call(1, "get_seat"), agent(1, "Here."), caller(2), agent(2),
        latency_assistant_turns={1: 1.5, 2: -0.4},
    )  # fmt: skip
    completes = [event.latency_ms for event in found.events if isinstance(event, TurnComplete)]
    assert completes == [None, 1500.0, None]
    assert [(turn.text, turn.state, turn.latency_ms) for turn in found.turns if turn.latency_ms] == [
        ("One moment.", "opening", 1500.0)
    ]


def test_an_error_is_seen_in_the_state_of_the_tool_that_answered_so_however_calls_overlap() -> None:
    found = of(
        agent(0), call(1, "book"), call(1, "pay"),
        answer(1, "book", error_type="invalid_date_format", message="No such day"),
        answer(1, "pay"), agent(1),
    )  # fmt: skip
    order = [event for event in found.events if isinstance(event, StateEntered | GuardEvaluated)]
    assert [event.state if isinstance(event, StateEntered) else event.guard for event in order] == [
        "opening", "book", "book", "pay",
    ]  # fmt: skip
    assert [call.error for call in found.tool_calls] == ["invalid_date_format: No such day", None]
    assert [error["kind"] for error in found.errors] == ["invalid_date_format"]


def test_an_answer_whose_call_was_not_logged_is_a_visit_all_the_same() -> None:
    found = of(agent(0), answer(1, "book", status="error", message="No"), agent(1))
    assert found.states == ["opening", "book"]
    assert found.tool_calls == []
    assert [event.error for event in found.events if isinstance(event, GuardEvaluated)] == ["No"]


def test_a_text_of_general_failure_is_one_error_a_turn() -> None:
    found = of(agent(0), agent(1, f"{GENERIC_ERROR} {GENERIC_ERROR}"), agent(1, GENERIC_ERROR), agent(2, GENERIC_ERROR))
    assert [error["kind"] for error in found.errors] == ["generic_error", "generic_error"]


def test_a_call_without_a_trace_is_told_from_what_was_heard() -> None:
    found = of(
        transcribed_user_turns={1: "Hello", 2: ""},
        intended_user_turns={1: "Hello!", 2: "Still there?"},
        transcribed_assistant_turns={0: "Good day", 1: ""},
        intended_assistant_turns={0: "", 1: ""},
        audio_timestamps_assistant_turns={0: [(START / 1000 + 2, START / 1000 + 3)], 1: None},
    )
    assert [(turn.role, turn.text, turn.t) for turn in found.turns] == [
        ("agent", "Good day", 2.0),
        ("caller", "Hello", None),
        ("caller", "Still there?", None),
    ]
    assert found.states == ["opening"]


def test_nothing_at_all_is_no_state() -> None:
    assert of() == Derived()


@pytest.mark.parametrize(
    ("response", "error"),
    [
        ({"status": "success"}, None),
        ({"status": "error"}, "error"),
        ({"status": "error", "message": "Gone"}, "Gone"),
        ({"error_type": "not_found", "message": "Gone"}, "not_found: Gone"),
        ({"error_type": ["odd"], "status": 3}, "error"),
        ("text", None),
        (None, None),
    ],
)
def test_what_counts_as_the_error_of_a_tool(response: Any, error: str | None) -> None:
    assert error_of(response) == error


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("verify_identity", "auth"), ("authenticate_user", "auth"), ("get_reservation", "read"),
        ("searchFlights", "read"), ("check_in", "read"), ("transfer_to_agent", "system"), ("end_call", "system"),
        ("send_email", "write"), ("rebook_flight", "write"), ("listen", "write"), ("", "write"),
    ],
)  # fmt: skip
def test_a_tool_sounds_like_what_it_does(name: str, kind: str) -> None:
    assert guessed_type(name) == kind


def test_the_agents_file_knows_better_than_a_name() -> None:
    types = tool_types([{"id": "t1", "name": "Get_Seat", "tool_type": "WRITE"}, {"name": "book"}, {"tool_type": "x"}])
    assert segment_of_tool("get_seat", types) == "write"
    assert segment_of_tool("book", types) == "write"
    assert is_transfer("transfer_to_agent", {})
    assert not is_transfer("transfer_miles", {"transfer_miles": "write"})
