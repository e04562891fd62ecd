"""EVA's own view of a call takes the place of logs that have lost the order of the call, and of these alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.eva_events import START
from tests.support.eva_records import AUDIT, ms, write_record
from tests.support.spots import spots, with_value_at
from tests.support.strategies import JSON
from tests.surface.ingest import Conversation, ReadContext, source_of
from tests.surface.store import Skipped

MENDED = "stored_context_taken: lines were written after the call, so turns and times are those of metrics.json"
CONTEXT: dict[str, Any] = {
    "record_id": "r1",
    "conversation_trace": [
        {"role": "assistant", "content": "Good morning.", "timestamp": ms(0), "type": "intended", "turn_id": 0},
        {"role": "user", "content": "Four rolls", "timestamp": ms(2), "type": "transcribed", "turn_id": 1},
        {"tool_name": "count", "parameters": {"n": 4}, "timestamp": ms(3), "type": "tool_call", "turn_id": 1},
        {
            "tool_name": "count",
            "tool_response": {"left": 9},
            "timestamp": ms(3.5),
            "type": "tool_response",
            "turn_id": 1,
        },
        {"role": "assistant", "content": "Four it is.", "timestamp": ms(4), "type": "intended", "turn_id": 1},
    ],
    "audio_timestamps_assistant_turns": {"0": [[START, START + 1]], "1": [[START + 4.5, START + 5]]},
    "audio_timestamps_user_turns": {"1": [[START + 2, START + 3]]},
    "latency_assistant_turns": {"1": 1.5},
    "assistant_interrupted_turns": [],
    "user_interrupted_turns": [],
    "intended_assistant_turns": {"0": "Good morning.", "1": "Four it is."},
    "transcribed_user_turns": {"1": "Four rolls"},
    "agent_instructions": "hidden",
    "user_goal": "hidden",
}
TOLD = [("agent", "Good morning."), ("caller", "Four rolls"), ("agent", "Four it is.")]
OF_THE_LOGS = "Bakery, good morning."


def recovered(context: dict[str, Any]) -> dict[str, Any]:
    last = context["conversation_trace"][-1] | {"recovered_post_call": True}
    return context | {"conversation_trace": [*context["conversation_trace"][:-1], last]}


def read(directory: Path, context: Any, **logs: Any) -> tuple[Conversation, list[str]]:
    """The call of a record with these logs and this context, and what is said of them."""
    record = write_record(directory / "records" / "r1", **logs)
    metrics = {"record_id": "r1", "context": context, "metrics": {}, "aggregate_metrics": {}}
    (record / "metrics.json").write_text(json.dumps(metrics))
    source = source_of("eva")
    assert source is not None
    items = list(source.read(record, ReadContext()))
    (call,) = [each for each in items if isinstance(each, Conversation)]
    return call, [each.reason for each in items if isinstance(each, Skipped)]


def test_lines_that_were_written_after_the_call_give_way_to_the_stored_turns(tmp_path: Path) -> None:
    call, notes = read(tmp_path, recovered(CONTEXT))
    assert [(turn.role, turn.text) for turn in call.turns] == TOLD
    assert [turn.latency_ms for turn in call.turns if turn.role == "agent"] == [None, 1500.0]
    assert [(tool.name, tool.arguments) for tool in call.tool_calls] == [("count", {"n": 4})]
    assert call.voice is not None
    assert [(span.turn, span.start, span.end) for span in call.voice.agent] == [(0, 0.0, 1.0), (1, 4.5, 5.0)]
    assert MENDED in notes
    assert "hidden" not in repr(call)


@pytest.mark.parametrize(
    ("audit", "why"),
    [
        ([AUDIT[0], AUDIT[2], AUDIT[1]], "times of the logs run back"),
        ([*AUDIT[:2], AUDIT[2] | {"recovered_post_call": True}], "lines were written after the call"),
        ([AUDIT[1]], "the logs have no words of assistant"),
        ([], "the logs have no words of"),
    ],
)
def test_logs_without_the_order_of_the_call_give_way_too(tmp_path: Path, audit: list[Any], why: str) -> None:
    framework = None if len(audit) < 2 else ()
    call, notes = read(tmp_path, CONTEXT, audit=audit, framework=framework, simulator=None)
    assert [(turn.role, turn.text) for turn in call.turns] == TOLD
    assert any(note.startswith(f"stored_context_taken: {why}") for note in notes)


@pytest.mark.parametrize("context", [CONTEXT, {}, None, {"conversation_trace": []}])
def test_sound_logs_stay(tmp_path: Path, context: Any) -> None:
    call, notes = read(tmp_path, context)
    assert call.turns[0].text == OF_THE_LOGS
    assert not any("stored_context_taken" in note for note in notes)


@given(st.sampled_from(spots(recovered(CONTEXT))), JSON)
def test_any_context_is_taken_or_left(tmp_path_factory: pytest.TempPathFactory, spot: Any, value: Any) -> None:
    call, _ = read(tmp_path_factory.mktemp("odd"), with_value_at(recovered(CONTEXT), spot, value))
    assert call.conversation_id == "r1"


@pytest.mark.parametrize(
    ("reason", "valid_end", "completed", "stop", "errored"),
    [
        ("assistant_completed", {"score": 1.0}, True, "terminal", False),
        (
            "assistant_completed",
            {"score": 1.0, "details": {"reason": "agent_timeout_on_user_turn"}},
            False,
            "timeout",
            False,
        ),
        ("assistant_completed", {"score": 0.0}, None, "assistant_completed", False),
        ("assistant_completed", {"score": 1.0, "skipped": True}, None, "assistant_completed", False),
        ("assistant_completed", None, None, "assistant_completed", False),
        ("provider_error", {"score": 1.0}, False, "error", True),
        ("goodbye", {"score": 0.0}, True, "terminal", False),
        ("elevenlabs_disconnect", {"score": 1.0}, False, "hangup", False),
    ],
)
def test_an_end_that_eva_does_not_have_counts_as_its_own_metric_says(
    tmp_path: Path, reason: str, valid_end: Any, completed: bool | None, stop: str, errored: bool
) -> None:
    record = write_record(tmp_path / "records" / "r1", result={"conversation_ended_reason": reason})
    scores = {} if valid_end is None else {"conversation_valid_end": valid_end}
    (record / "metrics.json").write_text(json.dumps({"record_id": "r1", "metrics": scores}))
    source = source_of("eva")
    assert source is not None
    (call,) = [each for each in source.read(record, ReadContext()) if isinstance(each, Conversation)]
    assert (call.completed, call.stop_reason, call.errored) == (completed, stop, errored)
