"""Read what was said and done in a call of Vapi (docs/formats.md, section 12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from riff_ingest.observed_states import ObservedStates, fill
from riff_ingest.platforms.order import in_time_order
from riff_ingest.private_values import PrivateValues
from riff_ingest.sources.json_parts import number_of, object_of, objects_of, text_of
from riff_ingest.sources.lenient_json import loads
from riff_ingest.sources.lines import BrokenInput
from riff_ingest.tool_segments import ToolSegments
from riff_ingest.tool_states import ToolStates
from riff_ingest.vapi.record import artifact_of, messages_of
from riff_ingest.vapi.states import Entry, entries_of, seconds_of

AGENT_ROLES, CALLER_ROLES = ("bot", "assistant"), ("user",)
TOOL_CALLS = ("tool_calls", "tool_call")

Message: TypeAlias = dict[str, Any]


def read_transcript(call: Mapping[str, Any], private: PrivateValues, segments: ToolSegments) -> ToolStates:
    """Return a call as it went; one that tells of no states has the tools that were called."""
    placed = in_time_order([(seconds_of(message), message) for message in messages_of(call)])
    messages = [message for _, message in placed]
    entries = entries_of(call, messages)
    states = ToolStates(segments) if entries is None else ObservedStates()
    happened: list[tuple[float | None, Entry | Message]] = []
    happened += in_time_order([(entry.t, entry) for entry in entries or ()], _end(messages))
    happened += placed
    ordered = in_time_order(happened)
    latencies = _latencies(messages, _measured(call))
    results = {key: message for message in messages if (key := text_of(message.get("toolCallId")))}
    for t, each in ordered:
        if isinstance(each, Entry):
            _enter(states, each, t, private)
        elif each.get("role") in TOOL_CALLS:
            for tool in objects_of(each.get("toolCalls")):
                _call(states, tool, results, t, private)
        elif (role := _side(each)) and (said := _said(each)):
            states.say(role, private.text(said), seconds_of(each), latencies.get(id(each)))
    return states


def _enter(states: ToolStates, entry: Entry, t: float | None, private: PrivateValues) -> None:
    if not isinstance(states, ObservedStates):
        return
    states.enter(private.text(entry.state), t)
    for slot, value in entry.slots.items():
        fill(states, private.text(slot), private.value(value), t)


def _call(
    states: ToolStates, tool: Message, results: Mapping[str, Message], t: float | None, private: PrivateValues
) -> None:
    function = object_of(tool.get("function"))
    name = text_of(function.get("name")) or text_of(tool.get("type")) or "(unnamed tool)"
    answer = results.get(text_of(tool.get("id")) or "", {}).get("result")
    arguments = private.value(_arguments(function.get("arguments")))
    states.call(private.text(name), t=t, arguments=arguments, result=private.value(answer))


def _arguments(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    try:
        return loads(given.encode(errors="replace")) if given.strip() else None
    except BrokenInput:
        return given


def _side(message: Message) -> str | None:
    role = message.get("role")
    return "agent" if role in AGENT_ROLES else "caller" if role in CALLER_ROLES else None


def _said(message: Message) -> str | None:
    said = text_of(message.get("message")) or text_of(message.get("content"))
    return said if said is not None and said.strip() else None


def _end(messages: Sequence[Message]) -> float | None:
    known = [t for message in messages for t in (seconds_of(message), _until(message)) if t is not None]
    return max(known, default=None)


def _until(message: Message) -> float | None:
    """Return when a message ended, in seconds since the call began."""
    t, lasted = seconds_of(message), number_of(message.get("duration"))
    return None if t is None or lasted is None else t + lasted / 1000


def _measured(call: Mapping[str, Any]) -> list[float | None]:
    """Return what Vapi measured of turns, in milliseconds."""
    metrics = object_of(artifact_of(call).get("performanceMetrics"))
    return [number_of(turn.get("turnLatency")) for turn in objects_of(metrics.get("turnLatencies"))]


def _latencies(messages: Sequence[Message], measured: Sequence[float | None]) -> dict[int, float | None]:
    """Return the latencies of the agent's turns by the identity of their messages, in milliseconds.

    They are those that Vapi measured: for every turn, or for every answer where there are as many as answers.
    Without any they are from the end of what the caller said to the agent's begin.
    """
    turns, answers = [], []
    heard: Message | None = None
    for message in messages:
        side = _side(message) if _said(message) else None
        if side == "caller":
            heard = message
        elif side == "agent":
            turns.append(message)
            if heard is not None:
                answers.append((message, heard))
            heard = None
    if not measured:
        return {id(message): _between(_until(before), seconds_of(message)) for message, before in answers}
    of = [each for each, _ in answers] if len(measured) == len(answers) else turns
    return {id(message): latency for message, latency in zip(of, measured, strict=False)}


def _between(until: float | None, start: float | None) -> float | None:
    return None if until is None or start is None or start < until else round((start - until) * 1000, 3)
