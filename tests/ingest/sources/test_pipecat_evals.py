"""Pipecat's evals: scripts and simulations as calls, metrics as verdicts, each conversation once."""

from __future__ import annotations

import copy
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riff_ingest import Conversation
from tests.support.facts import fresh
from tests.support.pipecat_runs import MESSAGES, failure, run_of, script, simulation
from tests.support.strategies import JSON
from tests.surface.ingest import PIPECAT_EVALS_SOURCE as SOURCE
from tests.surface.ingest import TOLD_ELSEWHERE, ReadContext, StateEntered, detect, facts_of, find_inputs, ingest
from tests.surface.store import JudgedScore, Skipped, Writer


def items(path: Path) -> list[Any]:
    return [item[1] if isinstance(item, tuple) else item for item in SOURCE.items(path, ReadContext())]


def calls(path: Path) -> list[Conversation]:
    return [item for item in items(path) if isinstance(item, Conversation)]


def call_of(directory: Path, record: Any, conversations: dict[str, Any] | None = None) -> Conversation:
    (call,) = calls(run_of(directory / "nightly", [record], conversations))
    return call


def verdicts(directory: Path, record: Any) -> dict[str, JudgedScore]:
    path = run_of(directory / "nightly", [record])
    return {item.aspect: item for item in items(path) if isinstance(item, JudgedScore)}


def test_a_simulation_is_a_call_of_its_bot(tmp_path: Path) -> None:
    call = call_of(tmp_path, simulation(attempt=3))
    assert (call.run_id, call.flow, call.agent_model, call.scenario) == (
        "nightly",
        "pizza",
        "bots/pizza.py",
        "order_small",
    )
    assert (call.conversation_id, call.trial, call.caller) == ("order-small-3", 2, "simulation")
    assert (call.completed, call.stop_reason, call.final_status, call.duration_s) == (True, "terminal", "end_call", 42)
    assert not call.errored


def test_the_tools_are_the_states_and_there_are_no_times(tmp_path: Path) -> None:
    call = call_of(tmp_path, simulation())
    assert [event.state for event in call.events if isinstance(event, StateEntered)] == [
        "opening",
        "choose_pizza",
        "place_order",
    ]
    assert [(turn.role, turn.text, turn.t, turn.latency_ms) for turn in call.turns][:2] == [
        ("agent", "Pizza place, hello!", None, None),
        ("caller", "A margherita, please.", None, None),
    ]
    assert [(tool.name, tool.arguments, tool.error) for tool in call.tool_calls] == [
        ("choose_pizza", {"kind": "margherita"}, None),
        ("place_order", {"size": "small"}, None),
    ]
    facts, _ = facts_of(call, default_run="r")
    assert (facts.aspects["latency_p95"], facts.aspects["correctness"]) == (None, None)


def test_metrics_are_verdicts_whose_evidence_are_the_turns_that_failed(tmp_path: Path) -> None:
    found = verdicts(tmp_path, simulation(metrics=simulation()["metrics"][:2]))
    assert {aspect: verdict.score for aspect, verdict in found.items()} == {
        "passed": 10.0,
        "success": 10.0,
        "politeness": 7.5,
        "latency": 0.0,
    }
    assert {verdict.judge for verdict in found.values()} == {"pipecat"}
    assert found["politeness"].evidence == [3]
    assert found["politeness"].rationale == "mostly polite; bot turn 2: curt"
    assert found["latency"].rationale == "value 4.5; out of range"
    assert found["success"].rationale == "ordered what was wanted"


def test_what_no_judge_decided_is_unscored(tmp_path: Path) -> None:
    found = verdicts(tmp_path, simulation(passed=False))
    assert (found["tone"].score, found["tone"].rationale) == (None, "judge no verdict")
    assert found["passed"].score is None
    assert found["success"].score == 10.0


