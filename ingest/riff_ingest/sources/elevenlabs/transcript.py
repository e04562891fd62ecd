"""Read what was said and done in a conversation of ElevenLabs, with its nodes or agents as states."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from riff_ingest.conversation import Exits, ToolCall
from riff_ingest.events import GuardEvaluated
from riff_ingest.lenient_json import number_of, object_of, objects_of, text_of, value_in
from riff_ingest.private_values import PrivateValues
from riff_ingest.segments import ToolSegments
from riff_ingest.tool_states import ObservedStates, ToolStates, answers_in_order, fill, say_aside
from riff_store.voice import TraceEntry, Voice, VoiceTurn

UNNAMED = "(unnamed tool)"
STRAY_RESULT = "tool result without its call"
SILENCE = "..."

_WORKFLOW = "workflow"
_ROUTING = re.compile(r"notify_condition_\d+_met|progress_workflow")
_HAND_OVER = "transfer_to_agent"
_LATENCY = "convai_ttf_audio_since_silence"
_FAILED = frozenset({"transfer_to_number_error", "transfer_to_agent_error", "play_dtmf_error", "run_subagent_error"})
_KEYS_PRESSED = "play_keypad_touch_tone"
_NO_STATES = frozenset({"skip_turn", "language_detection", "knowledge_base_rag", _KEYS_PRESSED})
_NOT_SAID = ("secret__", "system__")

Item = Mapping[str, Any]


@dataclass
class ReadTranscript:
    """Describe a call as it went, the words for its ends that tools gave, and what the caller thought of turns.

    `feedback` has turns from 1 with what was thought of them.
    """

    states: ToolStates
    ends: list[str] = field(default_factory=list)
    errors: list[dict[str, Any]] = field(default_factory=list)
    feedback: list[tuple[int, str]] = field(default_factory=list)
    defects: dict[str, int] = field(default_factory=dict)
    voice: Voice | None = None


def nodes_of(items: Sequence[Item]) -> list[str]:
    """Return the ids of the nodes that a call came through, in their order and each once."""
    found: dict[str, None] = {}
    for item in items:
        if node := text_of(object_of(item.get("agent_metadata")).get("workflow_node_id")):
            found[node] = None
        for result in objects_of(item.get("tool_results")):
            for step in _steps(result):
                found |= dict.fromkeys(
                    node for key in ("target_node_id", "node_id") if (node := text_of(step.get(key)))
                )
    return list(found)


def agents_of(items: Sequence[Item]) -> list[str]:
    """Return the ids of the agents that spoke, in their order and each once."""
    named = (text_of(object_of(item.get("agent_metadata")).get("agent_id")) for item in items)
    return list(dict.fromkeys(each for each in named if each))


def read_transcript(
    items: Sequence[Item],
    private: PrivateValues,
    segments: ToolSegments,
    *,
    names: Mapping[str, str],
    exits: Exits | None = None,
    first_agent: str | None = None,
    is_text: bool = False,
) -> ReadTranscript:
    """Return what the items of a transcript show: by nodes, else by agents if there are several, else by tools.

    `names` are those of nodes and agents by id, `exits` show when nodes are left, by both nodes and the edge's id;
    `first_agent` is the one that took the call.
    """
    nodes, agents = nodes_of(items), agents_of(items)
    by_agent = not nodes and len(agents) > 1
    states = ObservedStates() if nodes or by_agent else ToolStates(segments)
    reader = _Reader(states, private, names, exits, frozenset(nodes), is_text=is_text)
    if by_agent and first_agent:
        reader.enter(first_agent, None)
    reader.read(items, "agent_id" if by_agent else "workflow_node_id")
    return reader.found


class _Reader:
    def __init__(
        self,
        states: ToolStates,
        private: PrivateValues,
        names: Mapping[str, str],
        exits: Exits | None,
        nodes: frozenset[str],
        *,
        is_text: bool,
    ) -> None:
        self.found = ReadTranscript(states)
        self._states = states
        self._private = private
        self._names = names
        self._exits = exits or {}
        self._nodes = nodes
        self._is_text = is_text
        self._turns = None if is_text else _Turns()
        self._is_owed = False
        self._asked_in_text = False
        self._reason: str | None = None

    def read(self, items: Sequence[Item], place: str) -> None:
        has_times = any(number_of(item.get("time_in_call_secs")) for item in items)
        answers = _answers(items, self.found.defects)
        for item in items:
            t = number_of(item.get("time_in_call_secs")) if has_times else None
            is_agent = item.get("role") == "agent"
            if is_agent and (id_ := text_of(object_of(item.get("agent_metadata")).get(place))):
                self.enter(id_, t)
            if is_agent or item.get("role") == "user":
                self._say(item, t, is_agent=is_agent)
            for call in objects_of(item.get("tool_calls")):
                self._call(call, answers.pop(id(call), None), t)
            for result in objects_of(item.get("tool_results")):
                if id(result) in answers:  # nothing called it
                    self._call(result, result, t)
                self._after(result, t)
        if self._turns is not None and self._states.turns:
            self.found.voice = self._turns.voice()

    def enter(self, place: str, t: float | None) -> None:
        """Go to a node or an agent, unless the call is there, or its states are its tools."""
        name = self._names.get(place) or self._private.text(place)
        if isinstance(self._states, ObservedStates) and name != self._states.state:
            self._states.enter(name, t, reason=self._reason)
            self._reason = None

    def _say(self, item: Item, t: float | None, *, is_agent: bool) -> None:
        words = _words(item)
        is_cut = item.get("interrupted") is True
        if not words or (words == SILENCE and (is_cut or not is_agent)):
            return
        said = self._private.text(words)
        in_text = self._is_text or item.get("source_medium") == "text"
        if not is_agent and item.get("ignored_as_backchannel") is True:
            say_aside(self._states, "caller", said, t)
            if self._turns is not None:
                self._turns.trace_words(said, t, is_agent=False)
            return
        latency = None
        if is_agent and self._is_owed and not in_text and not self._asked_in_text:
            seconds = number_of(_metrics(item).get(_LATENCY))
            latency = None if seconds is None else round(seconds * 1000, 3)
        self._is_owed, self._asked_in_text = not is_agent, in_text and not is_agent
        self._states.say("agent" if is_agent else "caller", said, t, latency)
        if self._turns is not None:
            self._turns.take(said, t, latency, _metrics(item), is_agent=is_agent, is_cut=is_cut)
        thought = text_of(object_of(item.get("feedback")).get("score"))
        if thought in ("like", "dislike"):
            self.found.feedback.append((len(self._states.turns), thought))

    def _call(self, call: Item, result: Item | None, t: float | None) -> None:
        name = self._private.text(text_of(call.get("tool_name")) or UNNAMED)
        if call.get("type") == _WORKFLOW or _ROUTING.fullmatch(name):
            self._reason = name
            return
        if name == _HAND_OVER and self._leads_within(call, result):
            return
        error = None if result is None else _error(result)
        error = None if error is None else self._private.text(error)
        arguments = None if name == _KEYS_PRESSED else self._private.value(value_in(call.get("params_as_json")))
        answer = None if result is None or error is not None else self._private.value(result.get("result_value"))
        self._states.begin(t)
        place = self._states.state if name in _NO_STATES else None
        self._states.call(name, t=t, arguments=arguments, result=answer, error=error, state=place)
        seconds = number_of((result or {}).get("tool_latency_secs"))
        if seconds is not None:
            called = self._states.tool_calls[-1]
            self._states.tool_calls[-1] = msgspec.structs.replace(called, latency_ms=seconds * 1000)
        if self._turns is not None:
            self._turns.trace_tool(self._states.tool_calls[-1])
        if error is not None and isinstance(self._states, ObservedStates):
            self._states.events.append(GuardEvaluated(name, None, error, t))
        if kind := text_of(object_of((result or {}).get("result")).get("result_type")):
            self.found.ends.append(kind)

    def _leads_within(self, call: Item, result: Item | None) -> bool:
        """Return whether a hand-over leads to a node of the workflow that the call is in."""
        told = [object_of((result or {}).get("result")), object_of(value_in(call.get("params_as_json")))]
        ends = [each.get(key) for each in told for key in ("to_node", "to_agent", "node_id", "agent_id")]
        return any(isinstance(end, str) and end in self._nodes for end in ends)

    def _after(self, result: Item, t: float | None) -> None:
        """Take what a result shows of the variables, and of the way that the workflow went without a word."""
        for update in objects_of(result.get("dynamic_variable_updates")):
            slot = text_of(update.get("variable_name"))
            if slot and not slot.startswith(_NOT_SAID):
                fill(self._states, self._private.text(slot), self._private.value(update.get("new_value")), t)
        for step in _steps(result):
            kind = step.get("type")
            if kind == "edge" and (target := text_of(step.get("target_node_id"))):
                ways = self._exits.get(self._states.state or "", {}).get(self._names.get(target, target), {})
                told = ways.get(text_of(step.get("edge_id")) or "")
                self._reason = self._reason if told is None else self._private.text(told)
                self.enter(target, t)
            elif kind == "nested_tools":
                if node := text_of(step.get("node_id")):
                    self.enter(node, t)
                self._nested(step, t)
            elif kind == "max_iterations_exceeded":
                most = text_of(step.get("max_iterations"))
                said = f"max iterations exceeded{f' ({most})' if most else ''}"
                self._states.events.append(GuardEvaluated(_WORKFLOW, None, said, t))
                self.found.errors.append({"kind": _WORKFLOW, "message": said, "t": t})

    def _nested(self, step: Item, t: float | None) -> None:
        item = {"tool_calls": step.get("requests"), "tool_results": step.get("results")}
        answers = _answers([item], self.found.defects)
        for call in objects_of(step.get("requests")):
            self._call(call, answers.pop(id(call), None), t)
        for result in objects_of(step.get("results")):
            if id(result) in answers:
                self._call(result, result, t)
            self._after(result, t)


@dataclass
class _Turns:
    """Number the turns of a call for its voice: one is what the caller said, with all that the agent did then."""

    trace: list[TraceEntry] = field(default_factory=list)
    _now: int = 0
    _after_agent: bool = True
    _latency: dict[int, float] = field(default_factory=dict)
    _broken_into: set[int] = field(default_factory=set)
    _numbers: dict[int, dict[str, float]] = field(default_factory=dict)

    def take(
        self,
        said: str,
        t: float | None,
        latency: float | None,
        metrics: Mapping[str, float],
        *,
        is_agent: bool,
        is_cut: bool,
    ) -> None:
        self._now += not is_agent and self._after_agent
        self._after_agent = is_agent
        kept = self._numbers.setdefault(self._now, {})
        for name, seconds in metrics.items():
            kept.setdefault(f"{name}_ms", round(seconds * 1000, 3))
        if latency is not None:
            self._latency.setdefault(self._now, latency / 1000)
        if is_agent and is_cut:
            self._broken_into.add(self._now + 1)
            self._numbers.setdefault(self._now + 1, {})
        self.trace_words(said, t, is_agent=is_agent)

    def trace_words(self, said: str, t: float | None, *, is_agent: bool) -> None:
        kind, role = ("intended", "assistant") if is_agent else ("transcribed", "user")
        self.trace.append(TraceEntry(kind, self._now, t, role, said))

    def trace_tool(self, call: ToolCall) -> None:
        self.trace.append(TraceEntry("tool_call", self._now, call.t, tool=call.name, value=call.arguments))
        answer = call.result if call.error is None else {"status": "error", "message": call.error}
        if answer is not None:
            self.trace.append(TraceEntry("tool_response", self._now, call.t, tool=call.name, value=answer))

    def voice(self) -> Voice:
        turns = [
            VoiceTurn(
                number,
                latency=self._latency.get(number),
                caller_interrupted=number in self._broken_into,
                evidence=dict(self._numbers[number]),
            )
            for number in sorted(self._numbers)
        ]
        return Voice(pipeline="", language="", turns=turns, trace=self.trace)


def _answers(items: Iterable[Item], defects: dict[str, int]) -> dict[int, Item]:
    """Return results by the identity of their call, of those that have none by their own."""
    parts = [
        (part, key == "tool_results")
        for item in items
        for key in ("tool_calls", "tool_results")
        for part in objects_of(item.get(key))
    ]
    places = answers_in_order((_key(part), is_result) for part, is_result in parts)
    found: dict[int, Item] = {id(parts[call][0]): parts[result][0] for call, result in places.items()}
    known = {id(result) for result in found.values()}
    for part, is_result in parts:
        if is_result and id(part) not in known:
            found[id(part)] = part
            if not _is_routing(part):
                defects[STRAY_RESULT] = defects.get(STRAY_RESULT, 0) + 1
    return found


def _is_routing(result: Item) -> bool:
    name = text_of(result.get("tool_name")) or ""
    return result.get("type") == _WORKFLOW or _ROUTING.fullmatch(name) is not None


def _key(part: Item) -> str:
    return text_of(part.get("request_id")) or f" {text_of(part.get('tool_name')) or ''}"


def _steps(result: Item) -> Iterator[dict[str, Any]]:
    """Yield the steps of a workflow that a result shows of, as an object or as JSON in a text."""
    told = object_of(result.get("result"))
    if not told and result.get("type") == _WORKFLOW:
        told = object_of(value_in(result.get("result_value")))
    yield from objects_of(told.get("steps"))


def results_of(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the results of tools in some items, those in the steps of workflows as well."""
    for item in items:
        for result in objects_of(item.get("tool_results")):
            yield result
            yield from results_of({"tool_results": step.get("results")} for step in _steps(result))


def _error(result: Item) -> str | None:
    """Return why a tool failed, `None` if it did not."""
    raw, kind = text_of(result.get("raw_error_message")), text_of(result.get("error_type"))
    ended = text_of(object_of(result.get("result")).get("result_type"))
    if result.get("is_error") is True or raw or kind or ended in _FAILED:
        return raw or text_of(result.get("result_value")) or kind or ended or "error"
    return "blocked" if result.get("is_blocked") is True else None


def _words(item: Item) -> str:
    """Return what was said: of an answer that was cut what was heard."""
    said = item.get("message")
    if said is None:
        parts = objects_of(object_of(item.get("multivoice_message")).get("parts"))
        said = " ".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    return said.strip() if isinstance(said, str) else ""


def _metrics(item: Item) -> dict[str, float]:
    """Return the latencies of an item in seconds; older records have them one level higher."""
    told = object_of(item.get("conversation_turn_metrics"))
    given = object_of(told.get("metrics")) or told
    return {
        name: seconds
        for name, value in given.items()
        if (seconds := number_of(object_of(value).get("elapsed_time"))) is not None
    }
