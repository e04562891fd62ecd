"""Agents of several prompts as flow files: Retell's states, Vapi's squads and workflows, and what is none."""

from __future__ import annotations

import copy
import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_flows import HIDDEN, exported_llm, retell_llm, squad, vapi_workflow
from tests.support.bland_calls import pathway
from tests.support.elevenlabs_calls import plant_desk, workflow
from tests.support.retell_calls import invoked, retell_call, retell_flow, spoke, written
from tests.support.spots import spots
from tests.support.vapi_calls import squad_call, workflow_call
from tests.surface.ingest import (
    ELEVENLABS_SOURCE,
    RETELL_SOURCE,
    VAPI_SOURCE,
    BrokenInput,
    Conversation,
    FlowFile,
    ReadContext,
    SlotFilled,
    Source,
    StateEntered,
    StateExited,
    detect,
    ingest,
)
from tests.surface.ingest import flow_files_flow_of as flow_of
from tests.surface.runner import flow_files_load_flow as load_flow
from tests.surface.store import Transcripts, Writer, coverage, open_store

PATH = Path("agent.json")


def outcomes(flow: FlowFile) -> dict[str, str | None]:
    return {state.name: state.outcome for state in flow.described.states}


def required(flow: FlowFile) -> dict[str, tuple[str, ...]]:
    return {state.name: state.required_slots for state in flow.described.states if state.required_slots}


def reasons(flow: FlowFile) -> list[str]:
    return [*(note.reason for note in flow.left_out), *flow.remarks]


def initial(flow: FlowFile) -> str:
    assert flow.config is not None
    return flow.config.initial


def calls_of(source: Source, path: Path, flow: FlowFile) -> list[Conversation]:
    """The calls of a file that is read along with a flow file."""
    context = ReadContext(contracts={flow.described.flow: flow.contract})
    return [each[1] for each in source.read(path, context) if isinstance(each, tuple)]


def entered(call: Conversation) -> list[str]:
    return [event.state for event in call.events if type(event) is StateEntered]


def test_states_of_a_retell_agent_are_those_of_the_flow(tmp_path: Path) -> None:
    assert detect(written(tmp_path / "a.json", retell_llm())) == ("flow-file", "it has the states of a Retell agent")
    flow = flow_of(retell_llm(), PATH)
    assert (flow.described.flow, flow.contract.other_names, initial(flow)) == ("Desk", ["l"], "hi")
    assert flow.described.edges == [("hi", "pay")]
    assert outcomes(flow) == {"hi": None, "pay": "escalation", "lost": None}
    assert required(flow) == {"hi": ("sum",)}
    assert reasons(flow) == [
        "states.lost: its edge 'y' leads to 'nowhere', which is not a known state",
        "states.lost: nothing leads to it",
    ]


def test_an_exported_agent_has_its_states_one_level_below() -> None:
    flow = flow_of(exported_llm(), PATH)
    assert (flow.described.flow, flow.contract.other_names, initial(flow)) == ("Visits", ["llm_1", "agent_9"], "greet")
    assert outcomes(flow) == {"greet": None, "book": None, "done": "success", "human": "escalation", "other": None}
    assert required(flow) == {"book": ("day", "hour")}
    assert reasons(flow) == [
        "states.book: its edge 'calls [number], see [url]' leads to 'gone', which is not a known state",
        "states.other: nothing leads to it",
    ]


@pytest.mark.parametrize(
    ("own", "shared", "outcome", "is_listed"),
    [
        (["end_call"], [], "success", False),
        ([], ["end_call"], "success", False),
        (["transfer_call"], [], "escalation", False),
        (["transfer_call"], ["end_call"], "escalation", False),
        (["transfer_call", "end_call"], [], "success", False),
        (["agent_swap"], [], None, False),
        (["custom"], [], None, True),
        ([], [], None, True),
    ],
)
def test_tools_say_how_a_state_of_retell_without_edges_ends(
    own: list[str], shared: list[str], outcome: str | None, *, is_listed: bool
) -> None:
    state = {"name": "a", "state_prompt": "", "tools": [{"type": kind, "name": "t"} for kind in own]}
    flow = flow_of({"states": [state], "general_tools": [{"type": kind, "name": "t"} for kind in shared]}, PATH)
    assert outcomes(flow) == {"a": outcome}
    assert reasons(flow) == ["states.a: nothing leads out of it, and it does not end the call"] * is_listed


