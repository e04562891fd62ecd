"""Put a kept transcript into one order: turns, states, slots, guards, tool calls and retries of one call.

The document comes out of a store that anybody may have sent, so every value is looked at before it is used.
"""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

Entry: TypeAlias = Mapping[str, Any]
_Keyed: TypeAlias = tuple[tuple[float, int], "Moment"]

LARGEST = 1e12
"""Beyond this a number of seconds or milliseconds says nothing about a call."""

RETRIED = "retried"
"""The kind of the errors that are of the infrastructure: a request failed, and was sent again."""

EXIT, COMPLETE, UNKNOWN = "exit", "complete", "unknown"
_UNSEEN = frozenset({EXIT, COMPLETE, UNKNOWN})
"""What has a place among the events and no row."""
_KINDS = {
    "state_entered": "state",
    "slot_filled": "slot",
    "guard_evaluated": "guard",
    "state_exited": EXIT,
    "turn_complete": COMPLETE,
}
_PRIORITY = {"state": 0, "turn": 1, "tool": 2, "guard": 3, "slot": 3, RETRIED: 3, EXIT: 0, COMPLETE: 0, UNKNOWN: 0}
_ANSWERED = 4
"""What happened at the time of an agent's turn led to it, and followed from a caller's."""


class Moment(NamedTuple):
    """Describe something that happened: its kind, the state that the call was in, and what the document reports of it.

    `t` is seconds since the call started, `left` names the state and reason that led into a state.
    """

    kind: str
    t: float | None
    state: str | None
    entry: Entry
    left: tuple[str, str | None] | None = None


class VisitSpan(NamedTuple):
    """Describe one visit from `start` to `end` seconds; `open` where the call ended in it."""

    state: str
    start: float
    end: float
    open: bool


