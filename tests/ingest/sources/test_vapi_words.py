"""Calls of Vapi whose words are elsewhere, how they ended, and what looks like a call and is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from riff_ingest import Conversation
from tests.support.vapi_calls import answered, called, conversation, report, said, vapi_call
from tests.surface.ingest import VAPI_SOURCE as SOURCE
from tests.surface.ingest import PrivateValues, ReadContext, detect, parted
from tests.surface.store import JudgedScore, Skipped

AGENT, CALLER = ("agent", "Hello?"), ("caller", "Mulch.")


def read(directory: Path, value: Any) -> tuple[list[Conversation], list[tuple[str, str]], list[JudgedScore]]:
    path = directory / "calls.json"
    path.write_text(json.dumps(value))
    assert detect(path).kind == "vapi"
    found = list(SOURCE.items(path, ReadContext()))
    return (
        [item[1] for item in found if isinstance(item, tuple)],
        [(item.kind, item.reason) for item in found if isinstance(item, Skipped)],
        [item for item in found if isinstance(item, JudgedScore)],
    )


def one(directory: Path, value: Any) -> Conversation:
    (call,), notes, _ = read(directory, value)
    assert notes == []
    return call


def words(call: Conversation) -> list[tuple[str, str]]:
    assert {turn.t for turn in call.turns} <= {None}
    return [(turn.role, turn.text) for turn in call.turns]


def test_a_transcript_is_parted_by_the_names_that_the_assistant_sets(tmp_path: Path) -> None:
    plan = {"transcriptPlan": {"assistantName": "Buyer", "userName": "Seller"}}
    message = {
        "type": "end-of-call-report",
        "endedReason": "call.in-progress.error-warm-transfer-silence-timeout",
        "startedAt": "2026-01-13T10:00:00.000Z",
        "endedAt": "2026-01-13T10:00:31.000Z",
        "assistant": {"name": "Desk", "artifactPlan": plan},
        "artifact": {
            "messages": [],
            "transcript": "Buyer: Good day: we buy\nold pots.\nSeller: I have two.\nBuyer: One moment.\n",
        },
        "analysis": {"successEvaluation": "false"},
        "call": {"id": "v-1", "orgId": "o", "type": "inboundPhoneCall", "assistantId": "as"},
    }
    (call,), notes, verdicts = read(tmp_path, {"message": message})
    assert words(call) == [
        ("agent", "Good day: we buy\nold pots."),
        ("caller", "I have two."),
        ("agent", "One moment."),
    ]
    assert (call.errored, call.duration_s, call.final_state) == (False, 31.0, "escalated")
    assert call.errors == [{"kind": "transfer", "message": message["endedReason"]}]
    assert (call.stop_reason, call.final_status) == (message["endedReason"], message["endedReason"])
    assert [(each.judge, each.aspect, each.score) for each in verdicts] == [("vapi", "success_evaluation", 0.0)]
    assert notes == []


ORDER = {"id": "t", "function": {"name": "order", "arguments": "{}"}}
OPENAI = [
    {"role": "system", "content": "Be kind."},
    {"role": "assistant", "content": "Hello?"},
    {"role": "user", "content": [{"type": "text", "text": "Mulch."}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [ORDER],
    },
    {"role": "tool", "tool_call_id": "t", "content": "ordered"},
]
TEXT = "AI: Hello?\nUser: Mulch."


@pytest.mark.parametrize(
    ("artifact", "beside"),
    [
        ({"transcript": TEXT}, {}),
        ({"transcript": "AI: Hello? User: Mulch."}, {}),  # of one line, as Vapi's pages print it
        ({"transcript": "Bot: Hello?\nCustomer: Mulch."}, {}),
        ({"transcript": "  "}, {"transcript": TEXT}),
        ({}, {"transcript": TEXT}),
        ({"messagesOpenAIFormatted": OPENAI[:3], "transcript": "AI: Other."}, {}),
        ({}, {"messagesOpenAIFormatted": OPENAI[:3]}),
        ({"messages": [{"role": "system", "message": "Be kind."}], "transcript": TEXT}, {}),
    ],
)
def test_words_are_taken_from_the_first_place_that_has_any(
    tmp_path: Path, artifact: dict[str, Any], beside: dict[str, Any]
) -> None:
    call = vapi_call(messages=[], artifact=artifact) | beside
    assert words(one(tmp_path, call)) == [AGENT, CALLER]
    message = report(call) | {}
    message["message"] |= beside
    assert words(one(tmp_path, message)) == [AGENT, CALLER]


def test_a_report_that_is_empty_beside_its_call_hides_nothing_of_it(tmp_path: Path) -> None:
    given = vapi_call(artifact={"transcript": TEXT}, messages=[])
    message = {"type": "end-of-call-report", "messages": [], "artifact": {"recordingUrl": "x"}, "call": given}
    assert words(one(tmp_path, {"message": message})) == [AGENT, CALLER]


def test_messages_as_openai_has_them_tell_of_tools_as_well(tmp_path: Path) -> None:
    call = one(tmp_path, vapi_call(messages=[], artifact={"messagesOpenAIFormatted": OPENAI}))
    assert [(tool.name, tool.arguments, tool.result) for tool in call.tool_calls] == [("order", {}, "ordered")]


@pytest.mark.parametrize(
    ("transcript", "reason"),
    [
        (None, "nothing that was said is in this report"),
        ("Anna: Hello?\nBert: Mulch: two.", "the transcript names speakers that are not known: Anna, Bert"),
        ("Hello? Mulch.", "the transcript does not show who speaks"),
    ],
)
def test_words_that_are_not_taken_are_noted(tmp_path: Path, transcript: str | None, reason: str) -> None:
    (call,), notes, _ = read(tmp_path, vapi_call(messages=[], artifact={"transcript": transcript}))
    assert (call.turns, notes) == ([], [("defect", reason)])


def test_a_line_without_a_label_goes_on_with_the_turn_before_it() -> None:
    sides = {"ai": "agent", "user": "caller"}
    found = parted("hm\nAI: a: b\nc\n\nuser: d\nAI:\n", sides, PrivateValues())
    assert found.said == [("agent", "a: b\nc"), ("caller", "d")]
    assert found.problem == "what comes before the first speaker of the transcript is left out"


@pytest.mark.parametrize(
    ("result", "error"),
    [
        ("No result returned.", "No result returned."),
        ("ok, no result returned", "ok, no result returned"),
        ("No result returned for Tuesday.", None),
        ("error: closed", None),
    ],
)
def test_only_vapis_own_words_are_failures_of_tools(tmp_path: Path, result: str, error: str | None) -> None:
    messages = [said("bot", "Hello?", 0), called("t", "book", "{}", 1), answered("t", "book", result, 2)]
    (tool,) = one(tmp_path, vapi_call(messages=messages)).tool_calls
    assert (tool.error, tool.result) == (error, None if error else result)


E = "call.in-progress.error-"


@pytest.mark.parametrize(
    ("reason", "stop", "errored", "escalated"),
    [
        (f"{E}transfer-failed", f"{E}transfer-failed", False, True),
        (f"{E}warm-transfer-assistant-cancelled", f"{E}warm-transfer-assistant-cancelled", False, True),
        ("call.forwarding.no-answer", "call.forwarding.no-answer", False, True),
        (f"{E}assistant-did-not-receive-customer-audio", "timeout", False, False),
        ("call.ending.hook-executed-say", "agent_hangup", False, False),
        ("db-error", "error", True, False),
        ("no-server-available", "error", True, False),
        ("license-check-failed", "error", True, False),
        (f"{E}providerfault-outbound-sip-403-forbidden", "error", True, False),
        (f"{E}sip-inbound-call-failed-to-connect", "error", True, False),
        ("call.start.error-get-assistant", "error", True, False),
        ("assistant-request-failed", "error", True, False),
    ],
)
def test_a_reason_says_whether_the_call_broke(
    tmp_path: Path, reason: str, stop: str, errored: bool, escalated: bool
) -> None:
    call = one(tmp_path, vapi_call(endedReason=reason))
    assert (call.stop_reason, call.errored, call.unknown_end) == (stop, errored, False)
    assert (call.final_state == "escalated", call.final_status) == (escalated, reason)
    assert not call.ends_in_unknown_word()


@pytest.mark.parametrize(
    "reason",
    [
        f"{E}providerfault-outbound-sip-480-temporarily-unavailable",
        f"{E}sip-outbound-call-failed-to-connect",
        f"{E}providerfault-transport-never-connected",
        "call.ringing.error-phone-number-not-found",
        "call.ringing.hook-executed-say",
        "phone-call-provider-bypass-enabled-but-no-call-received",
        "call.start.error-get-org",
        "assistant-not-found",
        f"{E}assistant-did-not-receive-customer-audio",
    ],
)
def test_what_never_connected_is_no_call_where_nothing_was_said(tmp_path: Path, reason: str) -> None:
    calls, notes, _ = read(tmp_path, vapi_call(endedReason=reason, messages=[]))
    assert (calls, notes) == ([], [("skipped", f"the call never came about: {reason}")])


def test_a_caller_who_was_not_heard_is_no_call_whatever_the_agent_said(tmp_path: Path) -> None:
    reason = f"{E}assistant-did-not-receive-customer-audio"
    calls, _, _ = read(tmp_path, vapi_call(endedReason=reason, messages=conversation()[:2]))
    assert calls == []


@pytest.mark.parametrize(
    ("record", "what"),
    [
        ({"endedReason": "x", "itemCounts": {"total": 2}, "simulations": []}, "a Vapi simulation run"),
        ({"endedReason": "campaign.ended", "callsCounterEnded": 3}, "a Vapi campaign"),
        ({"type": "eval", "endedReason": "mockConversation.done", "evalId": "e"}, "a run of a Vapi eval"),
        ({"type": "eval", "endedReason": "x", "evalId": "e", "results": [{"status": "pass"}]}, "a run of a Vapi eval"),
    ],
)
def test_what_looks_like_a_call_and_is_none_says_what_it_is(tmp_path: Path, record: dict[str, Any], what: str) -> None:
    given = {"id": "s-1", "orgId": "o", "status": "ended"} | record
    path = tmp_path / "runs.json"
    for value in (given, [given]):
        path.write_text(json.dumps(value))
        assert detect(path).kind is None
        assert detect(path).reason.startswith(f"it is {what}")
        assert "by GET /call" in detect(path).reason
    path.write_text(f"{json.dumps(given)}\n" * 2)
    assert detect(path).reason.startswith(f"it is {what}")
    path.write_text(json.dumps([vapi_call(), {"id": "x", "orgId": "o", "endedReason": "campaign.ended"}]))
    lost = [item.reason for item in SOURCE.items(path, ReadContext()) if isinstance(item, Skipped)]
    assert lost == ["entry is not a call"]
    path.write_text(json.dumps([vapi_call(), given]))
    reasons = [item.reason for item in SOURCE.items(path, ReadContext()) if isinstance(item, Skipped)]
    assert [reason.partition(";")[0].partition(",")[0] for reason in reasons] == [f"it is {what}"]
