"""Calls of Vapi: what is taken of them, what is left out, and what is never stored."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.dirty_inputs import packed
from tests.support.retell_calls import written
from tests.support.spots import spots, with_value_at
from tests.support.strategies import JSON
from tests.support.vapi_calls import called, conversation, report, said, squad_call, vapi_call, workflow_call
from tests.surface.ingest import VAPI_SOURCE as SOURCE
from tests.surface.ingest import Conversation, ReadContext, SlotFilled, StateEntered, TurnComplete, detect, facts_of
from tests.surface.ingest import vapi_read as read
from tests.surface.store import JudgedScore, Skipped


def items_of(path: Path) -> list[Any]:
    return [each[1] if isinstance(each, tuple) else each for each in read(path, ReadContext())]


def one(tmp_path: Path, record: Any) -> Conversation:
    """The call of a file that holds nothing else."""
    calls = [each for each in items_of(written(tmp_path / "c.json", record)) if isinstance(each, Conversation)]
    assert len(calls) == 1
    return calls[0]


def verdicts(tmp_path: Path, record: Any) -> dict[str, float | None]:
    found = items_of(written(tmp_path / "c.json", record))
    return {each.aspect: each.score for each in found if isinstance(each, JudgedScore)}


def entered(call: Conversation) -> list[tuple[str, float | None]]:
    return [(event.state, event.t) for event in call.events if type(event) is StateEntered]


def latencies(call: Conversation) -> list[float | None]:
    return [event.latency_ms for event in call.events if type(event) is TurnComplete]


CALLS = [vapi_call("c-1"), vapi_call("c-2")]
REPORTS = [report(call) for call in CALLS]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("one.json", CALLS[0]),
        ("list.json", CALLS),
        ("page.json", {"results": CALLS, "metadata": {}}),
        ("report.json", REPORTS[0]),
        ("lines.jsonl", CALLS),
        ("reports.jsonl", REPORTS),
    ],
)
def test_every_form_in_which_teams_keep_calls_is_known_and_gives_the_same_calls(
    tmp_path: Path, name: str, value: Any
) -> None:
    path = written(tmp_path / name, value)
    expected = CALLS if isinstance(value, list) or name == "page.json" else CALLS[:1]
    assert detect(path).kind == "vapi"
    found = items_of(path)
    assert [call.conversation_id for call in found] == [call["id"] for call in expected]
    assert [(call.flow, call.run_id, call.duration_s) for call in found] == [
        ("assistant-1", "2026-06-15@v4", 90.0)
    ] * len(expected)
    zipped = tmp_path / f"{name}.gz"
    zipped.write_bytes(packed(path.read_bytes()))
    assert (detect(zipped).kind, items_of(zipped)) == ("vapi", found)
    path.write_text(json.dumps(value, indent=2))
    assert (detect(path).kind, items_of(path)) == ("vapi", found)


def test_what_was_said_and_called_stands_in_order_with_its_times(tmp_path: Path) -> None:
    call = one(tmp_path, vapi_call())
    assert [(turn.role, turn.text, turn.t) for turn in call.turns] == [
        ("agent", "Clinic, hello.", 0.5),
        ("caller", "Tuesday, please.", 2.0),
        ("agent", "Tuesday is free.", 4.5),
        ("caller", "Thanks.", 6.0),
        ("agent", "Goodbye.", 8.0),
    ]
    assert [(tool.name, tool.arguments, tool.result, tool.error) for tool in call.tool_calls] == [
        ("check_day", {"day": "Tue"}, "free", None)
    ]
    assert (call.agent_model, call.started_at) == ("assistant-1@v4", "2026-06-15T01:00:00.000+00:00")


def test_messages_that_tell_only_the_time_of_day_have_their_place_too(tmp_path: Path) -> None:
    record = vapi_call()
    for message in record["artifact"]["messages"]:
        del message["secondsFromStart"]
    turns = one(tmp_path, record).turns
    assert [turn.t for turn in turns] == [0.5, 2.0, 4.5, 6.0, 8.0]


def test_a_call_of_one_assistant_has_its_tools_as_states(tmp_path: Path) -> None:
    call = one(tmp_path, vapi_call())
    assert (entered(call), call.origin) == ([("opening", 0.5), ("check_day", 3.5)], "derived")


def test_the_assistants_of_a_squad_are_states(tmp_path: Path) -> None:
    call = one(tmp_path, squad_call())
    assert (call.flow, call.origin, entered(call)) == ("squad-1", "observed", [("Greeter", 0.5), ("Booker", 4.0)])
    assert [turn.state for turn in call.turns] == ["Greeter", "Greeter", "Booker", "Booker", "Booker"]


def test_where_no_message_names_an_assistant_the_next_comes_with_the_tool_that_hands_over(tmp_path: Path) -> None:
    record = squad_call()
    for message in record["artifact"]["messages"]:
        message.pop("assistantName", None)
    assert entered(one(tmp_path, record)) == [("Greeter", 0.5), ("Booker", 3.2)]


def test_an_assistant_that_never_spoke_was_active_all_the_same(tmp_path: Path) -> None:
    record = squad_call()
    record["artifact"]["assistantActivations"].append({"assistantName": "Closer"})
    assert entered(one(tmp_path, record))[-1] == ("Closer", 9.0)


def test_nodes_of_a_workflow_are_states_and_fill_slots(tmp_path: Path) -> None:
    call = one(tmp_path, workflow_call())
    assert (call.flow, entered(call)) == ("flow-1", [("hello", 0.0), ("pick_day", 3.5), ("goodbye", 9.0)])
    filled = [(event.slot, event.value, event.state) for event in call.events if type(event) is SlotFilled]
    assert filled == [("day_wanted", "Tue", "pick_day")]
    assert call.slots == {"day_wanted": "Tue"}


@pytest.mark.parametrize(
    ("measured", "expected"),
    [
        ([100, 200, 300], [100.0, 200.0, 300.0]),
        ([200, 300], [None, 200.0, 300.0]),
        ([100], [100.0, None, None]),
        ([100, None, "x"], [100.0, None, None]),
        ([-5, 200, 1e12], [None, 200.0, None]),
        ([], [None, 1500.0, 1000.0]),
    ],
)
def test_latencies_are_those_that_vapi_measured(tmp_path: Path, measured: list[Any], expected: list[Any]) -> None:
    metrics = {"turnLatencies": [{"turnLatency": each, "modelLatency": 1} for each in measured]}
    assert latencies(one(tmp_path, vapi_call(artifact={"performanceMetrics": metrics}))) == expected


def test_nobody_but_a_flow_file_says_whether_a_call_was_completed(tmp_path: Path) -> None:
    record = vapi_call(analysis={"successEvaluation": "true"})
    facts, _ = facts_of(one(tmp_path, record), default_run="r")
    assert (facts.completed, facts.aspects["completion"], facts.aspects["correctness"]) == (None, None, None)


@pytest.mark.parametrize(
    ("reason", "stop", "is_errored", "final"),
    [
        ("customer-ended-call", "hangup", False, "Booker"),
        ("customer-ended-call-during-transfer", "hangup", False, "escalated"),
        ("assistant-ended-call-after-message-spoken", "agent_hangup", False, "Booker"),
        ("assistant-said-end-call-phrase", "agent_hangup", False, "Booker"),
        ("assistant-forwarded-call", "transfer", False, "escalated"),
        ("silence-timed-out", "timeout", False, "Booker"),
        ("exceeded-max-duration", "timeout", False, "Booker"),
        ("pipeline-error-openai-llm-failed", "error", True, "Booker"),
        ("call.in-progress.error-vapifault-worker-died", "error", True, "Booker"),
        ("call.start.error-get-customer", "error", True, "Booker"),
        ("worker-shutdown", "error", True, "Booker"),
        ("assistant-not-found", "error", True, "Booker"),
        ("reason-of-tomorrow", "reason-of-tomorrow", False, "Booker"),
    ],
)
def test_the_beginning_of_the_reason_says_how_a_call_ended(
    tmp_path: Path, reason: str, stop: str, is_errored: bool, final: str
) -> None:
    facts, _ = facts_of(one(tmp_path, squad_call() | {"endedReason": reason}), default_run="r")
    assert (facts.stop_reason, facts.errored, facts.final_state) == (stop, is_errored, final)
    assert facts.final_status == reason
    assert [row.state for row in facts.states if row.escalation] == (["Booker"] if final == "escalated" else [])


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"endedReason": "customer-did-not-answer"}, "the call never came about: customer-did-not-answer"),
        ({"endedReason": "twilio-failed-to-connect-call"}, "the call never came about: twilio-failed-to-connect-call"),
        ({"endedReason": "voicemail"}, "the call never came about: voicemail"),
        ({"endedReason": None, "status": "in-progress"}, "the call had not ended when this was written"),
    ],
)
def test_what_never_was_a_call_is_left_out_with_the_reason(tmp_path: Path, fields: dict[str, Any], why: str) -> None:
    left_out, call = items_of(written(tmp_path / "two.json", [vapi_call("c-1", **fields), vapi_call("c-2")]))
    assert left_out == Skipped("skipped", 1, why, "c-1")
    assert call.conversation_id == "c-2"


def test_a_call_without_a_reason_for_its_end_is_known_by_its_messages(tmp_path: Path) -> None:
    untold = {key: value for key, value in vapi_call("c-1").items() if key != "endedReason"}
    path = written(tmp_path / "c.json", untold)
    assert detect(path).kind == "vapi"
    assert [call.stop_reason for call in items_of(path)] == [None]
    going_on = written(tmp_path / "d.json", untold | {"status": "in-progress"})
    assert [left_out.reason for left_out in items_of(going_on)] == ["the call had not ended when this was written"]


def test_messages_before_the_report_are_no_calls_of_their_own(tmp_path: Path) -> None:
    update = {"message": {"type": "status-update", "status": "ringing", "call": {"id": "c-1", "orgId": "o"}}}
    lonely = {"message": {"type": "status-update", "status": "ended", "call": {"id": "c-9", "orgId": "o"}}}
    path = written(tmp_path / "hooks.jsonl", [update, report(vapi_call("c-1")), lonely])
    assert detect(path).kind == "vapi"
    before, call, left_out = items_of(path)
    assert before == Skipped("superseded", 1, "line 2 has more of this call", "c-1")
    assert (call.conversation_id, left_out.conversation) == ("c-1", "c-9")
    assert left_out.reason == "the call had not ended when this was written"


@pytest.mark.parametrize(
    ("given_", "rubric", "score"),
    [
        ("true", None, 10.0),
        (False, None, 0.0),
        ("Pass", "PassFail", 10.0),
        ("7", "NumericScale", 7.0),
        (7, None, 7.0),
        ("7/10", None, 7.0),
        ("85%", None, 8.5),
        ("85", "PercentageScale", 8.5),
        ("85", None, None),
        ("Excellent", "DescriptiveScale", 10.0),
        ("Strongly Disagree", "LikertScale", 0.0),
        ("Agree", "LikertScale", 7.5),
        ('{"greeted": true}', "Checklist", None),
        ("7", "Matrix", None),
        ("it went well", None, None),
        ("-3", None, None),
        ("nan", None, None),
        ("1e400", None, None),
        ({"score": 3}, None, None),
    ],
)
def test_an_evaluation_is_a_verdict_by_its_rubric_and_unscored_where_that_is_not_known(
    tmp_path: Path, given_: Any, rubric: str | None, score: float | None
) -> None:
    plan = {"analysisPlan": {"successEvaluationPlan": {"rubric": rubric}}} if rubric else {}
    record = vapi_call(analysis={"successEvaluation": given_, "summary": "All about Tuesday."}, assistant=plan)
    found = [each for each in items_of(written(tmp_path / "c.json", record)) if isinstance(each, JudgedScore)]
    assert [(each.judge, each.aspect, each.score) for each in found] == [("vapi", "success_evaluation", score)]
    assert (found[0].rationale, found[0].run) == ("All about Tuesday.", "2026-06-15@v4")


def test_scorecards_and_outputs_that_are_yes_or_no_are_verdicts(tmp_path: Path) -> None:
    artifact = {
        "scorecards": {"k-1": {"name": "care", "score": 3, "scoreNormalized": 75}, "k-2": {"score": 4}},
        "structuredOutputs": {"o-1": {"name": "booked", "result": True}, "o-2": {"name": "seats", "result": 4}},
    }
    assert verdicts(tmp_path, vapi_call(artifact=artifact)) == {"care": 7.5, "k-2": None, "booked": 10.0}


def test_numbers_and_signed_links_are_never_taken(tmp_path: Path) -> None:
    messages = [
        *conversation(),
        said("user", "I am at (415) 555-0123.", 10.0),
        called("t2", "send", json.dumps({"to": "+14155550123", "api_key": "sk-1"}), 12.0),
        said("bot", "See https://files.vapi.example/r.wav?sig=5ecret and wss://vapi.example/c-1/listen", 13.0),
    ]
    record = vapi_call(messages=messages, artifact={"variableValues": {"phone": "+1 415 555 0123"}})
    record["endedReason"] = "carrier-said +14155550123"
    messages[-2]["toolCalls"][0]["function"]["name"] += " wss://vapi.example/c-1/listen"
    found = repr(items_of(written(tmp_path / "c.json", record)))
    for secret in ("0123", "5ecret", "sk-1", "listen"):
        assert secret not in found


def test_messages_keep_their_place_whatever_their_times_say(tmp_path: Path) -> None:
    record = squad_call()
    random.Random(7).shuffle(record["artifact"]["messages"])
    said = [each["message"] for each in record["artifact"]["messages"] if each["role"] in ("bot", "user")]
    assert [turn.text for turn in one(tmp_path, record).turns] == said


RICH = workflow_call() | {
    "analysis": {"summary": "s", "successEvaluation": "true"},
    "assistant": {"analysisPlan": {"successEvaluationPlan": {"rubric": "PassFail"}}},
}
RICH["artifact"] |= {
    "performanceMetrics": {"turnLatencies": [{"turnLatency": 5}]},
    "assistantActivations": [{"assistantName": "a", "assistantId": "b"}],
    "scorecards": {"k": {"scoreNormalized": 5}},
    "structuredOutputs": {"o": {"result": True}},
}
WHOLE = json.dumps([RICH, vapi_call()]).encode()


@given(st.integers(0, len(WHOLE)), st.booleans())
def test_a_file_that_was_cut_anywhere_gives_reasons_and_no_exception(
    tmp_path_factory: pytest.TempPathFactory, place: int, lines: bool
) -> None:
    path = tmp_path_factory.mktemp("cut") / "calls.json"
    whole = b"\n".join(json.dumps(call).encode() for call in json.loads(WHOLE)) if lines else WHOLE
    path.write_bytes(whole[:place])
    for item in SOURCE.items(path, ReadContext()):
        found = item[1] if isinstance(item, tuple) else item
        assert isinstance(found, Conversation | JudgedScore | Skipped)


@given(st.sampled_from(spots(RICH)), JSON, st.booleans(), st.randoms(use_true_random=False))
def test_values_of_wrong_types_and_messages_out_of_order_give_a_call_or_a_reason(
    tmp_path_factory: pytest.TempPathFactory, spot: tuple[Any, ...], value: Any, hook: bool, order: random.Random
) -> None:
    record = with_value_at(RICH, spot, value)
    if isinstance(record.get("artifact"), dict) and isinstance(record["artifact"].get("messages"), list):
        order.shuffle(record["artifact"]["messages"])
    wrap = report if hook else dict
    found = items_of(written(tmp_path_factory.mktemp("odd") / "c.json", [wrap(record), wrap(vapi_call("whole"))]))
    calls = [each for each in found if isinstance(each, Conversation)]
    for call in calls:
        facts_of(call, default_run="r")
    for verdict in (each for each in found if isinstance(each, JudgedScore)):
        assert verdict.score is None or 0 <= verdict.score <= 10
    assert "whole" in [call.conversation_id for call in calls]
    assert len(calls) == 2 or any(isinstance(each, Skipped) for each in found) or record["id"] == "whole"