def entries(document: Mapping[str, object] | None, name: str) -> list[Entry]:
    """Return the objects of one list of the document."""
    listed = document.get(name) if document else None
    return [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []


def number(value: object) -> float | None:
    """Return a number of the document, `None` if there is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < LARGEST:
        return None
    return float(value)


def duration(value: object) -> float | None:
    """Return a duration of the document; a negative one was not measured."""
    found = number(value)
    return None if found is None or found < 0 else found


def name(value: object) -> str | None:
    """Return a name of the document, `None` if there is none."""
    return value if isinstance(value, str) else None


def moments(document: Mapping[str, object] | None) -> list[Moment]:
    """Return everything of the call; each list stays in the order of its source, whatever its times are."""
    turns, events = entries(document, "turns"), entries(document, "events")
    tools = [
        Moment("tool", number(tool.get("t")), name(tool.get("state")), tool) for tool in entries(document, "tool_calls")
    ]
    again = [error for error in entries(document, "errors") if error.get("kind") == RETRIED]
    retried = [Moment(RETRIED, number(error.get("t")), None, error) for error in again]
    merged = heapq.merge(
        _with_tools(_together(turns, events, tools), tools), _keyed(retried), key=lambda keyed: keyed[0]
    )
    return [moment for moment in _placed(moment for _, moment in merged) if moment.kind not in _UNSEEN]


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


def _together(turns: Sequence[Entry], events: Sequence[Entry], tools: Sequence[Moment]) -> list[_Keyed]:
    """Join what was said and the events: by time where the times of both run forward, else as each turn completes."""
    spoken, happened = _spoken(turns, events), list(_happened(events))
    said = [Moment("turn", number(turn.get("t")), name(turn.get("state")), turn) for turn in spoken]
    completed = sum(moment.kind == COMPLETE for moment in happened)
    is_told = completed == sum(moment.entry.get("role") == "agent" for moment in said) > 0
    is_timed = all(any(moment.t is not None for moment in found) for found in (said, happened))
    if not turns or not is_timed or (is_told and not (_runs_forward(said) and _runs_forward(happened))):
        return list(_interleaved(said, happened, tools, is_told=completed > 0))
    begin = min((moment.t for moment in (*said, *happened) if moment.t is not None), default=0.0)
    return list(heapq.merge(_keyed(happened, begin), _keyed(said, begin), key=lambda keyed: keyed[0]))


def _runs_forward(found: Sequence[Moment]) -> bool:
    """Return whether all have times, and none is before the one before it."""
    times = [moment.t for moment in found if moment.t is not None]
    return len(times) == len(found) and times == sorted(times)


def _happened(events: Sequence[Entry]) -> Iterator[Moment]:
    left: tuple[str, str | None] | None = None
    for event in events:
        kind, state = _KINDS.get(name(event.get("type")) or "", UNKNOWN), name(event.get("state"))
        if kind == EXIT and state is not None:
            left = (state, name(event.get("reason")))
        yield Moment(kind, number(event.get("t")), state, event, left if kind == "state" else None)
        left = None if kind == "state" else left


def _with_tools(found: Sequence[_Keyed], tools: Sequence[Moment]) -> Iterator[_Keyed]:
    """Place tools in their own order: after as many turns and events as they say, else by time, else in their state.

    Without any of these a tool is in the next visit of the state that is named after it, else behind the tool before
    it.
    """
    waiting = deque(tools)
    entered = Counter(moment.state for _, moment in found if moment.kind == "state")
    latest, current = (float("-inf"), 0), None
    for place, (key, moment) in enumerate(found):
        while waiting and _is_due(waiting[0], place, key, current, entered):
            yield latest, waiting.popleft()
        yield key, moment
        latest = key
        if moment.kind == "state":
            current = moment.state
            entered[current] -= 1
    for tool in waiting:
        yield latest, tool


def _is_due(
    tool: Moment, place: int, key: tuple[float, int], current: str | None, ahead: Mapping[str | None, int]
) -> bool:
    """Return whether a tool was called before what is at a place; `ahead` counts the entries that are to come."""
    seq = tool.entry.get("seq")
    if isinstance(seq, int):
        return seq <= place
    if tool.t is not None:
        return (tool.t, _PRIORITY["tool"]) < key
    called = name(tool.entry.get("name"))
    states = {tool.state} if tool.state else {called, f"user:{called}"}
    return current in states or not any(ahead.get(state) for state in states)


def _keyed(found: Iterable[Moment], latest: float = float("-inf")) -> Iterator[_Keyed]:
    """Give each moment a key that never falls, so that a clock that jumps back changes no order."""
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
    said: Sequence[Moment], happened: Sequence[Moment], tools: Sequence[Moment], *, is_told: bool
) -> Iterator[_Keyed]:
    """Place turns by the events: each `turn_complete` represents the agent's next turn and what came before it.

    What the caller said before a tool that failed is before that failure, by the `seq` of the tool. If no event shows
    of turns, they are in the states that they name.
    """
    waiting = deque(said)
    failures = deque(tool.entry for tool in tools if tool.entry.get("error") is not None)

    def in_order() -> Iterator[Moment]:
        state: str | None = None
        for place, moment in enumerate(happened):
            if moment.kind == "guard" and failures and failures[0].get("name") == moment.entry.get("guard"):
                seq = failures.popleft().get("seq")
                turns_before = seq - place if isinstance(seq, int) else 0
                while waiting and waiting[0].entry.get("role") != "agent" and len(said) - len(waiting) < turns_before:
                    yield waiting.popleft()
            while waiting and waiting[0].state in (None, state) and _is_said_before(waiting[0], moment):
                yield waiting.popleft()
            if moment.kind == "state":
                # What the caller said in the state before led out of it.
                while state and waiting and waiting[0].state == state:
                    if is_told and waiting[0].entry.get("role") == "agent":
                        break
                    yield waiting.popleft()
                state = moment.state
            if moment.kind == COMPLETE:
                spoken = False
                while waiting and not spoken:
                    spoken = waiting[0].entry.get("role") == "agent"
                    turn = waiting.popleft()
                    yield turn._replace(t=moment.t) if spoken and turn.t is None else turn
            yield moment
        yield from waiting

    return _keyed(in_order())


def _is_said_before(turn: Moment, moment: Moment) -> bool:
    """Return whether a turn of the caller, which no event represents, was said by the time of an event."""
    by_agent = turn.entry.get("role") == "agent"
    return not by_agent and turn.t is not None and moment.t is not None and turn.t <= moment.t


def _placed(found: Iterable[Moment]) -> Iterator[Moment]:
    """Name the state that the call was in where the moment does not name its own."""
    current: str | None = None
    for moment in found:
        if moment.kind == "state":
            current = moment.state
        yield moment if moment.state else moment._replace(state=current)
