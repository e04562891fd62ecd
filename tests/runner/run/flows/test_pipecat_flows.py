"""Flows of pipecat, ready to be run: in the forms of today, of before, and of the flow editor."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given

from tests.support.pipecat_flows import OLDER, PIZZA, flow_configs, runnable_configs
from tests.support.source_files import EDITOR
from tests.surface.runner import FlowEdge, RunnableFlow
from tests.surface.runner import flow_files_load_flow as load_flow
from tests.surface.store import UsageError


def loaded(tmp_path: Path, name: str, content: str | dict[str, Any]) -> RunnableFlow:
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return load_flow(str(path))


@pytest.fixture
def pizza(tmp_path: Path) -> RunnableFlow:
    return loaded(tmp_path, "pizza.yaml", PIZZA)


def test_a_function_without_code_is_an_edge_by_choice(pizza: RunnableFlow) -> None:
    assert pizza.initial == "greet"
    assert pizza.states["greet"].edges == (
        FlowEdge("pizza", "The caller wants pizza. Or: The caller does not mind."),
        FlowEdge("escalated", "They want a human."),
    )
    assert pizza.states["greet"].tools == ()


def test_a_function_with_code_is_a_tool_that_leads_on_by_its_result(pizza: RunnableFlow) -> None:
    state = pizza.states["pizza"]
    assert state.tools == ("price", "select_order")
    assert state.edges[1:] == (
        FlowEdge("sold_out", "", "select_order", "in_stock", ("false",)),
        FlowEdge("confirm", "", "select_order", "in_stock", ("true", "yes")),
        FlowEdge("pizza", "", "select_order", "in_stock", ()),
    )
    assert pizza.tools["select_order"].returns == ({"ok": True, "in_stock": True},)
    assert pizza.states["confirm"].edges[1] == FlowEdge("thanks", "", "place_order")
    assert pizza.global_tools == ("opening_hours",)
    assert set(pizza.tools) == {"price", "select_order", "place_order", "opening_hours"}


def test_the_agent_is_told_who_it_is_and_what_to_do(pizza: RunnableFlow) -> None:
    assert pizza.role == "You answer for Nonna's. Today is {{ day }}."
    assert pizza.states["greet"].instruction == "Greet the caller and ask what they want."
    assert pizza.states["pizza"].instruction == "Ask for the size.\nThen for the kind."
    assert pizza.states["sold_out"].instruction == (
        "You are sorry.\n\nFirst say: We are out of that, {{ name }}.\nOffer another one."
    )


def test_calls_end_where_the_flow_says(pizza: RunnableFlow) -> None:
    assert {name: state.outcome for name, state in pizza.states.items() if state.outcome} == {
        "thanks": "success",
        "escalated": "escalation",
        "lost": "end",
    }
    assert [pizza.states[name].forward for name in ("greet", "pizza", "confirm", "thanks")] == [
        "pizza", "confirm", "thanks", ""
    ]  # fmt: skip
    assert {name for name, state in pizza.states.items() if state.may_end} == {"thanks", "escalated", "lost"}


def test_the_older_form_has_slots_and_parameters(tmp_path: Path) -> None:
    flow = loaded(tmp_path, "booking.json", OLDER)
    assert flow.role == "You take bookings."
    assert flow.states["start"].required_slots == ("name", "date")
    assert flow.states["start"].tools == ("save_guest",)
    assert flow.states["start"].edges == (
        FlowEdge("end", "Does no_booking."),
        FlowEdge("confirm", "Does save_guest.", "save_guest"),
    )
    assert flow.tools["save_guest"].parameters == {
        "type": "object",
        "properties": {"name": {"type": "string"}, "date": {"type": "string"}},
        "required": ["name", "date"],
    }
    assert flow.scenarios[0].pools == {"name": "person", "date": "day"}
    assert flow.outcome_of("end") == "success"


@pytest.mark.parametrize(
    "entry",
    [
        {"name": "save", "description": "Saves.", "input_schema": {"properties": {"n": {}}, "required": ["n"]},
         "handler": "__function__:save", "transition_to": "end"},
        {"function_declarations": [{"name": "save", "description": "Saves.", "handler": "__function__:save",
                                    "parameters": {"properties": {"n": {}}, "required": ["n"]},
                                    "transition_to": "end"}]},
    ],
)  # fmt: skip
def test_functions_may_be_declared_as_other_models_want_them(tmp_path: Path, entry: dict[str, Any]) -> None:
    flow = loaded(tmp_path, "f.json", {"initial_node": "a", "nodes": {"a": {"functions": [entry]}, "end": {}}})
    assert flow.states["a"].edges == (FlowEdge("end", "Saves.", "save"),)
    assert flow.states["a"].required_slots == ("n",)
    assert flow.tools["save"].parameters == {"type": "object", "properties": {"n": {}}, "required": ["n"]}


def test_cases_are_compared_as_pipecat_does(tmp_path: Path) -> None:
    flow = loaded(tmp_path, "f.yaml", PIZZA.replace("true: confirm", '"True": confirm, 2: confirm'))
    assert flow.states["pizza"].edges[2].cases == ("true", "2", "yes")


def test_what_the_flow_editor_saves_runs_too(tmp_path: Path) -> None:
    document = {
        "nodes": [
            {
                "id": "hi",
                "type": "initial",
                "data": {
                    "task_messages": [{"role": "system", "content": "Greet."}],
                    "functions": [
                        {"name": "ask", "description": "Asks.", "properties": {"n": {}}, "required": ["n"],
                         "decision": {"action": "x", "default_next_node_id": "bye", "conditions": [
                             {"operator": "==", "value": True, "next_node_id": "hi"}]}},
                        {"name": "stop", "description": "They stop.", "properties": {}, "next_node_id": "bye"},
                    ],
                },
            },
            {"id": "bye", "type": "end", "data": {}},
            {"id": "later", "type": "node", "data": {}},
        ],
        "edges": [{"source": "hi", "target": "bye"}, {"source": "hi", "target": "later"}],
    }  # fmt: skip
    flow = loaded(tmp_path, "f.json", document)
    assert flow.states["hi"].instruction == "Greet."
    assert flow.states["hi"].edges == (
        FlowEdge("bye", "They stop."),
        FlowEdge("later"),
        FlowEdge("hi", "Asks.", "ask", "result", ("true",)),
        FlowEdge("bye", "Asks.", "ask", "result"),
    )
    assert flow.outcome_of("bye") == flow.outcome_of("later") == "end"


def test_an_editors_flow_that_leads_nowhere_in_particular_is_loaded(tmp_path: Path) -> None:
    flow = loaded(tmp_path, "dental.json", EDITOR)
    assert flow.initial == "start"
    assert flow.successors["start"] == {"collect_date"}
    assert (flow.outcome_of("end"), flow.outcome_of("human"), flow.outcome_of("lost")) == (
        "success", "escalation", "end"
    )  # fmt: skip


def test_a_first_node_with_only_global_functions_is_no_end(tmp_path: Path) -> None:
    flow = loaded(
        tmp_path,
        "f.yaml",
        "initial_node: a\nnodes: {a: {task_messages: []}, b: {task_messages: []}}\n"
        "global_functions: [{name: next, transition_only: true, description: On., transition_to: b}]",
    )
    assert flow.states["a"].outcome is None
    assert flow.states["a"].edges == (FlowEdge("b", "On."),)
    assert flow.outcome_of("b") == "success"


def test_a_node_that_only_does_things_is_no_end(tmp_path: Path) -> None:
    document = yaml.safe_load(PIZZA)
    document["nodes"]["confirm"]["functions"] = [{"name": "place_order"}]
    del document["global_functions"]
    flow = loaded(tmp_path, "pizza.json", document)
    assert (flow.states["confirm"].outcome, flow.states["confirm"].may_end) == (None, True)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("initial_node: greet", "initial_node: great", "initial_node: there is no node 'great'; did you mean greet?"),
        ("transition_to: thanks", "transition_to: thank", "nodes.confirm.place_order: it leads to 'thank', which is"),
        ("name: price", "name: select_order", "nodes.pizza: two functions are called 'select_order'"),
        ("name: price", "name: opening_hours", "nodes.pizza: 'opening_hours' is the name of a global function"),
        ("segment: closing", "segment: [1]", "states.segment does not fit; see docs/flow-file.md"),
    ],
)  # fmt: skip
def test_a_flow_that_cannot_be_run_is_refused_with_the_place(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in PIZZA
    with pytest.raises(UsageError) as caught:
        loaded(tmp_path, "pizza.yaml", PIZZA.replace(old, new, 1))
    assert str(caught.value).startswith(f"{tmp_path / 'pizza.yaml'}: {message}")


def test_a_function_of_several_nodes_answers_so_that_each_leads_on(tmp_path: Path) -> None:
    document = yaml.safe_load(PIZZA)
    document["nodes"]["confirm"]["functions"] = [
        {"name": "select_order", "transition_to": {"field": "sure", "cases": {"no": "pizza", "yes": "thanks"}}}
    ]
    flow = loaded(tmp_path, "pizza.json", document)
    assert flow.tools["select_order"].returns == ({"ok": True, "in_stock": True, "sure": "yes"},)


def assert_holds_together(flow: RunnableFlow) -> None:
    assert flow.initial in flow.states
    for name, state in flow.states.items():
        assert flow.successors[name] <= flow.states.keys()
        assert {*state.tools, *(edge.tool for edge in state.edges if edge.tool)} <= {*flow.tools}
        assert state.outcome or state.edges or state.may_end
        assert state.forward in {*flow.successors[name], ""}


@given(flow_configs)
def test_whatever_stands_in_it_a_flow_is_refused_or_holds_together(
    tmp_path_factory: pytest.TempPathFactory, document: dict[str, Any]
) -> None:
    with suppress(UsageError):
        assert_holds_together(loaded(tmp_path_factory.mktemp("flows"), "f.json", document))


@given(runnable_configs)
def test_every_flow_that_makes_sense_can_be_run(
    tmp_path_factory: pytest.TempPathFactory, document: dict[str, Any]
) -> None:
    flow = loaded(tmp_path_factory.mktemp("flows"), "f.json", document)
    assert_holds_together(flow)
    for name, state in flow.states.items():
        for edge in state.edges:
            result = flow.tools[edge.tool].returns[0] if edge.tool else {}
            assert edge.field is None or edge.field in result or not edge.cases, name
