"""What a call touched of its flow is what a second computation from its line says, however its events come."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import oracle
from tests.support.random_streams import demanding_call, random_call
from tests.surface.ingest import (
    Contract,
    Conversation,
    Event,
    GuardEvaluated,
    SlotFilled,
    StateEntered,
    StateExited,
    ToolCall,
    facts_of,
)
from tests.surface.store import Touched, route_text

ENDS = Contract(success_terminals=["booked"], escalation_terminals=["human"])


def of_line(line: dict[str, Any]) -> Touched | None:
    return facts_of(msgspec.convert(line, Conversation), default_run="night-1")[0].path


def of_events(*events: Event, **given: Any) -> Touched | None:
    settings: dict[str, Any] = {"contract": ENDS, "events": list(events)}
    call = Conversation(conversation_id="1", flow="viewing", **(settings | given))
    return facts_of(call, default_run="night-1")[0].path


def steps(found: Touched | None) -> set[tuple[str, str]]:
    return set() if found is None else set(found.steps())


@pytest.mark.parametrize("made", [random_call, demanding_call])
@given(seed=st.integers(0, 10**9))
def test_any_stream_is_read_as_the_pages_say(made: Any, seed: int) -> None:
    line = made(seed % 1000, random.Random(seed))
    found = of_line(line)
    outcomes = oracle.success_terminals(line) | oracle.escalation_terminals(line)
    # Without any state the end that a call names has no place in an order.
    ended = {line["final_state"]} & outcomes if line["events"] else set()
    route = oracle.route_of(line)
    assert (() if found is None else found.states) == route
    assert set([] if found is None else found.names[: found.visited]) == set(route) or ended
    assert steps(found) == oracle.steps_of(line)
    guards = {event["guard"] for event in line["events"] if event["type"] == "guard_evaluated"}
    slots = {slot for slot, _ in oracle.filled(line)}
    tools = {f"{'user:' if tool['by'] == 'caller' else ''}{tool['name']}" for tool in line["tool_calls"]}
    if found is None:
        assert [route, ended, guards, slots, tools] == [(), set(), set(), set(), set()]
        return
    assert set(found.slots) == slots
    assert set(found.tools) == tools
    assert {name.partition(" ")[2] for name in found.guards} == guards
    assert len(set(found.names)) == len(found.names)
    assert found.names[found.visited :] == [name for name in found.names if name not in found.names[: found.visited]]


def test_loops_make_no_other_route() -> None:
    way: list[Event] = [StateEntered("greet"), StateExited("greet", "collect"), StateEntered("collect")]
    back: list[Event] = [StateExited("collect", "greet"), StateEntered("greet"), StateExited("greet", "collect")]
    once, twice = of_events(*way), of_events(*way, *back, StateEntered("collect"))
    assert once is not None
    assert twice is not None
    assert once.states == twice.states == ("greet", "collect")
    assert steps(twice) - steps(once) == {("collect", "greet")}


def test_an_outcome_that_a_call_is_sent_to_comes_before_what_it_enters_next() -> None:
    found = of_events(StateEntered("greet"), StateExited("greet", "human"), StateEntered("collect"))
    assert found is not None
    assert found.states == ("greet", "human", "collect")


def test_an_outcome_that_the_call_names_as_its_end_comes_last() -> None:
    found = of_events(StateEntered("greet"), StateEntered("collect"), final_state="booked")
    assert found is not None
    assert found.states == ("greet", "collect", "booked")
    assert steps(found) == {("greet", "collect")}


def test_a_state_that_a_call_was_sent_to_and_never_entered_is_no_part_of_its_route() -> None:
    found = of_events(StateEntered("greet"), StateExited("greet", "collect"))
    assert found is not None
    assert (found.states, found.names, found.visited) == (("greet",), ["greet", "collect"], 1)
    assert steps(found) == {("greet", "collect")}


def test_brought_rows_without_a_place_have_no_order() -> None:
    rows = [
        {"state": "greet", "progress": 1, "to_states": {"collect": 2}},
        {"state": "collect", "progress": 0, "position": 1},
    ]
    found = of_events(events=[], state_aspects=rows)
    assert found is not None
    assert (found.in_order, found.states) == (False, ())
    assert found.names == ["collect", "greet"]
    assert steps(found) == {("greet", "collect")}
    placed = of_events(events=[], state_aspects=[rows[0] | {"position": 0}, rows[1]])
    assert placed is not None
    assert placed.states == ("greet", "collect")


def test_slots_guards_and_tools_are_kept_with_how_guards_turned_out() -> None:
    events: list[Event] = [
        StateEntered("greet"),
        SlotFilled("name", "Ada"),
        SlotFilled("date", None),
        GuardEvaluated("heard", True),
        GuardEvaluated("heard", False),
        GuardEvaluated("known", True, error="no answer"),
    ]
    found = of_events(*events, tool_calls=[ToolCall("find"), ToolCall("pay", by="caller")], slots={"phone": "1"})
    assert found is not None
    assert found.slots == ["name", "phone"]
    assert found.guards == ["error known", "failed heard", "passed heard"]
    assert found.tools == ["find", "user:pay"]


def test_a_call_that_touched_nothing_has_no_path() -> None:
    assert of_events() is None


def test_states_are_told_apart_whatever_they_are_called() -> None:
    routes = [["a > b", "c"], ["a", "b > c"], ["a", "b", "c"], ["a >", "b", "c"], ["a", "> b", "c"], ["a ", " b"]]
    found = [route_text(names) for names in routes]
    assert found[2] == "a > b > c"
    assert len(set(found)) == len(routes)
