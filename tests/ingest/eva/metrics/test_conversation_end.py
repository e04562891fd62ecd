"""How a call ended (9.2, 9.3, 10.7 to 10.9)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.eva_calls import NO_FILES, call
from tests.surface.ingest import (
    RecordFiles,
    Segments,
    agent_timed_out,
    conversation_completed_on_time,
    conversation_correctly_finished,
    conversation_valid_end,
    last_audio_speaker,
)


@pytest.mark.parametrize(
    ("user", "agent", "last"),
    [
        ({}, {}, None),
        ({1: None}, {0: []}, None),
        ({1: [(0, 5)]}, {0: None}, "user"),
        ({1: None}, {0: [(0, 5)]}, "assistant"),
        ({1: [(0, 5)], 2: [(0, 1)]}, {0: [(0, 4)]}, "user"),
        ({1: [(0, 5)]}, {0: [(0, 5)]}, "assistant"),
        ({1: [(0, 5)]}, {0: [(0, 6), (0, 1)]}, "assistant"),
    ],
)
def test_the_side_whose_audio_ended_last_was_heard_last(
    user: dict[int, Segments | None], agent: dict[int, Segments | None], last: str | None
) -> None:
    assert last_audio_speaker(call(user, agent)) == last
    left = agent_timed_out(call(user, agent, conversation_ended_reason="inactivity_timeout"))
    assert left == (last == "user")
    assert not agent_timed_out(call(user, agent, conversation_ended_reason="timeout"))


LEFT = call({1: [(2, 3)]}, {0: [(0, 1)]}, conversation_ended_reason="inactivity_timeout")
GOODBYE = {"type": "connection_state", "data": {"state": "x", "details": {"reason": "goodbye"}}}


def test_a_caller_who_was_left_waiting_was_not_finished_with() -> None:
    score = conversation_correctly_finished(LEFT, NO_FILES)
    assert (score.score, score.normalized_score) == (0.0, 0.0)
    assert score.details == {
        "conversation_ended_reason": "inactivity_timeout",
        "last_audio_speaker": "user",
        "reason": "agent_timeout_on_user_turn",
    }
    score = conversation_correctly_finished(call(), NO_FILES)
    assert score.score == 1.0
    assert score.details == {"conversation_ended_reason": None, "last_audio_speaker": None}


def test_a_call_that_took_too_long_was_not_on_time() -> None:
    score = conversation_completed_on_time(call(conversation_ended_reason="time_limit_exceeded"), NO_FILES)
    assert (score.score, score.details["timed_out"]) == (0.0, True)
    for reason in ("timeout", "goodbye", None):
        score = conversation_completed_on_time(call(conversation_ended_reason=reason), NO_FILES)
        assert score.score == 1.0
        assert score.details == {"conversation_ended_reason": reason, "timed_out": False}


def ended(line: Any) -> RecordFiles:
    return RecordFiles("r/log.jsonl", line if isinstance(line, str | None) else json.dumps(line) + "\n")


def test_a_goodbye_is_a_valid_end() -> None:
    score = conversation_valid_end(call(), ended(GOODBYE))
    assert (score.score, score.normalized_score, score.error) == (1.0, 1.0, None)
    assert score.details == {
        "ended_properly": True,
        "last_event_type": "connection_state",
        "file_path": "r/log.jsonl",
    }


def test_a_caller_who_was_left_waiting_ended_validly() -> None:
    score = conversation_valid_end(LEFT, ended(None))
    assert (score.score, score.error) == (1.0, None)
    assert score.details["reason"] == "agent_timeout_on_user_turn"


def test_without_a_log_nobody_knows_how_a_call_ended() -> None:
    score = conversation_valid_end(call(), ended(None))
    assert (score.score, score.normalized_score) == (None, None)
    assert score.error == "the simulator's log is missing or cannot be read"
    left = call(conversation_ended_reason="inactivity_timeout", logs=["audit_log"])
    assert conversation_correctly_finished(left, NO_FILES).to_dict()["score"] is None
    heard = call(conversation_ended_reason="inactivity_timeout", logs=["user_simulator"])
    assert conversation_correctly_finished(heard, NO_FILES).score == 1.0


@pytest.mark.parametrize("line", ["", "\n", "  \n", "{", "[1]\n", "5"])
def test_a_log_whose_end_cannot_be_read_is_an_error(line: str | None) -> None:
    score = conversation_valid_end(call(), ended(line))
    assert (score.score, score.value) == (0.0, None)
    assert score.error


@pytest.mark.parametrize(
    "line",
    [
        {},
        {"type": "user_speech", "data": {"details": {"reason": "goodbye"}}},
        {"type": "connection_state"},
        {"type": "connection_state", "data": {"details": {"reason": "timeout"}}},
        {"type": "connection_state", "data": {"details": "goodbye"}},
        {"type": ["connection_state"], "data": {}},
    ],
)
def test_any_other_end_is_not_valid_and_no_error(line: dict[str, Any]) -> None:
    score = conversation_valid_end(call(), ended(line))
    assert (score.score, score.error, score.details["ended_properly"]) == (0.0, None, False)
    assert score.details["last_event_type"] == line.get("type")
    assert score.details["reason"]
