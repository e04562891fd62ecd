"""Workflows of ElevenLabs' agents as flow files: states, edges in both ways, ends, and what is listed or refused."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.elevenlabs_calls import workflow
from tests.support.spots import spots, with_value_at
from tests.support.strategies import JSON
from tests.surface.ingest import BrokenInput, detect
from tests.surface.ingest import flow_files_flow_of as flow_of
from tests.surface.ingest import flow_files_read as read

PATH = Path("agent.json")


def drawn(nodes: dict[str, Any], *edges: Any) -> Any:
    return {"agent_id": "ag1", "workflow": {"nodes": nodes, "edges": {f"e{n}": edge for n, edge in enumerate(edges)}}}


def written(folder: Path, document: Any) -> Path:
    (folder / "agent.json").write_text(json.dumps(document))
    return folder / "agent.json"


def test_nodes_are_states_and_edges_lead_on_and_back(tmp_path: Path) -> None:
    assert detect(written(tmp_path, workflow())) == ("flow-file", "it has the nodes of an ElevenLabs workflow")
    flow = flow_of(workflow(), PATH)
    assert (flow.described.flow, flow.contract.success_terminals) == ("Plant desk", ["n_end"])
    assert [(state.name, state.outcome) for state in flow.described.states if state.outcome] == [("n_end", "success")]
    assert flow.described.edges == [("Hello", "n_stock"), ("n_stock", "Hello"), ("n_stock", "n_end")]
    assert {name: state.id for name, state in flow.contract.states.items()} == {
        "Hello": "n_hello",
        "n_stock": "n_stock",
        "n_end": "n_end",
    }
    assert flow.config is not None
    assert flow.config.initial == "Hello"
    assert flow.left_out == []


def test_a_workflow_may_stand_in_the_configuration_of_an_agent(tmp_path: Path) -> None:
    inner = {"agent_id": "ag1", "conversation_config": {"workflow": workflow()["workflow"]}}
    assert detect(written(tmp_path, inner)).kind == "flow-file"
    assert flow_of(inner, PATH).described.flow == "ag1"
    assert flow_of(inner | {"flow": "mine", "name": "Desk"}, PATH).described.flow == "mine"


def test_where_a_call_may_end_is_no_dead_end_and_others_are_listed() -> None:
    nodes = {
        "s": {"type": "start"},
        "a": {"type": "override_agent", "label": "Same"},
        "b": {"type": "say", "label": "Same"},
        "c": {"type": "standalone_agent", "agent_id": "x"},
        "d": {"type": "phone_number", "transfer_destination": {"phone_number": "+15550100001"}},
    }
    flow = flow_of(
        drawn(nodes, {"from": "s", "to": "a"}, {"source": "a", "target": "d"}, {"source": "a", "target": "z"}), PATH
    )
    assert (flow.contract.escalation_terminals, flow.described.edges) == (["d"], [("a", "d")])
    assert [note.reason for note in flow.left_out] == [
        "edges: one leads to 'z', which is not a node",
        "nodes.b: nothing leads out of it, and it does not end the call",
    ]
    assert "5550100001" not in repr(flow)


def test_an_agent_without_a_workflow_is_refused_with_what_its_calls_have(tmp_path: Path) -> None:
    path = written(tmp_path, drawn({"s": {"type": "start"}}))
    assert detect(path) == ("flow-file", "it is an agent without a flow")
    with pytest.raises(BrokenInput, match="an agent without a workflow; its calls have the tools as states"):
        read(path)


@pytest.mark.parametrize("nodes", [[{"type": "start"}], {"a": {"type": "end"}}, {}])
def test_what_only_looks_alike_is_none(tmp_path: Path, nodes: Any) -> None:
    assert detect(written(tmp_path, drawn(nodes))).kind is None


@given(st.sampled_from(spots(workflow())), JSON)
def test_values_of_wrong_types_give_a_flow_or_a_reason(spot: tuple[Any, ...], value: Any) -> None:
    with suppress(BrokenInput):
        assert flow_of(with_value_at(workflow(), spot, value), PATH).described.flow
