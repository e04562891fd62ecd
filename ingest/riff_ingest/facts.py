"""Score one conversation: from what a source delivered to what the writer stores."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

import msgspec

from riff_ingest.conversation import DERIVED, HIGHEST, Conversation, ReferenceStep, ToolCall
from riff_ingest.events import LONGEST, Event, GuardEvaluated, SlotFilled, StateEntered, StateExited, TurnComplete
from riff_ingest.flow_aspects import added_aspects, call_aspects, turn_latencies
from riff_ingest.lenient_json import parse_time
from riff_ingest.segments import segment_of
from riff_ingest.state_aspects import Stream, read_stream, says_something, state_rows, was_served
from riff_store.facts import CallHead, ConversationFacts, ExpectedStep, Failure, Skipped, StateAspects
from riff_store.measure import TYPING, slow_share
from riff_store.metrics import COMPUTED, OF_STATES
from riff_store.transcript_columns import EventColumns, spell
from riff_store.voice import KEY as VOICE

MISMATCH = 0.05
_HEAD = CallHead.__struct_fields__
_head_of = attrgetter(*_HEAD)
_STATE_METRICS = tuple("latency_p95_ms" if name == "latency_p95" else name for name in OF_STATES)


def facts_of(
    call: Conversation, *, default_run: str, line: int = 0, with_text: bool = True
) -> tuple[ConversationFacts, list[Skipped]]:
    """Return the scored facts of a call, and the places where brought-along scores differ from them."""
    stream = read_stream(call.events, call.contract)
    if call.events:
        stream.end_in(call.final_state)
        if stream.succeeded and call.completed is False:
            stream.defects["success terminal of a call that is not completed"] = 1
    added, problems = added_aspects(call)
    aspects = call_aspects(call, stream)
    if added:
        aspects |= {name: value for name, value in added.items() if value is not None or name not in aspects}
    latencies = turn_latencies(call, stream)
    aspects.setdefault("slow", slow_share(latencies))
    states = state_rows(stream, call.contract, call.completed) if call.events else _brought_states(call)
    defects = _added_up(call.defects, stream.defects)
    head = dict(zip(_HEAD, _head_of(call), strict=True))
    head["run_id"] = call.run_id or default_run
    head["archetype"] = call.archetype or (call.contract.archetype if call.contract else None)
    head["started_at"] = parse_time(call.started_at) if call.started_at else None
    facts = ConversationFacts(
        **head,
        line=line,
        error_count=call.error_count(),
        defects=sum(defects.values()),
        typed=sum(1 if latency > TYPING * 1000 else -1 for latency in latencies) if latencies else None,
        aspects=aspects,
        states=states,
        terminals=stream.outcomes,
        outcome_positions=stream.outcome_positions,
        failure=first_failure(call, stream),
        expected=[ExpectedStep(step.state, step.by, step.called, step.matched) for step in call.expected_steps or ()],
        transcript=transcript_text(call) if with_text else None,
    )
    notes = [Skipped("defect", line, problem, call.conversation_id) for problem in problems]
    if call.aspects or call.state_aspects:
        differences = _mismatches(call, aspects, states)
        notes += [Skipped("mismatch", line, reason, call.conversation_id) for reason in differences]
    if defects:
        listed = ", ".join(f"{name} {count}" for name, count in sorted(defects.items()))
        notes.append(Skipped("defect", line, f"stream defects: {listed}", call.conversation_id))
    return facts, notes


def _added_up(first: dict[str, int], second: dict[str, int]) -> dict[str, int]:
    """Return counts of two kinds by their names, which seldom are any."""
    if not first or not second:
        return first or second
    return {name: first.get(name, 0) + second.get(name, 0) for name in first | second}


def _brought_states(call: Conversation) -> list[StateAspects]:
    """Return the state rows that were brought along, one for each state: the last one."""
    rows = {}
    for brought in call.state_aspects:
        state = brought.get("state")
        if not isinstance(state, str):
            continue
        segment = brought.get("segment")
        to_states = brought.get("to_states")
        rows[state] = StateAspects(
            state,
            segment_of(state, call.contract, segment if isinstance(segment, str) else None),
            int(_number(brought, "progress") or 0),
            _whole(_number(brought, "stall")),
            int(_number(brought, "escalation") or 0),
            int(_number(brought, "revisit") or 0),
            _number(brought, "dwell_turns") or 0.0,
            _number(brought, "latency_p95_ms", LONGEST),
            int(_number(brought, "guard_error") or 0),
            _number(brought, "slot_fill_rate"),
            {state: count for state, count in to_states.items() if type(count) is int and 0 < count <= HIGHEST}
            if isinstance(to_states, dict)
            else {},
            _whole(_number(brought, "lost")),
            _whole(_number(brought, "position")),
            _number(brought, "slow"),
        )
    return list(rows.values())


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _number(row: Mapping[str, Any], name: str, highest: float = HIGHEST) -> float | None:
    """Return a value of a row; `None` for what cannot have been measured."""
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= highest:
        return None
    return float(value)


def _mismatches(call: Conversation, aspects: Mapping[str, float | None], states: list[StateAspects]) -> list[str]:
    if not call.events:
        return []
    found = []
    for name in COMPUTED:
        brought, computed = call.aspects.get(name), aspects.get(name)
        if brought is not None and computed is not None and abs(brought - computed) > MISMATCH:
            found.append(f"{name} brought {brought:g}, computed {computed:g}")
    if call.state_aspects:
        rows = {row.state: row for row in states}
        for row in call.state_aspects:
            found += _state_mismatches(row, rows.get(row.get("state", "")))
    return found


def _state_mismatches(brought: Mapping[str, Any], row: StateAspects | None) -> list[str]:
    if row is None:
        return [f"state {brought.get('state')} brought, never visited"]
    found = []
    for name in _STATE_METRICS:
        value, computed = _number(brought, name), getattr(row, name)
        if value is not None and computed is not None and abs(value - computed) > MISMATCH:
            found.append(f"{row.state}.{name} brought {value:g}, computed {computed:g}")
    return found


# Find where a call that was not served first went wrong (docs/metrics.md, section 15).
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
    if derived and (missed := _first_missed(call.expected_steps or ())) is not None:
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


# Reduce the message of an error to what all errors of its kind say.
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

    `None` where nothing is left that says anything.
    """
    plain = _VARIABLE.sub(REMOVED, _line(_message(error)))
    found = _BLANKS.sub(" ", _RUN_OF_REMOVED.sub(REMOVED, plain)).strip()[:LONGEST_MESSAGE].strip()
    return found if any(character.isalpha() for character in found) else None


