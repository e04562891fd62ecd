"""Derive the states of a call from the tools that were called in it (docs/metrics.md, section 9).

The state is the tool last called, `user:` and its name where the caller called it, `opening` before the first. The
same again at once is one visit.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from functools import lru_cache
from typing import Any

from riff_ingest.conversation import Contract, ToolCall, Turn
from riff_ingest.events import LONGEST, Event, GuardEvaluated, SlotFilled, StateEntered, StateExited, TurnComplete
from riff_ingest.segments import NO_SEGMENTS, OPENING, ToolSegments, hands_over


class ToolStates:
    """Collect a call in its order: what was said and what was called become turns, tool calls and events.

    Times are seconds since the call started, `None` if the source has no clock; latencies milliseconds. `states` are
    those visited, in order. `opening` is another name for the first, where the source knows one.
    """

    def __init__(self, segments: ToolSegments = NO_SEGMENTS, opening: str = OPENING) -> None:
        self.turns: list[Turn] = []
        self.tool_calls: list[ToolCall] = []
        self.events: list[Event] = []
        self.states: list[str] = []
        self._segments = segments
        self._opening = opening

    @property
    def state(self) -> str | None:
        """Return the state that the call is in, `None` before it began."""
        return self.states[-1] if self.states else None

    def begin(self, t: float | None = None) -> None:
        """Open the call if nothing has."""
        if not self.states:
            self._enter(self._opening, OPENING if self._opening == OPENING else None, t)

    def say(
        self,
        role: str,
        text: str,
        t: float | None = None,
        latency_ms: float | None = None,
        *,
        is_turn: bool = True,
    ) -> None:
        """Take what the `agent` or the `caller` said; a latency that cannot be one is left out.

        Without `is_turn` it belongs to a turn that was taken before, or to none.
        """
        self.begin(t)
        latency = latency_ms if latency_ms is not None and 0 <= latency_ms <= LONGEST else None
        if role == "agent" and is_turn:
            self.events.append(TurnComplete(latency, t))
        self.turns.append(Turn(role, text, t, self.state, latency))

    def call(
        self,
        name: str,
        *,
        by: str = "agent",
        t: float | None = None,
        arguments: Any = None,
        result: Any = None,
        error: str | None = None,
        state: str | None = None,
        segment: str | None = None,
        changes: bool | None = None,
        fits: bool | None = None,
    ) -> None:
        """Take a call of a tool with what came back; `error` shows what went wrong, in the visit of this call.

        Only a call of the agent that failed is a guard that raised: what fails for callers is not an error of the
        agent. `state` is another name for it where the tool's own name shows too little, `segment` its phase if that is
        known.
        """
        self.begin(t)
        self._visit(state or name, by, segment, t)
        self.tool_calls.append(
            ToolCall(name, t, arguments, error, by, result, self.state, self._seq(), changes=changes, fits=fits)
        )
        if error is not None and by == "agent":
            self._failed(name, error, t)

    def _seq(self) -> int:
        """Return how much was collected by now, which is the place of what comes next."""
        return len(self.events) + len(self.turns)

    def move(self, state: str, t: float | None = None) -> None:
        """Go to a state of the source's own, whose name shows its phase."""
        self.begin(t)
        self._leave_for(state, None, t)

    def _visit(self, tool: str, by: str, segment: str | None, t: float | None) -> None:
        """Go to the state that a tool is."""
        named = tool if by == "agent" else f"user:{tool}"
        self._leave_for(named, self._segments.segment(named, segment), t)

    def _failed(self, tool: str, error: str, t: float | None) -> None:
        self.events.append(GuardEvaluated(tool, None, error, t))

    def _leave_for(self, state: str, segment: str | None, t: float | None) -> None:
        if state != self.state:
            self.events.append(StateExited(self.state or self._opening, state, None, t))
            self._enter(state, segment, t)

    def _enter(self, state: str, segment: str | None, t: float | None) -> None:
        self.events.append(StateEntered(state, t, segment))
        self.states.append(state)


