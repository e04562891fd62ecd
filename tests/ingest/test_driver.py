"""A driver hands over what happened in its own session, and nothing of any other."""

from __future__ import annotations

from tests.surface.ingest import (
    Contract,
    Driver,
    Event,
    EventBus,
    GuardEvaluated,
    SlotFilled,
    StateEntered,
    StateExited,
    ToolCall,
    Turn,
    TurnComplete,
)


def test_a_session_becomes_a_conversation() -> None:
    bus = EventBus()
    driver = Driver(bus)
    events: list[Event] = [
        StateEntered("collect_contact", 0.0),
        TurnComplete(910.0, 0.91),
        GuardEvaluated("has_contact", True, None, 4.0),
        SlotFilled("name", "Zoë Park", "collect_contact", 4.0),
        StateExited("collect_contact", "booked", "slots_complete", 4.0),
        StateEntered("booked", 4.0),
    ]
    for event in events[:2]:
        bus.emit(event)
    driver.said("agent", "Who is calling?", t=0.2, latency_ms=910.0)
    driver.said("caller", "Zoë Park.", t=2.4)
    driver.called("find_prospect", {"name": "Zoë Park"}, t=2.6, error="timeout")
    driver.failed("tool", "timeout", t=2.7)
    for event in events[2:]:
        bus.emit(event)
    contract = Contract(success_terminals=["booked"])
    call = driver.finish(
        "c-1",
        "apartment_viewing",
        run_id="r",
        agent_model="a",
        completed=True,
        stop_reason="terminal",
        contract=contract,
    )
    assert call.events == events
    assert call.turns == [
        Turn("agent", "Who is calling?", 0.2, "collect_contact", 910.0),
        Turn("caller", "Zoë Park.", 2.4),
    ]
    assert call.tool_calls == [
        ToolCall("find_prospect", 2.6, {"name": "Zoë Park"}, "timeout", state="collect_contact", seq=4)
    ]
    assert call.errors == [{"kind": "tool", "message": "timeout", "t": 2.7}]
    assert call.slots == {"name": "Zoë Park"}
    assert (call.final_state, call.duration_s) == ("booked", 4.0)
    assert (call.flow, call.run_id, call.completed, call.contract) == ("apartment_viewing", "r", True, contract)


def test_a_tool_call_knows_its_state_and_how_much_came_before() -> None:
    bus = EventBus()
    driver = Driver(bus)
    driver.called("hello")
    bus.emit(StateEntered("greeting"))
    driver.said("agent", "Hello")
    driver.called("find", {"id": "x"}, latency_ms=80.0, changes=False, fits=False)
    driver.called("book", by="caller")
    call = driver.finish("c", "f", facts={"name": "Ann"}, channel="voice")
    assert call.tool_calls == [
        ToolCall("hello", seq=0),
        ToolCall("find", arguments={"id": "x"}, state="greeting", seq=2, latency_ms=80.0, changes=False, fits=False),
        ToolCall("book", by="caller", state="greeting", seq=2),
    ]
    assert (call.facts, call.channel) == ({"name": "Ann"}, "voice")


def test_sessions_that_run_at_the_same_time_do_not_mix() -> None:
    buses = [EventBus() for _ in range(20)]
    drivers = [Driver(bus) for bus in buses]
    for step in range(10):
        for number, (bus, driver) in enumerate(zip(buses, drivers, strict=True)):
            bus.emit(StateEntered(f"state_{number}_{step}", float(step)))
            bus.emit(SlotFilled(f"slot_{step}", number, f"state_{number}_{step}", float(step)))
            driver.said("agent", f"line {number}")
    for number, driver in enumerate(drivers):
        call = driver.finish(f"c-{number}", "f")
        assert [event.state for event in call.events if isinstance(event, StateEntered)] == [
            f"state_{number}_{step}" for step in range(10)
        ]
        assert set(call.slots.values()) == {number}
        assert {turn.text for turn in call.turns} == {f"line {number}"}


def test_a_finished_session_hears_nothing_more() -> None:
    bus = EventBus()
    driver = Driver(bus)
    bus.emit(StateEntered("greeting"))
    call = driver.finish("c", "f")
    bus.emit(StateEntered("triage"))
    assert call.events == driver.finish("c", "f").events == [StateEntered("greeting")]


def test_a_look_in_between_is_not_changed_by_what_comes_later() -> None:
    bus = EventBus()
    driver = Driver(bus)
    bus.emit(StateEntered("greeting"))
    early = driver.conversation("c", "f")
    bus.emit(SlotFilled("pets", 0, "greeting"))
    driver.said("caller", "No pets.")
    assert (early.events, early.slots, early.turns) == ([StateEntered("greeting")], {}, [])
    assert driver.conversation("c", "f").slots == {"pets": 0}


def test_a_correction_changes_the_slot_and_no_event() -> None:
    bus = EventBus()
    driver = Driver(bus)
    filled = SlotFilled("day", "Tuesday", "collect_day")
    bus.emit(filled)
    driver.slot("day", "Friday")
    call = driver.finish("c", "f")
    assert (call.slots, call.events) == ({"day": "Friday"}, [filled])


def test_an_empty_session_is_a_conversation_of_which_little_is_known() -> None:
    call = Driver(EventBus()).finish("c", "f")
    assert (call.events, call.turns, call.final_state, call.duration_s, call.completed) == ([], [], None, None, None)


def test_what_is_given_stands_before_what_follows_from_the_events() -> None:
    bus = EventBus()
    driver = Driver(bus)
    bus.emit(StateEntered("greeting", 3.0))
    call = driver.finish("c", "f", final_state="booked", duration_s=12.5)
    assert (call.final_state, call.duration_s) == ("booked", 12.5)
