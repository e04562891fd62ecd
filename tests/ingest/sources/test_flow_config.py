"""Flows of pipecat as flow files, in the forms of today and before."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given

from tests.support.pipecat_flows import OLDER, PIZZA, config_values, flow_configs
from tests.surface.ingest import (
    Contract,
    FlowFile,
    StateContract,
    detect,
    find_inputs,
    is_flow_config,
    read_config,
    registry,
)
from tests.surface.ingest import flow_files_read as read

NODES = ["greet", "pizza", "sold_out", "confirm", "thanks", "escalated", "lost"]


def written(path: Path, content: str | dict[str, Any]) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def notes(flow: FlowFile) -> list[str]:
    return [note.reason for note in flow.left_out]


def pizza(**nodes: Any) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(PIZZA)
    document["nodes"] |= nodes
    return document


def test_every_node_is_a_state_and_every_way_an_edge(tmp_path: Path) -> None:
    flow = read(written(tmp_path / "pizza.yaml", PIZZA))
    assert flow.described.flow == "pizza"
    assert [state.name for state in flow.described.states] == NODES
    assert flow.described.edges == [
        ("greet", "pizza"),
        ("greet", "escalated"),
        ("pizza", "sold_out"),
        ("pizza", "confirm"),
        ("pizza", "pizza"),
        ("pizza", "escalated"),
        ("sold_out", "pizza"),
        ("sold_out", "escalated"),
        ("confirm", "thanks"),
        ("confirm", "escalated"),
    ]
    assert flow.left_out == []


def test_a_node_that_ends_the_call_is_its_goal_unless_it_hands_over_or_says_what_it_is(tmp_path: Path) -> None:
    flow = read(written(tmp_path / "pizza.yaml", PIZZA))
    assert flow.contract.success_terminals == ["thanks"]
    assert {state.name: state.outcome for state in flow.described.states if state.outcome} == {
        "thanks": "success",
        "escalated": "escalation",
    }
    assert flow.contract.states["lost"] == StateContract("closing")
    handing = {"task_messages": [], "post_actions": [{"type": "end_conversation", "riff": {"terminal": "escalation"}}]}
    flow = read(written(tmp_path / "p.json", pizza(to_a_nurse=handing)))
    assert flow.contract.escalations() == {"to_a_nurse", "escalated"}


def test_a_node_may_say_which_tool_it_is_there_to_call(tmp_path: Path) -> None:
    action = {"type": "tts_say", "text": "Ready.", "riff": {"tool": "bake", "required_tools": ["log"]}}
    flow = read(written(tmp_path / "p.json", pizza(lost={"task_messages": [], "pre_actions": [action]})))
    assert flow.contract.terms.tools == {"lost": ("bake",)}
    assert flow.contract.required_tools == ["log"]
    assert flow.left_out == []


def test_the_older_form_says_what_a_node_has_to_learn(tmp_path: Path) -> None:
    flow = read(written(tmp_path / "booking.json", OLDER))
    assert flow.contract == Contract(
        success_terminals=["end"],
        completion_slots=["date"],
        states={"start": StateContract(None, ["name", "date"]), "confirm": StateContract(), "end": StateContract()},
    )
    assert flow.described.edges == [("start", "confirm"), ("start", "end"), ("confirm", "end"), ("confirm", "start")]


def test_json_and_yaml_and_packed_ones_are_the_same_flow(tmp_path: Path) -> None:
    flow = read(written(tmp_path / "pizza.yml", PIZZA))
    assert read(written(tmp_path / "pizza.json", pizza())) == flow
    (tmp_path / "pizza.yaml.gz").write_bytes(gzip.compress(PIZZA.encode()))
    assert read(tmp_path / "pizza.yaml.gz") == flow


@pytest.mark.parametrize(
    ("node", "note"),
    [
        ({"functions": [{"name": "a", "transition_to": "piza"}]}, "nodes.x.a: it leads to 'piza', which is not a node; "
         "did you mean pizza?; it is left out"),
        ({"functions": [{"name": "a"}, {"name": "a"}]}, "nodes.x: two functions are called 'a'; it is left out"),
        ({"functions": [{"name": "opening_hours"}]}, "nodes.x: 'opening_hours' is the name of a global function as well"
         "; it is left out"),
        ({"functions": [{"description": "?"}]}, "nodes.x: a function has no name; it is left out"),
        ({"functions": [{"name": "a", "transition_to": {"field": 1}}]}, "nodes.x.a.transition_to: it is neither a node "
         "nor a field with cases; it is left out"),
        ({"functions": [{"name": "a", "transition_only": True}]}, "nodes.x.a: it only leads to another node, and does "
         "not name it; it is left out"),
        ({"riff": {"terminal": "good"}}, "nodes.x: riff.terminal is none of success, escalation, end; it is left out"),
        (5, "nodes.x: it is not a node; it is left out"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named_with_its_place(tmp_path: Path, node: Any, note: str) -> None:
    assert note in notes(read(written(tmp_path / "f.json", pizza(x=node))))


def test_a_flow_has_to_begin_somewhere(tmp_path: Path) -> None:
    flow = read(written(tmp_path / "f.yaml", PIZZA.replace("initial_node: greet", "initial_node: great")))
    assert notes(flow) == ["initial_node: there is no node 'great'; did you mean greet?; it is left out"]


def test_a_directory_with_other_yaml_holds_no_surprise(tmp_path: Path) -> None:
    written(tmp_path / "pizza.yaml", PIZZA)
    (tmp_path / "pizza.yml.gz").write_bytes(gzip.compress(PIZZA.encode()))
    written(tmp_path / "compose.yaml", "services: {web: {image: x}}")
    written(tmp_path / "broken.yml", "a: [")
    written(tmp_path / "other.yaml", "initial: a\nnodes: [1, 2]")
    found = find_inputs([tmp_path])
    assert [path.name for path in found.files] == ["pizza.yaml", "pizza.yml.gz"]
    assert found.passed_over == []


def test_a_flow_in_yaml_that_cannot_be_read_is_passed_over_with_the_reason(tmp_path: Path) -> None:
    path = written(tmp_path / "pizza.yaml", PIZZA + "\n  a: [\n")
    ((passed, reason),) = find_inputs([tmp_path]).passed_over
    assert passed == str(path)
    assert reason.startswith("file is not YAML: line ")


def test_what_a_file_is_taken_for_is_said(tmp_path: Path) -> None:
    assert detect(written(tmp_path / "p.yaml", PIZZA)) == ("flow-file", "it has the nodes of a pipecat flow")
    assert detect(written(tmp_path / "x.yaml", "a: 1\nb: 2")) == (
        None,
        f"not recognised: YAML with the keys a, b; {registry.OWN_DATA}",
    )


@given(flow_configs)
def test_whatever_stands_in_it_every_edge_leads_from_a_state_to_a_state(document: dict[str, Any]) -> None:
    assert is_flow_config(document)
    config = read_config(document)
    assert all(end in config.nodes for edge in config.edges() for end in edge)


@given(flow_configs | config_values)
def test_no_content_makes_reading_raise(tmp_path_factory: pytest.TempPathFactory, document: Any) -> None:
    if not isinstance(document, dict) or not is_flow_config(document):
        return
    flow = read(written(tmp_path_factory.mktemp("flows") / "f.json", document))
    states = {state.name for state in flow.described.states}
    assert all(end in states for edge in flow.described.edges for end in edge)
    msgspec.json.encode((flow.described, flow.contract))
