"""Decide which tools a model is offered in a state of its flow: what to note, what to look up, where to go."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from riff_ingest.runner.chat.protocol import Tool
from riff_ingest.runner.flows.flow import FlowEdge, FlowState, RunnableFlow

ToolKind: TypeAlias = Literal["fill", "go", "advance", "end_call", "tool"]

FILL = "fill"
ADVANCE = "advance"
END_CALL = "end_call"
GO = "go_"
_REASON = {"type": "string", "description": "Why, in a few words."}
_LONGEST_NAME = 64
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """Describe a tool to a model; `target` is the state or the tool of the flow that it stands for."""

    name: str
    kind: ToolKind
    description: str
    parameters: Mapping[str, Any]
    target: str = ""

    @property
    def spelled(self) -> dict[str, Any]:
        """Return the tool as the API spells it."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}


def offered_tools(flow: RunnableFlow, state: FlowState, *, advance: bool = False) -> dict[str, OfferedTool]:
    """Return the tools of a state by name; with `advance` one tool leads to all next states, instead of one each."""
    offered: dict[str, OfferedTool] = {}
    for tool in _tools(flow, state, advance):
        name = spelled_name(tool.name)
        while name in offered:
            name = f"{name[: _LONGEST_NAME - 1]}_"
        offered[name] = OfferedTool(name, tool.kind, tool.description, tool.parameters, tool.target)
    return offered


class Offer(NamedTuple):
    """Hold the tools of a state by name, and as the API spells them."""

    tools: Mapping[str, OfferedTool]
    spelled: Sequence[Tool]


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
            known[state.name] = Offer(tools, tuple(tool.spelled for tool in tools.values()))
        return known[state.name]


def noted_slots(flow: RunnableFlow, state: FlowState) -> tuple[str, ...]:
    """Return the slots that can be filled in a state: those that it requires, and those that the flow wants."""
    return tuple(dict.fromkeys([*state.required_slots, *sorted(flow.contract.wanted_slots())]))


def spelled_name(name: str) -> str:
    """Return the name of a tool as the API allows it."""
    return _NOT_IN_NAMES.sub("_", name)[:_LONGEST_NAME] or "_"


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
    spelled = edge.to_state.replace("_", " ")
    outcome = flow.outcome_of(edge.to_state)
    if outcome == "escalation":
        return f"Hand the caller over to a person ({spelled})."
    return f"The call has reached its goal ({spelled})." if outcome == "success" else f"Go on to: {spelled}."