@pytest.mark.parametrize(
    ("metric", "score"),
    [
        ({"score": 0}, 0.0),
        ({"score": 1}, 10.0),
        ({"score": None, "passed": False}, None),
        ({"score": 7, "passed": True, "value": 7}, None),
        ({"score": "good"}, None),
        ({"score": 0, "passed": False, "failure_kind": "judge_no_verdict"}, None),
        ({"score": 0, "passed": False, "failure_kind": "error"}, None),
        ({"score": 0, "passed": False, "failure_kind": "out_of_range"}, 0.0),
        ({"score": None, "value": 3, "passed": True}, 10.0),
        ({"score": None, "value": 3, "passed": None}, None),
    ],
)
def test_a_score_is_a_share_and_anything_else_is_no_score(tmp_path: Path, metric: Any, score: float | None) -> None:
    assert verdicts(tmp_path, simulation(metrics=[{"name": "m", **metric}]))["m"].score == score


@pytest.mark.parametrize(
    ("fields", "stop", "completed"),
    [
        ({"end_call": {"success": False}}, "hangup", True),
        ({"ended_by": "end_call", "end_call": None, "succeeded": False}, "hangup", False),
        ({"ended_by": "bot"}, "terminal", True),
        ({"ended_by": "bot", "succeeded": False}, "bot", False),
        ({"ended_by": "max_turns", "succeeded": False}, "max_turns", False),
        ({"ended_by": "max_duration", "succeeded": False}, "timeout", False),
        ({"ended_by": "silence", "succeeded": None}, "silence", None),
        ({"ended_by": "lightning", "succeeded": False}, "lightning", False),
    ],
)
def test_how_a_simulation_ended(tmp_path: Path, fields: Any, stop: str, completed: bool | None) -> None:
    call = call_of(tmp_path, simulation(**fields))
    assert (call.stop_reason, call.completed) == (stop, completed)
    facts, _ = facts_of(call, default_run="r")
    assert (facts.aspects["completion"] is None) == (completed is None)


def test_a_script_that_passed_is_complete_and_its_conversation_lies_beside(tmp_path: Path) -> None:
    call = call_of(tmp_path, script(), {"hours": MESSAGES})
    facts, _ = facts_of(call, default_run="r")
    assert (facts.aspects["correctness"], facts.aspects["completion"]) == (None, 10.0)
    assert (call.caller, len(call.turns), call.final_state) == ("script", 5, "place_order")


def test_a_script_that_failed_says_what_did_not_come(tmp_path: Path) -> None:
    record = script(passed=False, failures=[failure("text_mismatch"), failure("timeout", reason=None, turn_index=2)])
    call = call_of(tmp_path, record)
    assert (call.completed, call.stop_reason, call.errored) == (False, "timeout", False)
    found = verdicts(tmp_path, record)
    assert list(found) == ["passed"]
    assert (found["passed"].score, found["passed"].rationale) == (0.0, "turn 1, llm: no hours; turn 2, llm: timeout")


@pytest.mark.parametrize(
    "kind", ["connect_failed", "closed_before_ready", "handshake_timeout", "error", "judge_no_verdict"]
)
def test_what_is_not_the_bots_fault_is_errored_and_unscored(tmp_path: Path, kind: str) -> None:
    record = script(passed=False, failures=[failure(kind)])
    call = call_of(tmp_path, record)
    assert (call.errored, call.error, call.completed) == (True, kind, None)
    assert verdicts(tmp_path, record)["passed"].score is None


def test_a_simulation_is_errored_where_nothing_was_said_or_it_broke(tmp_path: Path) -> None:
    assert call_of(tmp_path, simulation(error="no bot", messages=[], succeeded=False)).error == "no bot"
    assert call_of(tmp_path, simulation(ended_by="error", succeeded=False)).error == "ended by an error"
    assert not call_of(tmp_path, simulation(error="late end", succeeded=False)).errored


