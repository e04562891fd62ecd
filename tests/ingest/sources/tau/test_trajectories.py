"""Results of the first tau-bench: agents that act in words and by tools, how calls end, and what is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.limits import limited
from tests.support.spots import spots, with_value_at
from tests.support.strategies import JSON
from tests.support.trajectories import NAME, TASK, called, result, results, said
from tests.surface.ingest import TAU_BENCH_SOURCE as SOURCE
from tests.surface.ingest import Conversation, GuardEvaluated, ReadContext, StateEntered, detect, facts_of
from tests.surface.store import Skipped


def written(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def items(path: Path) -> list[Any]:
    return [each[1] if isinstance(each, tuple) else each for each in SOURCE.items(path, ReadContext())]


def calls(path: Path) -> list[Conversation]:
    return [each for each in items(path) if isinstance(each, Conversation)]


def one(folder: Path, traj: list[dict[str, Any]], **more: Any) -> Conversation:
    return calls(written(folder / "a.json", [result(0, 0.0, traj, **more)]))[0]


def test_an_agent_that_acts_in_words_calls_tools_and_says_the_rest(tmp_path: Path) -> None:
    call, *_ = calls(written(tmp_path / f"{NAME}.json", results()))
    assert (call.run_id, call.flow, call.agent_model, call.caller) == (NAME, "airline/cancel", "mq react", "mu")
    assert (call.conversation_id, call.scenario, call.trial, call.passed) == ("4/0", "4", 0, True)
    assert (call.completed, call.stop_reason, call.final_status) == (True, "terminal", "stop")
    assert [(turn.role, turn.text) for turn in call.turns] == [("caller", "Cancel AB1."), ("agent", "Done.")]
    assert [(tool.name, tool.error, tool.result) for tool in call.tool_calls] == [
        ("cancel_reservation", "Error: busy", None),
        ("cancel_reservation", None, "{}"),
    ]
    entered = [event.state for event in call.events if isinstance(event, StateEntered)]
    assert entered == ["opening", "cancel_reservation"]
    assert sum(isinstance(event, GuardEvaluated) for event in call.events) == 1
    assert [(step.name, step.called, step.matched) for step in call.expected_steps or ()] == [
        ("cancel_reservation", True, True)
    ]
    assert {turn.t for turn in call.turns} == {None}
    assert (call.duration_s, call.started_at) == (None, None)


def test_a_hand_over_that_the_task_does_not_ask_for_is_an_escalation(tmp_path: Path) -> None:
    _, call, _ = calls(written(tmp_path / f"{NAME}.json", results()))
    assert (call.completed, call.stop_reason, call.final_status) == (True, "terminal", "transfer")
    assert call.contract is not None
    assert call.contract.escalation_terminals == ["transfer_to_human_agents"]
    assert [tool.result for tool in call.tool_calls] == ["{}", "Transfer successful"]
    assert [(step.called, step.matched) for step in call.expected_steps or ()] == [(False, False)]
    asked = TASK | {"actions": [{"name": "transfer_to_human_agents", "kwargs": {}}]}
    handed = one(tmp_path, called("transfer_to_human_agents", "Transfer successful"), task=asked)
    assert handed.contract is not None
    assert handed.contract.escalation_terminals == []


def test_a_call_that_broke_does_not_count_and_is_of_the_family_of_another_trial(tmp_path: Path) -> None:
    *_, call = calls(written(tmp_path / f"{NAME}.json", results()))
    assert (call.errored, call.error, call.flow) == (True, "RateLimit", "tau-bench/(unknown)")
    assert (call.passed, call.expected_steps) == (None, None)
    broken = {"task_id": 4, "trial": 2, "reward": 0.0, "info": {"error": "RateLimit"}, "traj": []}
    call = calls(written(tmp_path / "gpt-4o-airline.json", [broken, *results()]))[0]
    assert (call.flow, call.agent_model) == ("airline/cancel", "gpt-4o")
    call = calls(written(tmp_path / f"{NAME}.json", [broken, *results()]))[0]
    assert call.flow == "airline/cancel", "the policy of another trial says the domain as well"


def test_a_call_that_the_caller_did_not_end_ran_out_of_turns(tmp_path: Path) -> None:
    record = result(0, 0.0, [said("user", "Hello?"), said("assistant", "Yes?")])
    scored = calls(written(tmp_path / "a.json", record))[0]
    assert (scored.completed, scored.stop_reason, scored.measured) == (None, None, {"completion": None})
    record["info"]["reward_info"] = None
    ended = calls(written(tmp_path / "a.json", record))[0]
    assert (ended.completed, ended.stop_reason) == (False, "max_turns")


def test_results_of_one_id_belong_to_their_calls_by_order_and_what_fails_is_an_error(tmp_path: Path) -> None:
    traj = [*called("get_a", "1", of="x"), *called("get_a", "Unknown action get_a"), *called("get_a", "Errors: 0")]
    found = [(tool.result, tool.error) for tool in one(tmp_path, traj).tool_calls]
    assert found == [("1", None), (None, "Unknown action get_a"), ("Errors: 0", None)]


def test_a_message_may_speak_and_call_and_what_is_no_action_was_said(tmp_path: Path) -> None:
    call, answer = called("get_a", "1")
    assert [turn.text for turn in one(tmp_path, [call | {"content": "One moment."}, answer]).turns] == ["One moment."]
    in_words = [said("system", "#Available tools"), said("assistant", "Thought:\nwell\nAction:\nHow can I help?")]
    assert [turn.text for turn in one(tmp_path, in_words).turns] == ["How can I help?"]
    assert one(tmp_path, [said("user", "Bye. ###STOP###")]).turns[0].text == "Bye."


@pytest.mark.parametrize(
    ("name", "agent", "caller", "flow"),
    [
        ("tool-calling-gpt-4o-mini-0.7_range_0-50_user-gpt-4o-llm_0301120000", "gpt-4o-mini", "gpt-4o", "tau-bench"),
        ("few-shot-m-1_range_0--1_user-a-b-reflection_0301120000", "m few-shot", "a-b", "tau-bench"),
        ("sonnet-35-new-retail", "sonnet-35-new", None, "retail"),
        ("gpt-4o-retail-failed", "(unknown)", None, "tau-bench"),
        ("-airline", "(unknown)", None, "airline"),
        ("night", "(unknown)", None, "tau-bench"),
    ],
)
def test_the_name_of_a_file_tells_agent_caller_and_domain(
    tmp_path: Path, name: str, agent: str, caller: str | None, flow: str
) -> None:
    path = written(tmp_path / f"{name}.json", [result(0, 1.0, [said("user", "Hi ###STOP###")])])
    call = calls(path)[0]
    assert (call.run_id, call.agent_model, call.caller, call.flow) == (name, agent, caller, f"{flow}/cancel")


@pytest.mark.parametrize("form", ["one.json", "list.json", "lines.jsonl", "list.json.gz"])
def test_every_form_is_known_by_its_content(tmp_path: Path, form: str) -> None:
    text = {"one": json.dumps(results()[0]), "list": json.dumps(results(), indent=1)}.get(form.partition(".")[0])
    text = text or "\n".join(map(json.dumps, results()))
    path = tmp_path / form
    path.write_bytes(gzip.compress(text.encode()) if form.endswith(".gz") else text.encode())
    assert detect(path).kind == "tau-bench"
    assert len(calls(path)) == (1 if form == "one.json" else 3)


@pytest.mark.parametrize(
    "value",
    [
        {"task_id": 1, "reward": 1.0, "info": {"task": {}}, "traj": [[0.1, 0.2]]},
        {"task_id": 1, "reward": 1.0, "info": {"task": {}}, "traj": []},
        {"task_id": 1, "reward": True, "info": {"error": "x"}, "traj": []},
        {"task_id": 1, "reward": 1.0, "info": {}, "trajectory": [{"role": "user"}]},
        {"reward": 1.0, "info": {"task": {}}, "traj": [{"role": "user"}]},
    ],
)
def test_what_only_looks_alike_is_none(tmp_path: Path, value: Any) -> None:
    assert detect(written(tmp_path / "a.json", [value])).kind is None


def test_a_list_that_is_too_large_to_be_looked_at_whole_is_known_by_how_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("riff_ingest.lines.MIB", 1000)
    path = written(tmp_path / "large.json", results())
    with limited(document_mib=1):
        assert detect(path).kind == "tau-bench"


def test_of_a_trial_that_is_there_twice_the_later_counts_and_a_note_says_so(tmp_path: Path) -> None:
    first, second, broken = results()
    found = items(written(tmp_path / "a.json", [first, broken, first | {"reward": 0.0}, second]))
    assert [(each.conversation_id, each.passed) for each in found if isinstance(each, Conversation)] == [
        ("5/0", None),
        ("4/0", False),
        ("4/1", False),
    ]
    assert [(each.kind, each.line, each.reason) for each in found if isinstance(each, Skipped)] == [
        ("replaced", 1, "entry 3 has other data of this call, and counts")
    ]


def test_the_calls_that_people_labelled_open_as_they_are(shared_data: Path) -> None:
    path = shared_data / "agentrx" / "gpt-4o-retail-failed.json"
    assert detect(path).kind == "tau-bench"
    found = calls(path)
    assert [call.trial for call in found] == [2, 3, 20, 32, 34, 38, 39, 41, 63, 72, 74, 80, 87, 104, 105]
    wanted = {each["task_id"]: each["info"]["task"]["actions"] for each in json.loads(path.read_bytes())}
    for call in found:
        steps = [(step.name, step.arguments) for step in call.expected_steps or ()]
        assert steps == [(each["name"], each["kwargs"]) for each in wanted[call.trial]]
    assert {call.passed for call in found} == {False}


WHOLE = results()


@given(st.sampled_from(spots(WHOLE)), JSON)
def test_values_of_wrong_types_give_calls_or_reasons(
    tmp_path_factory: pytest.TempPathFactory, spot: tuple[Any, ...], value: Any
) -> None:
    changed = with_value_at(WHOLE, spot, value)
    path = written(tmp_path_factory.mktemp("odd") / "a.json", changed)
    found = items(path)
    detect(path)
    for call in (each for each in found if isinstance(each, Conversation)):
        facts_of(call, default_run="r")
    assert len(found) >= len(changed)
