"""Logs of Inspect AI: their samples as calls, their scores as verdicts, in both forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from riff_ingest import Conversation, Turn, read_source
from tests.support import inspect_logs as logs
from tests.surface.ingest import INSPECT_LOG_SOURCE as SOURCE
from tests.surface.ingest import ReadContext, StateEntered, ToolCall, ToolSegments, detect, facts_of
from tests.surface.store import Annotation, JudgedScore, Skipped


def items(path: Path, **context: Any) -> list[Any]:
    return list(SOURCE.items(path, ReadContext(**context)))


def calls(found: list[Any]) -> list[Conversation]:
    return [item[1] for item in found if isinstance(item, tuple)]


def call_of(directory: Path, sample: dict[str, Any], **fields: Any) -> Conversation:
    (call,) = calls(items(logs.write_eval(directory / "log.eval", [sample], **fields)))
    return call


def verdicts(directory: Path, scores: dict[str, Any], **fields: Any) -> list[JudgedScore]:
    found = items(logs.write_eval(directory / "log.eval", [logs.sample(scores=scores)], **fields))
    return [item for item in found if isinstance(item, JudgedScore)]


def states(call: Conversation) -> list[str]:
    return [event.state for event in call.events if isinstance(event, StateEntered)]


def skipped(found: list[Any]) -> list[str]:
    return [item.reason for item in found if isinstance(item, Skipped)]


def test_a_sample_is_a_call_with_its_times(tmp_path: Path) -> None:
    call = call_of(tmp_path, logs.viewing("s1", 2))
    assert call.turns == [
        Turn("caller", "I want to see the flat", 0.0, "opening"),
        Turn("agent", "Which day?", 4.5, "opening", 500.0),
        Turn("caller", "Tuesday", 5.25, "opening"),
        Turn("agent", "Booked.", 11.0, "book_viewing", 2000.0),
    ]
    assert call.tool_calls == [
        ToolCall("book_viewing", 7.5, {"day": "Tuesday"}, None, "agent", "ok", "book_viewing", 7)
    ]
    assert (states(call), call.origin, call.final_state) == (["opening", "book_viewing"], "derived", "book_viewing")
    assert (call.run_id, call.run_label, call.commit, call.branch) == ("r1/viewing", logs.at(0), "abc1234", "main")
    assert (call.flow, call.agent_model, call.persona) == ("viewing", "acme/agent", "hurried")
    assert call.caller == "acme/caller"
    assert (call.conversation_id, call.scenario, call.trial) == ("s1", "s1", 1)
    assert (call.started_at, call.duration_s) == (logs.at(0), 60.0)
    assert (call.completed, call.stop_reason, call.errored) == (True, "terminal", False)


def test_a_call_began_when_its_evaluation_did_whatever_its_sample_says(tmp_path: Path) -> None:
    """An evaluation that goes on where another ended has samples of that one."""
    call = call_of(tmp_path, logs.viewing("s1", 2), created=logs.at(7200))
    assert (call.started_at, call.run_label) == (logs.at(7200), logs.at(7200))
    assert [turn.t for turn in call.turns] == [0.0, 4.5, 5.25, 11.0]


def test_both_forms_give_the_same(tmp_path: Path) -> None:
    samples = [logs.viewing("s1"), logs.viewing("s2", error={"message": "broken"}), logs.viewing(3, 2)]
    document = items(logs.write_json(tmp_path / "log.json", samples))
    assert len(calls(document)) == 3
    for method in (logs.ZSTD, logs.DEFLATE, logs.STORED):
        assert items(logs.write_eval(tmp_path / "log.eval", samples, method)) == document


def test_samples_of_a_zip_file_come_in_the_order_of_the_dataset(tmp_path: Path) -> None:
    samples = [logs.sample("s2", 2), logs.sample("s2"), logs.sample("s1", 2), logs.sample("s1"), logs.sample("other")]
    found = calls(items(logs.write_eval(tmp_path / "log.eval", samples)))
    assert [(call.conversation_id, call.trial) for call in found] == [
        ("s1", 0), ("s2", 0), ("other", 0), ("s1", 1), ("s2", 1),
    ]  # fmt: skip


def test_scores_are_verdicts_by_scorer_and_grader(tmp_path: Path) -> None:
    found = items(logs.write_eval(tmp_path / "log.eval", [logs.viewing()]))
    included, graded = [item for item in found if isinstance(item, JudgedScore)]
    assert (included.judge, included.aspect, included.model, included.score) == ("includes", "includes", None, 10.0)
    assert (graded.judge, graded.model, graded.score) == ("model_graded_qa", "acme/grader", 5.0)
    assert (included.rationale, graded.rationale) == ("It says so.", "Half of it.")
    assert included.judged_at is not None
    assert graded.judged_at is None
    assert {(each.run, each.conversation, each.flow, each.trial) for each in (included, graded)} == {
        ("r1/viewing", "s1", "viewing", 0)
    }


@pytest.mark.parametrize(
    ("value", "score"),
    [
        ("C", 10.0), ("I", 0.0), ("P", 5.0), ("N", 0.0), (True, 10.0), (False, 0.0), (1, 10.0), (0.25, 2.5),
        ("yes", 10.0), ("0.5", 5.0), ("odd", None), ("", None), (None, None), (float("nan"), None), (4, None),
        (-0.1, None), (10**400, None), ({"deep": {"deeper": 1}}, None),
    ],
)  # fmt: skip
def test_a_value_is_a_score_or_unscored_and_never_a_0_that_nobody_gave(
    tmp_path: Path, value: Any, score: float | None
) -> None:
    assert [each.score for each in verdicts(tmp_path, {"any": {"value": value}})] == [score]


def test_numbers_are_unscored_where_one_of_them_shows_another_scale(tmp_path: Path) -> None:
    samples = [logs.sample(name, scores={"stars": {"value": value}}) for name, value in (("s1", 1), ("s2", 4))]
    found = items(logs.write_eval(tmp_path / "log.eval", samples))
    assert [(each.score, each.rationale) for each in found if isinstance(each, JudgedScore)] == [
        (None, "Its value 1 is not on a scale from 0 to 1"),
        (None, "Its value 4 is not on a scale from 0 to 1"),
    ]


def test_a_score_of_several_values_has_an_aspect_for_each(tmp_path: Path) -> None:
    found = verdicts(tmp_path, {"rubric": {"value": {"warm": 0.8, "polite": True}}, "pair": {"value": ["C", "I"]}})
    assert [(each.judge, each.aspect, each.score) for each in found] == [
        ("rubric", "warm", 8.0), ("rubric", "polite", 10.0), ("pair", "pair 1", 10.0), ("pair", "pair 2", 0.0),
    ]  # fmt: skip


def test_a_scorer_names_its_model_in_its_options(tmp_path: Path) -> None:
    scorers = [{"name": "a", "options": {"model": ["m1", "m2"]}}, {"name": "b", "options": {"model_role": "user"}}]
    found = verdicts(tmp_path, {"a": {"value": 1}, "b": {"value": 1}, "c": {"value": 1}}, scorers=scorers)
    assert [each.model for each in found] == ["m1, m2", "acme/caller", "acme/grader"]


def test_what_a_grader_said_last_is_the_reason_where_nothing_else_is(tmp_path: Path) -> None:
    grading = [logs.says("user", "Grade!"), logs.says("assistant", "Fine. GRADE: C")]
    (found,) = verdicts(tmp_path, {"qa": {"value": "C", "metadata": {"grading": grading}}})
    assert found.rationale == "Fine. GRADE: C"


def test_an_edited_score_counts_as_edited_and_its_history_is_a_note(tmp_path: Path) -> None:
    by_hand = {"value": "C", "provenance": {"author": "ann", "timestamp": logs.at(90), "reason": "heard it"}}
    score = {"value": "C", "explanation": "right", "history": [{"value": "I", "explanation": "wrong"}, by_hand]}
    found = items(logs.write_eval(tmp_path / "log.eval", [logs.sample(scores={"includes": score})]))
    (verdict,) = [item for item in found if isinstance(item, JudgedScore)]
    (note,) = [item for item in found if isinstance(item, Annotation)]
    assert (verdict.score, verdict.rationale, verdict.judged_at) == (10.0, "right", note.at)
    assert (note.author, note.note, note.verdict) == ("ann", "includes: I → C, heard it", "pass")
    assert (note.run, note.flow, note.agent, note.trial) == ("r1/viewing", "viewing", "acme/agent", 0)


def test_the_first_score_that_no_model_gave_says_whether_the_task_was_done(tmp_path: Path) -> None:
    passed = call_of(tmp_path, logs.viewing())
    failed = call_of(tmp_path, logs.viewing(scores={"includes": {"value": "I"}}))
    opinion = call_of(tmp_path, logs.viewing(), scorers=[{"name": "model_graded_qa"}])
    unscored = call_of(tmp_path, logs.viewing(scores={}))
    assert [call.passed for call in (passed, failed, opinion, unscored)] == [True, False, None, None]
    assert facts_of(opinion, default_run="x")[0].aspects["correctness"] is None


def test_an_errored_sample_says_why(tmp_path: Path) -> None:
    call = call_of(tmp_path, logs.sample(error={"message": "RuntimeError('no backend')", "traceback": "…"}))
    assert (call.errored, call.error, call.stop_reason) == (True, "RuntimeError('no backend')", "error")
    assert call.completed is False


def test_a_sample_that_was_declared_invalid_does_not_count(tmp_path: Path) -> None:
    call = call_of(tmp_path, logs.sample(invalidation={"author": "ann", "timestamp": logs.at(1), "reason": "typo"}))
    assert (call.errored, call.error) == (True, "declared invalid: typo")


@pytest.mark.parametrize("limit", [{"type": "message", "limit": 5}, "message"])
def test_a_limit_is_why_a_call_stopped(tmp_path: Path, limit: Any) -> None:
    call = call_of(tmp_path, logs.sample(limit=limit))
    assert (call.completed, call.stop_reason, call.errored) == (False, "message", False)


def test_attempts_that_were_made_again_are_no_errors_of_the_agent(tmp_path: Path) -> None:
    call = call_of(tmp_path, logs.sample(error_retries=[{"message": "timeout"}]))
    assert call.errors == [{"kind": "retried", "message": "timeout"}]
    assert call.error_count() == 0


def test_a_tool_that_failed_is_an_error_of_its_visit(tmp_path: Path) -> None:
    book = logs.calls("a1", "book_viewing", day="never")
    failed = logs.answers("c-a1", "", error={"type": "parsing", "message": "no such day"})
    call = call_of(tmp_path, logs.sample(messages=[book, failed]))
    facts, _ = facts_of(call, default_run="x")
    assert (call.tool_calls[0].error, call.tool_calls[0].fits) == ("parsing: no such day", False)
    assert (facts.error_count, {state.state: state.guard_error for state in facts.states}) == (
        1,
        {"opening": 0, "book_viewing": 1},
    )


def handed_over() -> dict[str, Any]:
    """A call in which one agent hands over to another and gets the call back."""
    hand, there = logs.calls("a1", "transfer_to_booking"), logs.says("assistant", "Booking here", "a2")
    back = logs.says("assistant", "Anything else?", "a3")
    events = [
        logs.span("t", "agent", "triage"),
        logs.model(hand, 1, 1, span_id="t"),
        logs.span("h", "handoff", "transfer_to_booking", "t"),
        logs.span("b", "agent", "booking", "h"),
        logs.tool("c-a1", "transfer_to_booking", 3, span_id="t"),
        logs.model(there, 4, 1, span_id="b"),
        logs.model(back, 6, 1, span_id="t"),
        logs.span("s", "scorer", "qa"),
        logs.span("j", "agent", "judge", "s"),
        logs.model(logs.says("assistant", "C", "g1"), 8, 1, span_id="j"),
    ]
    messages = [logs.says("user", "Hi", source="input"), hand, logs.answers("c-a1", "handed over"), there, back]
    return logs.sample(messages=messages, events=events)


def test_agents_that_hand_over_are_the_states(tmp_path: Path) -> None:
    call = call_of(tmp_path, handed_over())
    assert (states(call), call.origin) == (["triage", "booking", "triage"], "observed")
    assert [(turn.text, turn.state) for turn in call.turns] == [
        ("Hi", "triage"), ("Booking here", "booking"), ("Anything else?", "triage"),
    ]  # fmt: skip


def test_a_call_that_could_have_been_handed_over_stays_with_its_agent(tmp_path: Path) -> None:
    stuck = handed_over()
    stuck["messages"] = stuck["messages"][:1]
    stuck["events"] = stuck["events"][:2]
    stuck["events"][1] |= {"tools": [{"name": "transfer_to_booking"}], "output": {}}
    alone = handed_over()
    alone["events"] = alone["events"][:2]
    assert states(call_of(tmp_path, stuck)) == ["triage"]
    assert states(call_of(tmp_path, alone)) == ["opening", "transfer_to_booking"]


def test_what_is_said_can_lie_among_the_attachments(tmp_path: Path) -> None:
    messages = [logs.says("user", "attachment://abc"), logs.says("assistant", "attachment://lost")]
    call = call_of(tmp_path, logs.sample(messages=messages, attachments={"abc": "A long story"}))
    assert [turn.text for turn in call.turns] == ["A long story", "attachment://lost"]
    asked = logs.calls("a1", "look_up", notes=["attachment://abc", {"to": "attachment://abc"}])
    call = call_of(tmp_path, logs.sample(messages=[asked], attachments={"abc": "A long story"}))
    assert call.tool_calls[0].arguments == {"notes": ["A long story", {"to": "A long story"}]}


def test_messages_of_old_logs_have_no_ids_and_are_told_by_what_they_say(tmp_path: Path) -> None:
    yes = logs.says("assistant", "Yes")
    old = logs.model(yes, 1, 0) | {"completed": None, "working_time": None}
    old["output"]["time"] = 0.75
    call = call_of(tmp_path, logs.sample(messages=[yes, yes], events=[old]))
    assert call.turns == [Turn("agent", "Yes", 1.75, "opening", 750.0), Turn("agent", "Yes", None, "opening")]


def test_calls_of_tools_by_the_callers_model_are_the_callers(tmp_path: Path) -> None:
    toggles = logs.model(logs.calls("x1", "toggle_roaming"), 1, 1, role="user")
    call = call_of(tmp_path, logs.sample(events=[toggles, logs.tool("c-x1", "toggle_roaming", 2)]))
    assert states(call) == ["opening", "user:toggle_roaming"]


def test_a_hand_over_to_a_human_is_an_escalation(tmp_path: Path) -> None:
    call = call_of(tmp_path, logs.sample(messages=[logs.calls("a1", "transfer_to_human_agents")]))
    facts, _ = facts_of(call, default_run="x")
    assert facts.terminals == {"transfer_to_human_agents": "escalation"}


def test_tokens_and_signatures_of_links_are_not_kept(tmp_path: Path) -> None:
    secret, link = "Bearer abcdefgh12345678", "https://files.example/r.wav?X-Amz-Signature=abcdef"
    book = logs.calls("a1", "book_viewing", content=f"I call {link}", headers={"authorization": "abc"}, link=link)
    told = logs.sample(
        messages=[book, logs.answers("c-a1", link, error={"type": "unknown", "message": secret})],
        error={"message": f"refused {secret}"},
        scores={"qa": {"value": "C", "explanation": f"said {secret}"}},
    )
    void = logs.sample(invalidation={"reason": f"played with {secret}"})
    kept = str([items(logs.write_eval(tmp_path / f"{place}.eval", [each])) for place, each in enumerate((told, void))])
    assert "book_viewing" in kept
    assert "played with" in kept
    assert not [word for word in ("abcdefgh", "Signature", "'abc'") if word in kept]


def test_users_set_the_phases_of_tools(tmp_path: Path) -> None:
    path = logs.write_eval(tmp_path / "log.eval", [logs.viewing()])
    (call,) = calls(items(path, tool_segments=ToolSegments.of({"book_*": "confirm"})))
    assert [event.segment for event in call.events if isinstance(event, StateEntered)] == ["opening", "confirm"]


def test_a_flow_is_named_by_the_sample_else_by_the_run_else_by_the_task(tmp_path: Path) -> None:
    mine = logs.sample(metadata={"flow": "mine"})
    assert call_of(tmp_path, mine, metadata={"flow": "ours"}).flow == "mine"
    assert call_of(tmp_path, logs.sample(), metadata={"flow": "ours"}).flow == "ours"
    played = {"persona": "patient"}
    assert call_of(tmp_path, mine, metadata=played).persona == "patient"
    assert call_of(tmp_path, logs.sample(), metadata=played).persona == "hurried"
    assert call_of(tmp_path, logs.sample()).flow == "viewing"


def test_a_commit_with_changes_is_marked_as_git_describe_does(tmp_path: Path) -> None:
    assert call_of(tmp_path, logs.sample(), revision={"commit": "abc1234", "dirty": True}).commit == "abc1234-dirty"


def test_a_log_is_known_by_what_it_holds(tmp_path: Path) -> None:
    archive = logs.write_eval(tmp_path / "nightly.zip", [logs.sample()])
    document = logs.write_json(tmp_path / "nightly.json", [logs.sample()])
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"eval": "yes", "samples": []}))
    assert [detect(path).kind for path in (archive, document, other)] == ["inspect", "inspect", None]


def test_the_public_logs_are_read(shared_data: Path) -> None:
    directory = shared_data / "inspect"
    reader = read_source(directory / "2025-02-11_popularity_deflate.eval")
    found = list(reader)
    assert [call.conversation_id for call in found] == [str(number) for number in range(1, 11)]
    assert {(call.flow, call.agent_model, call.commit) for call in found} == {
        ("popularity", "openai/gpt-4o-mini", "ef1d858c")
    }
    assert all(turn.latency_ms for call in found for turn in call.turns if turn.role == "agent")
    (guess,) = read_source(directory / "log_message_deduplication_deflate.eval")
    assert [call.name for call in guess.tool_calls] == ["bash"] * 5
    assert reader.skipped == []


def test_a_zip_file_with_zstd_members_gives_what_its_twin_gives(shared_data: Path) -> None:
    directory = shared_data / "inspect"
    packed, plain = items(directory / "viewing_made_zstd.eval"), items(directory / "viewing_made.json")
    assert packed == plain
    assert [(call.conversation_id, call.trial, call.errored) for call in calls(packed)] == [
        ("s1", 0, True), ("s2", 0, False), ("s3", 0, True), ("s1", 1, True), ("s2", 1, False), ("s3", 1, True),
    ]  # fmt: skip
