"""Define the five events of a call and the bus that carries them.

An event is an immutable value. `t` is seconds since the call started, `None` if the source has no clock. The JSON form
carries the kind in `type`; see docs/metrics.md, section 1.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

import msgspec

LONGEST = 1e8
"""The largest duration or latency that is believed, a day and more in milliseconds.

The store adds up whole billionths, and sums of larger ones would be too large for it soon.
"""

Duration: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=LONGEST)]


class _EventBase(msgspec.Struct, frozen=True, tag_field="type", omit_defaults=False, gc=False):
    pass


class StateEntered(_EventBase, frozen=True, tag="state_entered"):
    """Record that the machine enters a state; `segment` names its phase where the source knows it."""

    state: str
    t: float | None = None
    segment: str | None = None


class StateExited(_EventBase, frozen=True, tag="state_exited"):
    """Record that the machine leaves a state for another one."""

    state: str
    to_state: str | None = None
    reason: str | None = None
    t: float | None = None


class TurnComplete(_EventBase, frozen=True, tag="turn_complete"):
    """Record that the agent finished one turn in the state entered last; latency in milliseconds."""

    latency_ms: Duration | None = None
    t: float | None = None


class GuardEvaluated(_EventBase, frozen=True, tag="guard_evaluated"):
    """Record that a transition guard was evaluated; `error` is `None` unless it raised."""

    guard: str
    result: Any = None
    error: Any = None
    t: float | None = None


class SlotFilled(_EventBase, frozen=True, tag="slot_filled"):
    """Record that a public slot was committed, tagged with the state that collected it."""

    slot: str
    value: Any = None
    state: str | None = None
    t: float | None = None


Event: TypeAlias = StateEntered | StateExited | TurnComplete | GuardEvaluated | SlotFilled
Subscriber: TypeAlias = Callable[[Event], None]
ErrorReporter: TypeAlias = Callable[[Subscriber, Event, Exception], None]


def report_to_stderr(subscriber: Subscriber, event: Event, error: Exception) -> None:
    """Name a subscriber that failed, without the event's content (it has callers' words)."""
    name = getattr(subscriber, "__qualname__", type(subscriber).__name__)
    print(f"event bus: {name} failed on {type(event).__name__}: {type(error).__name__}", file=sys.stderr)


class EventBus:
    """Carry the events of one call to its subscribers, in the order of their subscription.

    A bus belongs to one call, so sessions cannot mix. A subscriber that raises is reported
    and stops neither the call nor the subscribers after it.
    """

    def __init__(self, on_error: ErrorReporter = report_to_stderr) -> None:
        self._subscribers: list[Subscriber] = []
        self._on_error = on_error

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Add a subscriber; the returned function takes it off again."""
        self._subscribers.append(subscriber)

        def unsubscribe() -> None:
            if subscriber in self._subscribers:
                self._subscribers.remove(subscriber)

        return unsubscribe

    def emit(self, event: Event) -> None:
        """Hand one event to every subscriber."""
        for subscriber in tuple(self._subscribers):
            try:
                subscriber(event)
            except Exception as error:
                self._on_error(subscriber, event, error)
