"""Put a kept transcript into the order of time: turns, states, slots, guards, tool calls and retries of one call.

The document comes out of a store that anybody may have sent, so every value is looked at before it is used.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Entry: TypeAlias = Mapping[str, Any]
_Keyed: TypeAlias = tuple[tuple[float, int], "Moment"]

LARGEST = 1e12
"""Beyond this a number of seconds or milliseconds says nothing about a call."""

RETRIED = "retried"
"""The kind of the errors that are of the infrastructure: a request failed, and was sent again."""

_KINDS = {"state_entered": "state", "slot_filled": "slot", "guard_evaluated": "guard"}
_PRIORITY = {"state": 0, "turn": 1, "tool": 2, "guard": 3, "slot": 3, RETRIED: 3}
_ANSWERED = 4
"""What happened at the time of an agent's turn led to it, and followed from a caller's."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Hold something that happened: its kind, the state that the call was in, and what the document says of it.

    `t` is seconds since the call started, `left` names the state and reason that led into a state.
    """

    kind: str
    t: float | None
    state: str | None
    entry: Entry
    left: tuple[str, str | None] | None = None


@dataclass(frozen=True, slots=True)
class VisitSpan:
    """Hold one visit from `start` to `end` seconds; `open` where the call ended in it."""

    state: str
    start: float
    end: float
    open: bool


def entries(document: Mapping[str, object] | None, name: str) -> list[Entry]:
    """Return the objects of one list of the document."""
    listed = document.get(name) if document else None
    return [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []


def number(value: object) -> float | None:
    """Return a number of the document, `None` where there is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < LARGEST:
        return None
    return float(value)


def duration(value: object) -> float | None:
    """Return a duration of the document; a negative one was not measured."""
    found = number(value)
    return None if found is None or found < 0 else found


def name(value: object) -> str | None:
    """Return a name of the document, `None` where there is none."""
    return value if isinstance(value, str) else None


def moments(document: Mapping[str, object] | None) -> list[Moment]:
    """Return everything of the call in the order of time, each list in the order of its emission."""
    turns, events = entries(document, "turns"), entries(document, "events")
    happened = list(_happened(events))
    tools = [Moment("tool", number(call.get("t")), None, call) for call in entries(document, "tool_calls")]
    if turns and not any(number(turn.get("t")) is not None for turn in turns):
        if not any(tool.t is not None for tool in tools):
            happened, tools = _with_tools(happened, tools)
        streams = [_interleaved(turns, events, happened)]
    else:
        said = [Moment("turn", number(turn.get("t")), name(turn.get("state")), turn) for turn in _spoken(turns, events)]
        streams = [_keyed(moment for _, moment in happened), _keyed(said)]
    again = [error for error in entries(document, "errors") if error.get("kind") == RETRIED]
    retried = [Moment(RETRIED, number(error.get("t")), None, error) for error in again]
    merged = heapq.merge(*streams, _keyed(tools), _keyed(retried), key=lambda keyed: keyed[0])
    return list(_placed(moment for _, moment in merged))


def spans(document: Mapping[str, object] | None, end: float | None) -> list[VisitSpan]:
    """Return the visits that have a time, in order; the last one lasts until `end` or the last event."""
    if all(number(event.get("t")) is None for event in entries(document, "events")):
        return []
    found: list[VisitSpan] = []
    state, start, latest = None, 0.0, 0.0
    for event in entries(document, "events"):
        latest = max(latest, number(event.get("t")) or 0.0)
        kind = event.get("type")
        leaves = kind == "state_entered" or (kind == "state_exited" and event.get("state") == state)
        if state is not None and leaves:
            found.append(VisitSpan(state, start, latest, False))
            state = None
        if kind == "state_entered":
            state, start = name(event.get("state")), latest
    latest = max([latest, end or 0.0, *(number(turn.get("t")) or 0.0 for turn in entries(document, "turns"))])
    if state is not None:
        found.append(VisitSpan(state, start, latest, True))
    return found if latest > 0 else []


