"""Run the tools that a model calls in one answer: note slots, move the machine, ask the flow's tools, hang up."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from riff_runner.chat.protocol import ChatToolCall, Tool
from riff_runner.run.agent_call import LARGEST_RESULT, LONGEST_NAME, AgentCall
from riff_runner.run.flows.flow import FlowEdge, FlowState, RunnableFlow
from riff_runner.run.tools import ToolFailed, violation
from riff_runner.simulate.machine import NoSuchTransition


class ToolUse:
    """Run the tools of one answer, given in the state that the call was in when the model was asked."""

    def __init__(self, call: AgentCall, state: str, offered: Mapping[str, OfferedTool]) -> None:
        self._call = call
        self._state = call.flow.states[state]
        self._offered = offered
        self.has_moved = False
        self.has_hung_up = False
        self.status: str | None = None

    async def result(self, made: ChatToolCall) -> Any:
        """Return what the model is shown of a call; raises `AgentStopped` if it made too many mistakes."""
        tool = self._offered.get(made.name)
        if tool is None:
            return self._not_offered(made)
        try:
            arguments = json.loads(made.arguments_text)
        except (ValueError, RecursionError) as error:
            return self._mistake(made, f"arguments are not JSON: {error}", fits=False)
        if not isinstance(arguments, dict):
            return self._mistake(made, "arguments are not an object", fits=False)
        if tool.kind == "fill":
            return self._fill(made, tool, arguments)
        if wrong := violation(tool.parameters, arguments):
            return self._mistake(made, f"arguments do not fit: {wrong}", fits=False)
        if tool.kind == "tool":
            return await self._flow_tool(tool.target, arguments)
        if tool.kind == "end_call":
            self.has_hung_up = True
            self.status = (arguments.get("status") or "").strip()[:LONGEST_NAME] or self.status
            self._call.made_good(made.name, arguments)
            return {"ok": True}
        return self._go(made, tool.target or arguments["to"], arguments)

    def _fill(self, made: ChatToolCall, tool: OfferedTool, arguments: dict[str, Any]) -> Any:
        """Keep the values of slots; those that a model leaves blank were not said."""
        given = {slot: value for slot, value in arguments.items() if value is not None}
        texts = {slot: value if isinstance(value, list | dict) else str(value) for slot, value in given.items()}
        if wrong := violation(tool.parameters, texts):
            return self._mistake(made, f"arguments do not fit: {wrong}", fits=False)
        for slot, value in given.items():
            self._collect(slot, value)
        self._call.made_good(made.name, arguments)
        missing = self._missing()
        return {"ok": True, "missing": missing} if missing else {"ok": True}

    def _go(self, made: ChatToolCall, to_state: str, arguments: Mapping[str, Any]) -> Any:
        try:
            blocked = self._move(to_state, arguments.get("reason"))
        except NoSuchTransition as error:
            return self._mistake(made, str(error))
        self._call.made_good(made.name, arguments)
        return {"ok": False, "error": blocked} if blocked else {"ok": True, "state": to_state}

    async def _flow_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        """Ask a tool of the flow; what it is shown of slots that have nothing is noted, and its answer may lead on."""
        slots = noted_slots(self._call.flow, self._state)
        try:
            result = await self._call.use_tool(name, arguments)
        except ToolFailed as error:
            return {"error": str(error)}
        for slot in slots:
            if slot not in self._call.machine.heard:
                self._collect(slot, arguments.get(slot))
        state = self._call.flow.states[self._call.machine.state]
        edge = _way_on([edge for edge in state.edges if edge.tool == name], result)
        if edge is None:
            return result
        blocked = self._move(edge.to_state, name if edge.field is None else f"{name}: {edge.field}")
        return {"result": result, "error": blocked} if blocked else result

    def _move(self, to_state: str, reason: str | None) -> str | None:
        """Enter a state, or return why the guard of this one keeps it from being left.

        Nothing keeps a caller from being handed over to a person. Raises `NoSuchTransition`.
        """
        call, machine = self._call, self._call.machine
        state = call.flow.states[machine.state]
        if not any(edge.to_state == to_state for edge in state.edges):
            raise NoSuchTransition(f"no edge from {state.name} to {to_state}")
        if state.guard is not None and call.flow.outcome_of(to_state) != "escalation":
            missing = self._missing()
            if not machine.evaluate(state.guard, lambda _: not missing):
                return f"guard {state.guard} is false: missing {', '.join(missing)}"
        machine.commit_transition(to_state, reason or None)
        self.has_moved = True
        return None

    def _collect(self, slot: str, value: Any) -> None:
        held = value.strip() if isinstance(value, str) else value
        if held not in ("", None):
            self._call.machine.collect(slot, held)

    def _missing(self) -> list[str]:
        machine = self._call.machine
        required = self._call.flow.states[machine.state].required_slots
        return [slot for slot in required if slot not in machine.heard]

    def _not_offered(self, made: ChatToolCall) -> Any:
        to_state = made.name.removeprefix(GO)
        is_way = made.name.startswith(GO) and to_state in self._call.flow.states
        error = (
            f"no edge from {self._state.name} to {to_state}" if is_way else f"no such tool in state {self._state.name}"
        )
        offered = f"are {', '.join(self._offered)}" if self._offered else "is none"
        return self._mistake(made, error, f"{error}; there {offered}")

    def _mistake(self, made: ChatToolCall, error: str, told: str | None = None, *, fits: bool | None = None) -> Any:
        name, arguments = made.name[:LONGEST_NAME] or "(no name)", made.arguments_text[:LARGEST_RESULT]
        self._call.mistake(name, arguments, error, fits=fits)
        return {"error": told or error}


def _way_on(edges: Sequence[FlowEdge], result: Any) -> FlowEdge | None:
    """Return the edge that a result takes; values are compared as JSON spells them."""
    for edge in edges:
        value = result.get(edge.field) if isinstance(result, dict) else None
        if edge.field is None or (value if isinstance(value, str) else json.dumps(value, default=str)) in edge.cases:
            return edge
    return next((edge for edge in edges if not edge.cases), None)


ToolKind: TypeAlias = Literal["fill", "go", "advance", "end_call", "tool"]

FILL = "fill"
ADVANCE = "advance"
END_CALL = "end_call"
GO = "go_"
_REASON = {"type": "string", "description": "Why, in a few words."}
_LONGEST_TOOL_NAME = 64
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """Describe a tool to a model; `target` is the state or the tool of the flow that it represents."""

    name: str
    kind: ToolKind
    description: str
    parameters: Mapping[str, Any]
    target: str = ""

    @property
    def for_api(self) -> dict[str, Any]:
        """Return the tool as the API spells it."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}