def test_members_of_a_squad_are_states(tmp_path: Path) -> None:
    assert detect(written(tmp_path / "s.json", squad())) == ("flow-file", "it has the members of a Vapi squad")
    flow = flow_of(squad(), PATH)
    assert (flow.described.flow, flow.contract.other_names) == ("Clinic squad", ["squad-1"])
    assert initial(flow) == "Greeter"
    assert flow.described.edges == [("Greeter", "Booker"), ("Booker", "Closer"), ("Booker", "a-4")]
    assert outcomes(flow) == {"Greeter": None, "Booker": None, "Closer": "success", "a-4": "escalation"}
    assert required(flow) == {"Booker": ("day",)}
    assert {name: state.id for name, state in flow.contract.states.items()} == {
        "Greeter": "Greeter",
        "Booker": "a-2",
        "Closer": "a-3",
        "a-4": "a-4",
    }
    assert reasons(flow) == []


@pytest.mark.parametrize(
    ("assistant", "outcome", "notes"),
    [
        ({"model": {"tools": [{"type": "endCall"}]}}, "success", []),
        ({"model": {"tools": [{"type": "function", "function": {"name": "end_call_now"}}]}}, "success", []),
        ({"model": {"functions": [{"name": "end_call"}]}}, "success", []),
        ({"endCallFunctionEnabled": True}, "success", []),
        ({"endCallPhrases": ["bye"]}, "success", []),
        ({"endCallPhrases": []}, None, ["nothing leads out of it, and it does not end the call"]),
        ({"model": {"tools": [{"type": "transferCall", "destinations": [{"type": "sip"}]}]}}, "escalation", []),
        ({"model": {"tools": [{"type": "handoff", "destinations": [{"type": "squad"}]}]}}, None, []),
        (
            {"tools": [{"type": "handoff", "destinations": [{"type": "dynamic"}]}]},
            None,
            ["its target is chosen by a server"],
        ),
        (
            {"tools": [{"type": "transferCall", "destinations": [{"type": "assistant", "assistantName": "x"}]}]},
            None,
            ["an edge leads to 'x', which is not a known member"],
        ),
        ({"model": {"toolIds": ["t"]}}, None, ["its tools are named by ids alone, so nothing shows where it leads"]),
        ({}, None, ["nothing leads out of it, and it does not end the call"]),
    ],
)
def test_what_a_member_without_edges_has_says_how_it_ends(
    assistant: dict[str, Any], outcome: str | None, notes: list[str]
) -> None:
    flow = flow_of({"members": [{"assistant": {"name": "A", **assistant}}]}, PATH)
    assert outcomes(flow) == {"A": outcome}
    assert reasons(flow) == [f"members.A: {note}" for note in notes]


def test_names_of_members_are_their_own_else_overridden_else_ids() -> None:
    members = [
        {"assistant": {"name": "A"}, "assistantOverrides": {"name": "B"}, "assistantId": "c"},
        {"assistantOverrides": {"name": "B"}, "assistantId": "d"},
        {"assistantId": "e"},
        {"assistant": {"name": "A"}},
    ]
    flow = flow_of({"members": members}, PATH)
    assert list(outcomes(flow)) == ["A", "B", "e"]
    assert "members.A: more than one member is called this, and calls do not distinguish them" in reasons(flow)


def test_nodes_of_an_older_workflow_are_states(tmp_path: Path) -> None:
    path = written(tmp_path / "w.json", vapi_workflow())
    assert detect(path) == ("flow-file", "it has the nodes of a Vapi workflow")
    flow = flow_of(vapi_workflow(), PATH)
    assert (flow.described.flow, flow.contract.other_names, initial(flow)) == ("Clinic flow", ["flow-1"], "hello")
    assert flow.described.edges == [("pick_day", "goodbye"), ("hello", "pick_day"), ("hello", "person")]
    assert outcomes(flow) == {"pick_day": None, "hello": None, "goodbye": "success", "person": "escalation"}
    assert required(flow) == {"pick_day": ("day_wanted",)}
    assert reasons(flow) == []