def _message(error: object) -> str:
    """Return what an error says in words: of an object its message, of a list its first element."""
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


# Spell what was said and what happened in a call, as it is kept before it is compressed.
LONGEST_RESULT = 4096
"""Characters that are kept of what a tool answered."""
_encoder = msgspec.json.Encoder()


def transcript_text(call: Conversation) -> bytes:
    """Return what was said and what happened in a call."""
    parts = {"slots": call.slots, "tool_calls": _kept(call.tool_calls), "errors": call.errors}
    parts["expected_steps"] = [step for step in call.expected_steps or () if step.arguments is not None]
    others: dict[str, Any] = {name: value for name, value in parts.items() if value}
    if call.voice is not None:
        others[VOICE] = call.voice
    return spell(call.turns, event_columns(call.events), others)


def event_columns(events: Iterable[Event]) -> EventColumns:
    """Return events column by column, the values of one kind one after the other.

    Each kind is spelled out: it is twice as quick as to look its fields up.
    """
    letters: list[str] = []
    times: list[float | None] = []
    entered: list[Any] = []
    exited: list[Any] = []
    completed: list[Any] = []
    guards: list[Any] = []
    slots: list[Any] = []
    for event in events:
        times.append(event.t)
        if type(event) is TurnComplete:
            letters.append("t")
            completed.append(event.latency_ms)
        elif type(event) is StateEntered:
            letters.append("n")
            entered += event.state, event.segment
        elif type(event) is StateExited:
            letters.append("x")
            exited += event.state, event.to_state, event.reason
        elif type(event) is GuardEvaluated:
            letters.append("g")
            guards += event.guard, event.result, event.error
        elif type(event) is SlotFilled:
            letters.append("s")
            slots += event.slot, event.value, event.state
    return EventColumns(letters, times, (entered, exited, completed, guards, slots))


def _kept(tool_calls: list[ToolCall]) -> list[ToolCall]:
    """Return the tool calls with results that are not larger than what is kept of one."""
    kept = ((call, _cut(call.result)) for call in tool_calls)
    return [call if cut is call.result else msgspec.structs.replace(call, result=cut) for call, cut in kept]


def _cut(result: Any) -> Any:
    """Return a result as it is, or the beginning of its JSON where that is too long."""
    if result is None or isinstance(result, bool | int | float):
        return result
    text = result if isinstance(result, str) else _encoder.encode(result).decode()
    return result if len(text) <= LONGEST_RESULT else f"{text[:LONGEST_RESULT]}… (cut, of {len(text):,} characters)"
