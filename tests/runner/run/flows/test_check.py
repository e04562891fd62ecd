"""What is wrong with flow files is found before a call is made, each mistake once, with what was meant."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.commands import riff_tui
from tests.surface.ingest import flow_files_read
from tests.surface.runner import Finding, check_flow_file, flow_names
from tests.surface.runner import flow_files_load_flow as load_flow
from tests.surface.runner import riff_runner_simulate as simulate

SIX = """flow = "booking"
success_terminals = ["booked"]
escalation_terminals = ["escalated", "fraud_desk"]
required_slots = ["name", "phne"]
edges = [
  ["greet", "ask"],
  ["ask", "offr"],
  ["ask", "escalated"],
  ["offer", "booked"],
  ["ask", "limbo"],
]
[states.greet]
[states.ask]
requird_slots = ["name", "phone"]
[states.offer]
[states.limbo]
[simulate]
initial = "greet"
[simulate.states.offer]
tool = "find_slots"
[simulate.tools.find_slot]
description = "Finds hours."
"""
PIZZA = """initial_node: greet
nodes:
  greet:
    task_mesages: []
    functions:
      - {name: order, transition_only: true, description: wants pizza, transition_to: pizzza}
      - {name: leave, transition_only: true, description: leaves, transition_to: bye}
  pizza:
    functions:
      - {name: select, transition_to: {field: status, cases: {ok: bye}, defualt: greet}}
    post_actions: [{type: riff, riff: {tool: selct, segmnt: order}}]
  stuck:
    functions: [{name: look_up}]
  bye:
    post_actions: [{type: end_conversation}]
