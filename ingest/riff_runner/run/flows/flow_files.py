"""Load the flows that a run is to be made of: built-in ones by name, others from their files (docs/runner.md)."""

from __future__ import annotations

import difflib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from riff_ingest.conversation import Contract
from riff_ingest.lenient_json import load_document
from riff_ingest.lines import BrokenInput, digest
from riff_ingest.sources.flow_files.config import FlowConfig, FlowNode, NodeFunction
from riff_ingest.sources.flow_files.flow import FlowFile, flow_of
from riff_ingest.sources.flow_files.forms import ALIKE, Simulation, StateScript, ToolScript, nearest
from riff_runner import simulate
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
from riff_runner.simulate.flow_file import flow_names
from riff_store.errors import UsageError

BUILT_IN = "built-in"
_ENDINGS = (".toml", ".json", ".yaml", ".yml", ".gz")


def load_flows(values: Sequence[str]) -> list[RunnableFlow]:
    """Return the flows of these names and paths, each once; raise `UsageError` as `load_flow` does."""
    found: dict[str, RunnableFlow] = {}
    for value in values:
        flow = load_flow(value)
        other = found.setdefault(flow.name, flow)
        if other.digest != flow.digest:
            raise UsageError(
                f"two flows are called {flow.name!r}: {other.source} and {flow.source}; give one of them another name"
                " (the key flow in its file)"
            )
    return list(found.values())


def load_flow(name_or_path: str) -> RunnableFlow:
    """Return the built-in flow of a name, or the flow in a file, ready to be run.

    Raises `UsageError` if there is none, and where its file cannot be run: with the file, the place and what to do.
    """
    if name_or_path in flow_names():
        with resources.as_file(resources.files(simulate).joinpath("flows", f"{name_or_path}.toml")) as path:
            return _read(path, BUILT_IN)
    path = Path(name_or_path)
    if path.is_file():
        return _read(path, name_or_path)
    raise UsageError(_unknown(name_or_path, path))


def _read(path: Path, source: str) -> RunnableFlow:
    try:
        document = load_document(path)
        file = flow_of(document, path)
        flow = native_flow(document, file) if file.config is None else pipecat_flow(file, file.config)
        sha256, _ = digest(path)
    except (BrokenInput, FlowProblem) as problem:
        raise UsageError(f"{path}: {problem}") from problem
    unread = tuple(map(str, file.unknown))
    return replace(flow, source=source, digest=sha256, described=file.described, unread=unread)


def _unknown(value: str, path: Path) -> str:
    if path.is_dir():
        return f"{value} is a directory; name the flow files in it"
    if "/" in value or value.endswith(_ENDINGS):
        return f"there is no flow file {value}; give the path of one, or the name of a built-in flow"
    near = difflib.get_close_matches(value, flow_names(), n=1)
    meant = f"did you mean {near[0]}? " if near else ""
    return f"no built-in flow {value!r}; {meant}there are {', '.join(flow_names())}; or give the path of a flow file"


# Make native flow files ready to be run, with or without the simulator's part.
_UNTOLD = StateScript()


def native_flow(document: Mapping[str, Any], file: FlowFile) -> RunnableFlow:
    """Return the flow of a native file; raise `FlowProblem` if it cannot be run."""
    if file.left_out:
        raise FlowProblem(f"{file.left_out[0].reason.removesuffix(' and is left out')}; see docs/flow-file.md")
    if astray := next((key for key in file.unknown if key.place[0] == "simulate"), None):
        raise FlowProblem(str(astray))
    script = _simulation(document.get("simulate"))
    edges = file.described.edges
    _check_edges(script, edges, file.contract)
    names = list(dict.fromkeys([*(state.name for state in file.described.states), *script.states]))
    initial = script.initial or (edges[0][0] if edges else next(iter(names), ""))
    if initial not in names:
        raise FlowProblem(f"simulate.initial is {initial!r}, which is not a state; {near_or_all(initial, names)}")
    sources = {source for source, _ in edges}
    ends = {name for name in names if name not in sources and name != initial}  # a call does not end where it begins
    outcomes = outcomes_of(names, file.contract, ends)
    ways = ways_to_the_goal(edges, outcomes)
    leading = _edges(document.get("edges"), edges)
    states = {
        name: _state(
            name, script.states.get(name, _UNTOLD), file.contract, leading.get(name, ()), outcomes.get(name), ways
        )
        for name in names
    }
    _check_ways(script, states)
    used = [scripted.tool for scripted in script.states.values() if scripted.tool]
    tools = {name: _tool(name, script.tools.get(name, ToolScript())) for name in dict.fromkeys([*script.tools, *used])}
    flow = RunnableFlow(
        name=file.described.flow,
        contract=file.contract,
        initial=initial,
        states=states,
        tools=tools,
        scenarios=(),
        role=script.role,
    )
    _check_callers(script, flow.slots)
    return with_scenarios(flow, script.scenarios, script.slots)


def _simulation(given: Any) -> Simulation:
    try:
        return msgspec.convert({} if given is None else given, Simulation)
    except msgspec.ValidationError as error:
        raise FlowProblem(f"simulate: {str(error).replace('`$.', '`simulate.').replace('`$', '`simulate')}") from error


def _edges(given: Any, edges: list[tuple[str, str]]) -> dict[str, tuple[FlowEdge, ...]]:
    """Return the edges by the state that they leave, with when to take them by their tables."""
    told: dict[tuple[Any, Any], str] = {}
    for edge in given if isinstance(given, list) else ():
        if isinstance(edge, dict) and isinstance(edge.get("when"), str):
            told[(edge.get("from", edge.get("source")), edge.get("to", edge.get("target")))] = edge["when"]
    found: dict[str, tuple[FlowEdge, ...]] = {}
    for source, target in edges:
        found[source] = (*found.get(source, ()), FlowEdge(target, told.get((source, target), "")))
    return found


