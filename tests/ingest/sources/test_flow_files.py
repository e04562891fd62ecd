"""Flows described in native TOML and JSON, and as pipecat's flow editor writes them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.dirty_inputs import packed
from tests.support.source_files import EDITOR, NATIVE
from tests.surface.ingest import NO_FLOW, BrokenInput, Contract, FlowFile, StateContract
from tests.surface.ingest import flow_files_read as read
from tests.surface.store import DescribedState


def written(path: Path, content: str | bytes | dict[str, Any]) -> Path:
    data = json.dumps(content, indent=1) if isinstance(content, dict) else content
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def states(flow: FlowFile) -> list[tuple[str, str, str | None, tuple[str, ...]]]:
    return [(state.name, state.segment, state.outcome, state.required_slots) for state in flow.described.states]


def test_a_native_toml_file_describes_a_flow(tmp_path: Path) -> None:
    flow = read(written(tmp_path / "x.toml", NATIVE))
    assert flow.contract == Contract(
        success_terminals=["booked"],
        required_slots=["name"],
        completion_slots=["date"],
        archetype="booking",
        states={"greet": StateContract(), "ask_date": StateContract("collect", ["date"]), "lost": StateContract()},
    )
    assert (flow.described.flow, flow.described.archetype) == ("dental_clinic", "booking")
    assert flow.described.edges == [("greet", "ask_date"), ("ask_date", "booked"), ("ask_date", "escalated")]
    assert states(flow) == [
        ("greet", "opening", None, ()),
        ("ask_date", "collect", None, ("date",)),
        ("lost", "other", None, ()),
        ("booked", "action", "success", ()),
        ("escalated", "other", "escalation", ()),
    ]
    assert msgspec.json.decode(flow.described.contract, type=Contract) == flow.contract
    assert flow.left_out == []


def test_the_same_flow_in_json_is_the_same_flow(tmp_path: Path) -> None:
    as_json = {
        "flow": "f",
        "escalation_terminals": [],
        "edges": [["a", "escalated"]],
        "states": {"a": {"required_slots": ["x"]}},
    }
    toml = 'flow = "f"\nescalation_terminals = []\nedges = [["a", "escalated"]]\n[states.a]\nrequired_slots = ["x"]\n'
    flow = read(written(tmp_path / "a.json", as_json))
    assert flow == read(written(tmp_path / "a.toml", toml))
    assert flow == read(written(tmp_path / "a.toml.gz", packed(("\ufeff" + toml).replace("\n", "\r\n").encode())))
    assert states(flow) == [("a", "other", None, ("x",)), ("escalated", "other", None, ())]


def test_the_flow_editors_file_describes_a_flow(tmp_path: Path) -> None:
    flow = read(written(tmp_path / "dental.json", EDITOR))
    assert flow.described.flow == "dental"
    assert flow.contract == Contract(
        success_terminals=["end"],
        escalation_terminals=["human"],
        completion_slots=["date", "ok"],
        states={
            "start": StateContract(),
            "collect_date": StateContract("gather", ["date", "time", "name", "zip"]),
            "confirm": StateContract(None, ["ok"]),
            "end": StateContract(),
            "human": StateContract(),
            "lost": StateContract(),
        },
    )
    assert flow.described.edges == [("start", "collect_date"), ("collect_date", "end")]
    assert states(flow)[1:4] == [
        ("collect_date", "gather", None, ("date", "time", "name", "zip")),
        ("confirm", "confirm", None, ("ok",)),
        ("end", "other", "success", ()),
    ]


def guards_and_tools(flow: FlowFile) -> tuple[set[str], set[str]]:
    items = set(flow.described.items())
    guards, tools = ({name for kind, name in items if kind == each} for each in ("guard", "tool"))
    return guards, tools


def test_a_native_flow_names_guards_in_its_states_or_in_what_plays_them(tmp_path: Path) -> None:
    text = """
    flow = "f"
    edges = [["a", "b"]]
    required_tools = ["log"]
    states.a.guard = "own"
    states.c.guard = 3
    simulate.states.a.guard = "other"
    simulate.states.b.guard = "paid"
    """
    flow = read(written(tmp_path / "f.toml", text))
    assert guards_and_tools(flow) == ({"passed own", "failed own", "passed paid", "failed paid"}, {"log"})
    assert msgspec.json.decode(flow.described.contract, type=Contract) == flow.contract


def test_a_flow_of_nodes_offers_functions_with_code_and_may_mark_guards(tmp_path: Path) -> None:
    code = {"name": "book", "properties": {"day": {"type": "string"}}, "handler": "h"}
    node = {"functions": [code, {"name": "go_on", "transition_to": "end", "transition_only": True}]}
    nodes = {"start": {**node, "riff": {"guard": "has_day"}}, "end": {}}
    flow = read(written(tmp_path / "f.json", {"initial_node": "start", "nodes": nodes}))
    assert guards_and_tools(flow) == ({"passed has_day", "failed has_day"}, {"book"})


def test_edges_may_have_the_names_of_either_form(tmp_path: Path) -> None:
    given = [{"from": "a", "to": "b"}, {"source": "b", "target": "c"}, ["c", "d"], {"source": "d", "to": "e"}]
    for document in ({"flow": "f", "edges": given}, {"nodes": [{"id": "a", "type": "initial"}], "edges": given}):
        flow = read(written(tmp_path / "flow.json", document))
        assert flow.described.edges == [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")]
        assert flow.left_out == []


def test_a_flow_without_marks_promises_no_outcome(tmp_path: Path) -> None:
    nodes = [{"id": "hi", "type": "initial", "data": {}}, {"id": "bye", "type": "end"}]
    flow = read(written(tmp_path / "f.json", {"nodes": nodes}))
    assert flow.contract == Contract(states={"hi": StateContract(), "bye": StateContract()})
    assert flow.described.edges == []


def test_a_flow_without_a_name_has_that_of_its_file(tmp_path: Path) -> None:
    for name, flow in [("booking.toml", "booking"), ("a.b.json", "a.b"), ("x.toml.gz", "x"), (".json", ".json")]:
        assert read(written(tmp_path / name, b'edges = [["a", "b"]]')).described.flow == flow
    odd = os.fsdecode(b"bytes-\xff.toml")
    assert read(written(tmp_path / odd, b'edges = [["a", "b"]]')).described.flow == "bytes-\\xff"


def test_a_flow_says_which_tools_its_states_are_there_to_call(tmp_path: Path) -> None:
    native = """
    flow = "f"
    edges = [["a", "b"], ["b", "done"]]
    required_tools = ["log"]
    tools = { changing = ["get_ticket"], reading = ["peek"] }
    states.a.tool = "book"
    simulate.states.a.tool = "other"
    simulate.states.b.tool = "pay"
    """
    contract = read(written(tmp_path / "f.toml", native)).contract
    assert contract == Contract(
        required_tools=["log"],
        changing_tools=["get_ticket"],
        reading_tools=["peek"],
        states={"a": StateContract(tool="book"), "b": StateContract(tool="pay")},
    )
    mark = {"tool": ["book", "pay"], "required_tools": ["log"], "tools": {"changing": ["get_ticket"]}}
    nodes = [{"id": "a", "type": "initial", "data": {"riff": mark}}, {"id": "b", "data": {"riff": {"tool": "pay"}}}]
    contract = read(written(tmp_path / "e.json", {"nodes": nodes, "edges": [["a", "b"]]})).contract
    assert (contract.required_tools, contract.changing_tools, contract.reading_tools) == (["log"], ["get_ticket"], None)
    assert contract.terms.tools == {"a": ("book", "pay"), "b": ("pay",)}
    odd = {"flow": "f", "edges": [], "tools": {"changing": "book"}, "states": {"a": {"tool": {"name": "x"}}}}
    assert [note.reason for note in read(written(tmp_path / "o.json", odd)).left_out] == [
        "states.tool does not fit and is left out",
        "changing_tools does not fit and is left out",
    ]


def test_parts_that_do_not_fit_are_left_out_and_named(tmp_path: Path) -> None:
    native = {
        "flow": "f",
        "success_terminals": "booked",
        "states": {"a": 5, "b": {"segment": ["x"]}},
        "edges": [["a"], {"from": "a"}, ["a", "b"], 3, ["a", 5]],
    }
    flow = read(written(tmp_path / "f.json", native))
    assert flow.contract == Contract(states={"a": StateContract(), "b": StateContract()})
    assert flow.described.edges == [("a", "b")]
    assert [note.reason for note in flow.left_out] == [
        "states does not fit and is left out",
        "states.segment does not fit and is left out",
        "success_terminals does not fit and is left out",
        "edges does not fit and is left out",
    ]
    editor = {"nodes": [*EDITOR["nodes"], {"type": "node"}, 5, {"id": "z", "data": 3}], "edges": 1}
    flow = read(written(tmp_path / "e.json", editor))
    assert flow.described.states[-1] == DescribedState("z", "other", None)
    assert [note.reason for note in flow.left_out] == [
        "nodes does not fit and is left out",
        "edges does not fit and is left out",
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", NO_FLOW),
        (b'flow = "f"', NO_FLOW),
        (b"{}", NO_FLOW),
        (b"[1, 2]", "file is not a JSON object"),
        (b'{"flow": ', "file is not JSON: it ends too early"),
        (b"flow = [", "file is neither JSON nor TOML"),
        (b'ok = 1\nflow = "secret\n', "line 2: file is neither JSON nor TOML"),
        (b"x = " + b"[" * 5000 + b"]" * 5000, "file is nested too deeply"),
        (b"a." * 200_000 + b"a = 1", "file is nested too deeply, more than 64 levels (limits.depth)"),
        (b"x = {" + b"a." * 200_000 + b"a = 1}", "file is nested too deeply, more than 64 levels (limits.depth)"),
        (b"x = " + b"9" * 5000, "file has a number or a date out of range"),
        (packed(b'flow = "f"')[:-3], "gzip data ends too early"),
    ],
)
def test_a_file_that_describes_no_flow_is_refused_with_the_reason(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(BrokenInput) as caught:
        read(written(tmp_path / "f.toml", content))
    assert str(caught.value) == reason


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "type", "data", "riff", "from", "to", "segment", "x"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)
parts = st.sampled_from(["flow", "archetype", "edges", "states", "nodes", "success_terminals", "required_slots"])


@given(st.dictionaries(parts, json_values).map(lambda value: json.dumps(value).encode()) | st.binary())
def test_no_content_makes_reading_raise_anything_else(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = written(tmp_path_factory.mktemp("flows") / "f.json", content)
    try:
        flow = read(path)
    except BrokenInput:
        return
    msgspec.json.encode(flow)
