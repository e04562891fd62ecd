"""The bus of a call: who hears what, in which order, and what a failing listener may not do."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.ingest import Event, EventBus, SlotFilled, StateEntered, Subscriber, TurnComplete


def broken(event: Event) -> None:
    raise RuntimeError(f"cannot take {event}")


@given(st.lists(st.text(max_size=3)))
def test_every_subscriber_hears_every_event_in_the_order_of_emission(states: list[str]) -> None:
    bus, first, second = EventBus(), list[Event](), list[Event]()
    bus.subscribe(first.append)
    bus.subscribe(second.append)
    emitted = [StateEntered(state, float(t)) for t, state in enumerate(states)]
    for event in emitted:
        bus.emit(event)
    assert first == second == emitted


def test_subscribers_are_asked_in_the_order_in_which_they_came() -> None:
    bus, asked = EventBus(), list[str]()

    def note(name: str, event: Event) -> None:
        asked.append(name)

    for name in ("a", "b", "c"):
        bus.subscribe(partial(note, name))
    bus.emit(TurnComplete(900.0))
    assert asked == ["a", "b", "c"]


def test_a_subscriber_that_raises_is_reported_and_stops_nobody() -> None:
    reports: list[tuple[Subscriber, Event, Exception]] = []
    bus, heard = EventBus(lambda *report: reports.append(report)), list[Event]()
    bus.subscribe(broken)
    bus.subscribe(heard.append)
    first, second = StateEntered("greeting"), TurnComplete(800.0)
    bus.emit(first)
    bus.emit(second)
    assert heard == [first, second]
    assert [(subscriber, event, type(error)) for subscriber, event, error in reports] == [
        (broken, first, RuntimeError),
        (broken, second, RuntimeError),
    ]


def test_the_report_names_the_subscriber_and_keeps_what_a_caller_said(capsys: pytest.CaptureFixture[str]) -> None:
    bus = EventBus()
    bus.subscribe(broken)
    bus.emit(SlotFilled("name", "Zoë Park", "collect_contact"))
    captured = capsys.readouterr()
    assert captured.err == "event bus: broken failed on SlotFilled: RuntimeError\n"
    assert captured.out == ""


def test_who_left_hears_nothing_more_and_may_leave_twice() -> None:
    bus, heard = EventBus(), list[Event]()
    leave = bus.subscribe(heard.append)
    bus.emit(TurnComplete(1.0))
    leave()
    leave()
    bus.emit(TurnComplete(2.0))
    assert heard == [TurnComplete(1.0)]


def test_leaving_while_an_event_goes_round_keeps_it_from_nobody() -> None:
    bus, heard = EventBus(), list[Event]()

    def once(event: Event) -> None:
        leave()

    leave = bus.subscribe(once)
    bus.subscribe(heard.append)
    bus.emit(TurnComplete(1.0))
    assert heard == [TurnComplete(1.0)]


def test_two_buses_never_mix() -> None:
    one, other, heard_one, heard_other = EventBus(), EventBus(), list[Event](), list[Event]()
    one.subscribe(heard_one.append)
    other.subscribe(heard_other.append)
    one.emit(StateEntered("greeting"))
    other.emit(StateEntered("triage"))
    assert heard_one == [StateEntered("greeting")]
    assert heard_other == [StateEntered("triage")]
