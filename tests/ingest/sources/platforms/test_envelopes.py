"""Webhooks in the envelopes of those who hand them on: the call in them is taken, and nothing else of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import (
    bland_calls,
    elevenlabs_calls,
    livekit_reports,
    pipecat_runs,
    rasa_trackers,
    retell_calls,
    trajectories,
    vapi_calls,
)
from tests.support.spots import spots, with_value_at
from tests.support.strategies import JSON
from tests.surface.ingest import Conversation, ReadContext, detect, source_of
from tests.surface.store import Annotation, JudgedScore, Skipped

CALL = {
    "call_id": "c9",
    "agent_id": "a",
    "agent_name": "Desk",
    "call_status": "ended",
    "start_timestamp": 1768300000000,
    "duration_ms": 9000,
    "disconnection_reason": "user_hangup",
    "transcript": "Agent: Hi.\nUser: Bye.",
}
ANALYSED = {"event": "call_analyzed", "call": CALL | {"call_analysis": {"call_successful": True}}}
ENDED = {"event": "call_ended", "call": CALL}
STARTED = {"event": "call_started", "call": {"call_id": "c9", "agent_id": "a", "call_status": "ongoing"}}
TEXT = json.dumps(ANALYSED)
NATIVE = {"conversation_id": "n1", "flow": "dental", "turns": [{"role": "agent", "text": "Hello"}]}


def written(path: Path, *values: Any) -> Path:
    path.write_text("\n".join(map(json.dumps, values)), encoding="utf-8")
    return path


def items_of(path: Path) -> list[Any]:
    """What the reader that knows a file takes of it."""
    source = source_of(detect(path).kind or "")
    found = source.items(path, ReadContext()) if source else ()
    return [each[1] if isinstance(each, tuple) else each for each in found]


def calls(path: Path) -> list[str]:
    return [each.conversation_id for each in items_of(path) if isinstance(each, Conversation)]


def test_the_events_of_a_call_in_three_envelopes_are_one_call(tmp_path: Path) -> None:
    path = written(
        tmp_path / "a.jsonl",
        {"detail-type": "hook", "source": "x", "detail": ENDED},
        {"Type": "Notification", "Message": TEXT},
        {"id": 3, "received_at": "2026-01-13T10:26:41Z", "payload": STARTED},
    )
    first, call, score, last = items_of(path)
    assert (detect(path).kind, call.conversation_id, call.run_id) == ("retell", "c9", "2026-01-13")
    assert [(turn.role, turn.text) for turn in call.turns] == [("agent", "Hi."), ("caller", "Bye.")]
    assert (score.judge, score.aspect, score.score) == ("retell", "call_successful", 10.0)
    assert [(each.kind, each.line) for each in (first, last)] == [("superseded", 1), ("superseded", 3)]


ENVELOPES = {
    "n8n": [{"headers": {"auth": "hidden-auth"}, "params": {}, "query": {"key": "hidden-query"}, "body": ANALYSED}],
    "n8n items": [{"json": {"headers": {}, "params": {}, "query": {}, "body": ANALYSED}, "pairedItem": 0}],
    "row": {"id": 1, "created_at": "2026-01-13T10:26:41Z", "payload": ANALYSED},
    "row with text": {"id": 1, "raw_payload": TEXT},
    "zapier": {"raw_body": TEXT},
    "pipedream": {"trigger": {"event": {"body": ANALYSED}}},
    "pipedream event": {"event": {"body": TEXT}},
    "own": {"event": "call_analyzed", "data": ANALYSED["call"]},
    "own by name": {"name": "call_analyzed", "data": ANALYSED["call"]},
    "eventbridge": {"version": "0", "id": "i", "detail-type": "d", "account": "hidden-account", "detail": ANALYSED},
    "sqs": {"Records": [{"body": TEXT}]},
    "sns": {"Records": [{"Sns": {"Message": TEXT}}]},
    "sns in sqs": {"Records": [{"body": json.dumps({"Type": "Notification", "Message": TEXT})}]},
    "lambda": {"requestContext": {}, "body": TEXT, "isBase64Encoded": False},
    "cloudevents": {"specversion": "1.0", "type": "t", "source": "s", "id": "i", "data": ANALYSED},
}


@pytest.mark.parametrize("name", ENVELOPES)
def test_every_envelope_is_opened_and_nothing_of_it_is_kept(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / "a.json", ENVELOPES[name])
    assert detect(path) == ("retell", "in envelopes it has: Calls of Retell")
    found = items_of(path)
    assert calls(path) == ["c9"]
    assert [each.score for each in found if isinstance(each, JudgedScore)] == [10.0]
    assert "hidden" not in repr(found)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (vapi_calls.report(vapi_calls.vapi_call()), "vapi"),
        (retell_calls.retell_call("c"), "retell"),
        (elevenlabs_calls.hook(elevenlabs_calls.plain()), "elevenlabs"),
        (elevenlabs_calls.simulated(), "elevenlabs"),
        ({"conversations": [elevenlabs_calls.plain()]}, "elevenlabs"),
        ({"calls": [retell_calls.retell_call("c")], "pagination_key": "p"}, "retell"),
        (NATIVE, "transcripts"),
        ({"conversations": [NATIVE]}, "transcripts"),
        (livekit_reports.handed_over(), "livekit"),
        ({"items": livekit_reports.history()}, "livekit-history"),
        (livekit_reports.history(), "livekit-history"),
        ({"job_id": "J1", "session_history": {"items": livekit_reports.history()}}, "livekit-history"),
        (pipecat_runs.simulation(), "pipecat"),
        (bland_calls.call(), "bland"),
        (rasa_trackers.forms(), "rasa"),
        (trajectories.results()[0], "tau-bench"),
        (trajectories.results()[:1], "tau-bench"),
        ([{"role": "user", "content": "Hi"}, {"role": "tool_call", "name": "look", "arguments": {}}], "pipecat"),
    ],
)
def test_every_platform_is_known_in_an_envelope(tmp_path: Path, value: Any, kind: str) -> None:
    row = {"id": 7, "received_at": "2026-01-13T10:26:41Z", "payload": json.dumps(value)}
    for name, lines in (("a", [[{"body": value}]]), ("b", [row]), ("c", [{"body": "{}"}, row])):
        path = written(tmp_path / f"{name}.json", *lines)
        assert (detect(path).kind, len(calls(path))) == (kind, 1)
        lost = [each.reason for each in items_of(path) if isinstance(each, Skipped) and each.kind == "skipped"]
        assert [reason.partition(":")[0] for reason in lost] == ["no call in its payload"] * (len(lines) - 1)
    path = tmp_path / "d.json"
    path.write_text(json.dumps([{"headers": {}, "body": value}], indent=1), encoding="utf-8")
    assert (detect(path).kind, len(calls(path))) == (kind, 1)


@pytest.mark.parametrize("value", [NATIVE, livekit_reports.handed_over(), ANALYSED])
def test_what_lies_beside_a_call_in_an_envelope_is_told_of(tmp_path: Path, value: Any) -> None:
    path = written(tmp_path / "a.json", {"Records": [{"body": json.dumps(value)}, {"body": "{}"}]})
    assert len(calls(path)) == 1
    assert [each.kind for each in items_of(path) if isinstance(each, Skipped)].count("skipped") == 1


def test_several_calls_of_one_envelope_are_calls(tmp_path: Path) -> None:
    bodies = [{"body": json.dumps(ANALYSED | {"call": CALL | {"call_id": name}})} for name in "abc"]
    assert calls(written(tmp_path / "a.json", {"Records": bodies})) == ["a", "b", "c"]


def test_of_equal_records_the_later_envelope_counts(tmp_path: Path) -> None:
    rows = [
        {
            "received_at": f"2026-01-13T10:{minute}:00Z",
            "payload": ENDED | {"call": CALL | {"agent_name": f"at {minute}"}},
        }
        for minute in (30, 20)
    ]
    path = written(tmp_path / "a.json", rows)
    assert [each.flow for each in items_of(path) if isinstance(each, Conversation)] == ["at 30"]


def test_what_nobody_knows_in_an_envelope_is_one_line(tmp_path: Path) -> None:
    rows = [{"payload": ANALYSED}, *({"payload": {"event": "invoice"}} for _ in range(3))]
    found = [each for each in items_of(written(tmp_path / "a.json", rows)) if isinstance(each, Skipped)]
    assert [(each.kind, each.line, each.reason) for each in found if "flow file" not in each.reason] == [
        ("skipped", None, "no call in its payload: 3 entries")
    ]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"data": {"resultData": {"runData": {}}}}, "an n8n execution; save the Webhook node's output"),
        ({"call__call_id": "c"}, "Zapier took the webhook apart; use Catch Raw Hook"),
        ({"body": "e30=", "isBase64Encoded": True}, "the body is base64"),
        ({"specversion": "1.0", "data_base64": "e30="}, "the body is base64"),
        ({"Records": [{"kinesis": {"data": "e30="}}]}, "the body is base64"),
    ],
)
def test_what_cannot_be_opened_is_refused_with_what_to_do(tmp_path: Path, value: Any, reason: str) -> None:
    assert detect(written(tmp_path / "a.json", value)) == (None, reason)


def test_a_layer_counts_only_around_a_call_and_four_are_the_most(tmp_path: Path) -> None:
    value: Any = ANALYSED
    for depth in range(6):
        found = detect(written(tmp_path / "a.json", value)).kind
        assert found == ("retell" if depth <= 4 else None)
        value = {"data": value}
    assert detect(written(tmp_path / "b.json", {"data": {"body": {"call_id": "c"}}})).kind is None


WHOLE = [*ENVELOPES.values(), {"payload": STARTED}]


@given(st.sampled_from(spots(WHOLE)), JSON)
def test_values_of_wrong_types_give_calls_or_reasons(
    tmp_path_factory: pytest.TempPathFactory, spot: tuple[Any, ...], value: Any
) -> None:
    path = written(tmp_path_factory.mktemp("odd") / "a.json", with_value_at(WHOLE, spot, value))
    for each in items_of(path):
        assert isinstance(each, Conversation | JudgedScore | Annotation | Skipped)


@pytest.mark.parametrize("deep", ["[" * 900 + "]" * 900, '{"body":' * 900 + "1" + "}" * 900])
def test_what_lies_deep_in_an_envelope_is_none(tmp_path: Path, deep: str) -> None:
    for name, text in (("a.json", f'[{{"body": {deep}}}]'), ("b.jsonl", f'{TEXT}\n{{"body": {deep}}}\n')):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        assert len(calls(path)) == (name == "b.jsonl")
        path.write_text(json.dumps({"Message": text}), encoding="utf-8")
        assert calls(path) == []


def test_calls_in_lists_of_lists_are_calls(tmp_path: Path) -> None:
    lists = [[[ANALYSED]], [{"body": [[ANALYSED | {"call": CALL | {"call_id": "c8"}}]]}]]
    assert calls(written(tmp_path / "a.json", lists)) == ["c9", "c8"]
