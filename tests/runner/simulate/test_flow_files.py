"""The built-in flows hold together, and are plain flow files for whoever knows nothing of the simulator."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.surface.ingest import flow_files_read
from tests.surface.runner import agents, flow_names, planted, read_flow, route, stage_of
from tests.surface.runner import cast_runs as runs
from tests.surface.runner import flow_file_load_flow as load_flow
from tests.surface.runner import riff_runner_simulate as simulate
from tests.surface.store import UsageError

FLOWS = flow_names()
FOLDER = Path(simulate.__file__).parent / "flows"
each_flow = pytest.mark.parametrize("name", FLOWS)


def test_the_flows_show_every_phase_and_every_kind_of_weakness() -> None:
    assert {
        "apartment_scheduler",
        "apartment_viewing",
        "austin_plumbing",
        "ceo_command_center",
        "dental_clinic",
        "dog_grooming",
        "property_trouble_ticket",
    } <= set(FLOWS)
    segments = {state.segment for name in FLOWS for state in load_flow(name).states.values()}
    assert {"opening", "routing", "verify", "collect", "confirm", "action", "closing"} <= segments
    assert {weakness.kind for weakness in planted()} == {"stall", "escalation", "dwell", "latency", "guard_error"}


@each_flow
def test_every_state_is_described_and_played(name: str) -> None:
    flow = load_flow(name)
    states = set(flow.states)
    outcomes = {*flow.success_terminals, *flow.escalation_terminals}
    assert flow.flow == name
    assert states == set(flow.simulate.states)
    assert {state for edge in flow.edges for state in edge} == states | outcomes
    assert flow.simulate.initial in states
    assert {weakness.state for weakness in flow.planted} <= states
    assert {agent for weakness in flow.planted for agent in weakness.agents} <= {agent.name for agent in agents()}


@each_flow
def test_every_way_that_a_call_may_take_is_an_edge(name: str) -> None:
    flow = load_flow(name)
    successors = flow.successors()
    for state, script in flow.simulate.states.items():
        targets = [script.next] if isinstance(script.next, str) else [*script.next.values()]
        targets += [target for target in (script.back, script.mishap_to) if target]
        assert {target for target in targets if target} <= successors.get(state, frozenset())
        if script.next:
            assert successors[state] & set(flow.escalation_terminals), f"{state} cannot escalate"
        if script.back:
            assert flow.states[script.back].required_slots


@each_flow
def test_a_call_that_goes_well_collects_all_that_the_contract_wants(name: str) -> None:
    stage = stage_of(name)
    for scenario in stage.flow.simulate.scenarios:
        collected = {slot for state in route(stage, scenario) for slot in stage.required[state]}
        assert stage.contract.wanted_slots() <= collected, scenario.name


@each_flow
def test_agents_speak_of_slots_that_there_are(name: str) -> None:
    flow = load_flow(name)
    named = {
        slot for script in flow.simulate.states.values() for say in script.say for slot in re.findall(r"{(\w*)}", say)
    }
    required = {slot for state in flow.states.values() for slot in state.required_slots}
    assert named <= required == set(flow.simulate.slots)


@each_flow
def test_every_tool_is_described_and_answers_a_real_agent(name: str) -> None:
    flow = load_flow(name)
    assert set(flow.simulate.tools) == {script.tool for script in flow.simulate.states.values() if script.tool}
    for tool in flow.simulate.tools.values():
        assert tool.description
        assert tool.returns
        parameters = tool.parameters or {"properties": {}}
        assert set(parameters.get("required", ())) <= set(parameters["properties"]) <= set(flow.simulate.slots)


@each_flow
def test_it_is_a_plain_flow_file_as_well(name: str) -> None:
    read = flow_files_read(FOLDER / f"{name}.toml")
    flow = load_flow(name)
    assert read.contract == flow.contract()
    assert read.described.flow == name
    assert read.described.edges == flow.edges
    assert read.left_out == []


def test_runs_change_weaknesses_that_the_worklist_names_anyway() -> None:
    named = {(weakness.flow, weakness.state, weakness.kind) for weakness in planted()}
    overrides = [override for run in runs() for override in run.overrides]
    assert overrides
    assert {(override.flow, override.state, override.kind) for override in overrides} <= named


def test_an_unknown_flow_is_named_with_those_that_there_are() -> None:
    with pytest.raises(
        UsageError, match=r"no built-in flow 'dog_walking'; there are apartment_scheduler, .*generic_inquiry"
    ):
        load_flow("dog_walking")


def test_a_flow_file_that_is_wrong_says_where() -> None:
    with pytest.raises(ValueError, match="unknown field `plnted`"):
        read_flow((FOLDER / "dog_grooming.toml").read_bytes().replace(b"[[planted]]", b"[[plnted]]"))


def test_planted_weaknesses_can_be_asked_for_by_flow() -> None:
    assert [(weakness.state, weakness.kind) for weakness in planted(["dog_grooming"])] == [
        ("listen_owner", "stall"),
        ("listen_owner", "escalation"),
    ]
    assert planted(["generic_inquiry"]) == []
