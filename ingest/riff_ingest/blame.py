"""Find what went wrong first in a failed call and was not made good (docs/metrics.md, section 15)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from riff_ingest.conversation import DERIVED, Conversation, ReferenceStep, ToolCall
from riff_ingest.events import GuardEvaluated, SlotFilled
from riff_ingest.segments import NO_SEGMENTS, segment_by_name
from riff_ingest.slot_values import contradicts
from riff_ingest.state_aspects import Stream, says_something
from riff_ingest.tool_states import changes
from riff_ingest.visits import Visit, events_before, is_good, place_tools, state_of, turns_before, visits_of
from riff_store.facts import Failure

NOT_ASKED_FOR = "not asked for"
_MISFIT = "arguments do not fit the schema"

_ORDER = (
    "guard error", "tool error", "wrong slot", "missing slot", "missing action", "loop", "hand-off", "dead end",
    "off contract",
)  # fmt: skip
"""What goes wrong in a visit, in the order that decides within one."""
_RANKS = {kind: rank for rank, kind in enumerate(_ORDER)}


class Moment(NamedTuple):
    """Name something that happened: `list` and `place` show where it is in the call; the end of the call is neither."""

    t: float | None
    list: str | None = None
    place: int | None = None


class _Found(NamedTuple):
    """Describe something that went wrong in a visit, and was not made good."""

    visit: int
    kind: str
    moment: Moment
    detail: str | None = None
    error: Any = None
    tool: ToolCall | None = None


def blame_of(call: Conversation, stream: Stream) -> Failure:
    """Return what went wrong first in a failed call: what its task shows comes first where states are derived."""
    visits = visits_of(call.events)
    places = place_tools(call, visits)
    # A task that its source reports was done shows nothing of a call that failed otherwise.
    of_task = call.origin == DERIVED and call.passed is not True
    blame = _of_task(call, visits, places) if of_task else None
    if blame is None:
        blame = _of_visits(call, stream, visits, places)
    state = blame.first_failed
    if state is not None:
        visited = stream.visits.get(state)
        by_name = NO_SEGMENTS.segment if call.origin == DERIVED else segment_by_name
        blame.segment = stream.terms.segments.get(state) or (visited and visited.segment) or by_name(state)
    return blame


# What the task shows about a call whose states are the tools that were called.
def _of_task(call: Conversation, visits: Sequence[Visit], places: Sequence[int | None]) -> Failure | None:
    steps, made = call.expected_steps, call.tool_calls
    if steps is None and not call.expected_answers:
        return None
    if steps is not None and (wrong := _wrong_action(call, steps)) is not None:
        at, kind, detail = wrong
        place, tool = places[at], made[at]
        before = visits[place - 1].state if place else None
        state = state_of(tool) if place is None else visits[place].state
        return _failure(call, Moment(tool.t, "tool_calls", at), before, state, kind, detail, tool.error, tool)
    for reads in (False, True):
        if reads and (unsaid := next((each.text for each in call.expected_answers if each.said is False), None)):
            return _unsaid(call, visits, unsaid)
        before = None
        for step in steps or ():
            if (not step.called or step.matched is False) and _reads(call, step) is reads:
                return _missed_step(call, step, before, places)
            before = before if not step.called or step.matched is False else step.state
    return None


def _wrong_action(call: Conversation, steps: Sequence[ReferenceStep]) -> tuple[int, str, str | None] | None:
    """Return the place of the first action that was not that of the task, or was refused, and never made good."""
    made = call.tool_calls
    good = [is_good(tool) for tool in made]
    # A step that its source found taken, and that no call equals, is compared more loosely than here.
    loose = {step.state for step in steps if step.matched and not any(_matches(tool, step) for tool in made)}
    for at, tool in enumerate(made):
        if not changes(tool.name, call.contract, tool.changes):
            continue
        later = [other for other, well in zip(made[at:], good[at:], strict=True) if well and _same_tool(other, tool)]
        if not good[at]:
            if not later:
                return at, "refused action", None
        elif state_of(tool) not in loose and not any(_matches(other, step) for other in later for step in steps):
            return at, "wrong action", _difference(tool, steps)
    return None


def _missed_step(call: Conversation, step: ReferenceStep, before: str | None, places: Sequence[int | None]) -> Failure:
    """Return that a step was not taken or, of a tool that reads, was taken with other arguments."""
    name = step.state
    tried = [at for at, tool in enumerate(call.tool_calls) if tool.by == step.by and tool.name == step.name]
    if not _reads(call, step):
        return _failure(call, _end(call), before, name, "missing action", None, who=_who_of(step.by), tool_name=name)
    if not step.called or not tried:
        return _failure(call, _end(call), before, name, "missing step", None, who=_who_of(step.by), tool_name=name)
    at = min(tried, key=lambda at: len(_differing(call.tool_calls[at], step)))
    tool = call.tool_calls[at]
    detail = ", ".join(_differing(tool, step)) or None
    return _failure(call, Moment(tool.t, "tool_calls", at), before, name, "wrong arguments", detail, tool=tool)


def _unsaid(call: Conversation, visits: Sequence[Visit], text: str) -> Failure:
    """Return that the agent never said what it was asked to say, at its last turn."""
    spoken = [place for place, turn in enumerate(call.turns) if turn.role == "agent"]
    moment = Moment(call.turns[spoken[-1]].t, "turns", spoken[-1]) if spoken else _end(call)
    state = (call.turns[spoken[-1]].state if spoken else None) or (visits[-1].state if visits else None)
    return _failure(call, moment, None, state, "missing answer", text)


def _reads(call: Conversation, step: ReferenceStep) -> bool:
    return not changes(step.name, call.contract, step.changes)


def _same_tool(one: ToolCall, other: ToolCall) -> bool:
    return one.name == other.name and one.by == other.by


def _matches(tool: ToolCall, step: ReferenceStep) -> bool:
    """Return whether a call is a step of the task; without the arguments of the step its source decides."""
    if tool.name != step.name:
        return False
    return step.matched is not False if step.arguments is None else not _differing(tool, step)


def _difference(tool: ToolCall, steps: Iterable[ReferenceStep]) -> str | None:
    """Return which arguments of a call differ from those of the nearest step of its tool."""
    same = [step for step in steps if step.name == tool.name]
    if not same:
        return NOT_ASKED_FOR
    nearest = min((_differing(tool, step) for step in same), key=lambda names: len(names))
    return ", ".join(nearest) or None


def _differing(tool: ToolCall, step: ReferenceStep) -> list[str]:
    """Return the names of the arguments that a step asks for otherwise; one that is null is not given."""
    if step.arguments is None:
        return []
    wanted, given = _named(step.arguments), _named(tool.arguments)
    names = dict.fromkeys((*wanted, *given)) if step.compared is None else step.compared
    return sorted(name for name in names if wanted.get(name) != given.get(name))


def _named(arguments: Any) -> Mapping[str, Any]:
    return arguments if isinstance(arguments, Mapping) else {} if arguments is None else {"arguments": arguments}


# What the visits of a call show.
def _of_visits(call: Conversation, stream: Stream, visits: Sequence[Visit], places: Sequence[int | None]) -> Failure:
    outcomes = stream.terms.outcomes
    last = max((place for place, visit in enumerate(visits) if visit.state not in outcomes), default=None)
    if last is None:
        return _failure(call, _end(call), None, None, "none")

    def working(found: _Found) -> int:
        return _working(min(found.visit, last), visits, outcomes)

    first = min(_all_found(call, stream, visits, places, last), key=lambda each: (working(each), _RANKS[each.kind]))
    at = working(first)
    before = visits[at - 1].state if at else None
    return _failure(
        call, first.moment, before, visits[at].state, first.kind, first.detail, first.error, first.tool,
        tool_name=first.detail if first.kind == "missing action" else None,
    )  # fmt: skip


def _working(place: int, visits: Sequence[Visit], outcomes: Mapping[str, str]) -> int:
    """Return the visit to a working state that a place belongs to: what happens at an end is of the state before."""
    while place and visits[place].state in outcomes:
        place -= 1
    return (
        place
        if visits[place].state not in outcomes
        else next(at for at, visit in enumerate(visits) if visit.state not in outcomes)
    )


def _all_found(
    call: Conversation, stream: Stream, visits: Sequence[Visit], places: Sequence[int | None], last: int
) -> Iterator[_Found]:
    """Yield all that went wrong in a call and was not made good, within a kind in the order in which it happened."""
    derived = call.origin == DERIVED
    if any(guard.startswith("error ") for guard in stream.guards):
        yield from _guard_errors(call, visits, derived)
    yield from _tool_errors(call, places)
    yield from _wrong_slots(call, visits, last)
    yield from _left_without(call, stream, visits)
    escalations = stream.terms.escalations
    for place, visit in enumerate(visits[: last + 1]):
        if visit.state in stream.terms.outcomes:
            continue
        if visit.loops and not derived:  # a tool that is called again and again is not where a call comes back to
            yield _Found(place, "loop", Moment(visit.start, "events", visit.first))
        if visit.to in escalations:
            yield _Found(place, "hand-off", _left(visit, call))
    yield from _end_of_call(call, stream, visits[last], last)


def _guard_errors(call: Conversation, visits: Sequence[Visit], derived: bool) -> Iterator[_Found]:
    evaluated = [(at, each) for at, each in enumerate(call.events) if type(each) is GuardEvaluated]
    raised = [(at, each) for at, each in evaluated if says_something(each.error)]
    # Where states are derived, a tool that failed is a guard that raised: the call of the tool shows more.
    tools = {tool.name for tool in call.tool_calls} if derived else frozenset[str]()
    well = {each.guard: at for at, each in evaluated if not says_something(each.error)}
    for at, each in raised:
        place = _visit_at(at, visits)
        if place is not None and well.get(each.guard, -1) < at and each.guard not in tools:
            yield _Found(place, "guard error", Moment(each.t, "events", at), each.guard, each.error)


def _tool_errors(call: Conversation, places: Sequence[int | None]) -> Iterator[_Found]:
    well = {(tool.name, tool.by): at for at, tool in enumerate(call.tool_calls) if is_good(tool)}
    for at, (tool, place) in enumerate(zip(call.tool_calls, places, strict=True)):
        if place is not None and not is_good(tool) and well.get((tool.name, tool.by), -1) < at:
            error = tool.error if says_something(tool.error) else _MISFIT
            yield _Found(place, "tool error", Moment(tool.t, "tool_calls", at), state_of(tool), error, tool)


def _wrong_slots(call: Conversation, visits: Sequence[Visit], last: int) -> Iterator[_Found]:
    if not call.facts:
        return
    filled = [(at, each) for at, each in enumerate(call.events) if type(each) is SlotFilled and each.value is not None]
    right = {each.slot: at for at, each in filled if not _contradicts(call, each.slot, each.value)}
    corrected = {
        slot for slot, value in call.slots.items() if value is not None and not _contradicts(call, slot, value)
    }
    for at, each in filled:
        if each.slot in corrected or right.get(each.slot, -1) > at or not _contradicts(call, each.slot, each.value):
            continue
        place = _visit_at(at, visits)
        if each.state is not None:
            named = [nr for nr, visit in enumerate(visits) if visit.state == each.state and visit.first < at]
            place = named[-1] if named else place
        if place is not None:
            yield _Found(place, "wrong slot", Moment(each.t, "events", at), each.slot)
    known = {each.slot for _, each in filled}
    for slot, value in call.slots.items():
        if slot not in known and value is not None and _contradicts(call, slot, value):
            yield _Found(last, "wrong slot", _end(call), slot)


def _contradicts(call: Conversation, slot: str, value: Any) -> bool:
    fact = call.facts.get(slot)
    return fact is not None and contradicts(value, fact)


def _left_without(call: Conversation, stream: Stream, visits: Sequence[Visit]) -> Iterator[_Found]:
    """Yield the states that were left forward without the slot or the tool that they are there for."""
    terms = stream.terms
    if not terms.required_slots and not terms.tools:
        return
    filled = stream.filled | {slot for slot, value in call.slots.items() if value is not None}
    called = {state_of(tool) for tool in call.tool_calls}
    states = {} if call.contract is None else call.contract.states
    for place, visit in enumerate(visits):
        to = visit.to
        if to is None and place == len(visits) - 1 and call.final_state in terms.successes:
            to = call.final_state
        if to is None or to == visit.state or to in terms.escalations:
            continue
        if visit.state in terms.required_slots:
            for slot in states[visit.state].required_slots:
                if slot not in filled:
                    yield _Found(place, "missing slot", _left(visit, call), slot)
        for tool in terms.tools.get(visit.state, ()):
            if tool not in called:  # an error of it explains the rest
                yield _Found(place, "missing action", _left(visit, call), tool)


def _end_of_call(call: Conversation, stream: Stream, visit: Visit, last: int) -> Iterator[_Found]:
    """Yield how a call ended that nothing before explains, in its last working state."""
    contract, moment, stop = call.contract, _end(call), call.stop_reason
    if stream.escalated and not stream.succeeded:
        yield _Found(last, "hand-off", _left(visit, call))
        return
    if stream.succeeded or (call.completed is True and not stream.terms.successes):
        # What the flow as a whole asks for and no state is there to do is missed at the end alone.
        filled = stream.filled | {slot for slot, value in call.slots.items() if value is not None}
        wanted = () if contract is None else (*(contract.required_slots or ()), *(contract.completion_slots or ()))
        yield from (_Found(last, "missing slot", moment, slot) for slot in wanted if slot not in filled)
        called = {state_of(tool) for tool in call.tool_calls}
        tools = () if contract is None else contract.required_tools or ()
        yield from (_Found(last, "missing action", moment, tool) for tool in tools if tool not in called)
        if contract is not None and contract.final_statuses and call.final_status not in contract.final_statuses:
            yield _Found(last, "off contract", moment, call.final_status)
            return
    # A tool that was called last is not a terminal.
    ended = call.completed is True and call.origin != DERIVED
    if ended and (stop == "terminal" or (not stream.succeeded and (stop is None or call.passed is False))):
        yield _Found(last, "off contract", moment, call.final_state or stream.last_entered)
    else:
        yield _Found(last, "dead end", moment, stop)


def _left(visit: Visit, call: Conversation) -> Moment:
    return _end(call) if visit.last is None else Moment(visit.end, "events", visit.last)


def _visit_at(event: int, visits: Sequence[Visit]) -> int | None:
    """Return the visit that an event belongs to, by its place: none before the first and between two."""
    for place in range(len(visits) - 1, -1, -1):
        visit = visits[place]
        if visit.first < event:
            return place if visit.last is None or event < visit.last else None
    return None


# Put the parts of a blame together.
def _failure(
    call: Conversation,
    moment: Moment,
    before: str | None,
    state: str | None,
    kind: str,
    detail: str | None = None,
    error: Any = None,
    tool: ToolCall | None = None,
    *,
    who: str | None = None,
    tool_name: str | None = None,
) -> Failure:
    if who is None:
        who = "caller" if tool is not None and tool.by != "agent" else "backend" if is_backend(error) else "agent"
    return Failure(
        before, state, kind, detail, error_class(error), who,
        tool=state_of(tool) if tool is not None else tool_name,
        turn=_turn_of(call, moment), t=moment.t, list=moment.list, place=moment.place,
    )  # fmt: skip


def _who_of(by: str) -> str:
    return "agent" if by == "agent" else "caller"


def _end(call: Conversation) -> Moment:
    """Return the end of a call: when the last thing happened that has a time."""
    last = [item.t for item in (*call.events[-1:], *call.turns[-1:], *call.tool_calls[-1:]) if item.t is not None]
    return Moment(max(last, default=call.duration_s))


def _turn_of(call: Conversation, moment: Moment) -> int | None:
    """Return the number, from 1, of the turn that a moment is or that was said last before it."""
    turns = call.turns
    if not turns:
        return None
    if moment.list == "turns" and moment.place is not None:
        return moment.place + 1
    if moment.list is None or moment.place is None:
        return len(turns)
    times = [turn.t for turn in turns if turn.t is not None]
    if moment.t is not None and len(times) == len(turns):
        return max(1, len([t for t in times if t <= moment.t]))
    if moment.list == "tool_calls":
        seq = call.tool_calls[moment.place].seq
        return None if seq is None else max(1, seq - events_before(call, seq))
    return max(1, turns_before(call)[moment.place])


# Reduce the message of an error to what all errors of its kind have in common.
LONGEST_MESSAGE = 80
REMOVED = "*"
_READ_OF_MESSAGE = 2000
_MESSAGES = ("message", "error", "detail", "reason", "kind", "type", "code")
_TRACEBACK = "Traceback (most recent call last)"
_VARIABLE = re.compile(
    r"""
      \b[a-z][a-z0-9+.-]{0,20}://\S+  # addresses
    | "[^"]*" | `[^`]*` | “[^”]*”  # quoted parts
    | (?<!\w)'[^']*'(?!\w) | (?<!\w)‘[^’]*’(?!\w)
    | \b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b
    | \b[0-9a-f]{8,}\b
    | \w*\d\w*  # numbers, ids, times
    """,
    re.VERBOSE | re.IGNORECASE,
)
_RUN_OF_REMOVED = re.compile(r"\*(?:[^\w*]+\*)+")
_BLANKS = re.compile(r"\s+")


def error_class(error: object) -> str | None:
    """Return an error's message without numbers, ids, quoted parts and addresses, cut to 80 characters.

    `None` if nothing meaningful is left.
    """
    plain = _VARIABLE.sub(REMOVED, _line(_message(error)))
    found = _BLANKS.sub(" ", _RUN_OF_REMOVED.sub(REMOVED, plain)).strip()[:LONGEST_MESSAGE].strip()
    return found if any(character.isalpha() for character in found) else None


def _message(error: object) -> str:
    """Return what an error says in words: of an object its message, of a list its first element."""
    if error is None:
        return ""
    for _ in range(len(_MESSAGES)):
        if isinstance(error, list) and error:
            error = error[0]
        elif isinstance(error, Mapping) and (key := next((key for key in _MESSAGES if error.get(key)), None)):
            error = error[key]
    if isinstance(error, str):
        return error[:_READ_OF_MESSAGE]
    if error is None or isinstance(error, bool | int | float):
        return ""
    return json.dumps(error, default=str, sort_keys=True)[:_READ_OF_MESSAGE]


def _line(message: str) -> str:
    """Return the line that names the error: the last one of a traceback, else the first."""
    lines = [line for line in message.splitlines() if line.strip()]
    return "" if not lines else lines[-1 if lines[0].startswith(_TRACEBACK) else 0]


_INFRASTRUCTURE = re.compile(
    r"time[ds]?[ -]?out|connection|unreachable|unavailable|bad gateway|internal server error|reset by peer"
    r"|\bdns\b|\b(?:http|status|code|error|returned|responded with|got)\W{0,3}5\d\d\b|^\W*5\d\d\b",
    re.IGNORECASE,
)


def is_backend(error: object) -> bool:
    """Return whether an error is one of infrastructure: a time-out, a connection, a status of 500 or above."""
    return _INFRASTRUCTURE.search(_line(_message(error))) is not None