def test_an_edge_of_a_workflow_that_begins_or_ends_nowhere_is_listed() -> None:
    drawn = vapi_workflow()
    drawn["edges"] += [{"from": "ghost", "to": "hello"}, {"from": "hello", "to": "moon"}]
    assert reasons(flow_of(drawn, PATH)) == [
        "nodes.hello: an edge leads to 'moon', which is not a known node",
        "an edge leads from 'ghost', which is not a known node",
    ]


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"llm_id": "l", "general_prompt": "x", "states": None}, "one prompt; its calls have the tools as states"),
        ({"retellLlmData": {"general_prompt": "x"}}, "one prompt; its calls have the tools as states"),
        (
            {"id": "a", "model": {"provider": "openai"}, "firstMessage": "Hi."},
            "one prompt; its calls have the tools as states",
        ),
        (
            {"agent_id": "a", "conversation_config": {"agent": {"prompt": {"prompt": "x"}}}},
            "an agent without a workflow; its calls have the tools as states",
        ),
    ],
)
def test_an_agent_of_one_prompt_is_not_taken_and_no_loss(tmp_path: Path, document: Any, reason: str) -> None:
    written(tmp_path / "agent.json", document)
    written(tmp_path / "calls.json", [retell_call()])
    with open_store(tmp_path / "s.db", write=True, create=True) as store:
        summary = ingest([tmp_path], Writer(store))
        noted = store.execute_sql("SELECT kind, reason FROM skipped_input")
    assert (summary.skipped, summary.conversations("taken")) == (0, 1)
    assert ("defect", reason) in noted


N8N = {"nodes": [{"id": "1", "name": "Webhook", "type": "n8n-nodes-base.webhook", "parameters": {}}], "connections": {}}


@pytest.mark.parametrize(
    "document",
    [
        N8N,
        N8N | {"nodes": [{"id": "1", "type": "initial", "data": {"functions": []}}]},
        {"members": [{"user": "u", "role": "admin"}], "messages": []},
        {"states": [{"name": "Texas"}]},
        {"model": {"provider": "openai"}, "temperature": 0},
    ],
)
def test_what_others_draw_or_list_is_no_flow(tmp_path: Path, document: Any) -> None:
    assert detect(written(tmp_path / "x.json", document)).kind is None


def moved(former: str, new: str, t: float) -> dict[str, Any]:
    return {"role": "state_transition", "former_state_name": former, "new_state_name": new, "time_sec": t}


def test_a_call_of_states_belongs_to_the_file_that_has_them_and_its_transition_is_no_tool(tmp_path: Path) -> None:
    items = [
        spoke("agent", "Hello.", 0.5, 1.0),
        invoked("t1", "transition_to_done", '{"day": "Tue", "hour": 9}', 4.0),
        moved("book", "done", 4.5),
        invoked("t2", "transition_to_mars", "{}", 5.0),
        spoke("agent", "Goodbye.", 6.0, 7.0),
    ]
    call = retell_call(items=items, agent_name="Somebody else", agent_id="z")
    [found] = calls_of(RETELL_SOURCE, written(tmp_path / "c.json", call), flow_of(exported_llm(), PATH))
    assert (found.flow, entered(found), found.completed) == ("Visits", ["book", "done"], True)
    assert [tool.name for tool in found.tool_calls] == ["transition_to_mars"]
    filled = [(event.slot, event.value, event.state) for event in found.events if type(event) is SlotFilled]
    assert filled == [("day", "Tue", "book"), ("hour", 9, "book")]


def test_where_only_tools_lead_to_states_they_are_entered_by_these(tmp_path: Path) -> None:
    items = [
        invoked("t1", "transition_to_book", "{}", 2.0),
        invoked("t2", "transition_to_human", '{"day": "Tue"}', 4.0),
    ]
    call = retell_call(items=items, agent_name="Visits")
    [found] = calls_of(RETELL_SOURCE, written(tmp_path / "c.json", call), flow_of(exported_llm(), PATH))
    assert (entered(found), found.tool_calls, found.completed) == (["book", "human"], [], False)