"""


def found(path: Path, text: str) -> list[tuple[str, str | None, str | None, int | None]]:
    path.write_text(text)
    return [(each.kind, each.name, each.near, each.line) for each in check_flow_file(path).findings]


def test_six_mistakes_are_six_findings_with_line_and_name_that_was_meant(tmp_path: Path) -> None:
    assert found(tmp_path / "booking.toml", SIX) == [
        ("terminal-not-reached", "fraud_desk", None, 3),
        ("slot-not-filled", "phne", "phone", 4),
        ("unknown-state", "offr", "offer", 7),
        ("unknown-key", "requird_slots", "required_slots", 14),
        ("no-way-out", "limbo", None, 16),
        ("tool-not-declared", "find_slots", "find_slot", 20),
    ]


@pytest.mark.parametrize(
    ("edges", "stuck"),
    [
        ('["ask", "hold"], ["hold", "hold"]', ["hold"]),
        ('["ask", "hold"], ["hold", "music"], ["music", "hold"]', ["hold"]),
        ('["ask", "hold"], ["hold", "music"], ["music", "hold"], ["music", "ask"]', []),
        ('["ask", "hold"], ["hold", "ask"], ["ask", "ask"]', []),
    ],
)
def test_a_circle_that_no_edge_leads_out_of_is_no_way_out_and_is_told_once(
    tmp_path: Path, edges: str, stuck: list[str]
) -> None:
    text = f'flow = "taps"\nsuccess_terminals = ["done"]\nedges = [["ask", "done"], {edges}]\n'
    assert [name for kind, name, *_ in found(tmp_path / "taps.toml", text) if kind == "no-way-out"] == stuck


def test_mistakes_in_a_flow_of_pipecat_are_found_as_well(tmp_path: Path) -> None:
    assert found(tmp_path / "pizza.yaml", PIZZA) == [
        ("unknown-key", "task_mesages", "task_messages", 4),
        ("unknown-state", "pizzza", "pizza", 6),
        ("unknown-key", "defualt", "default", 10),
        ("unknown-key", "segmnt", "segment", 11),
        ("tool-not-declared", "selct", "select", 11),
        ("no-way-out", "stuck", None, 12),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '{"name": "Clinic", "members": [{"assistant": {"name": "Hello"}, "assistantDestinations":\n'
            '[{"assistantName": "Boker"}]},\n {"assistant": {"name": "Booker", "endCallPhrass": ["bye"]}}]}',
            [("unknown-state", "Boker", "Booker", 2), ("unknown-key", "endCallPhrass", "endCallPhrases", 3)],
        ),
        (
            '{"llm_id": "l", "starting_state": "hi", "states": [\n{"name": "hi", "state_prompt": "x", "edges":\n'
            '[{"destination_state_name": "pai", "description": "wants to"}]},\n'
            '{"name": "pay", "state_prompt": "x", "tools": [{"type": "end_call"}]}]}',
            [("unknown-state", "pai", "pay", 3)],
        ),
        (
            '{"name": "W", "workflow": {"nodes": {"s": {"type": "start"}, "a": {"type": "tool", "label": "Ask"}},\n'
            '"edges": {"1": {"source": "s", "target": "a"}}}}',
            [("no-way-out", "Ask", None, 1)],
        ),
    ],
)
def test_agents_of_platforms_are_checked_by_what_is_read_of_them(
    tmp_path: Path, text: str, expected: list[tuple[str, str | None, str | None, int | None]]
) -> None:
    kinds = ("unknown-state", "unknown-key", "no-way-out")
    assert [each for each in found(tmp_path / "agent.json", text) if each[0] in kinds] == expected


@pytest.mark.parametrize("name", flow_names())
def test_nothing_is_wrong_with_the_flows_that_are_built_in(name: str) -> None:
    with resources.as_file(resources.files(simulate).joinpath("flows", f"{name}.toml")) as path:
        assert check_flow_file(path).count("error") == 0


def test_a_misspelt_terminal_is_one_finding(tmp_path: Path) -> None:
    text = 'success_terminals = ["bookd"]\nedges = [["greet", "booked"]]\n'
    assert found(tmp_path / "tap.toml", text) == [("terminal-not-reached", "bookd", "booked", 1)]


def test_a_name_that_stands_in_two_tables_has_the_line_of_its_own(tmp_path: Path) -> None:
    text = (
        'edges = [["a", "b"]]\n[states.a]\nsegmnt = "x"\n[simulate.states.a]\npromt = "x"\n[states.b]\nsegmnt = "y"\n'
    )
    assert [each for each in found(tmp_path / "tap.toml", text) if each[0] == "unknown-key"] == [
        ("unknown-key", "segmnt", "segment", 3),
        ("unknown-key", "promt", "prompt", 5),
        ("unknown-key", "segmnt", "segment", 7),
    ]


def test_what_is_no_flow_file_is_one_error_and_an_agent_without_a_flow_a_note(tmp_path: Path) -> None:
    assert [each[0] for each in found(tmp_path / "x.toml", "a = ")] == ["unreadable"]
    checked = tmp_path / "y.json"
    checked.write_text('{"general_prompt": "Be kind."}')
    assert [(each.level, each.kind) for each in check_flow_file(checked).findings] == [("note", "remark")]


def test_the_command_lists_what_is_wrong_and_exits_2(tmp_path: Path) -> None:
    (tmp_path / "six.toml").write_text(SIX)
    ended = riff_tui("flows", "check", "six.toml", ROOT / "examples/leaky_tap/flow.toml", directory=tmp_path)
    assert ended.returncode == 2
    assert "six.toml:14: error: states.ask: nobody reads the key 'requird_slots'; did you mean requ" in ended.stdout
    assert ended.stdout.endswith("flow.toml: ok, the flow leaky_tap\n")
    assert ended.stderr == "riff-tui: error: 6 errors in 1 flow file; fix what is listed above\n"
    printed = json.loads(riff_tui("flows", "check", "--json", "six.toml", directory=tmp_path).stdout)
    assert (printed["schema_version"], printed["errors"], printed["notes"]) == (1, 6, 0)
    assert set(printed["files"][0]["findings"][0]) == set(Finding.__slots__)


def test_a_key_that_nobody_reads_is_told_by_ingest_by_doctor_and_by_run(tmp_path: Path) -> None:
    path = tmp_path / "tap.toml"
    path.write_text('flow = "tap"\nsucces_terminals = ["booked"]\nedges = [["greet", "booked"]]\n')
    sentence = "nobody reads the key 'succes_terminals'; did you mean success_terminals?"
    assert [str(key) for key in flow_files_read(path).unknown] == [sentence]
    assert load_flow(str(path)).unread == (sentence,)
    riff_tui("ingest", path, "--store", tmp_path / "x.db")
    assert sentence in riff_tui("dump", "skipped", "--store", tmp_path / "x.db").stdout
    assert sentence in riff_tui("doctor", "--store", tmp_path / "x.db").stdout
    ended = riff_tui("run", "--flows", path, "--agent", "command:true", "--out", tmp_path / "out", "--dry-run")
    assert f"tap: {sentence}" in ended.stderr
