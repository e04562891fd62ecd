"""How often the blame agrees with people: calls of tau-bench v1 are read, and each place is held against a label."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.blame import Label, LabelledCall, Place, conversation_of, labelled_calls, main, report
from tests.conftest import ROOT


def called(name: str, **arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": function}]}


def said(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "content": content}


REFUNDED = {
    "task_id": 7,
    "trial": 2,
    "reward": 0.0,
    "info": {
        "task": {
            "actions": [
                {"name": "get_order", "kwargs": {"order_id": "#1"}},
                {"name": "refund_order", "kwargs": {"order_id": "#1"}},
            ],
            "outputs": ["1250.5", "tuesday"],
        }
    },
    "traj": [
        said("system", "Be polite."),
        said("user", "A refund, please."),
        called("get_order", order_id="#1"),
        said("tool", "pending"),
        said("assistant", "That will be $1,250.50."),
        said("user", "Good."),
        called("refund_order", order_id="#2"),
        said("tool", "Error: no such order"),
        said("assistant", "It is done."),
        said("user", "###STOP###"),
    ],
}


def test_results_of_tau_bench_become_calls_whose_clock_are_the_messages() -> None:
    call, states = conversation_of("retail", REFUNDED)
    assert states == ["opening", "opening"] + ["get_order"] * 4 + ["refund_order"] * 4
    assert [(turn.role, turn.t, turn.state) for turn in call.turns] == [
        ("caller", 2, "opening"),
        ("agent", 5, "get_order"),
        ("caller", 6, "get_order"),
        ("agent", 9, "refund_order"),
    ]
    assert [(tool.name, tool.t, tool.state, tool.error) for tool in call.tool_calls] == [
        ("get_order", 3, "get_order", None),
        ("refund_order", 7, "refund_order", "Error: no such order"),
    ]
    assert [(step.called, step.matched) for step in call.expected_steps or ()] == [(True, True), (True, False)]
    assert [(answer.text, answer.said) for answer in call.expected_answers] == [("1250.5", True), ("tuesday", False)]
    assert (call.passed, call.trial, call.scenario) == (False, 2, "7")


def test_a_task_that_is_not_known_asks_for_nothing_and_one_without_actions_for_no_step() -> None:
    assert conversation_of("retail", REFUNDED | {"info": {}})[0].expected_steps is None
    assert conversation_of("retail", REFUNDED | {"info": {"task": {"actions": []}}})[0].expected_steps == []


def test_handing_over_is_an_escalation_unless_the_task_asks_for_it() -> None:
    handed = [said("user", "A person!"), called("transfer_to_human_agents", summary="stuck"), said("tool", "Done.")]
    asked = {"task": {"actions": [{"name": "transfer_to_human_agents", "kwargs": {"summary": "stuck"}}]}}
    for info, escalations in ((REFUNDED["info"], ["transfer_to_human_agents"]), (asked, [])):
        call = conversation_of("retail", REFUNDED | {"traj": handed, "info": info})[0]
        assert call.contract is not None
        assert call.contract.escalation_terminals == escalations


@pytest.mark.parametrize(
    ("place", "hits"),
    [
        (Place("get_order", 5), (True, True, True, True)),
        (Place("refund_order", 7), (False, True, False, True)),
        (Place("refund_order", 8), (False, True, False, False)),
        (Place("opening", 3), (False, False, False, True)),
        (Place(None, None), (False, False, False, False)),
    ],
)
def test_a_place_is_held_against_the_state_and_the_step_of_the_label(place: Place, hits: tuple[bool, ...]) -> None:
    assert LabelledCall(*conversation_of("retail", REFUNDED), Label(7, 5)).hits(place) == hits


def test_labelled_calls_of_any_directory_are_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "retail.json").write_text(json.dumps([REFUNDED]), encoding="utf-8")
    labels = [{"task_id": 7, "trial": 2, "step": 7, "category": "Invalid Invocation", "who": "Assistant", "more": 1}]
    (tmp_path / "labels.json").write_text(json.dumps(labels), encoding="utf-8")
    assert main([str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "| the blame | 1 | 1 | 1 | 1 |\n| the last tool | 1 | 1 | 1 | 1 |\n" in printed
    assert "| Invalid Invocation | Assistant | 1 | 1 | 1 | 1 | 1 |\n" in printed
    assert "1 of 1 calls have a blame and a moment, in 1 groups of causes.\n" in printed
    assert "| 7 | 7 | refund_order | refund_order | 7 | refused action | · |\n" in printed


def test_the_page_prints_how_often_the_blame_of_real_calls_agrees_with_people(shared_data: Path) -> None:
    page = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    assert report(list(labelled_calls(shared_data / "agentrx"))) in page


def test_what_was_said_is_what_the_benchmark_found(shared_data: Path) -> None:
    results = json.loads((shared_data / "agentrx" / "gpt-4o-retail-failed.json").read_bytes())
    checked = 0
    for result in results:
        found = ((result["info"].get("reward_info") or {}).get("info") or {}).get("outputs")
        if found:
            answers = conversation_of("retail", result)[0].expected_answers
            assert {answer.text: answer.said for answer in answers} == found
            checked += 1
    assert checked > 5