def _happened(events: Sequence[Entry]) -> Iterator[tuple[int, Moment]]:
    left: tuple[str, str | None] | None = None
    for position, event in enumerate(events):
        kind, state = name(event.get("type")), name(event.get("state"))
        if kind == "state_exited" and state is not None:
            left = (state, name(event.get("reason")))
        elif kind in _KINDS:
            entered = kind == "state_entered"
            yield position, Moment(_KINDS[kind], number(event.get("t")), state, event, left if entered else None)
            left = None if entered else left


def _with_tools(
    happened: Sequence[tuple[int, Moment]], tools: Sequence[Moment]
) -> tuple[list[tuple[int, Moment]], list[Moment]]:
    """Place tools without times where the call entered the states that are named after them; the others stay over."""
    waiting = deque(tools)
    placed: list[tuple[int, Moment]] = []
    for position, moment in happened:
        placed.append((position, moment))
        while moment.kind == "state" and moment.state is not None and waiting:
            called = name(waiting[0].entry.get("name"))
            if called is None or moment.state not in (called, f"user:{called}"):
                break
            placed.append((position, waiting.popleft()))
    return placed, list(waiting)


def _keyed(found: Iterable[Moment]) -> Iterator[_Keyed]:
    """Give each moment a key that never falls, so that a clock that jumps back changes no order."""
    latest = float("-inf")
    for moment in found:
        if moment.t is not None:
            latest = max(latest, moment.t)
        answered = moment.kind == "turn" and moment.entry.get("role") == "agent"
        yield (latest, _ANSWERED if answered else _PRIORITY[moment.kind]), moment


def _spoken(turns: Sequence[Entry], events: Sequence[Entry]) -> list[Entry]:
    """Return the turns, with latencies from the events where the turns carry none."""
    completed = [event for event in events if event.get("type") == "turn_complete"]
    if not turns:
        return [{"role": "agent", "t": event.get("t"), "latency_ms": event.get("latency_ms")} for event in completed]
    by_agent = [turn for turn in turns if turn.get("role") == "agent"]
    if len(by_agent) != len(completed) or any(duration(turn.get("latency_ms")) is not None for turn in by_agent):
        return list(turns)
    latencies = iter(completed)
    return [
        {**turn, "latency_ms": next(latencies).get("latency_ms")} if turn.get("role") == "agent" else turn
        for turn in turns
    ]


def _interleaved(
    turns: Sequence[Entry], events: Sequence[Entry], happened: Sequence[tuple[int, Moment]]
) -> Iterator[_Keyed]:
    """Place turns without times: each `turn_complete` stands for the agent's next turn and what came before it."""
    by_position: dict[int, list[Moment]] = {}
    for position, moment in happened:
        by_position.setdefault(position, []).append(moment)
    waiting = deque(_spoken(turns, events))

    def next_turn(t: float | None) -> Moment:
        turn = waiting.popleft()
        return Moment("turn", t, name(turn.get("state")), turn)

    def in_order() -> Iterator[Moment]:
        state: str | None = None
        for position, event in enumerate(events):
            for moment in by_position.get(position, ()):
                if moment.kind == "state":
                    # What the caller said in the state before led out of it.
                    while state and waiting and waiting[0].get("role") != "agent" and waiting[0].get("state") == state:
                        yield next_turn(None)
                    state = moment.state
                yield moment
            if event.get("type") == "turn_complete":
                spoken = False
                while waiting and not spoken:
                    spoken = waiting[0].get("role") == "agent"
                    yield next_turn(number(event.get("t")))
        while waiting:
            yield next_turn(None)

    return _keyed(in_order())


def _placed(found: Iterable[Moment]) -> Iterator[Moment]:
    """Name the state that the call was in where the moment does not name its own."""
    current: str | None = None
    for moment in found:
        if moment.kind == "state":
            current = moment.state
        yield moment if moment.state else Moment(moment.kind, moment.t, current, moment.entry, moment.left)
