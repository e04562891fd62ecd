"""Part the events of a call into visits, and place in these the tools that were called."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

import msgspec

from riff_ingest.conversation import DERIVED, Conversation, ToolCall
from riff_ingest.events import Event, SlotFilled, StateEntered, StateExited, TurnComplete
from riff_ingest.state_aspects import says_something

LOOPING = 3


class Visit(msgspec.Struct, gc=False):
    """Describe one visit to a state; times in seconds, `None` if the source has no clock.

    `first` and `last` are the places of the events that enter and leave it. `loops` shows that it is a third or later
    entry and that no slot was filled for the first time since the entry before. `open` shows that nothing has left it.
    """

    state: str
    start: float | None
    first: int
    loops: bool
    end: float | None = None
    last: int | None = None
    to: str | None = None
    open: bool = True


def visits_of(events: Iterable[Event]) -> list[Visit]:
    """Return the visits of a call in their order, as docs/metrics.md, section 1, parts them."""
    visits: list[Visit] = []
    filled: set[str] = set()
    entries: dict[str, int] = {}
    known: dict[str, int] = {}
    current: Visit | None = None  # which nothing has left
    for at, event in enumerate(events):
        if type(event) is StateEntered:
            if current is not None:
                _close(current, event.t, event.state, at)
            state = event.state
            entries[state] = entries.get(state, 0) + 1
            loops = entries[state] >= LOOPING and known[state] == len(filled)
            known[state] = len(filled)
            current = Visit(state, event.t, at, loops)
            visits.append(current)
        elif type(event) is StateExited:
            if current is not None and event.state == current.state:
                _close(current, event.t, event.to_state, at)
                current = None
        elif type(event) is SlotFilled and event.value is not None:
            filled.add(event.slot)
    return visits


def _close(visit: Visit, t: float | None, to: str | None, at: int) -> None:
    visit.end, visit.to, visit.last, visit.open = t, to, at, False


def place_tools(call: Conversation, visits: Sequence[Visit]) -> list[int | None]:
    """Return the place of the visit that each tool was called in, `None` if nothing shows.

    That is a visit to the state that the call names, or the contract, or that is called after the tool; of several, and
    if nothing names one, the place among the events decides, else the clock.
    """
    if not visits or not call.tool_calls:
        return [None] * len(call.tool_calls)
    of_state: dict[str, list[int]] = {}
    for place, visit in enumerate(visits):
        of_state.setdefault(visit.state, []).append(place)
    found = []
    for tool in call.tool_calls:
        named = named_state(call, tool, of_state)
        choice = None if named is None else of_state[named]
        found.append(choice[0] if choice and len(choice) == 1 else _place(call, tool, visits, choice))
    return found


def named_state(call: Conversation, tool: ToolCall, visited: Container[str]) -> str | None:
    """Return which of the states that a call came to is named as the one that called a tool, `None` for none."""
    if tool.state is not None and tool.state in visited:
        return tool.state
    if tool.by == "agent" and call.contract is not None:
        named = call.contract.terms.state_of_tool.get(tool.name)
        if named is not None and named in visited:
            return named
    derived = state_of(tool) if call.origin == DERIVED else None
    return derived if derived is not None and derived in visited else None


def _place(call: Conversation, tool: ToolCall, visits: Sequence[Visit], choice: Sequence[int] | None) -> int | None:
    """Return which of some visits, or of all, a tool was called in.

    If one visit ends as another begins it was the first, whose work moved the call on, unless the second is named after
    the tool; between two visits it was the one that had ended.
    """
    among = range(len(visits)) if choice is None else choice
    if tool.seq is not None:
        events = events_before(call, tool.seq)
        begun = [place for place in among if visits[place].first < events]
        return begun[-1] if begun else None if choice is None else choice[0]
    t = tool.t
    if t is None:
        return None if choice is None else choice[0]
    begun = [place for place in among if (start := visits[place].start) is not None and start <= t]
    if choice is not None:
        return begun[-1] if begun else choice[0]
    holding = [place for place in begun if visits[place].open or ((end := visits[place].end) is not None and t <= end)]
    after = [place for place in holding if visits[place].state == tool.name]
    return after[-1] if after else holding[0] if holding else begun[-1] if begun else None


def state_of(tool: ToolCall) -> str:
    """Return what a tool is called as a state: one of the caller has `user:` before its name."""
    return tool.name if tool.by == "agent" else f"user:{tool.name}"


def is_good(tool: ToolCall) -> bool:
    """Return whether a call of a tool did not fail, as far as is known."""
    return not says_something(tool.error) and tool.fits is not False


def turns_before(call: Conversation) -> list[int]:
    """Return how many turns were said before each event, and after the last: the agent's end with an event each."""
    spoken = [place + 1 for place, turn in enumerate(call.turns) if turn.role == "agent"]
    found, completed = [0], 0
    for event in call.events:
        completed += type(event) is TurnComplete
        found.append(spoken[min(completed, len(spoken)) - 1] if completed and spoken else 0)
    return found


def events_before(call: Conversation, seq: int) -> int:
    """Return how many of the `seq` events and turns before a tool call are events."""
    before = turns_before(call)
    return max((at for at in range(len(before)) if at + before[at] <= seq), default=0)
