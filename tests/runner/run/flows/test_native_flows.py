"""Flows of native files, ready to be run: the built-in ones, and those that know nothing of the simulator."""

from __future__ import annotations

import gzip
import hashlib
import json
from importlib import resources
from pathlib import Path

import pytest

from tests.support.source_files import NATIVE
from tests.surface.ingest import NO_FLOW, flow_files_read
from tests.surface.runner import FlowEdge, SpokenFact, astray, flow_file_load_flow, flow_names, load_flows
from tests.surface.runner import flow_files_load_flow as load_flow
from tests.surface.runner import riff_runner_simulate as simulate
from tests.surface.store import UsageError

each_flow = pytest.mark.parametrize("name", flow_names())

WHOLE = """
flow = "tap"
success_terminals = ["booked"]
edges = [["greet", "ask"], ["ask", "booked"], { from = "ask", to = "escalated", when = "They insist." }]
[states.greet]
[states.ask]
required_slots = ["name", "party_size"]
[simulate]
initial = "greet"
role = "You answer for a plumber."
[[simulate.scenarios]]
name = "dripping"
says = ["My tap drips."]
goal = "Get somebody to come today."
persona = "hurried"
[simulate.scenarios.facts]
name = { value = "ana", say = "Ana, with one n" }
[simulate.states.greet]
prompt = "Greet the caller."
say = ["Hello!"]
next = "ask"
[simulate.states.ask]
say = ["Who is calling?", "Your name?"]
guard = "has_name"
tool = "book"
[simulate.tools.book]
description = "Books a plumber."
parameters = { type = "object", properties = { day = { type = "string" } }, required = ["day"] }
returns = [{ id = 7 }, { id = 8 }]
"""


