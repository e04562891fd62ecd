"""Make a conversation of the record of a call of Bland, of the events of its pathway, or of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from riff_ingest.conversation import Contract, Conversation, Exits
from riff_ingest.lenient_json import moment, number_of, object_of, objects_of, text_of
from riff_ingest.lines import BrokenInput
from riff_ingest.platforms import (
    AGENT_HANGUP,
    ERROR,
    HANGUP,
    NOTHING_SAID,
    TRANSFER,
    UNKNOWN,
    VOICEMAIL,
    CallEnding,
    CallRecord,
    Candidate,
    ReadCall,
    ended_call,
    joined,
    parted,
    read_calls,
    run_of_day,
)
from riff_ingest.private_values import PrivateValues, addresses_in
from riff_ingest.source import ReadContext, ReadItem, run_of
from riff_ingest.sources.bland import is_call
from riff_ingest.sources.bland.pathway_events import (
    Happening,
    Timed,
    company_of,
    happenings_of,
    read_events,
    seconds_of,
)
from riff_ingest.sources.retell.to_conversation import FlowNodes, with_flow_notes
from riff_ingest.tool_states import ObservedStates, ToolStates, fill, say_aside
from riff_store.facts import NOT_ENDED, Skipped

BLAND = "bland"
NO_WORDS = "only the events of its pathway are here, so nothing that was said; put its record beside them"
NO_PATHWAY = (
    "no flow file shows how calls of {flow} should end, so completion and stalls are not measured; ingest the pathway"
    " along with them"
)
TOLD_BY_RECORD = "the record of this call beside it has taken these events"

_ACTION = "agent-action"
_SIDES = {"user": "caller", "assistant": "agent", "robot": "agent", "agent": "agent", _ACTION: _ACTION}
_ENDED_BY = {"user": HANGUP, "assistant": AGENT_HANGUP}
_LINES = frozenset({"to", "from", "transferred_to", "short_to", "short_from"})
_OF_EVERY_CALL = frozenset(
    {"call_id", "city", "country", "input", "language", "metadata", "now", "now_utc", "phone_number", "state"}
    | {"timestamp", "timezone", "zip"}
)
"""Variables that Bland gives to every call."""
_OF_NUMBERS = ("phone", "mobile", "number")
_ROOM = 4
_NODE_IDS = ("chosen_node_id", "current_node_id", "node_id")
_NODE_NAMES = ("chosen_node_name", "current_node_name", "node_name")


def read_bland_calls(path: Path, context: ReadContext) -> Iterator[ReadItem]:
    """Yield the calls of a file; never raises on what they have."""
    flows, company = FlowNodes(context.contracts), company_of(path)
    left: list[Skipped] = []
    if own := read_events(path, left.append):
        for number, (name, events) in enumerate(own.items(), start=1):
            if name in company.recorded:
                yield Skipped("superseded", number, TOLD_BY_RECORD, name)
                continue
            happenings = happenings_of(events)
            call = _conversation({"call_id": name}, happenings, context, flows, _private({}, happenings))
            call.run_id = call.run_id or run_of(path)
            yield number, call
            yield Skipped("defect", number, NO_WORDS, call.conversation_id)
        yield from left
        return

    def read_call(record: CallRecord) -> ReadCall:
        name = text_of(record.value.get("call_id"))
        events = read_events(beside) if (beside := company.events.get(name or "")) else {}
        return _read_call(record, happenings_of(events.get(name or "", ())), context, flows)

    yield from with_flow_notes(read_calls(path, _candidate, BLAND, read_call, is_call), NO_PATHWAY)


def _candidate(value: Any) -> Candidate | None:
    if not is_call(value) or not value["call_id"]:
        return None
    words = value.get("transcripts") or value.get("concatenated_transcript")
    is_ended = value.get("completed") is True
    stage = 4 * is_ended + 2 * bool(words) + bool(value.get("pathway_logs"))
    return Candidate(value["call_id"], stage, words=words if is_ended else None)


def _read_call(record: CallRecord, events: list[Timed], context: ReadContext, flows: FlowNodes) -> ReadCall:
    given = record.value
    name, error = given["call_id"], text_of(given.get("error_message"))
    private = _private(given, events)
    said, problem = _said(given, private)
    if not said and not events and (error or given.get("answered_by") == "no-answer"):
        why = f": {private.text(error)}" if error else ""
        raise BrokenInput(f"the call never came about{why}", conversation=name)
    if given.get("completed") is False and error is None:
        raise BrokenInput(NOT_ENDED, conversation=name)
    call = _conversation(given, joined(events, said) if events else _with_logs(given, said), context, flows, private)
    call.filled, call.unique = record.filled, True
    notes = [problem] if problem else [] if said else [NOTHING_SAID]
    return ReadCall(call, [], None, notes)


def _conversation(
    given: Mapping[str, Any],
    happenings: Sequence[Timed],
    context: ReadContext,
    flows: FlowNodes,
    private: PrivateValues,
) -> Conversation:
    pathway = text_of(given.get("pathway_id"))
    nodes = list(dict.fromkeys(each.name for _, each in happenings if each.kind == "node"))
    flow = flows.flow_of([frozenset((node,)) for node in nodes], pathway, BLAND)
    times = [t for t, _ in happenings if t is not None]
    begins = seconds_of(given.get("started_at")) or seconds_of(given.get("created_at")) or min(times, default=None)
    contract = flows.contracts.get(flow)
    slots = {private.text(slot): private.value(value) for slot, value in _slots(given).items()}
    ways = flows.exits(flow)
    states: ToolStates = ObservedStates() if nodes else ToolStates(context.tool_segments)
    for t, each in [*happenings, (None, None)]:
        since = None if t is None or begins is None else round(max(t - begins, 0), 3)
        if each is None or each.kind == "node":  # what a node found out is known when it is left
            _fill(states, slots, contract, since)
        if each is not None:
            _take(states, each, since, flows.names(flow), ways, private)
    call = ended_call(given["call_id"], private.text(flow), states, _ending(given, private), contract)
    failed = [each.name for _, each in happenings if each.kind == "error"]
    if isinstance(call.errors, list):
        call.errors += [{"kind": "operation", "message": private.text(each)} for each in failed]
    call.started_at = moment(None if begins is None else begins * 1000)
    call.run_id = run_of_day(call.started_at, None)
    call.agent_model = private.text(pathway or UNKNOWN)
    minutes = number_of(given.get("call_length"))
    call.duration_s = None if minutes is None else round(minutes * 60, 3)
    ended_by = text_of(given.get("call_ended_by"))
    call.final_status = None if ended_by is None else private.text(ended_by)
    call.slots = slots
    call.channel = "voice" if "call_length" in given else None
    return call


def _fill(states: ToolStates, slots: Mapping[str, Any], contract: Contract | None, t: float | None) -> None:
    """Take the values that the node is to find out in which the call is."""
    left = None if contract is None else contract.states.get(states.state or "")
    for slot in left.required_slots if left else ():
        fill(states, slot, slots.get(slot), t)


def _take(
    states: ToolStates, each: Happening, t: float | None, names: Mapping[str, str], ways: Exits, private: PrivateValues
) -> None:
    if each.kind == "node":
        if isinstance(states, ObservedStates):
            node = names.get(each.name) or private.text(each.label or each.name)
            reasons = set(ways.get(states.state or "", {}).get(node, {}).values())
            states.enter(node, t, reason=private.text(reasons.pop()) if len(reasons) == 1 else None)
    elif each.kind == "tool":
        error = None if each.error is None else private.text(each.error)
        states.call(
            private.text(each.name),
            t=t,
            arguments=private.value(each.given),
            result=private.value(each.result),
            error=error,
        )
    elif each.kind in ("agent", "caller"):
        states.say(each.kind, private.text(each.name), t)
    elif each.kind != "error":
        say_aside(states, private.text(each.kind), private.text(each.name), t)


# Take what was said and which nodes were chosen from the record of a call.
def _said(given: Mapping[str, Any], private: PrivateValues) -> tuple[list[Timed], str | None]:
    """Return what was said with its times, and why some of it was not taken."""
    for key, side in (("transcripts", "user"), ("pathway_logs", "role")):
        items = objects_of(given.get(key))
        found = [
            (seconds_of(item.get("created_at")), _spoken(text_of(item.get(side)) or UNKNOWN, text))
            for item in items
            if (text := text_of(item.get("text"))) and text.strip()
        ]
        if found:
            in_time = all(t is not None for t, _ in found)
            return (sorted(found, key=lambda each: each[0] or 0) if in_time else found), None
    whole = text_of(given.get("concatenated_transcript"))
    if whole is None or not whole.strip():
        return [], None
    said, problem = parted(whole, {side: side for side in _SIDES}, private)
    return [(None, _spoken(side, text)) for side, text in said], problem


def _spoken(side: str, text: str) -> Happening:
    """Return what a side said; what the agent did by itself is a tool that has the words for it as result."""
    known = _SIDES.get(side.lower(), side)
    return Happening("tool", _ACTION, result=text.strip()) if known == _ACTION else Happening(known, text.strip())


def _with_logs(given: Mapping[str, Any], said: list[Timed]) -> list[Timed]:
    """Return what was said with the nodes that the log of the pathway names.

    Where not all of it has a time, the log's own words are with its nodes in its order, if it has as many of them.
    """
    logged = list(_logged(given))
    nodes = [each for each in logged if each[1].kind == "node"]
    in_time = all(t is not None for t, _ in (*nodes, *said))
    return joined(nodes, said) if in_time or len(logged) - len(nodes) < len(said) else logged


def _logged(given: Mapping[str, Any]) -> Iterator[Timed]:
    current = None
    for item in objects_of(given.get("pathway_logs")):
        t = seconds_of(item.get("created_at"))
        node = next((id_ for key in _NODE_IDS if (id_ := text_of(item.get(key))) is not None), None)
        if node not in (None, current):
            current = node
            label = next((name for key in _NODE_NAMES if (name := text_of(item.get(key))) is not None), None)
            yield t, Happening("node", str(node), label)
        if (text := text_of(item.get("text"))) and text.strip():
            yield t, _spoken(text_of(item.get("role")) or UNKNOWN, text)


def _slots(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables that were found out: the others were handed in, are of the line or of every call."""
    handed_in = {*_OF_EVERY_CALL, *_LINES, *object_of(given.get("request_data"))}
    variables = object_of(given.get("variables"))
    return {slot: value for slot, value in variables.items() if slot not in handed_in and value is not None}


def _private(given: Mapping[str, Any], happenings: Sequence[Timed] = ()) -> PrivateValues:
    """Return the numbers that a record names, and those that its webhooks were given or gave, with addresses."""
    parts = [given, *(part for _, each in happenings for part in (each.given, each.result))]
    return PrivateValues([number for part in parts for number in _numbers(part, _ROOM)], (), addresses_in(given))


def _numbers(value: Any, room: int) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from (each for key, each in value.items() if key in _LINES or any(w in key.lower() for w in _OF_NUMBERS))
    if room:
        for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from _numbers(each, room - 1)


def _ending(given: Mapping[str, Any], private: PrivateValues) -> CallEnding:
    """Return how a call ended; what is not known of it stays as it is."""
    if error := text_of(given.get("error_message")):
        return CallEnding(ERROR, private.text(error))
    if given.get("transferred_to"):
        return CallEnding(TRANSFER, is_handed_over=True)
    if given.get("answered_by") == "voicemail":
        return CallEnding(VOICEMAIL)
    word = text_of(given.get("call_ended_by"))
    stop = _ENDED_BY.get((word or "").lower())
    if word is None or stop is not None:
        return CallEnding(stop)
    return CallEnding(private.text(word), is_unknown=True)
