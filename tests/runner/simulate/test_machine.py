"""The reference machine: when a slot becomes public, what guards say, and what a refused transition leaves alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.ingest import Event, EventBus, GuardEvaluated, SlotFilled, StateEntered, StateExited, TurnComplete
from tests.surface.runner import Machine, NoSuchTransition

STATES = ("a", "b", "c")
EDGES = {"a": {"a", "b"}, "b": {"a", "c"}, "c": {"a"}}

collections = st.tuples(st.sampled_from(["name", "day", "pets"]), st.sampled_from([None, 0, False, "", 1, "Tuesday"]))
steps = st.lists(st.one_of(collections, st.sampled_from(STATES)), max_size=30)


def machine() -> tuple[Machine, list[Event]]:
    bus, events = EventBus(), list[Event]()
    bus.subscribe(events.append)
    return Machine(bus, "a", EDGES), events


@given(steps)
def test_a_slot_becomes_public_once_with_its_collector_when_the_transition_is_committed(
    taken: list[tuple[str, Any] | str],
) -> None:
    subject, events = machine()
    held: dict[str, Any] = {}
    public: dict[str, Any] = {}
    expected: list[Event] = [StateEntered("a")]
    for step in taken:
        state = subject.state
        if isinstance(step, tuple):
            slot, value = step
            subject.collect(slot, value)
            if value is not None:
                held[slot] = value
        elif step in EDGES[state]:
            subject.commit_transition(step)
            expected += [SlotFilled(slot, value, state) for slot, value in held.items() if slot not in public]
            expected += [StateExited(state, step), StateEntered(step)]
            public |= held
            held = {}
        else:
            with pytest.raises(NoSuchTransition, match=f"no edge from {state} to {step}"):
                subject.commit_transition(step)
        assert events == expected
        assert subject.slots == public


@given(steps)
def test_no_event_of_a_call_fills_a_slot_twice_or_with_nothing(taken: list[tuple[str, Any] | str]) -> None:
    subject, events = machine()
    for step in taken:
        if isinstance(step, tuple):
            subject.collect(*step)
        elif step in EDGES[subject.state]:
            subject.commit_transition(step)
    filled = [event for event in events if isinstance(event, SlotFilled)]
    assert len({event.slot for event in filled}) == len(filled)
    assert all(event.value is not None for event in filled)
    for place, event in enumerate(events):
        if isinstance(event, SlotFilled):
            after = next(later for later in events[place:] if not isinstance(later, SlotFilled))
            assert isinstance(after, StateExited)
            assert after.state == event.state


@pytest.mark.parametrize("value", [0, False, "", 0.0, []])
def test_falsy_values_are_values(value: Any) -> None:
    subject, events = machine()
    subject.collect("pets", value)
    subject.commit_transition("b")
    assert SlotFilled("pets", value, "a") in events
    assert subject.slots == {"pets": value}


def test_nothing_is_no_value_and_takes_none_away() -> None:
    subject, events = machine()
    subject.collect("name", "Zoë")
    subject.collect("name", None)
    subject.collect("day", None)
    subject.commit_transition("b")
    assert [event for event in events if isinstance(event, SlotFilled)] == [SlotFilled("name", "Zoë", "a")]


def test_a_correction_changes_the_value_without_a_second_event() -> None:
    subject, events = machine()
    subject.collect("day", "Tuesday")
    subject.commit_transition("b")
    subject.collect("day", "Friday")
    subject.commit_transition("a")
    assert [event for event in events if isinstance(event, SlotFilled)] == [SlotFilled("day", "Tuesday", "a")]
    assert subject.slots == {"day": "Friday"}


def test_what_was_said_before_a_call_breaks_off_stays_private() -> None:
    subject, events = machine()
    subject.collect("name", "Zoë")
    assert subject.heard == {"name": "Zoë"}
    assert events == [StateEntered("a")]


def test_a_guard_hears_what_is_not_public_yet() -> None:
    subject, events = machine()
    subject.collect("pets", 0)
    assert subject.evaluate("knows_pets", lambda heard: "pets" in heard)
    assert not subject.evaluate("knows_name", lambda heard: "name" in heard)
    assert events[1:] == [GuardEvaluated("knows_pets", True), GuardEvaluated("knows_name", False)]


def test_a_guard_that_raises_is_reported_and_does_not_pass() -> None:
    subject, events = machine()

    def guard(heard: Mapping[str, Any]) -> bool:
        return bool(heard["address"])

    assert not subject.evaluate("in_service_area", guard)
    assert events[1:] == [GuardEvaluated("in_service_area", None, "KeyError: 'address'")]


def test_events_carry_the_time_of_the_clock() -> None:
    bus, events = EventBus(), list[Event]()
    bus.subscribe(events.append)
    now = iter([0.0, 1.5, 4.0])
    subject = Machine(bus, "a", EDGES, lambda: next(now))
    subject.turn_complete(900.0)
    subject.collect("pets", 0)
    subject.commit_transition("b", "slots_complete")
    assert events == [
        StateEntered("a", 0.0),
        TurnComplete(900.0, 1.5),
        SlotFilled("pets", 0, "a", 4.0),
        StateExited("a", "b", "slots_complete", 4.0),
        StateEntered("b", 4.0),
    ]