def offered_tools(flow: RunnableFlow, state: FlowState, *, advance: bool = False) -> dict[str, OfferedTool]:
    """Return the tools of a state by name; with `advance` one tool leads to all next states, instead of one each."""
    offered: dict[str, OfferedTool] = {}
    for tool in _tools(flow, state, advance):
        name = api_name(tool.name)
        while name in offered:
            name = f"{name[: _LONGEST_TOOL_NAME - 1]}_"
        offered[name] = OfferedTool(name, tool.kind, tool.description, tool.parameters, tool.target)
    return offered


class Offer(NamedTuple):
    """Describe the tools of a state by name, and as the API spells them."""

    tools: Mapping[str, OfferedTool]
    for_api: Sequence[Tool]


class Offers:
    """Remember what the states of flows offer, which is the same in every call; described in `offered_tools`."""

    def __init__(self, *, advance: bool = False) -> None:
        self._advance = advance
        self._flows: dict[int, tuple[RunnableFlow, dict[str, Offer]]] = {}

    def of(self, flow: RunnableFlow, state: FlowState) -> Offer:
        """Return what a state offers."""
        _, known = self._flows.setdefault(id(flow), (flow, {}))  # which keeps the flow, and so its id its own
        if state.name not in known:
            tools = offered_tools(flow, state, advance=self._advance)
            known[state.name] = Offer(tools, tuple(tool.for_api for tool in tools.values()))
        return known[state.name]


def noted_slots(flow: RunnableFlow, state: FlowState) -> tuple[str, ...]:
    """Return the slots that can be filled in a state: those that it requires, and those that the flow wants."""
    return tuple(dict.fromkeys([*state.required_slots, *sorted(flow.contract.wanted_slots())]))


def api_name(name: str) -> str:
    """Return the name of a tool as the API allows it."""
    return _NOT_IN_NAMES.sub("_", name)[:_LONGEST_TOOL_NAME] or "_"


def _tools(flow: RunnableFlow, state: FlowState, advance: bool) -> Iterator[OfferedTool]:
    if slots := noted_slots(flow, state):
        yield _fill(slots)
    for name in dict.fromkeys([*state.tools, *flow.global_tools]):
        if tool := flow.tools.get(name):
            yield OfferedTool(name, "tool", tool.description, tool.parameters, name)
    chosen = {edge.to_state: edge for edge in reversed(state.edges) if edge.tool is None}
    edges = [chosen[name] for name in dict.fromkeys(edge.to_state for edge in state.edges) if name in chosen]
    if edges and advance:
        yield _advance(flow, edges)
    elif edges:
        parameters = {"type": "object", "properties": {"reason": _REASON}}
        for edge in edges:
            yield OfferedTool(f"{GO}{edge.to_state}", "go", _way(flow, edge), parameters, edge.to_state)
    if state.outcome is not None or state.may_end:
        yield _end_call(flow)


def _fill(slots: Sequence[str]) -> OfferedTool:
    properties = {slot: {"type": "string", "description": f"The {slot.replace('_', ' ')}."} for slot in slots}
    parameters = {"type": "object", "properties": properties, "additionalProperties": False}
    description = "Note what the caller told you, as soon as they did. Leave out what they did not say."
    return OfferedTool(FILL, "fill", description, parameters)


def _advance(flow: RunnableFlow, edges: Sequence[FlowEdge]) -> OfferedTool:
    ways = " ".join(f"{edge.to_state}: {_way(flow, edge)}" for edge in edges)
    to = {"type": "string", "enum": [edge.to_state for edge in edges]}
    parameters = {"type": "object", "properties": {"to": to, "reason": _REASON}, "required": ["to"]}
    return OfferedTool(ADVANCE, "advance", f"Move the call on. {ways}", parameters)


def _end_call(flow: RunnableFlow) -> OfferedTool:
    statuses = flow.contract.final_statuses
    status: dict[str, Any] = {"type": "string", "description": "What came of the call."}
    if statuses:
        status["enum"] = list(statuses)
    parameters = {"type": "object", "properties": {"status": status, "reason": _REASON}}
    return OfferedTool(END_CALL, "end_call", "Hang up. Say goodbye in the same answer.", parameters)


def _way(flow: RunnableFlow, edge: FlowEdge) -> str:
    if edge.description:
        return edge.description
    words = edge.to_state.replace("_", " ")
    outcome = flow.outcome_of(edge.to_state)
    if outcome == "escalation":
        return f"Hand the caller over to a person ({words})."
    return f"The call has reached its goal ({words})." if outcome == "success" else f"Go on to: {words}."