def _state(
    name: str,
    script: StateScript,
    contract: Contract,
    edges: tuple[FlowEdge, ...],
    outcome: StateOutcome | None,
    ways: Mapping[str, str],
) -> FlowState:
    return FlowState(
        name=name,
        instruction=script.prompt or (f"In substance say: {script.say[0]}" if script.say else ""),
        required_slots=tuple(contract.states[name].required_slots) if name in contract.states else (),
        guard=script.guard,
        tools=(script.tool,) if script.tool else (),
        edges=edges,
        outcome=outcome,
        may_end=outcome is not None or not edges,
        replies=tuple(script.replies),
        hub=script.hub,
        forward=script.next or ways.get(name, ""),
    )


def _tool(name: str, script: ToolScript) -> StubbedTool:
    tool = StubbedTool(name, script.description)
    if script.parameters is not None:
        tool = replace(tool, parameters=script.parameters)
    return tool if script.returns is None else replace(tool, returns=tuple(script.returns))


def _check_edges(script: Simulation, edges: list[tuple[str, str]], contract: Contract) -> None:
    """Refuse edges that are none, and a name that is but a misspelt one; a state need not be described."""
    if not edges:
        raise FlowProblem('it has no edges, so there is nothing to run; add edges = [["FROM", "TO"], …]')
    sources, targets = ({edge[side] for edge in edges} for side in (0, 1))
    described = {*contract.states, *script.states}
    known = {*described, *contract.successes(), *contract.escalations()}
    for name in dict.fromkeys(end for edge in edges for end in edge):
        if name not in known and (name in sources) != (name in targets) and (near := nearest(name, known, ALIKE)):
            raise FlowProblem(f"edges: {name!r} is not a state; did you mean {near}?")
    for place, names in (("states", contract.states.keys()), ("simulate.states", script.states.keys())):
        for name in names - sources - targets:
            if near := nearest(name, (sources | targets) - names, ALIKE):
                raise FlowProblem(f"{place}.{name}: no edge leads there; did you mean {near}?")


def _check_ways(script: Simulation, states: Mapping[str, FlowState]) -> None:
    """Refuse a script that leads where no edge does."""
    for name, scripted in script.states.items():
        targets = [*scripted.next.values()] if isinstance(scripted.next, dict) else [scripted.next]
        ways = {edge.to_state for edge in states[name].edges}
        for target in [*targets, scripted.back, scripted.mishap_to]:
            if target and target not in ways:
                raise FlowProblem(
                    f"simulate.states.{name}: no edge leads to {target!r}; {near_or_all(target, sorted(ways))}"
                )


def _check_callers(script: Simulation, slots: tuple[str, ...]) -> None:
    """Refuse a pool for a slot that no state has, and a task that no state turns on, where some turn on one."""
    for slot in script.slots:
        if slot not in slots:
            raise FlowProblem(f"simulate.slots: no state has the slot {slot!r}; {near_or_all(slot, slots)}")
    tables = [scripted.next for scripted in script.states.values() if isinstance(scripted.next, dict)]
    known = dict.fromkeys(task for table in tables for task in table)
    for scenario in script.scenarios:
        for task in scenario.tasks if known else ():
            if task not in known:
                raise FlowProblem(
                    f"the scenario {scenario.name!r}: no state turns on the task {task!r}; {near_or_all(task, known)}"
                )


# Make flows of pipecat ready to be run: a node is a state, and what leads to another node is an edge.
#
# The code of their functions is not there, so the runner answers for them: with the result that leads on.
def pipecat_flow(file: FlowFile, config: FlowConfig) -> RunnableFlow:
    """Return the flow of such a file; raise `FlowProblem` if it cannot be run."""
    _check(file, config)
    ends = {name for name, node in config.nodes.items() if node.ends or node.end is not None}
    outcomes = outcomes_of(config.nodes, file.contract, ends)
    ways = ways_to_the_goal(file.described.edges, outcomes)
    roles = _roles(config)
    states = {
        name: _pipecat_state(
            node, config, file.contract, outcomes.get(name), ways.get(name, ""), _instruction(node, roles)
        )
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
        raise FlowProblem(f"{file.left_out[0].reason.removesuffix(' and is left out')}; see docs/flow-file.md")
    for edge in file.described.edges:
        for end in edge:
            if end not in config.nodes:
                raise FlowProblem(f"edges: {end!r} is not a node; {near_or_all(end, config.nodes)}")


def _pipecat_state(
    node: FlowNode, config: FlowConfig, contract: Contract, outcome: StateOutcome | None, way: str, instruction: str
) -> FlowState:
    edges = _pipecat_edges([*node.functions, *config.shared_by(node)])
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
    """Return the agent's instructions in a node: its task, after its role if that is not the flow's."""
    role = roles[node.name]
    return node.task if role == roles[None] else f"{role}\n\n{node.task}".strip()


def _pipecat_edges(functions: list[NodeFunction]) -> list[FlowEdge]:
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
            found[function.name] = _pipecat_tool(function, result)
        elif isinstance(other.returns[0], dict):
            found[function.name] = replace(other, returns=({**result, **other.returns[0]},))
    return found


def _pipecat_tool(function: NodeFunction, result: dict[str, Any]) -> StubbedTool:
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
    """Return who the agent is in each node: what the node reports, else what was said last on the shortest way to it.

    That of the first node, which is the flow's, represents `None` and for what cannot be reached.
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