class ObservedStates(ToolStates):
    """Collect a call in its order, as `ToolStates` does, with the states that it was seen to enter."""

    def begin(self, t: float | None = None) -> None:
        """Do nothing: what comes before the first state belongs to none."""

    def enter(self, state: str, t: float | None = None, *, left: str | None = None, reason: str | None = None) -> None:
        """Go into a state; `left` is the one that was left for it by the source, else the one that the call is in."""
        if (left := left or self.state) is not None:
            self.events.append(StateExited(left, state, reason, t))
        self.events.append(StateEntered(state, t))
        self.states.append(state)

    def _visit(self, tool: str, by: str, segment: str | None, t: float | None) -> None:
        """Stay in the state: tools are none."""

    def _failed(self, tool: str, error: str, t: float | None) -> None:
        """Leave it to the tool call: no guard raised."""


def say_aside(states: ToolStates, role: str, text: str, t: float | None = None) -> None:
    """Take what was said without having the turn, such as "mhm" while the other side speaks."""
    states.begin(t)
    states.turns.append(Turn(role, text, t, states.state))


def fill(states: ToolStates, slot: str, value: Any, t: float | None = None) -> None:
    """Take the value of a slot in the state that the call is in, the first one that is not `None`."""
    known = any(type(event) is SlotFilled and event.slot == slot for event in states.events)
    if value is not None and not known:
        states.begin(t)
        states.events.append(SlotFilled(slot, value, states.state, t))


def latencies(states: ToolStates) -> list[float]:
    """Return the latencies that are known of turns, in milliseconds."""
    return [
        event.latency_ms
        for event in states.events
        if type(event) is TurnComplete and event.latency_ms is not None and event.latency_ms <= LONGEST
    ]


def answers_in_order(steps: Iterable[tuple[Hashable | None, bool]]) -> dict[int, int]:
    """Return the places of calls of tools with those of their answers; steps are ids, and whether each is an answer.

    Ids come back: some models have the name of the tool for one. An answer belongs to the last call of its id that has
    none yet, and several in a row to as many calls in theirs. One that is before its call belongs to it if nothing else
    has that id.
    """
    found: dict[int, int] = {}
    waiting, arrived, early = defaultdict[Hashable, list[int]](list), defaultdict[Hashable, list[int]](list), {}
    uses = Counter[Hashable]()

    def settle(key: Hashable) -> None:
        answers, calls = arrived.pop(key, []), waiting[key]
        taken = calls[max(0, len(calls) - len(answers)) :]
        del calls[len(calls) - len(taken) :]
        found.update(zip(taken, answers, strict=False))
        if len(answers) > len(taken):
            early[key] = answers[0]

    for place, (key, is_answer) in enumerate(steps):
        if key is None:
            continue
        uses[key] += 1
        if is_answer:
            arrived[key].append(place)
        else:
            settle(key)
            waiting[key].append(place)
    for key in [*arrived]:
        settle(key)
    return found | {waiting[key][0]: place for key, place in early.items() if uses[key] == 2 and waiting[key]}


READING = frozenset(
    {"get", "find", "list", "search", "check", "calculate", "look", "lookup", "read", "think", "verify", "count"}
)
"""What the name of a tool begins with that changes nothing."""
_NAMESPACE = re.compile(r"[./:]|__")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def changes(name: str, contract: Contract | None = None, told: bool | None = None) -> bool:
    """Return whether a tool changes something, by its source, else its flow, else the first word of its name."""
    if told is not None:
        return told
    if contract is not None and (known := contract.terms.changing.get(name)) is not None:
        return known
    return changes_by_name(name)


@lru_cache(maxsize=4096)
def changes_by_name(name: str) -> bool:
    """Return whether a tool changes something by its name, without the names of what it belongs to.

    The first word decides, but for checking in and out, which are no looks. One that hands the call over changes
    nothing: that is how the call ends.
    """
    if hands_over(name):
        return False
    parts = [part for part in _NAMESPACE.split("".join(name.split(maxsplit=1)[:1])) if _WORD.search(part)]
    words = [word.lower() for word in _WORD.findall(parts[-1])] if parts else []
    return not words or words[0] not in READING or words[:2] in (["check", "in"], ["check", "out"])
