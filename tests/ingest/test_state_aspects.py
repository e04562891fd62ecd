"""State metrics, each against its definition in docs/metrics.md, sections 1 and 2."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import oracle
from tests.support.examples import examples
from tests.surface.ingest import (
    Contract,
    Event,
    GuardEvaluated,
    SlotFilled,
    StateContract,
    StateEntered,
    StateExited,
    TurnComplete,
    compute_state_aspects,
    read_stream,
)
from tests.surface.store import StateAspects, percentile

BOOKING = Contract(
    success_terminals=["booked"],
    escalation_terminals=["human"],
    states={"collect": StateContract("collect", ["name", "date"]), "confirm": StateContract("confirm")},
)


def rows(
    events: list[Event], contract: Contract | dict[str, Any] | None = BOOKING, completed: bool = False
) -> dict[str, StateAspects]:
    return {row.state: row for row in compute_state_aspects(events, contract, completed)}


def walk(*states: str) -> list[Event]:
    """A clean stream through the given states; the last one stays open."""
    events: list[Event] = []
    for state, following in zip(states, [*states[1:], None], strict=True):
        events.append(StateEntered(state))
        if following is not None:
            events.append(StateExited(state, following))
    return events


def test_a_state_that_leads_on_progresses_and_the_last_one_of_a_lost_call_stalls() -> None:
    found = rows(walk("greet", "collect"))
    assert (found["greet"].progress, found["greet"].stall) == (1, 0)
    assert (found["collect"].progress, found["collect"].stall) == (0, 1)


def test_a_completed_call_stalls_nowhere() -> None:
    found = rows(walk("greet", "collect", "booked"), completed=True)
    assert [row.stall for row in found.values()] == [0, 0]
    assert found["collect"].progress == 1


def test_outcomes_get_no_row_but_stand_among_the_successors() -> None:
    found = rows(walk("collect", "booked"), completed=True)
    assert set(found) == {"collect"}
    assert found["collect"].to_states == {"booked": 1}


def test_an_escalation_is_no_progress_and_no_stall() -> None:
    found = rows(walk("collect", "human"))
    assert (found["collect"].progress, found["collect"].escalation, found["collect"].stall) == (0, 1, 0)


def test_without_a_contract_the_usual_names_escalate() -> None:
    for name in ("escalated", "escalate"):
        found = rows(walk("greet", name), contract=None)
        assert found["greet"].escalation == 1
        assert set(found) == {"greet"}


def test_a_contract_that_names_no_escalations_has_none() -> None:
    found = rows(walk("greet", "escalated"), contract=Contract(escalation_terminals=[]))
    assert found["greet"].escalation == 0
    assert found["greet"].progress == 1
    assert found["escalated"].stall == 1


def test_a_dead_end_is_a_working_state_that_can_stall() -> None:
    found = rows(walk("verify", "invalid_verification_code"))
    assert found["invalid_verification_code"].stall == 1
    assert found["verify"].progress == 1


def test_a_call_can_progress_in_a_state_and_stall_in_it_later() -> None:
    found = rows(walk("collect", "confirm", "collect"))
    assert (found["collect"].progress, found["collect"].stall, found["collect"].revisit) == (1, 1, 1)


def test_going_round_in_the_same_state_is_no_progress() -> None:
    found = rows(walk("collect", "collect"))
    assert found["collect"].progress == 0
    assert found["collect"].revisit == 1
    assert found["collect"].to_states == {"collect": 1}


def test_dwell_is_turns_per_entry_and_latency_the_95th_percentile_in_the_state() -> None:
    events: list[Event] = [
        StateEntered("a"), TurnComplete(100), TurnComplete(200), StateExited("a", "b"),
        StateEntered("b"), TurnComplete(900), StateExited("b", "a"),
        StateEntered("a"), TurnComplete(None), TurnComplete(400),
    ]  # fmt: skip
    found = rows(events)
    assert found["a"].dwell_turns == 2.0
    assert found["a"].latency_p95_ms == pytest.approx(380.0)
    assert found["b"].latency_p95_ms == 900


def test_a_state_without_turns_has_no_latency_rather_than_zero() -> None:
    assert rows(walk("a", "b"))["a"].latency_p95_ms is None


def test_guards_that_raise_are_counted_where_they_ran() -> None:
    events: list[Event] = [
        GuardEvaluated("early", error="before any state"),
        StateEntered("a"), GuardEvaluated("g", True), GuardEvaluated("g", None, "KeyError"), StateExited("a", "b"),
        StateEntered("b"), GuardEvaluated("g", False),
    ]  # fmt: skip
    found = rows(events)
    assert (found["a"].guard_error, found["b"].guard_error) == (1, 0)


def test_slot_fill_counts_the_required_slots_that_carry_this_state() -> None:
    events: list[Event] = [
        StateEntered("collect"),
        SlotFilled("name", "Ann", "collect"),
        SlotFilled("date", "Tuesday", "greet"),
        SlotFilled("pet", "cat", "collect"),
    ]
    assert rows(events)["collect"].slot_fill_rate == 0.5
    assert rows(walk("confirm"))["confirm"].slot_fill_rate is None


@pytest.mark.parametrize(("value", "rate"), [(0, 0.5), (False, 0.5), ("", 0.5), (None, 0.0)])
def test_falsy_values_fill_a_slot_and_none_does_not(value: object, rate: float) -> None:
    assert rows([StateEntered("collect"), SlotFilled("name", value, "collect")])["collect"].slot_fill_rate == rate


def test_a_missing_exit_is_closed_by_the_next_state() -> None:
    stream: list[Event] = [StateEntered("a"), StateEntered("b")]
    assert rows(stream)["a"].to_states == {"b": 1}
    assert rows(stream)["a"].progress == 1
    assert read_stream(stream, None).defects == {"missing exit": 1}


def test_an_exit_from_a_state_that_is_not_open_is_dropped_and_counted() -> None:
    stream: list[Event] = [StateEntered("a"), StateExited("z", "b"), StateExited("a", "c"), StateExited("a", "d")]
    assert rows(stream)["a"].to_states == {"c": 1}
    assert read_stream(stream, None).defects == {"stray exit": 2}


def test_a_negative_latency_is_not_measured_and_counted() -> None:
    stream: list[Event] = [StateEntered("a"), TurnComplete(-5.0), TurnComplete(40.0)]
    found = rows(stream)["a"]
    assert (found.latency_p95_ms, found.dwell_turns) == (40.0, 2.0)
    assert read_stream(stream, None).defects == {"negative duration": 1}


def test_segments_come_from_the_contract_then_the_event_then_the_name() -> None:
    events: list[Event] = [
        StateEntered("confirm"),
        StateEntered("step_9", segment="verify"),
        StateEntered("say_goodbye"),
    ]
    found = rows(events)
    assert [row.segment for row in found.values()] == ["confirm", "verify", "closing"]


def test_a_contract_may_come_in_its_json_shape() -> None:
    found = rows(walk("collect", "human"), contract={"escalation_terminals": ["human"]})
    assert found["collect"].escalation == 1


@pytest.mark.parametrize(("values", "expected"), [([7.0], 7.0), ([1.0, 2.0], 1.95), ([4.0, 1.0, 3.0, 2.0, 5.0], 4.8)])
def test_percentiles_interpolate_between_closest_ranks(values: list[float], expected: float) -> None:
    assert percentile(sorted(values), 0.95) == pytest.approx(expected)


NAMES = st.sampled_from(["a", "b", "collect", "booked", "human", "escalated"])
EVENTS = st.lists(
    st.one_of(
        st.builds(StateEntered, NAMES),
        st.builds(StateExited, NAMES, st.none() | NAMES),
        st.builds(TurnComplete, st.none() | st.floats(-10, 1e6)),
        st.builds(GuardEvaluated, NAMES, st.booleans(), st.sampled_from([None, "boom", "", 0, False, True])),
        st.builds(SlotFilled, st.sampled_from(["name", "date"]), st.sampled_from([0, None, "x"]), st.none() | NAMES),
    ),
    max_size=40,
)


CONTRACTS = st.sampled_from(
    [BOOKING, None, Contract(), Contract(success_terminals=["b"]), Contract(states=BOOKING.states)]
)


@settings(max_examples=examples(250))
@given(EVENTS, st.sampled_from([True, False, None]), CONTRACTS, st.none() | NAMES)
def test_any_stream_gives_what_the_definitions_say(
    events: list[Event], completed: bool | None, contract: Contract | None, final_state: str | None
) -> None:
    call = {
        "events": [event for event in msgspec.to_builtins(events) if event.get("latency_ms", 0) is not None],
        "contract": None if contract is None else msgspec.to_builtins(contract),
        "completed": completed,
        "final_state": final_state,
    }
    measured = [event for event in events if not (isinstance(event, TurnComplete) and event.latency_ms is None)]
    found = compute_state_aspects(measured, contract, completed, final_state)
    wanted = oracle.state_rows(call)
    assert [row.state for row in found] == [row["state"] for row in wanted]
    for row, other in zip(found, wanted, strict=True):
        for name in ("position", "progress", "stall", "lost", "escalation", "revisit", "guard_error", "to_states"):
            assert getattr(row, name) == other[name], (row.state, name)
        assert row.slot_fill_rate == other["slot_fill_rate"]
        assert row.dwell_turns == pytest.approx(other["dwell_turns"])


@given(EVENTS, st.booleans(), st.sampled_from([BOOKING, None, Contract()]))
def test_any_stream_gives_rows_that_obey_the_definitions(
    events: list[Event], completed: bool, contract: Contract | None
) -> None:
    found = compute_state_aspects(events, contract, completed)
    entered = [event.state for event in events if isinstance(event, StateEntered)]
    outcomes = {"booked", "human"} if contract is BOOKING else {"escalated", "escalate"}
    assert [row.state for row in found] == [state for state in dict.fromkeys(entered) if state not in outcomes]
    assert sum(row.stall or 0 for row in found) <= (0 if completed else 1)
    for row in found:
        assert {row.progress, row.stall, row.escalation} <= {0, 1}
        assert row.revisit == entered.count(row.state) - 1
        assert sum(row.to_states.values()) <= row.revisit + 1
        assert not (row.escalation and row.stall)
        assert row.slot_fill_rate is None or 0 <= row.slot_fill_rate <= 1
        assert row.latency_p95_ms is None or row.latency_p95_ms >= 0
        assert row.progress == any(s != row.state and s not in outcomes - {"booked"} for s in row.to_states)
    turns = sum(row.dwell_turns * (row.revisit + 1) for row in found)
    assert turns <= sum(isinstance(event, TurnComplete) for event in events) + 1e-9
