"""Read trackers of Rasa: what was said and done in a conversation, as events (docs/formats/rasa.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from riff_ingest.conversation import Conversation
from riff_ingest.lenient_json import moment, number_of, object_of, objects_of, read_values, text_of
from riff_ingest.lines import BrokenInput
from riff_ingest.private_values import PrivateValues
from riff_ingest.segments import hands_over
from riff_ingest.source import FileHead, ReadContext, ReadItem, Source, run_of
from riff_ingest.source import text_of as text_of_path
from riff_ingest.tool_states import ObservedStates, ToolStates, fill
from riff_store.facts import Skipped

RASA = "rasa"

_UNKNOWN = "(unknown)"
_LATEST_S = 1e11
_LOOKED_AT = 8
_LOOP = "active_loop"
_IN_FLOWS = frozenset({"flow_started", "flow_completed", "flow_interrupted", "flow_resumed", "flow_cancelled"})
_BUILT_IN = re.compile(
    r"utter_.*|action_(?:listen|restart|session_start|back|default_.*|revert_fallback_events|two_stage_fallback"
    r"|deactivate_loop|extract_slots|run_slot_rejections|unlikely_intent|trigger_.*|correct_flow_slot|cancel_flow"
    r"|clean_stack|clarify_flows|validate_slot_mappings|hangup|repeat_bot_messages)"
)
"""Actions that say something or that Rasa does by itself: any other one is a tool."""
_OWN_SLOTS = frozenset(
    {"requested_slot", "dialogue_stack", "flow_hashes", "return_value", "session_started_metadata", "followup_action"}
)
_PAYLOAD = "/session_start"
_HAND_OVER, _NOBODY_THERE = "pattern_human_handoff", "utter_human_handoff_not_available"
_TO_A_HUMAN = re.compile(r"(?:.+_)?hand_?(?:off|over)(?:_.+)?")
_NUMBER = re.compile(r"\d[\d ()./-]{5,}\d")
_NAMES_A_NUMBER = re.compile(r"phone|mobile|number", re.IGNORECASE)


def is_tracker(value: Any) -> bool:
    """Return whether a value is the tracker of a conversation."""
    tracker = object_of(value)
    events = objects_of(tracker.get("events"))
    return text_of(tracker.get("sender_id")) is not None and any(
        isinstance(each.get("event"), str) and "timestamp" in each for each in events[:_LOOKED_AT]
    )


def read(path: Path, context: ReadContext) -> Iterator[ReadItem]:
    """Yield a call for each session of each tracker, and what had to be left out."""
    named: dict[str, int] = {}
    for value in read_values(path, is_tracker):
        if isinstance(value, BrokenInput):
            yield Skipped("skipped", value.line, value.reason)
            continue
        line, given = value
        if not is_tracker(given):
            yield Skipped("skipped", line or None, "it is not a tracker of Rasa")
            continue
        private = _private(given)
        name = _name(given, path, private)
        sessions = list(_sessions(objects_of(given["events"])))
        if not sessions:
            yield Skipped("skipped", line or None, "nobody said anything in it", name)
        for events in sessions:
            named[name] = named.get(name, 0) + 1
            own = name if named[name] == 1 else f"{name}/{named[name]}"
            yield line, _conversation(own, events, private, context, path)


def _private(tracker: Mapping[str, Any]) -> PrivateValues:
    """Return the numbers of a tracker: senders are called by theirs where they telephone or write messages."""
    slots = {**object_of(tracker.get("slots"))}
    for event in objects_of(tracker["events"]):
        if event.get("event") == "slot" and event.get("value") is not None:
            slots[f"{text_of(event.get('name'))} {len(slots)}"] = event["value"]
    numbers = [value for slot, value in slots.items() if _NAMES_A_NUMBER.search(slot)]
    sender = text_of(tracker.get("sender_id")) or ""
    return PrivateValues([*numbers, *(found for found in [_sent_by(sender)] if found)])


def _sent_by(sender: str) -> str | None:
    """Return the telephone number that a sender is called by, `None` for an id of another kind."""
    _, _, last = sender.rpartition(":")
    return last if _NUMBER.fullmatch(last.removeprefix("+")) else None


def _name(tracker: Mapping[str, Any], path: Path, private: PrivateValues) -> str:
    sender = text_of(tracker.get("sender_id")) or _UNKNOWN
    if _sent_by(sender) is None and private.text(sender) == sender:
        return sender
    return private.text(text_of_path(path.name.partition(".")[0])) or _UNKNOWN


def _sessions(events: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield the events of each session in which anybody said something."""
    session: list[dict[str, Any]] = []
    for event in [*events, {"event": "session_started"}]:
        if event.get("event") == "session_started":
            if any(_said(each) for each in session):
                yield session
            session = []
        session.append(event)


def _said(event: Mapping[str, Any]) -> str | None:
    """Return what was said in an event, `None` if nothing was."""
    text = text_of(event.get("text")) if event.get("event") in ("user", "bot") else None
    return text if text is not None and text.strip() and not text.startswith(_PAYLOAD) else None


