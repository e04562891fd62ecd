"""Make flows of pipecat ready to be run: a node is a state, and what leads to another node is an edge.

The code of their functions is not there, so the runner answers for them: with the result that leads on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from riff_ingest.conversation import Contract
from riff_ingest.sources.flow_files.config import FlowConfig, FlowNode, NodeFunction
from riff_ingest.sources.flow_files.flow import FlowFile
from riff_runner.run.flows.flow import (
    FlowEdge,
    FlowProblem,
    FlowState,
    RunnableFlow,
    StateOutcome,
    StubbedTool,
    near_or_all,
    outcomes_of,
    ways_to_the_goal,
)
from riff_runner.run.flows.scenarios import with_scenarios


def pipecat_flow(file: FlowFile, config: FlowConfig) -> RunnableFlow:
    """Return the flow of such a file; raise `FlowProblem` where it cannot be run."""
    _check(file, config)
    ends = {name for name, node in config.nodes.items() if node.ends or node.end is not None}
    outcomes = outcomes_of(config.nodes, file.contract, ends)
    ways = ways_to_the_goal(file.described.edges, outcomes)
    roles = _roles(config)
    states = {
        name: _state(node, config, file.contract, outcomes.get(name), ways.get(name, ""), _instruction(node, roles))
        for name, node in config.nodes.items()
    }
    tools = _tools(config, ways)
    flow = RunnableFlow(
        name=file.described.flow,
        contract=file.contract,
        initial=config.initial,
        states=states,
        tools=tools,
        scenarios=(),
        role=roles[None],
        global_tools=tuple(function.name for function in config.global_functions if not function.by_choice),
    )
    return with_scenarios(flow)


def _check(file: FlowFile, config: FlowConfig) -> None:
    if config.problems:
        raise FlowProblem(config.problems[0])
    if file.left_out:
        raise FlowProblem(f"{file.left_out[0].reason.removesuffix(' and is left out')}; see docs/formats.md, section 3")
    for edge in file.described.edges:
        for end in edge:
            if end not in config.nodes:
                raise FlowProblem(f"edges: {end!r} is no node; {near_or_all(end, config.nodes)}")


def _state(
    node: FlowNode, config: FlowConfig, contract: Contract, outcome: StateOutcome | None, way: str, instruction: str
) -> FlowState:
    edges = _edges([*node.functions, *config.shared_by(node)])
    return FlowState(
        name=node.name,
        instruction=instruction,
        required_slots=tuple(contract.states[node.name].required_slots),
        tools=tuple(function.name for function in node.functions if not function.by_choice),
        edges=tuple(edges),
        outcome=outcome,
        may_end=outcome is not None or not edges,
        forward=way,
    )


def _instruction(node: FlowNode, roles: Mapping[str | None, str]) -> str:
    """Return what the agent is told in a node: its task, after its role where that is not the flow's."""
    role = roles[node.name]
    return node.task if role == roles[None] else f"{role}\n\n{node.task}".strip()


def _edges(functions: list[NodeFunction]) -> list[FlowEdge]:
    """Return the edges of a node; those by choice to one node are one."""
    chosen: dict[str, list[str]] = {}
    by_tool = []
    for function in functions:
        for way in function.ways:
            if function.by_choice:
                chosen.setdefault(way.to, []).append(function.description)
            else:
                by_tool.append(FlowEdge(way.to, function.description, function.name, way.field, way.cases))
    by_choice = [FlowEdge(to, " Or: ".join(filter(None, about))) for to, about in chosen.items()]
    return [*by_choice, *by_tool]


def _tools(config: FlowConfig, ways: Mapping[str, str]) -> dict[str, StubbedTool]:
    """Return the functions that have code, by name; one of several nodes answers so that each of them leads on."""
    found: dict[str, StubbedTool] = {}
    with_code = (
        (node.name, function)
        for node in config.nodes.values()
        for function in (*node.functions, *config.shared_by(node))
        if not function.by_choice
    )
    for node, function in with_code:
        result = _leading_on(function, ways.get(node, ""))
        other = found.get(function.name)
        if other is None:
            found[function.name] = _tool(function, result)
        elif isinstance(other.returns[0], dict):
            found[function.name] = replace(other, returns=({**result, **other.returns[0]},))
    return found


def _tool(function: NodeFunction, result: dict[str, Any]) -> StubbedTool:
    tool = StubbedTool(function.name, function.description, returns=({"ok": True, **result},))
    if function.parameters is None:
        return tool
    required = {"required": list(function.required)} if function.required else {}
    return replace(tool, parameters={"type": "object", **function.parameters, **required})


def _leading_on(function: NodeFunction, goal: str) -> dict[str, Any]:
    """Return the result of a function that leads towards the goal, of one that leads nowhere near it the first."""
    cases = [way for way in function.ways if way.field is not None and way.cases]
    if not cases:
        return {}
    way = next((way for way in cases if way.to == goal), cases[0])
    value = way.cases[0]
    return {str(way.field): {"true": True, "false": False}.get(value, value)}


def _roles(config: FlowConfig) -> dict[str | None, str]:
    """Return who the agent is in each node: what the node says, else what was said last on the shortest way to it.

    That of the first node, which is the flow's, stands for `None` and for what cannot be reached.
    """
    first = config.nodes[config.initial].role
    roles: dict[str | None, str] = {None: first, config.initial: first}
    waiting = deque([config.initial])
    successors: dict[str, list[str]] = {}
    for source, target in config.edges():
        successors.setdefault(source, []).append(target)
    while waiting:
        source = waiting.popleft()
        for target in successors.get(source, ()):
            if target not in roles:
                roles[target] = config.nodes[target].role or roles[source]
                waiting.append(target)
    return {name: node.role or first for name, node in config.nodes.items()} | roles
