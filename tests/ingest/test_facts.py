"""From a conversation to what is stored of it, brought-along scores held against computed ones."""

from __future__ import annotations

from typing import Any

from tests.surface.ingest import (
    LONGEST_RESULT,
    Contract,
    Conversation,
    ReferenceStep,
    StateEntered,
    StateExited,
    ToolCall,
    Turn,
    TurnComplete,
    facts_of,
)
from tests.surface.store import ConversationFacts, Skipped, read_text


def scored(**given: Any) -> tuple[ConversationFacts, list[Skipped]]:
    settings: dict[str, Any] = {
        "conversation_id": "c-1",
        "flow": "viewing",
        "contract": Contract(success_terminals=["booked"], archetype="booking"),
        "events": [StateEntered("a", t=0.0), TurnComplete(1000), StateExited("a", "booked"), StateEntered("booked")],
        "turns": [Turn("agent", "Grüß Gott", 0.0, "a", 1000)],
    }
    return facts_of(Conversation(**(settings | given)), default_run="folder", line=3)


def test_a_call_is_scored_and_named_after_its_folder_where_it_names_no_run() -> None:
    facts, notes = scored()
    assert (facts.run_id, facts.archetype, facts.line, notes) == ("folder", "booking", 3, [])
    assert facts.aspects["correctness"] == 10.0
    assert [row.state for row in facts.states] == ["a"]
    assert facts.terminals == {"booked": "success"}


def test_times_are_kept_in_utc() -> None:
    assert scored(started_at="2026-06-22T04:00:00+02:00")[0].started_at == 1782093600000000
    assert scored(started_at="2026-06-22T02:00:00")[0].started_at == 1782093600000000


def test_what_was_said_is_kept_whole() -> None:
    blob = scored(slots={"name": "Ann"})[0].transcript
    assert blob is not None
    document = read_text(blob)
    assert document["turns"][0] == {"role": "agent", "text": "Grüß Gott", "t": 0.0, "state": "a", "latency_ms": 1000}
    assert document["events"][0] == {"type": "state_entered", "state": "a", "t": 0.0, "segment": None}
    assert document["slots"] == {"name": "Ann"}


def test_events_win_over_brought_scores_and_the_difference_is_noted() -> None:
    facts, notes = scored(
        aspects={"correctness": 3.0, "turn_count": 1.04},
        state_aspects=[{"state": "a", "progress": 0, "dwell_turns": 1.0}, {"state": "never"}],
    )
    assert facts.aspects["correctness"] == 10.0
    assert [note.kind for note in notes] == ["mismatch"] * 3
    assert notes[0].reason == "correctness brought 3, computed 10"
    assert (notes[0].line, notes[0].conversation) == (3, "c-1")
    assert "a.progress" in notes[1].reason
    assert "never visited" in notes[2].reason


def test_brought_scores_count_where_events_are_missing() -> None:
    brought = {"state": "a", "stall": 1, "latency_p95_ms": 40, "to_states": {"b": 2}, "slot_fill_rate": None}
    facts, notes = scored(events=[], turns=[], aspects={"correctness": 3.0}, state_aspects=[brought, {"odd": 1}])
    assert facts.aspects["correctness"] == 3.0
    assert facts.aspects["latency_p95"] is None
    (row,) = facts.states
    assert (row.state, row.stall, row.latency_p95_ms, row.to_states, row.slot_fill_rate) == ("a", 1, 40, {"b": 2}, None)
    assert notes == []


def test_stream_defects_are_counted_and_noted() -> None:
    facts, notes = scored(events=[StateEntered("a"), StateExited("z", "b")], defects={"unknown event": 2})
    assert facts.defects == 3
    assert [(note.kind, note.reason) for note in notes] == [("defect", "stream defects: stray exit 1, unknown event 2")]


def test_expected_steps_of_the_caller_are_states_of_the_caller() -> None:
    steps = [ReferenceStep("toggle", "user", True, None), ReferenceStep("book", called=False)]
    found = scored(expected_steps=steps)[0].expected
    assert [(step.state, step.called) for step in found] == [("user:toggle", True), ("book", False)]


def test_a_call_whose_caller_failed_counts_as_errored_and_failed_nowhere() -> None:
    facts, _ = scored(caller="gpt", caller_ok=False, completed=False, final_state="a")
    assert (facts.is_excluded(), facts.caller, facts.caller_ok, facts.failure) == (True, "gpt", False, None)
    assert scored(caller="gpt", caller_ok=True)[0].is_excluded() is False


def test_requests_that_were_sent_again_are_no_errors_of_the_agent() -> None:
    again = {"kind": "retried", "message": "429", "t": 1.0}
    facts, _ = scored(errors=[again, {"kind": "tool", "message": "timeout", "t": 2.0}, again])
    assert (facts.error_count, facts.aspects["errors"]) == (1, 7.5)
    blob = facts.transcript
    assert blob is not None
    assert read_text(blob)["errors"][0] == again


def test_of_what_a_tool_answered_a_bounded_part_is_kept() -> None:
    results = [{"free": True}, None, "x" * LONGEST_RESULT, {"rows": ["y" * 100] * 1000}]
    blob = scored(tool_calls=[ToolCall("find", result=result) for result in results])[0].transcript
    assert blob is not None
    document = read_text(blob)
    kept = [call["result"] for call in document["tool_calls"]]
    assert kept[:3] == results[:3]
    assert kept[3].startswith('{"rows":["yyy')
    assert kept[3].endswith("… (cut, of 103,010 characters)")
    assert len(kept[3]) < LONGEST_RESULT + 40
