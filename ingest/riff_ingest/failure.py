"""Find where a call that was not served first went wrong (docs/metrics.md, section 15)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from riff_ingest.conversation import Conversation, ReferenceStep, ToolCall
from riff_ingest.error_class import error_class
from riff_ingest.events import Event, GuardEvaluated, SlotFilled, StateEntered, StateExited, TurnComplete
from riff_ingest.state_aspects import was_served
from riff_ingest.stream import Stream, says_something
from riff_ingest.tool_states import DERIVED
from riff_store.facts import Failure

LOOPING = 3


class Visit(msgspec.Struct, gc=False):
    """Hold one visit to a state; times in seconds, `None` where the source has no clock.

    `guard` is the first that raised; `loops` says that it is a third or later entry and that no slot was filled for
    the first time since the entry before. `open` says that nothing has left it.
    """

    state: str
    start: float | None
    loops: bool
    end: float | None = None
    to: str | None = None
    guard: GuardEvaluated | None = None
    open: bool = True


def first_failure(call: Conversation, stream: Stream) -> Failure | None:
    """Return where a call first went wrong, `None` for one that was served, was errored or does not tell."""
    ended_well = was_served(stream, call.contract, call.completed) if call.events else call.completed
    # The last tool of a call says nothing of its task: where states are derived, whether that was done decides.
    derived = call.origin == DERIVED
    served = call.passed if derived and call.passed is not None else ended_well
    if call.is_excluded() or served is not False:
        return None
    if derived and (missed := _first_missed(call.expected_steps)) is not None:
        return missed
    outcomes, escalations = stream.terms.outcomes, stream.terms.escalations
    visits = visits_of(call.events)
    last = max((place for place, visit in enumerate(visits) if visit.state not in outcomes), default=-1)
    broken = _broken_tools(call.tool_calls, visits)
    for place, visit in enumerate(visits[: last + 1]):
        if visit.state in outcomes:
            continue
        before = visits[place - 1].state if place else None
        if visit.guard is not None:
            return Failure(before, visit.state, "guard error", visit.guard.guard, error_class(visit.guard.error))
        if place in broken:
            tool = broken[place]
            return Failure(before, visit.state, "tool error", _name(tool), error_class(tool.error))
        if place == last and ended_well:
            break
        if place == last and not stream.escalated:
            return Failure(before, visit.state, "stall")
        if place == last or visit.to in escalations:
            return Failure(before, visit.state, "escalation")
        if visit.loops and not derived:
            return Failure(before, visit.state, "loop")
    return Failure(None, None, "none")


def _first_missed(steps: Iterable[ReferenceStep]) -> Failure | None:
    """Return the first step of the task that was missed or taken with other arguments, after the last right one."""
    before: str | None = None
    for step in steps:
        if not step.called:
            return Failure(before, step.state, "missed step")
        if step.matched is False:
            return Failure(before, step.state, "wrong arguments")
        before = step.state
    return None


def visits_of(events: Iterable[Event]) -> list[Visit]:
    """Return the visits of a call in their order, as docs/metrics.md, section 1, parts them."""
    visits: list[Visit] = []
    filled: set[str] = set()
    entries: dict[str, int] = {}
    known: dict[str, int] = {}
    for event in events:
        if type(event) is TurnComplete:
            continue
        current = visits[-1] if visits and visits[-1].open else None
        if type(event) is StateEntered:
            if current is not None:
                _close(current, event.t, event.state)
            entries[event.state] = entries.get(event.state, 0) + 1
            loops = entries[event.state] >= LOOPING and known[event.state] == len(filled)
            known[event.state] = len(filled)
            visits.append(Visit(event.state, event.t, loops))
        elif type(event) is StateExited:
            if current is not None and event.state == current.state:
                _close(current, event.t, event.to_state)
        elif type(event) is SlotFilled:
            if event.value is not None:
                filled.add(event.slot)
        elif type(event) is GuardEvaluated and current is not None and current.guard is None:
            current.guard = event if says_something(event.error) else None
    return visits


def _close(visit: Visit, t: float | None, to: str | None) -> None:
    visit.end, visit.to, visit.open = t, to, False


def _broken_tools(calls: Sequence[ToolCall], visits: Sequence[Visit]) -> dict[int, ToolCall]:
    """Return the first failed call of a tool in each visit that no good call of the same tool follows there."""
    if not any(says_something(each.error) for each in calls):
        return {}
    found: dict[int, dict[str, ToolCall]] = {}
    for each in sorted((each for each in calls if each.t is not None), key=lambda each: each.t or 0.0):
        place = _place(each, visits)
        if place is None:
            continue
        failed = found.setdefault(place, {})
        if says_something(each.error):
            failed.setdefault(_name(each), each)
        else:
            failed.pop(_name(each), None)
    return {place: next(iter(failed.values())) for place, failed in found.items() if failed}


def _place(tool: ToolCall, visits: Sequence[Visit]) -> int | None:
    """Return the place of the visit that a tool was called in, `None` where no clock tells.

    Where one visit ends as another begins it was the first, whose work moved the call on, unless the second is named
    after the tool; between two visits it was the one that had ended.
    """
    t, before, holding = tool.t, None, []
    for place, visit in enumerate(visits):
        if t is None or visit.start is None or visit.start > t:
            continue
        before = place
        if visit.open or (visit.end is not None and t <= visit.end):
            holding.append(place)
    named = [place for place in holding if visits[place].state == tool.name]
    return named[-1] if named else holding[0] if holding else before


def _name(tool: ToolCall) -> str:
    return tool.name if tool.by == "agent" else f"user:{tool.name}"