def _conversation(
    name: str, events: Sequence[dict[str, Any]], private: PrivateValues, context: ReadContext, path: Path
) -> Conversation:
    from riff_ingest.platforms import TRANSFER, CallEnding, ended_call, run_of_day

    times = [t for each in events if (t := _moment(each)) is not None]
    begins = min(times, default=None)
    kinds = {text_of(each.get("event")) for each in events}
    in_flows = not _IN_FLOWS.isdisjoint(kinds)
    loops = {loop for each in events if each.get("event") == _LOOP and (loop := text_of(each.get("name")))}
    states: ToolStates = ObservedStates() if in_flows or loops else ToolStates(context.tool_segments)
    ending = CallEnding(TRANSFER, is_handed_over=True) if _is_handed_over(events) else CallEnding(None)
    walk = _Walk(states, private, loops, in_flows=in_flows)
    for each in events:
        at = _moment(each)
        walk.take(each, None if at is None or begins is None else round(max(at - begins, 0.0), 3))
    metadata = (object_of(each.get("metadata")) for each in events)
    assistant = next((found for each in metadata if (found := text_of(each.get("assistant_id")))), RASA)
    flow = private.text(assistant)
    call = ended_call(name, flow, states, ending, context.contracts.get(flow), _HAND_OVER)
    call.agent_model = _UNKNOWN
    call.started_at = moment(None if begins is None else begins * 1000)
    call.run_id = run_of_day(call.started_at, None) or run_of(path)
    call.duration_s = None if begins is None else round(max(times) - begins, 3)
    call.slots = walk.slots
    call.channel = "text"
    return call


def _moment(event: Mapping[str, Any]) -> float | None:
    return number_of(event.get("timestamp"), lowest=1, highest=_LATEST_S)


def _is_handed_over(events: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a human took over: Rasa fell silent, or the flow or an action for that was run and not refused."""
    found = False
    for event in events:
        kind, name = text_of(event.get("event")), text_of(event.get("name")) or ""
        if kind in ("pause", "resume"):
            found = kind == "pause"
        elif kind in ("action", "action_execution_rejected") and (_hands_over(name) or name == _NOBODY_THERE):
            found = kind == "action" and name != _NOBODY_THERE
        elif kind == "flow_started" and event.get("flow_id") == _HAND_OVER:
            found = True
    return found


def _hands_over(action: str) -> bool:
    own = action.removeprefix("action_")  # of which one that only transfers may transfer money
    return _TO_A_HUMAN.fullmatch(own) is not None or (own != "transfer" and hands_over(own))


class _Walk:
    """Take the events of a session in their order: flows are states, without any the loops that collect slots."""

    def __init__(self, states: ToolStates, private: PrivateValues, loops: set[str], *, in_flows: bool) -> None:
        self.slots: dict[str, Any] = {}
        self._states = states
        self._private = private
        self._loops = loops
        self._in_flows = in_flows
        self._waiting: list[tuple[str, bool]] = []

    def take(self, event: Mapping[str, Any], t: float | None) -> None:
        kind, name = text_of(event.get("event")), text_of(event.get("name"))
        if (said := _said(event)) is not None:
            self._states.say("caller" if kind == "user" else "agent", self._private.text(said), t)
        elif kind in _IN_FLOWS:
            self._flow(str(kind), text_of(event.get("flow_id")), t)
        elif kind == _LOOP and name is not None and not self._in_flows:
            self._enter(name, t)
        elif kind == "slot" and name is not None and name not in _OWN_SLOTS:
            self._fill(name, event.get("value"), t)
        elif kind == "action" and name is not None and name not in self._loops and not _BUILT_IN.fullmatch(name):
            self._states.call(self._private.text(name), t=t)
        elif kind == "action_execution_rejected" and name is not None and name not in self._loops:
            self._states.call(self._private.text(name), t=t, error="its execution was rejected")

    def _flow(self, kind: str, flow: str | None, t: float | None) -> None:
        """Follow a flow; one that ends gives way to the one that called it, but for one that it had interrupted."""
        if flow is None:
            return
        others = [each for each in self._waiting if each[0] != flow]
        if kind in ("flow_completed", "flow_cancelled"):
            self._waiting = others
            if others and not others[-1][1]:
                self._enter(others[-1][0], t)
            return
        self._waiting = [*others, (flow, kind == "flow_interrupted")]
        if kind != "flow_interrupted":
            self._enter(flow, t)

    def _enter(self, state: str, t: float | None) -> None:
        state = self._private.text(state)
        if isinstance(self._states, ObservedStates) and state != self._states.state:
            self._states.enter(state, t)

    def _fill(self, slot: str, value: Any, t: float | None) -> None:
        slot, kept = self._private.text(slot), self._private.value(value)
        if kept is None:
            self.slots.pop(slot, None)
            return
        self.slots[slot] = kept
        fill(self._states, slot, kept, t)


def _recognises(head: FileHead) -> str | None:
    if b'"sender_id"' not in head.start:
        return None
    listed = [head.value, *(head.value[:_LOOKED_AT] if isinstance(head.value, list) else ()), *head.records]
    return "it has trackers of Rasa" if any(map(is_tracker, listed)) else None


SOURCE = Source(
    kind=RASA,
    version=2,
    read=read,
    title="Trackers of Rasa",
    known_by="JSON with sender_id and events that have timestamps: one tracker, a list, or lines",
    recognises=_recognises,
    is_record=is_tracker,
    takes_contracts=True,
    derives_states=True,
    rank=52,
)
