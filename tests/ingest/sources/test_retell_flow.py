"""Flows of Retell as flow files: nodes, edges, ends and slots, and what is wrong with how they are drawn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support.neighborhoods import neighborhood
from tests.support.retell_calls import (
    FLOW_ID,
    a_day_of_calls,
    goes,
    node,
    opinion,
    retell_call,
    retell_flow,
    stuck_call,
    written,
)
from tests.support.strategies import JSON
from tests.surface.ingest import BrokenInput, FlowFile, detect, ingest
from tests.surface.ingest import flow_files_flow_of as flow_of
from tests.surface.ingest import flow_files_read as read
from tests.surface.runner import flow_files_load_flow as load_flow
from tests.surface.store import Writer, conversations, open_store, worklist


def reasons(flow: FlowFile) -> list[str]:
    return [note.reason for note in flow.left_out]


def drawn(*nodes: dict[str, Any], **more: Any) -> FlowFile:
    return flow_of({"conversation_flow_id": "f", "start_node_id": "a", "nodes": list(nodes), **more}, Path("f.json"))


def test_nodes_are_states_and_every_kind_of_edge_leads_somewhere(tmp_path: Path) -> None:
    path = written(tmp_path / "flow.json", retell_flow())
    assert detect(path).kind == "flow-file"
    flow = read(path)
    assert (flow.described.flow, flow.contract.success_terminals, flow.contract.escalation_terminals) == (
        FLOW_ID,
        ["Goodbye"],
        ["Transfer"],
    )
    assert {state.name: state.outcome for state in flow.described.states if state.outcome} == {
        "Goodbye": "success",
        "Transfer": "escalation",
    }
    assert flow.described.edges == [
        ("Welcome", "Ask intent"),
        ("Ask intent", "Collect address"),
        ("Ask intent", "Transfer"),
        ("Collect address", "Extract address"),
        ("Collect address", "Transfer"),
        ("Extract address", "Check availability"),
        ("Check availability", "Confirm visit"),
        ("Confirm visit", "Goodbye"),
        ("Transfer", "Goodbye"),
    ]
    assert flow.contract.states["Extract address"].required_slots == ["street", "zip"]
    assert flow.contract.states["Collect address"].id == "n3"


def test_an_edge_that_was_drawn_to_no_node_is_told(tmp_path: Path) -> None:
    assert reasons(read(written(tmp_path / "flow.json", retell_flow()))) == [
        "nodes.Collect address: its edge 'case 1' leads to no node"
    ]
    flow = drawn(node("a", "Hello", "conversation", "b", "gone"), node("b", "End", "end"))
    assert reasons(flow) == ["nodes.Hello: its edge 'case 1' leads to 'gone', which is not a node"]


def test_a_node_that_nothing_leads_out_of_is_told_unless_the_call_may_end_there() -> None:
    flow = drawn(
        node("a", "Hello", "conversation", "b"),
        node("b", "Stuck", "conversation"),
        node("c", "Anytime", "conversation", global_node_setting={"condition": "the caller is angry"}),
        node("d", "Swap", "agent_swap"),
    )
    assert reasons(flow) == ["nodes.Stuck: nothing leads out of it, and it does not end the call"]


def test_a_node_without_a_name_is_called_by_its_id_and_two_of_one_name_are_told() -> None:
    nameless = {"id": "a", "type": "conversation", "edges": [goes("b")]}
    flow = drawn(nameless, node("b", "End", "end"), node("c", "End", "end"))
    assert [state.name for state in flow.described.states] == ["a", "End"]
    assert reasons(flow) == ["nodes.End: more than one node is called this, and calls do not distinguish them"]


def test_nodes_of_a_component_belong_to_the_flow_and_its_node_leads_into_it() -> None:
    inner = [node("x", "Ask name", "conversation", "y"), node("y", "Ask date", "conversation", "a")]
    flow = drawn(
        node("a", "Identify", "component", "b", component_id="c-1", component_type="local"),
        node("b", "End", "end"),
        components=[{"id": "c-1", "name": "Who", "start_node_id": "x", "nodes": inner}],
    )
    assert flow.described.edges == [
        ("Identify", "End"),
        ("Identify", "Ask name"),
        ("Ask name", "Ask date"),
        ("Ask date", "Identify"),
    ]


def test_the_name_that_a_user_writes_into_the_file_names_the_flow_else_an_exported_agent_does() -> None:
    assert flow_of(retell_flow() | {"flow": "plumber"}, Path("f.json")).described.flow == "plumber"
    exported = {"agent_name": "Plumb line", "conversationFlow": retell_flow()}
    assert flow_of(exported, Path("f.json")).described.flow == "Plumb line"
    assert flow_of(retell_flow() | {"conversation_flow_id": None}, Path("dental.json")).described.flow == "dental"


def test_a_flow_without_findings_can_be_run(tmp_path: Path) -> None:
    flow = retell_flow()
    flow["nodes"] = json.loads(json.dumps(flow["nodes"]))
    del flow["nodes"][2]["edges"][1]
    runnable = load_flow(str(written(tmp_path / "flow.json", flow)))
    assert (runnable.initial, runnable.states["Welcome"].edges[0].to_state) == ("Welcome", "Ask intent")
    assert {name: state.outcome for name, state in runnable.states.items() if state.outcome} == {
        "Goodbye": "success",
        "Transfer": "escalation",
    }


def test_the_node_in_which_calls_stick_is_what_to_fix_and_what_starves_is_known(tmp_path: Path) -> None:
    (tmp_path / "day").mkdir()
    written(tmp_path / "day" / "calls.json", a_day_of_calls())
    written(tmp_path / "day" / "flow.json", retell_flow())
    with open_store(tmp_path / "s.db", write=True, create=True) as store:
        ingest([tmp_path / "day"], Writer(store))
        found = worklist(store)
        around = neighborhood(store, FLOW_ID, "Collect address")
    assert found.states[0].keys == {"flow": FLOW_ID, "state": "Collect address"}
    assert found.first is not None
    assert (found.first.state, found.first.failed) == ("Collect address", 18)
    behind = ["Check availability", "Confirm visit", "Extract address", "Goodbye"]
    assert sorted(each.state for each in around.blast.victims if each.starved == 18) == behind


def test_the_analyzed_call_stays_whichever_file_is_read_last(tmp_path: Path) -> None:
    analyzed = written(tmp_path / "a.json", retell_call(call_analysis=opinion(is_good=True)))
    ended = written(tmp_path / "b.json", retell_call(items=[]))
    with open_store(tmp_path / "s.db", write=True, create=True) as store:
        ingest([analyzed], Writer(store))
        ingest([ended], Writer(store))
        found = conversations(store)
    assert [call.turn_count for call in found] == [2.0]


def test_where_no_call_got_any_further_the_edges_say_what_starves(tmp_path: Path) -> None:
    (tmp_path / "day").mkdir()
    written(tmp_path / "day" / "calls.json", [stuck_call(number) for number in range(6)])
    written(tmp_path / "day" / "flow.json", retell_flow())
    with open_store(tmp_path / "s.db", write=True, create=True) as store:
        ingest([tmp_path / "day"], Writer(store))
        around = neighborhood(store, FLOW_ID, "Collect address")
    behind = ["Check availability", "Confirm visit", "Extract address", "Goodbye"]
    assert sorted(each.state for each in around.blast.victims) == behind
    assert around.blast.basis == "files"
    assert {each.starved for each in around.blast.victims} == {None}


PARTS = st.sampled_from(["id", "name", "type", "edges", "else_edge", "variables"])


@given(st.lists(st.dictionaries(PARTS, JSON), max_size=4))
def test_a_flow_of_odd_values_is_described_or_refused(nodes: list[dict[str, Any]]) -> None:
    try:
        flow = drawn(*nodes, components=nodes)
    except BrokenInput:
        return
    names = {state.name for state in flow.described.states}
    assert {end for edge in flow.described.edges for end in edge} <= names