def written(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def refusal(tmp_path: Path, text: str) -> str:
    path = written(tmp_path / "f.toml", text)
    with pytest.raises(UsageError) as caught:
        load_flow(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


@each_flow
def test_a_built_in_flow_is_what_its_file_says(name: str) -> None:
    flow = load_flow(name)
    script = flow_file_load_flow(name).simulate
    file = resources.files(simulate).joinpath("flows", f"{name}.toml")
    assert flow.name == name
    assert flow.contract == flow_file_load_flow(name).contract()
    assert flow.digest == hashlib.sha256(file.read_bytes()).hexdigest()
    assert flow.source == "built-in"
    assert flow.successors == {state: flow_file_load_flow(name).successors().get(state, set()) for state in flow.states}
    assert [scenario.name for scenario in flow.scenarios] == [scenario.name for scenario in script.scenarios]
    assert {state for state, about in flow.states.items() if about.outcome == "success"} == flow.contract.successes()
    assert {state.guard for state in flow.states.values()} == {*(s.guard for s in script.states.values()), None}
    assert all(set(state.tools) <= set(flow.tools) for state in flow.states.values())


@each_flow
def test_the_ways_of_a_flow_lead_from_where_a_call_begins_to_where_it_succeeds(name: str) -> None:
    flow = load_flow(name)
    for scenario in flow.scenarios:
        state, tasks, steps = flow.initial, [*scenario.tasks], 0
        while flow.states[state].outcome is None:
            about = flow.states[state]
            way = about.forward
            if not isinstance(way, str):
                way = way[(tasks.pop(0) if tasks else "done") if about.hub else tasks[0]]
            assert way in flow.successors[state]
            state, steps = way, steps + 1
            assert steps < 50
        assert flow.states[state].outcome == "success"


def test_a_file_of_ones_own_says_what_the_agent_is_to_do_and_who_calls(tmp_path: Path) -> None:
    path = written(tmp_path / "tap.toml", WHOLE)
    flow = load_flow(path)
    assert (flow.name, flow.initial, flow.role, flow.source) == ("tap", "greet", "You answer for a plumber.", path)
    assert flow.states["greet"].instruction == "Greet the caller."
    assert flow.states["ask"].instruction == "In substance say: Who is calling?"
    assert flow.states["ask"].edges == (FlowEdge("booked"), FlowEdge("escalated", "They insist."))
    assert (flow.states["ask"].guard, flow.states["ask"].tools, flow.states["ask"].forward) == (
        "has_name",
        ("book",),
        "booked",
    )
    assert flow.states["booked"].may_end
    assert not flow.states["ask"].may_end
    assert flow.outcome_of("escalated") == "escalation"
    book = flow.tools["book"]
    assert (book.description, book.parameters["required"], book.returns) == (
        "Books a plumber.",
        ["day"],
        ({"id": 7}, {"id": 8}),
    )
    (scenario,) = flow.scenarios
    assert (scenario.goal, scenario.persona, scenario.says) == (
        "Get somebody to come today.",
        "hurried",
        ("My tap drips.",),
    )
    assert scenario.facts == {"name": SpokenFact("ana", "Ana, with one n")}
    assert scenario.pools == {"name": "person"}


def test_a_file_without_the_simulators_part_runs_as_well(tmp_path: Path) -> None:
    flow = load_flow(written(tmp_path / "dental.toml", NATIVE))
    assert flow.initial == "greet"
    assert {name: state.outcome for name, state in flow.states.items()} == {
        "greet": None,
        "ask_date": None,
        "lost": "end",
        "booked": "success",
        "escalated": "escalation",
    }
    assert (flow.states["greet"].forward, flow.states["ask_date"].forward) == ("ask_date", "booked")
    (scenario,) = flow.scenarios
    assert scenario.says == ("I'm calling about dental clinic.",)
    assert scenario.pools == {"date": "day", "name": "person"}
    assert set(flow.slots) == {"date", "name"}


def test_a_call_does_not_end_where_it_begins(tmp_path: Path) -> None:
    flow = load_flow(written(tmp_path / "f.toml", 'edges = [["a", "b"]]\n[simulate]\ninitial = "b"'))
    assert (flow.states["b"].outcome, flow.states["b"].may_end) == (None, True)
    assert flow.states["a"].outcome is None


def test_it_may_be_json_and_packed(tmp_path: Path) -> None:
    document = {"flow": "f", "edges": [["a", "b"]], "simulate": {"initial": "a", "role": "You are kind."}}
    (tmp_path / "f.json.gz").write_bytes(gzip.compress(json.dumps(document).encode()))
    assert load_flow(str(tmp_path / "f.json.gz")).role == "You are kind."


def test_what_runs_is_what_ingest_reads(tmp_path: Path) -> None:
    path = tmp_path / "tap.toml"
    written(path, WHOLE)
    file, flow = flow_files_read(path), load_flow(str(path))
    assert flow.contract == file.contract
    assert [(source, to) for source, state in flow.states.items() for to in [e.to_state for e in state.edges]] == list(
        file.described.edges
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('prompt = "G', 'promt = "G', "simulate.states.greet: nobody reads the key 'promt'; did you mean prompt?"),
        ('initial = "greet"', 'initial = "great"', "simulate.initial is 'great', which is not a state; did you mean"),
        ('["ask", "booked"]', '["ask", "bokked"]', "edges: 'bokked' is not a state; did you mean booked?"),
        ('next = "ask"', 'next = "booked"', "simulate.states.greet: no edge leads to 'booked'; there are ask"),
        ('persona = "hurried"', 'persona = "hurry"', "the scenario 'dripping': no persona 'hurry'; did you mean hurr"),
        ('name = { value', 'nam = { value', "the scenario 'dripping': no state has the slot 'nam' of its facts; did"),
        ('say = "Ana, with one n"', "told = 1", "the scenario 'dripping': the fact 'name' is neither a value nor a"),
        ("says = [", 'slots = { name = "persn" }\nsays = [', "the scenario 'dripping': no pool 'persn'; did you mean"),
        ("[[simulate.sc", "slots = { nam = 'person' }\n[[simulate.sc", "simulate.slots: no state has the slot 'nam'"),
        ('says = [', 'tasks = ["vist"]\nsays = [', "the scenario 'dripping': no state turns on the task 'vist'; did"),
        ('["booked"]\n', "3\n", "success_terminals does not fit; see docs/flow-file.md"),
        ("states.greet]\nprompt", "states.greett]\nprompt", "states.greett: no edge leads there; did you mean greet?"),
        ("edges", "edgse", "it has no edges, so there is nothing to run; add edges"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_run_says_where_and_what_to_do(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in WHOLE
    text = WHOLE.replace('next = "ask"', 'next = { visit = "ask" }') if "tasks" in new else WHOLE
    assert message in refusal(tmp_path, text.replace(old, new, 1))


def test_a_state_may_have_a_prompt_where_others_have_none(tmp_path: Path) -> None:
    edges = 'edges = [["greet", "ask"], ["ask", "sold"]]\nsuccess_terminals = ["sold"]\n'
    flow = load_flow(written(tmp_path / "tea.toml", f'{edges}[simulate.states.ask]\nprompt = "Which tea?"'))
    assert [(state.name, state.instruction) for state in flow.states.values()] == [
        ("greet", ""), ("ask", "Which tea?"), ("sold", ""),
    ]  # fmt: skip
    assert list(astray(flow)) == []


@each_flow
def test_all_of_a_built_in_flow_can_be_reached(name: str) -> None:
    assert list(astray(load_flow(name))) == []


def test_what_no_call_can_come_to_is_told(tmp_path: Path) -> None:
    edges = 'edges = [["greet", "ask"], ["ask", "greet"], ["island", "sold"]]\nsuccess_terminals = ["sold"]\n'
    assert list(astray(load_flow(written(tmp_path / "tea.toml", edges)))) == [
        "tea: no edges lead from greet to island, sold",
        "tea: no edges lead from greet to a success, so no call can reach its goal",
    ]


def test_a_flow_that_names_no_success_is_told_what_counts_as_one(tmp_path: Path) -> None:
    [hint] = astray(load_flow(written(tmp_path / "tea.toml", 'edges = [["greet", "sold"], ["greet", "gone"]]')))
    assert hint.startswith("tea: it names no success, so a call that ends in sold, gone is taken to have reached")


def test_what_is_no_flow_at_all_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, "edges = [") == "file is neither JSON nor TOML"
    assert refusal(tmp_path, 'colour = "red"') == NO_FLOW
    assert "edges or states, or nodes" in NO_FLOW
    with pytest.raises(
        UsageError, match=r"no built-in flow 'dental_clinc'; did you mean dental_clinic\? there are apar"
    ):
        load_flow("dental_clinc")
    with pytest.raises(UsageError, match=r"there is no flow file flows/dental.toml; give the path of one"):
        load_flow("flows/dental.toml")
    with pytest.raises(UsageError, match=r"is a directory; name the flow files in it"):
        load_flow(str(tmp_path))


def test_flows_of_one_name_are_told_apart_by_their_files(tmp_path: Path) -> None:
    path = written(tmp_path / "tap.toml", WHOLE)
    same = written(tmp_path / "copy.toml", WHOLE)
    other = written(tmp_path / "other.toml", WHOLE.replace("drips", "leaks"))
    assert [flow.source for flow in load_flows([path, "dental_clinic", same])] == [path, "built-in"]
    with pytest.raises(UsageError, match=r"two flows are called 'tap': .*tap.toml and .*other.toml"):
        load_flows([path, other])
