"""Make native flow files ready to be run, with or without the simulator's part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from riff_ingest.conversation import Contract
from riff_ingest.sources.flow_files.flow import FlowFile
from riff_runner.run.flows.flow import (
    FlowEdge,
    FlowProblem,
    FlowState,
    RunnableFlow,
    StateOutcome,
    StubbedTool,
    near_or_all,
    nearest,
    outcomes_of,
    ways_to_the_goal,
)
from riff_runner.run.flows.scenarios import with_scenarios
from riff_runner.simulate.flow_file import Simulation, StateScript, ToolScript

_UNTOLD = StateScript()
_MISSPELT = 0.82
"""From what likeness on, of 1, one name of a state is taken for another one that was misspelt."""


def native_flow(document: Mapping[str, Any], file: FlowFile) -> RunnableFlow:
    """Return the flow of a native file; raise `FlowProblem` where it cannot be run."""
    if file.left_out:
        raise FlowProblem(f"{file.left_out[0].reason.removesuffix(' and is left out')}; see docs/formats.md, section 3")
    script = _simulation(document.get("simulate"))
    edges = file.described.edges
    _check_edges(script, edges, file.contract)
    names = list(dict.fromkeys([*(state.name for state in file.described.states), *script.states]))
    initial = script.initial or (edges[0][0] if edges else next(iter(names), ""))
    if initial not in names:
        raise FlowProblem(f"simulate.initial is {initial!r}, which is no state; {near_or_all(initial, names)}")
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
    """Return the edges by the state that they leave, with what their tables say of when to take them."""
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
        if name not in known and (name in sources) != (name in targets) and (near := nearest(name, known, _MISSPELT)):
            raise FlowProblem(f"edges: {name!r} is no state; did you mean {near}?")
    for place, names in (("states", contract.states.keys()), ("simulate.states", script.states.keys())):
        for name in names - sources - targets:
            if near := nearest(name, (sources | targets) - names, _MISSPELT):
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
