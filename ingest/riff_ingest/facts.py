"""Score one conversation: from what a source delivered to what the writer stores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise
from operator import attrgetter
from typing import Any

import msgspec

from riff_ingest.blame import blame_of
from riff_ingest.conversation import HIGHEST, TIMES_RUN_BACK, Conversation, ToolCall
from riff_ingest.events import LONGEST, Event, GuardEvaluated, SlotFilled, StateEntered, StateExited, TurnComplete
from riff_ingest.flow_aspects import added_aspects, call_aspects, turn_latencies
from riff_ingest.lenient_json import parse_time
from riff_ingest.segments import segment_of
from riff_ingest.state_aspects import Stream, read_stream, says_something, state_rows
from riff_ingest.visits import is_good, named_state, place_tools, state_of, visits_of
from riff_store.facts import (
    CallHead,
    ConversationFacts,
    ExpectedStep,
    Failure,
    Skipped,
    StateAspects,
    ToolAspects,
    Touched,
)
from riff_store.measure import TYPING, percentile, slow_share
from riff_store.metrics import COMPUTED, OF_STATES
from riff_store.scoring import FULL, succeeded
from riff_store.transcript_columns import EventColumns, spell
from riff_store.voice import KEY as VOICE

MISMATCH = 0.05
UNKNOWN_END = "it ended with {word}, which is an unknown word, so completion is not measured"
_HEAD = CallHead.__struct_fields__
_head_of = attrgetter(*_HEAD)
_STATE_METRICS = tuple("latency_p95_ms" if name == "latency_p95" else name for name in OF_STATES)


def facts_of(
    call: Conversation, *, default_run: str, line: int = 0, with_text: bool = True
) -> tuple[ConversationFacts, list[Skipped]]:
    """Return the scored facts of a call, and the places where brought-along scores differ from them."""
    stream = read_stream(call.events, call.contract)
    stream.end_in(call.final_state)
    if call.events and stream.succeeded and call.completed is False:
        stream.defects["success terminal of a call that is not completed"] = 1
    added, problems = added_aspects(call)
    aspects = call_aspects(call, stream)
    if added:
        aspects |= {name: value for name, value in added.items() if value is not None or name not in aspects}
    success = succeeded(_was_served(call, stream), aspects.get("correctness"), aspects.get("completion"))
    latencies = turn_latencies(call, stream)
    aspects.setdefault("slow", slow_share(latencies))
    states = state_rows(stream, call.contract, call.completed) if call.events else _brought_states(call)
    if success is not False or call.is_excluded():
        # A call is lost in a state only where it failed.
        for row in states:
            row.lost = 0 if success and row.lost is not None and not call.is_excluded() else None
    defects = _added_up(call.defects, stream.defects)
    if back := _times_that_run_back(call):
        defects = _added_up(defects, {TIMES_RUN_BACK: back})
    stored = _stored(call, aspects, states)
    head = dict(zip(_HEAD, _head_of(call), strict=True))
    head["run_id"] = call.run_id or default_run
    head["archetype"] = call.archetype or (call.contract.archetype if call.contract else None)
    head["started_at"] = parse_time(call.started_at) if call.started_at else None
    failure = blame_of(call, stream) if success is False and not call.is_excluded() else None
    tools = tool_rows(call, stream, failure) if call.tool_calls or (failure and failure.tool) else []
    facts = ConversationFacts(
        **head,
        line=line,
        success=success,
        error_count=call.error_count(),
        defects=sum(defects.values()),
        typed=2 * len([each for each in latencies if each > TYPING * 1000]) - len(latencies) if latencies else None,
        aspects=aspects,
        states=states,
        tools=tools,
        terminals=stream.outcomes if call.events else {},
        outcome_positions=stream.outcome_positions,
        failure=failure,
        expected=[ExpectedStep(step.state, step.by, step.called, step.matched) for step in call.expected_steps or ()],
        transcript=transcript_text(call, stored) if with_text else None,
        path=touched_by(call, stream, states, tools),
    )
    notes = [Skipped("defect", line, problem, call.conversation_id) for problem in problems]
    if call.aspects or call.state_aspects:
        differences = _mismatches(call, aspects, states)
        notes += [Skipped("mismatch", line, reason, call.conversation_id) for reason in differences]
    if call.ends_in_unknown_word() and not call.is_excluded():
        reason = UNKNOWN_END.format(word=call.stop_reason)
        notes.append(Skipped("defect", line, reason, call.conversation_id))
    if defects:
        listed = ", ".join(f"{name} {count}" for name, count in sorted(defects.items()))
        notes.append(Skipped("defect", line, f"stream defects: {listed}", call.conversation_id))
    return facts, notes


def _was_served(call: Conversation, stream: Stream) -> bool | None:
    """Return whether the task was done where its source knows, else how the call ended; `None` if nothing shows."""
    if call.passed is not None or call.needs_verdict:
        return call.passed
    if stream.succeeded:
        return True
    if stream.escalated:
        return False
    if call.completed is None and not call.events and (brought := call.aspects.get("correctness")) is not None:
        return brought >= FULL
    return call.completed


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


def _times_that_run_back(call: Conversation) -> int:
    """Return how often a time is before the one before it, in that list of the call in which it is most often."""
    most = 0
    for items in (call.turns, call.events, call.tool_calls):
        times: list[Any] = [item.t for item in items]
        try:
            if times == sorted(times):
                continue
        except TypeError:  # some have none
            times = [t for t in times if t is not None]
        most = max(most, sum(later < earlier for earlier, later in pairwise(times)))
    return most


def _stored(
    call: Conversation, aspects: Mapping[str, float | None], states: list[StateAspects]
) -> dict[str, float | bool]:
    """Return the figures of the source that are others than ours, or that we have none of.

    A yes or no is compared with whether the task was done, else whether the call was completed.
    """
    done = call.completed if call.passed is None else call.passed
    ours: dict[str, float | None] = dict(aspects)
    brought: dict[str, float | bool | None] = {**call.stored}
    if call.events:
        brought |= {name: value for name, value in call.aspects.items() if name in COMPUTED}
        by_state = {row.state: row for row in states}
        for row in call.state_aspects:
            if isinstance(state := row.get("state"), str):
                brought |= {f"{state}.{name}": _number(row, name) for name in _STATE_METRICS}
                ours |= {f"{state}.{name}": getattr(by_state.get(state), name, None) for name in _STATE_METRICS}
    return {
        name: value for name, value in brought.items() if value is not None and _differs(value, ours.get(name), done)
    }


def _differs(value: float | bool, ours: float | None, done: bool | None) -> bool:
    if isinstance(value, bool):
        return done is not None and value != done
    return ours is None or abs(value - ours) > MISMATCH


def _state_mismatches(brought: Mapping[str, Any], row: StateAspects | None) -> list[str]:
    if row is None:
        return [f"state {brought.get('state')} brought, never visited"]
    found = []
    for name in _STATE_METRICS:
        value, computed = _number(brought, name), getattr(row, name)
        if value is not None and computed is not None and abs(value - computed) > MISMATCH:
            found.append(f"{row.state}.{name} brought {value:g}, computed {computed:g}")
    return found


def touched_by(
    call: Conversation, stream: Stream, states: list[StateAspects], tools: list[ToolAspects]
) -> Touched | None:
    """Return what a call touched of its flow, `None` if nothing shows that it touched anything."""
    of_states: dict[str, int | None] = {row.state: row.position for row in states}
    # An outcome that a call came to as it left a state is before what it entered next.
    outcomes = stream.outcomes if call.events else stream.outcomes.keys() & of_states.keys()
    places: dict[str, Any] = dict.fromkeys(outcomes) | of_states
    if call.events:
        places |= stream.outcome_positions
    in_order = None not in places.values()
    names = sorted(places, key=places.__getitem__) if in_order else sorted(places)
    visited = len(names)
    place_of = dict(zip(names, range(visited), strict=True))
    edges = [
        (place_of[row.state], place_of.setdefault(target, len(place_of))) for row in states for target in row.to_states
    ]
    slots = stream.filled | {slot for slot, value in call.slots.items() if value is not None}
    called = {row.tool for row in tools if row.n}
    if not (place_of or slots or stream.guards or called):
        return None
    flat = [place for edge in sorted(edges) for place in edge]
    return Touched(list(place_of), visited, flat, sorted(slots), sorted(stream.guards), sorted(called), in_order)


# Sum the calls of each tool by the state that made them (docs/metrics.md, section 18).
def tool_rows(call: Conversation, stream: Stream, failure: Failure | None) -> list[ToolAspects]:
    """Return how each tool fared in each state that called it, and the tool that the blame of the call names."""
    found: dict[tuple[str, str | None], ToolAspects] = {}
    latencies: defaultdict[tuple[str, str | None], list[float]] = defaultdict(list)
    good_since: set[str] = set()
    for tool, state in reversed(list(zip(call.tool_calls, _states_of_tools(call, stream), strict=True))):
        key = name, _ = state_of(tool), state
        row = found.get(key) or found.setdefault(key, ToolAspects(*key))
        row.n += 1
        if says_something(tool.error):
            row.errors += 1
            row.unrecovered += name not in good_since
        elif is_good(tool):
            good_since.add(name)
        if tool.fits is not None:
            row.bad_arguments = (row.bad_arguments or 0) + (not tool.fits)
        if tool.latency_ms is not None:
            latencies[key].append(tool.latency_ms)
    for key, measured in latencies.items():
        found[key].latency_p95_ms = percentile(sorted(measured), 0.95)
    if failure is not None and failure.tool is not None:
        key = failure.tool, failure.first_failed
        (found.get(key) or found.setdefault(key, ToolAspects(*key))).failed = 1
    return list(found.values())


def _states_of_tools(call: Conversation, stream: Stream) -> list[str | None]:
    """Return the state that called each tool: as it is named, else that of the visit in which it was."""
    named = [named_state(call, tool, stream.visits) for tool in call.tool_calls]
    if all(named):
        return named
    visits = visits_of(call.events)
    places = zip(call.tool_calls, place_tools(call, visits), strict=True)
    return [tool.state if place is None else visits[place].state for tool, place in places]


# Spell what was said and what happened in a call, as it is kept before it is compressed.
LONGEST_RESULT = 4096
"""Characters that are kept of what a tool answered."""
_encoder = msgspec.json.Encoder()


def transcript_text(call: Conversation, stored: Mapping[str, float | bool] | None = None) -> bytes:
    """Return what was said and what happened in a call, with figures of its source that are `stored` beside ours."""
    parts = {"slots": call.slots, "tool_calls": _kept(call.tool_calls), "errors": call.errors, "stored": stored}
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
    """Return a result as it is, or the beginning of its JSON if that is too long."""
    if result is None or isinstance(result, bool | int | float):
        return result
    text = result if isinstance(result, str) else _encoder.encode(result).decode()
    return result if len(text) <= LONGEST_RESULT else f"{text[:LONGEST_RESULT]}… (cut, of {len(text):,} characters)"