def test_a_call_that_knows_its_squad_by_id_alone_has_its_flow_and_states(tmp_path: Path) -> None:
    flow = flow_of(squad(), PATH)
    [found] = calls_of(VAPI_SOURCE, written(tmp_path / "c.json", squad_call()), flow)
    assert (found.flow, entered(found)) == ("Clinic squad", ["Greeter", "Booker"])
    nameless = squad()
    nameless["members"][1] = {"assistantId": "a-2"}
    [found] = calls_of(VAPI_SOURCE, written(tmp_path / "c.json", squad_call()), flow_of(nameless, PATH))
    assert entered(found) == ["Greeter", "a-2"]
    [found] = calls_of(VAPI_SOURCE, written(tmp_path / "c.json", workflow_call()), flow_of(vapi_workflow(), PATH))
    assert (found.flow, entered(found), found.completed) == ("Clinic flow", ["hello", "pick_day", "goodbye"], True)


def test_with_the_workflow_an_edge_says_why_a_node_was_left(tmp_path: Path) -> None:
    agent = workflow() | {"name": "Other", "agent_id": "ag1"}
    [found] = calls_of(ELEVENLABS_SOURCE, written(tmp_path / "c.json", plant_desk()), flow_of(agent, PATH))
    assert found.flow == "Other"
    left = [(event.state, event.to_state, event.reason) for event in found.events if type(event) is StateExited]
    # e2 leads elsewhere in the file, which is of another version, so its words say nothing of this call
    assert left == [("Hello", "n_stock", "names a plant"), ("n_stock", "n_sorry", None)]
    agent["workflow"]["edges"]["e2"] = {
        "source": "n_sorry",
        "target": "n_stock",
        "forward_condition": {"type": "expression"},
        "backward_condition": {"type": "result", "successful": False},
    }
    agent["workflow"]["nodes"]["n_sorry"] = {"type": "override_agent"}
    [found] = calls_of(ELEVENLABS_SOURCE, written(tmp_path / "c.json", plant_desk()), flow_of(agent, PATH))
    assert [event.reason for event in found.events if type(event) is StateExited] == ["names a plant", "failed"]


def test_flows_of_agents_can_be_run_and_tell_what_their_prompts_ask(tmp_path: Path) -> None:
    flow = load_flow(str(written(tmp_path / "s.json", squad())))
    assert (flow.initial, flow.states["Greeter"].instruction) == ("Greeter", "First say: Clinic, hello.")
    assert [(edge.to_state, edge.description) for edge in flow.states["Booker"].edges] == [
        ("Closer", ""),
        ("a-4", "asks for a person"),
    ]
    assert flow.states["Booker"].required_slots == ("day",)
    agent = exported_llm()
    del agent["retellLlmData"]["states"][1]["edges"][2]
    flow = load_flow(str(written(tmp_path / "r.json", agent)))
    assert flow.states["book"].instruction == "Take the day."
    flow = load_flow(str(written(tmp_path / "w.json", vapi_workflow())))
    assert (flow.role, flow.states["pick_day"].instruction) == ("You answer for a clinic.", "Which day?")


def test_coverage_asks_for_the_states_and_the_steps_of_an_agent(tmp_path: Path) -> None:
    written(tmp_path / "squad.json", squad())
    written(tmp_path / "calls.json", [squad_call()])
    with open_store(tmp_path / "s.db", write=True, create=True) as store:
        ingest([tmp_path], Writer(store))
        [found] = coverage(store)
    assert found.keys == {"flow": "Clinic squad"}
    untouched = {item.item for item in found.items if not item.calls}
    assert untouched >= {"Closer", "a-4"}


