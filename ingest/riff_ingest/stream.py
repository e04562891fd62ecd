"""One pass over the events of a call: which visits there were and what happened in each.

Streams of real calls are imperfect; what does not fit is counted in `defects` and never raises
(metrics.md, section 1).
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from riff_ingest.contract import DEFAULT_ESCALATIONS, Contract
from riff_ingest.events import Event, SlotFilled, StateEntered, StateExited, TurnComplete


class Visits(msgspec.Struct, gc=False):
    """All visits of one call to one state, added up; latencies in milliseconds."""

    entries: int = 0
    turns: int = 0
    guard_errors: int = 0
    latencies: list[float] = []
    to_states: dict[str, int] = {}
    slots: set[str] | None = None
    segment: str | None = None


class Stream(msgspec.Struct, gc=False):
    """What a call's events say: its visits by state in order of first entry, and the call's turns.

    `last_working` is the state entered last that is no outcome; `reached` holds every state that
    was entered or exited to; `latencies` are those of all turns, in milliseconds.
    """

    visits: dict[str, Visits] = {}
    reached: set[str] = set()
    last_working: str | None = None
    escalated: bool = False
    turns: int = 0
    latencies: list[float] = []
    slots: set[str] = set()
    defects: dict[str, int] = {}


def outcomes_of(contract: Contract | None) -> tuple[frozenset[str], frozenset[str]]:
    """The success and the escalation terminals that hold for a call of this contract."""
    if contract is None:
        return frozenset(), DEFAULT_ESCALATIONS
    return contract.successes(), contract.escalations()


def read_stream(events: Iterable[Event], contract: Contract | None) -> Stream:
    """Fold events, in the order of their emission, into visits."""
    successes, escalations = outcomes_of(contract)
    stream = Stream()
    visits, latencies = stream.visits, stream.latencies
    current: Visits | None = None  # of the state entered last, left or not
    open_state: str | None = None
    slots_of: dict[str, set[str]] = {}
    for event in events:
        if isinstance(event, TurnComplete):
            stream.turns += 1
            if current is not None:
                current.turns += 1
            latency = event.latency_ms
            if latency is None:
                continue
            if latency >= 0:
                latencies.append(latency)
                if current is not None:
                    current.latencies.append(latency)
            else:
                _count(stream, "negative duration")
        elif isinstance(event, StateEntered):
            state = event.state
            if open_state is not None and current is not None:
                _count(stream, "missing exit")
                current.to_states[state] = current.to_states.get(state, 0) + 1
            current = visits.get(state)
            if current is None:
                current = visits[state] = Visits()
            current.entries += 1
            open_state = state
            if event.segment is not None and current.segment is None:
                current.segment = event.segment
            if state in escalations:
                stream.escalated = True
            elif state not in successes:
                stream.last_working = state
        elif isinstance(event, StateExited):
            if event.state != open_state or current is None:
                _count(stream, "stray exit")
                continue
            open_state = None
            target = event.to_state
            if target is not None:
                current.to_states[target] = current.to_states.get(target, 0) + 1
        elif isinstance(event, SlotFilled):
            if event.value is not None:
                stream.slots.add(event.slot)
                if event.state is not None:
                    slots_of.setdefault(event.state, set()).add(event.slot)
        elif event.error is not None and open_state is not None and current is not None:
            current.guard_errors += 1
    _close(stream, slots_of, escalations)
    return stream


def _close(stream: Stream, slots_of: dict[str, set[str]], escalations: frozenset[str]) -> None:
    reached = stream.reached
    for state, visits in stream.visits.items():
        reached.add(state)
        reached.update(visits.to_states)
        visits.slots = slots_of.get(state)
    if not stream.escalated and not escalations.isdisjoint(reached):
        stream.escalated = True


def _count(stream: Stream, defect: str) -> None:
    stream.defects[defect] = stream.defects.get(defect, 0) + 1


def percentile(values: list[float], share: float) -> float | None:
    """A percentile by linear interpolation between closest ranks; `None` without values."""
    if not values:
        return None
    if len(values) == 1:
        return values[0]
    ranked = sorted(values)
    place = share * (len(ranked) - 1)
    low = int(place)
    if low + 1 == len(ranked):
        return ranked[low]
    return ranked[low] + (ranked[low + 1] - ranked[low]) * (place - low)
