"""Histories of LiveKit: what they tell without a session report, in every form in which teams keep them."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import source_files
from tests.support.livekit_reports import handed_over, history
from tests.support.source_files import written
from tests.support.spots import spots, with_value_at
from tests.support.strategies import JSON
from tests.surface.ingest import LIVEKIT_HISTORY_SOURCE as SOURCE
from tests.surface.ingest import Contract, Conversation, ReadContext, StateEntered, detect, facts_of
from tests.surface.store import Skipped

items_of = partial(source_files.items_of, SOURCE)


def one(path: Path, value: Any, context: ReadContext | None = None) -> Conversation:
    (call,) = [each for each in items_of(written(path, value), context) if isinstance(each, Conversation)]
    return call


def test_agents_are_states_and_times_are_those_of_speech(tmp_path: Path) -> None:
    call = one(tmp_path / "transcript_a.json", {"items": history()})
    assert (call.conversation_id, call.run_id) == ("transcript_a", tmp_path.name)
    assert (call.flow, call.agent_model) == ("greeter", "(unknown)")
    assert (call.started_at, call.duration_s) == ("2026-01-13T10:26:41+00:00", 5.7)
    assert [event.state for event in call.events if isinstance(event, StateEntered)] == ["greeter", "closer"]
    assert [(turn.role, turn.t, turn.state, turn.latency_ms) for turn in call.turns] == [
        ("agent", 0.0, "greeter", None),
        ("caller", 2.0, "greeter", None),
        ("agent", 4.7, "closer", 1200.0),
    ]
    assert [(tool.name, tool.arguments, tool.error, tool.result, tool.state) for tool in call.tool_calls] == [
        ("reserve", {"n": 6}, "full", "full", "greeter"),
        ("reserve", {"n": 4}, None, "ok", "greeter"),
    ]
    assert (call.completed, call.stop_reason, call.errored, call.measured) == (None, None, False, {"completion": None})


def test_one_note_says_that_nothing_tells_how_calls_ended(tmp_path: Path) -> None:
    found = items_of(written(tmp_path / "a.json", [{"items": history()}, {"items": history()}]))
    assert [each.conversation_id for each in found[:2]] == ["a", "a/2"]
    assert [(each.kind, each.reason) for each in found[2:]] == [
        ("defect", "there is no session report, so nothing shows how calls ended")
    ]


@pytest.mark.parametrize(
    "value",
    [
        {"items": history()},
        history(),
        {"history": {"items": history()}},
        {"session": {"items": history()}, "at": 1},
        {"room_name": "r", "job_id": "j", "recording_url": "u", "session_history": {"items": history()}},
        [{"history": {"items": history()}}],
        {"history": history()},
    ],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_every_form_is_known_and_gives_the_same_call(tmp_path: Path, value: Any, indent: int | None) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(value, indent=indent))
    assert detect(path).kind == "livekit-history"
    assert [turn.t for turn in items_of(path)[0].turns] == [0.0, 2.0, 4.7]


def test_histories_on_lines_are_calls_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f"{json.dumps({'job_id': job, 'history': {'items': history()}})}\n" for job in "ab"))
    assert detect(path).kind == "livekit-history"
    assert [each.conversation_id for each in items_of(path) if isinstance(each, Conversation)] == ["a", "b"]


@pytest.mark.parametrize(
    "items",
    [
        [],
        [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}],
        [*history(), {"type": "reasoning"}],
        [*history(), 1],
        [{"call_id": "c", "type": "phone_call"}],
        [{"type": "function_call_output", "call_id": "c", "output": "x"}],
    ],
)
def test_what_only_looks_alike_is_none(tmp_path: Path, items: list[Any]) -> None:
    assert detect(written(tmp_path / "a.json", {"items": items})).kind is None


def test_a_session_report_stays_one(tmp_path: Path) -> None:
    assert detect(written(tmp_path / "a.json", handed_over())).kind == "livekit"


def test_without_times_nothing_has_one(tmp_path: Path) -> None:
    items = [{key: value for key, value in item.items() if key != "metrics"} for item in history()]
    call = one(tmp_path / "a.json", items)
    assert ({turn.t for turn in call.turns}, call.started_at, call.duration_s) == ({None}, None, None)
    assert [turn.text for turn in call.turns] == ["Hello.", "Table for six.", "Four it is."]


def test_the_number_in_the_name_of_a_room_goes_nowhere(tmp_path: Path) -> None:
    items = history()
    items[3]["content"] = ["I am 1 555 010 0007."]
    items[3]["extra"] = {"sip": "15550100007"}
    value = {
        "room_name": "call-_15550100007_x",
        "recording_url": "https://x.example/a?token=b",
        "history": {"items": items},
    }
    found = items_of(written(tmp_path / "transcript_call-_15550100007_x.json", value))
    assert found[0].turns[1].text == "I am [number]."
    assert "5550100007" not in repr(found)
    assert "x.example" not in repr(found)
    assert "Be kind" not in repr(found)


def test_a_flow_file_tells_of_a_success_and_of_nothing_else(tmp_path: Path) -> None:
    for success, completed in (("closer", True), ("payer", None)):
        context = ReadContext({"greeter": Contract(success_terminals=[success])})
        assert one(tmp_path / "a.json", history(), context).completed is completed


WHOLE = {"job_id": "j", "room_name": "r", "history": {"items": history()}}
TEXT = json.dumps(WHOLE).encode()


@given(st.integers(0, len(TEXT)))
def test_a_file_that_was_cut_anywhere_gives_reasons_and_no_exception(
    tmp_path_factory: pytest.TempPathFactory, place: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "a.json"
    path.write_bytes(TEXT[:place])
    for each in items_of(path):
        assert isinstance(each, Conversation | Skipped)


@given(st.sampled_from(spots(WHOLE)), JSON)
def test_values_of_wrong_types_give_calls_or_reasons(
    tmp_path_factory: pytest.TempPathFactory, spot: tuple[Any, ...], value: Any
) -> None:
    path = written(tmp_path_factory.mktemp("odd") / "a.json", with_value_at(WHOLE, spot, value))
    detect(path)
    for each in items_of(path):
        if isinstance(each, Conversation):
            facts_of(each, default_run="r")