def everything_in(path: Path) -> str:
    """All that a store holds, its transcripts unpacked."""
    with open_store(path) as store:
        tables = [row[0] for row in store.execute_sql("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows: list[Any] = [row for table in tables for row in store.execute_sql(f'SELECT * FROM "{table}"')]
        rows += [
            Transcripts(store).text(*row) for row in store.execute_sql("SELECT body, dictionary_id FROM transcript")
        ]
    return path.read_bytes().decode("latin-1") + "".join(map(str, rows))


def test_no_number_token_header_or_link_of_an_agent_reaches_the_store(tmp_path: Path) -> None:
    nosy = exported_llm()
    nosy["retellLlmData"]["states"][0]["name"] = "greet hidden-token 4155550144"
    drawn = retell_flow()
    drawn["nodes"] = json.loads(json.dumps(drawn["nodes"]))
    drawn["nodes"][2]["edges"][1]["transition_condition"]["prompt"] = (
        "asks for 415 555 0142 or hidden-key-5550143-abcdefg"
    )
    plants = workflow()
    plants["workflow"]["nodes"]["n_end"]["transfer_destination"] = {"phone_number": "+14155550144"}
    plants["workflow"]["edges"]["e1"]["forward_condition"]["condition"] = "is 14155550144 or 415-555-0142"
    for number, document in enumerate((nosy, squad(), drawn, plants)):
        written(tmp_path / f"{number}.json", document)
    written(tmp_path / "calls.json", [plant_desk()])
    with open_store(tmp_path / "s.db", write=True, create=True) as store:
        summary = ingest([tmp_path], Writer(store))
    assert (summary.skipped, summary.conversations("taken")) == (0, 1)
    kept = everything_in(tmp_path / "s.db")
    assert "is [number] or [number]" in kept
    for hidden in (*HIDDEN, "415 555", "415-555", "x.example", "y.example"):
        assert hidden not in kept, hidden


def test_a_word_in_a_header_takes_no_state_its_name() -> None:
    tool = {"type": "custom", "name": "c", "headers": {"x-source": "booking", "x-run": "secret-7", "x-key": "s" * 16}}
    states = [{"name": name, "state_prompt": "", "tools": [tool]} for name in ("booking", "secret-7", "s" * 16)]
    flow = flow_of({"states": states}, PATH)
    assert list(outcomes(flow)) == ["booking", "[token]"]


def _long_named(document: Any) -> Any:
    """The same with the names of all that leads anywhere so long that no sentence has room for two."""
    if isinstance(document, list):
        return [_long_named(each) for each in document]
    if not isinstance(document, dict):
        return document
    names = ("id", "name", "label", "destination_state_name", "destination_node_id", "assistantName", "from", "to")
    return {
        key: f"{value} {'long ' * 300}" if key in names and isinstance(value, str) else _long_named(value)
        for key, value in document.items()
    }


@pytest.mark.parametrize(
    "document", [retell_llm(), exported_llm(), squad(), vapi_workflow(), workflow(), retell_flow(), pathway()]
)
def test_what_is_odd_is_told_whole_however_long_names_are(document: Any) -> None:
    for reason in reasons(flow_of(_long_named(document), PATH)):
        assert len(reason) < 300
        assert reason.endswith(("not a known state", "not a known member", "not a known node", "not a node",
                                "nothing leads to it", "does not end the call", "leads to no node",
                                "do not distinguish them"))  # fmt: skip


def test_thousands_of_mutated_agents_are_described_or_refused() -> None:
    chance = random.Random(31)
    documents = [retell_llm(), exported_llm(), squad(), vapi_workflow(), workflow(), retell_flow(), pathway()]
    places = [(document, spots(document)) for document in documents]
    values: list[Any] = [None, True, 0, -1.5, 10**30, "", "hi", "x" * 300, [], [1, "a", None], {}, [[]]]
    for _ in range(2000):
        document, known = chance.choice(places)
        changed = copy.deepcopy(document)
        for *keys, last in chance.sample(known, chance.randint(1, 3)):
            holder: Any = changed
            with suppress(KeyError, IndexError, TypeError):  # what an earlier change took away
                for key in keys:
                    holder = holder[key]
                holder[last] = copy.deepcopy(chance.choice(values))
        with suppress(BrokenInput):
            flow = flow_of(json.loads(json.dumps(changed)), PATH)
            names = {state.name for state in flow.described.states}
            assert {end for edge in flow.described.edges for end in edge} <= names