def test_a_conversation_and_its_results_are_one_call(tmp_path: Path) -> None:
    run_of(tmp_path / "nightly", [simulation(), script()], {"order-small": MESSAGES, "hours": MESSAGES})
    found = find_inputs([tmp_path])
    assert [path.name for path in found.files] == ["results.jsonl"]
    assert found.passed_over == []
    (note,) = items(tmp_path / "nightly" / "hours.conversation.json")
    assert note == Skipped("defect", None, TOLD_ELSEWHERE)


def test_a_conversation_that_stands_in_the_results_is_one_call_whatever_its_name(tmp_path: Path) -> None:
    run_of(tmp_path / "nightly", [simulation(artifacts=None)], {"copy": MESSAGES, "other": MESSAGES[:3]})
    assert [path.name for path in find_inputs([tmp_path]).files] == ["other.conversation.json", "results.jsonl"]


def test_a_conversation_that_no_results_name_is_a_call_without_scores(tmp_path: Path) -> None:
    path = run_of(tmp_path / "support", [script()], {"call-7": MESSAGES}).with_name("call-7.conversation.json")
    assert find_inputs([tmp_path]).files == [path, path.with_name("results.jsonl")]
    os.utime(path, (1_755_856_800, 1_755_856_800))
    (call,) = items(path)
    assert (call.conversation_id, call.flow, call.run_id) == ("call-7", "support", "support")
    assert (call.completed, call.started_at) == (None, "2025-08-22T10:00:00+00:00")


def test_conversations_are_looked_for_by_the_results_alone(tmp_path: Path) -> None:
    secret = tmp_path / "elsewhere.conversation.json"
    secret.write_text(json.dumps(MESSAGES))
    linked = run_of(tmp_path / "nightly", [script(artifacts={"conversation": str(secret)})])
    call, _, note = items(linked)
    assert (call.turns, note.reason) == ([], "its conversation is not known: its file is not beside the results")
    (linked.parent / secret.name).symlink_to(secret)
    assert calls(linked)[0].turns == []
    above = run_of(tmp_path / "weekly", [script(artifacts={"conversation": f"x/../{secret.name}"})])
    assert calls(above)[0].turns == []


def test_a_conversation_that_cannot_be_read_costs_its_words_alone(tmp_path: Path) -> None:
    path = run_of(tmp_path, [script()], {"hours": MESSAGES})
    kept = path.with_name("hours.conversation.json")
    kept.write_bytes(kept.read_bytes()[:-9])
    call, verdict, note = items(path)
    assert (call.turns, verdict.score) == ([], 10.0)
    assert note == Skipped("defect", 1, "its conversation is not known: file is neither JSON nor TOML", "hours-2")


def test_a_run_is_dated_by_its_directory_or_its_file(tmp_path: Path) -> None:
    named = run_of(tmp_path / "2026-09-12_10-15-30", [simulation()])
    assert calls(named)[0].started_at == "2026-09-12T10:15:30+00:00"
    plain = run_of(tmp_path / "nightly", [simulation()])
    os.utime(plain, (1_755_856_800, 1_755_856_800))
    assert calls(plain)[0].started_at == "2025-08-22T10:00:00+00:00"
    odd = run_of(tmp_path / "20261399_250000", [simulation()])
    os.utime(odd, (0, 0))
    assert calls(odd)[0].started_at in (None, "1970-01-01T00:00:00+00:00")


def test_what_was_not_played_or_is_no_result_is_left_out_with_its_reason(tmp_path: Path) -> None:
    path = run_of(tmp_path, [script(skipped=True), {"kind": "else"}, simulation()])
    path.write_bytes(path.read_bytes() + b'{"cut": ')
    notes = [(item.line, item.reason) for item in items(path) if isinstance(item, Skipped)]
    assert notes == [
        (1, "the suite skipped it"),
        (2, "line is not a result of a script or a simulation"),
        (4, "line is not JSON: it ends too early"),
    ]
    assert len(calls(path)) == 1


def test_a_file_is_known_by_what_it_holds(tmp_path: Path) -> None:
    path = run_of(tmp_path / "r", [script()]).rename(tmp_path / "anything.jsonl")
    assert detect(path).kind == "pipecat"
    tools = tmp_path / "chat.json"
    tools.write_text(json.dumps(MESSAGES))
    assert detect(tools).kind == "pipecat"
    tools.write_text(json.dumps(MESSAGES[:2]))
    assert detect(tools).kind is None  # examples for a prompt look like that
    assert detect(tools.rename(tmp_path / "a.conversation.json")).kind == "pipecat"


def test_a_hand_over_to_a_human_is_an_escalation(tmp_path: Path) -> None:
    given = [*MESSAGES, {"role": "tool_call", "name": "transfer_to_human", "arguments": {}}]
    facts, _ = facts_of(call_of(tmp_path, simulation(messages=given, succeeded=False)), default_run="r")
    assert facts.terminals == {"transfer_to_human": "escalation"}


def test_a_run_comes_into_the_store_with_all_its_verdicts(tmp_path: Path) -> None:
    run_of(tmp_path / "nightly", [simulation(), simulation(attempt=2), script()])
    with fresh(tmp_path / "calls.db") as store:
        summary = ingest([tmp_path / "nightly"], Writer(store))
        assert (summary.conversations("taken"), summary.scores, summary.skipped) == (3, 11, 0)


def test_tokens_and_signatures_are_not_kept(tmp_path: Path) -> None:
    given = [
        {"role": "user", "content": "Bearer abcdef0123456789 opens https://x.example/y?token=abc"},
        {"role": "tool_call", "name": "log_in", "arguments": {"password": "hunter2"}},
    ]
    call = call_of(tmp_path, simulation(messages=given))
    assert call.turns[0].text == "[token] opens https://x.example/y?[hidden]"
    assert call.tool_calls[0].arguments == {"password": "[hidden]"}
    broken = call_of(tmp_path, simulation(messages=[], error="no way to https://x.example/y?token=abc"))
    assert broken.error == "no way to https://x.example/y?[hidden]"


def test_what_is_no_message_is_left_out_and_noted(tmp_path: Path) -> None:
    path = run_of(tmp_path, [simulation(messages=[3, {"role": "narrator"}, *MESSAGES])])
    assert [item.reason for item in items(path) if isinstance(item, Skipped)] == [
        "2 of its messages are none and are left out"
    ]


def test_a_file_that_was_cut_anywhere_keeps_its_whole_lines(tmp_path: Path) -> None:
    path = run_of(tmp_path, [script(), simulation()])
    whole = path.read_bytes()
    first = whole.index(b"\n")
    for end in range(0, len(whole) - 1, 41):
        path.write_bytes(whole[:end])
        assert len(calls(path)) == (end >= first), end
    packed = gzip.compress(whole, mtime=0)
    for end in range(20, len(packed) - 1, 61):
        path.with_suffix(".jsonl.gz").write_bytes(packed[:end])
        assert any(isinstance(item, Skipped) for item in items(path.with_suffix(".jsonl.gz"))), end


@given(data=st.data())
def test_wrong_types_anywhere_never_raise_and_never_score(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    record = copy.deepcopy(data.draw(st.sampled_from([simulation(), script(failures=[failure("timeout")])])))
    places = [record, record["artifacts"], *record.get("messages", []), *record.get("metrics", [])]
    places += [*record.get("failures", []), *record.get("metrics", [{}])[0].get("verdicts", [])]
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.sampled_from(places))
        place[data.draw(st.sampled_from(sorted(place)))] = data.draw(JSON)
    for item in items(run_of(tmp_path_factory.mktemp("runs"), [record])):
        assert isinstance(item, Conversation | JudgedScore | Skipped)
        if isinstance(item, Conversation):
            facts_of(item, default_run="r")
        elif isinstance(item, JudgedScore):
            assert item.score is None or 0 <= item.score <= 10
