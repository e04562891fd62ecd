"""How calls end, in every reader: a word that is not known says nothing, and never that a call was not completed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from riff_ingest import read_source
from tests.support import eva_runs, inspect_logs, pipecat_runs, tau_runs
from tests.support.livekit_reports import assistant, handoff, report, tool, user
from tests.support.retell_calls import greeting, retell_call, retell_flow, written
from tests.support.vapi_calls import vapi_call
from tests.surface.ingest import Conversation, facts_of, load, plan_of
from tests.surface.store import ConversationFacts, Skipped, read_text

WORD, OF_OTHERS = "struck_by_lightning", "diverged"
"""A word that nobody has, and one that no reader but that of transcripts has."""


def _native(folder: Path, word: str) -> Path:
    line = {"conversation_id": "c", "flow": "f", "completed": True, "stop_reason": word}
    return written(folder / "flow-transcripts-x.jsonl", [line])


def _retell(folder: Path, word: str) -> Path:
    return written(folder / "call.json", retell_call(disconnection_reason=word))


def _retell_with_its_flow(folder: Path, word: str) -> Path:
    """A call that reached none of the terminals of its flow."""
    written(folder / "flow.json", retell_flow())
    written(folder / "call.json", retell_call(items=greeting(), disconnection_reason=word))
    return folder


def _vapi(folder: Path, word: str) -> Path:
    return written(folder / "call.json", vapi_call(endedReason=word))


def _livekit(folder: Path, word: str) -> Path:
    return written(folder / "session_report.json", report(assistant("Hello", 1), user("Hi", 2), close_reason=word))


def _pipecat(folder: Path, word: str) -> Path:
    return pipecat_runs.run_of(folder, [pipecat_runs.simulation(ended_by=word)])


def _tau(folder: Path, word: str) -> Path:
    made = tau_runs.simulation("s", termination_reason=word)
    return tau_runs.write_results(folder / "results.json", tau_runs.results([made], tau_runs.task("1")))


def _eva(folder: Path, word: str) -> Path:
    record = eva_runs.changed(eva_runs.files(), "result.json", conversation_ended_reason=word)
    return eva_runs.make_run(folder, {"1.1.2": record})


def _inspect(folder: Path, word: str | None) -> Path:
    limited = inspect_logs.viewing(limit={"type": word, "limit": 3} if word else None)
    return inspect_logs.write_json(folder / "log.json", [limited])


READERS: list[Callable[[Path, str], Path]] = [
    _native, _retell, _retell_with_its_flow, _vapi, _livekit, _pipecat, _tau, _eva, _inspect
]  # fmt: skip


def scored(path: Path) -> tuple[Conversation, ConversationFacts, list[Skipped]]:
    """The one call of an input."""
    (call,) = read_source(path)
    return call, *facts_of(call, default_run="r")


@pytest.mark.parametrize(
    ("reader", "word"), [*((reader, WORD) for reader in READERS), *((reader, OF_OTHERS) for reader in READERS[1:])]
)
def test_an_unknown_word_leaves_completion_unmeasured_and_is_named(
    tmp_path: Path, reader: Callable[[Path, str], Path], word: str
) -> None:
    call, facts, notes = scored(reader(tmp_path, word))
    assert call.stop_reason == word
    assert call.completed is not False
    assert facts.aspects["completion"] is None
    assert [note.kind for note in notes if word in note.reason] == ["defect"]


@pytest.mark.parametrize(
    ("reader", "good", "bad"),
    [
        (_native, "terminal", "hangup"),
        (_pipecat, "bot", "max_duration"),
        (_tau, "user_stop", "max_steps"),
        (_eva, "goodbye", "session_ended"),
        (_inspect, None, "message"),
    ],
)
def test_known_words_say_whether_a_call_was_completed(
    tmp_path: Path, reader: Callable[[Path, Any], Path], good: Any, bad: str
) -> None:
    for word, score in ((good, 10.0), (bad, 0.0)):
        (folder := tmp_path / str(word)).mkdir()
        _, facts, notes = scored(reader(folder, word))
        assert facts.aspects["completion"] == score
        assert not [note for note in notes if "an unknown word" in note.reason]


@pytest.mark.parametrize(
    ("made", "needed"),
    [
        (lambda folder: _inspect_scored(folder, {}), True),
        (lambda folder: _inspect_scored(folder, {"includes": {"value": "C"}}), False),
        (lambda folder: _inspect_scored(folder, {"includes": {"value": float("nan")}}), True),
        (lambda folder: _tau_rewarded(folder, {}), True),
        (lambda folder: _tau_rewarded(folder, tau_runs.rewarded(0.0)), False),
        (lambda folder: _eva(folder, "goodbye"), True),
        (lambda folder: _retell(folder, "user_hangup"), False),
        (lambda folder: _vapi(folder, "customer-ended-call"), False),
        (lambda folder: _native(folder, "terminal"), False),
    ],
)
def test_where_only_a_scorer_can_tell_a_call_without_a_score_waits_for_one(
    tmp_path: Path, made: Callable[[Path], Path], needed: bool
) -> None:
    (call,) = read_source(made(tmp_path))
    assert (call.needs_verdict, call.passed is None) == (needed, needed or call.passed is None)


def _inspect_scored(folder: Path, scores: dict[str, Any]) -> Path:
    return inspect_logs.write_json(folder / "log.json", [inspect_logs.viewing(scores=scores)])


def _tau_rewarded(folder: Path, reward_info: dict[str, Any]) -> Path:
    made = tau_runs.simulation("s", reward_info=reward_info)
    return tau_runs.write_results(folder / "results.json", tau_runs.results([made], tau_runs.task("1")))


def test_times_that_run_back_are_counted_and_change_no_order(tmp_path: Path) -> None:
    turns = [{"role": "agent", "text": text, "t": t} for text, t in (("a", 0), ("b", 9), ("c", None), ("d", 3))]
    line = {"conversation_id": "c", "flow": "f", "turns": turns}
    call, facts, notes = scored(written(tmp_path / "flow-transcripts-x.jsonl", [line]))
    assert [turn.text for turn in call.turns] == ["a", "b", "c", "d"]
    assert facts.defects == 1
    assert [note.reason for note in notes] == ["stream defects: times run back 1"]


def test_a_tool_says_in_which_state_and_after_how_many_turns_and_events_it_was_called(tmp_path: Path) -> None:
    (call,) = read_source(written(tmp_path / "c.json", vapi_call()))
    # opening, greeting and its end, the wish, and the exit and entry that are the call of the tool.
    assert [(tool.name, tool.state, tool.seq) for tool in call.tool_calls] == [("check_day", "check_day", 6)]


def test_a_tool_that_hands_over_was_called_by_the_agent_that_was_there(tmp_path: Path) -> None:
    items = [
        handoff(None, "greeter", 0),
        assistant("Hi", 1),
        handoff("greeter", "desk", 2),
        tool("transfer_to_human", 3),
    ]
    (call,) = read_source(written(tmp_path / "session_report.json", report(*items)))
    assert call.final_state == "escalated"
    assert [(each.name, each.state) for each in call.tool_calls] == [("transfer_to_human", "desk")]


def _with_figures(folder: Path) -> Path:
    """A call of Retell that measured its latency otherwise than the words say."""
    return written(folder / "call.json", retell_call(latency={"e2e": {"p95": 9000}}))


def _partly_rewarded(folder: Path) -> Path:
    return _tau_rewarded(folder, tau_runs.rewarded(0.5))


def _partly_scored(folder: Path) -> Path:
    return _inspect_scored(folder, {"includes": {"value": 0.5}})


def _averaged(folder: Path) -> Path:
    return written(folder / "c.json", vapi_call(artifact={"performanceMetrics": {"turnLatencyAverage": 4000}}))


def _passed_by_none_but_its_script(folder: Path) -> Path:
    return pipecat_runs.run_of(folder, [pipecat_runs.simulation(passed=False)])


def _with_other_scores(folder: Path) -> Path:
    line = {
        "conversation_id": "c",
        "flow": "f",
        "events": [{"type": "state_entered", "state": "ask"}, {"type": "turn_complete"}],
        "aspects": {"turn_count": 3, "errors": 10},
        "state_aspects": [{"state": "ask", "dwell_turns": 4, "revisit": 0}],
    }
    return written(folder / "flow-transcripts-x.jsonl", [line])


def _eva_with_another_score(folder: Path) -> Path:
    record = eva_runs.with_metrics(eva_runs.files(), conversation_valid_end={"score": 0.0, "normalized_score": 0.0})
    return eva_runs.make_run(folder, {"1.1.2": record})


@pytest.mark.parametrize(
    ("made", "stored"),
    [
        (_with_figures, {"latency_p95": 9.0}),
        (_averaged, {"latency_mean": 4.0}),
        (_partly_rewarded, {"reward": 0.5}),
        (_partly_scored, {"includes": 0.5}),
        (_passed_by_none_but_its_script, {"passed": False}),
        (_with_other_scores, {"turn_count": 3.0, "ask.dwell_turns": 4.0}),
        (_eva_with_another_score, {"conversation_valid_end": 0.0}),
        (lambda folder: _retell(folder, "user_hangup"), None),
        (lambda folder: _tau_rewarded(folder, tau_runs.rewarded(0.0)), None),
    ],
)
def test_figures_of_the_source_that_are_others_than_ours_are_kept_with_the_call(
    tmp_path: Path, made: Callable[[Path], Path], stored: dict[str, Any] | None
) -> None:
    _, facts, _ = scored(made(tmp_path))
    assert facts.transcript is not None
    assert read_text(facts.transcript).get("stored") == stored


@pytest.mark.parametrize(
    ("word", "valid_end", "ended"),
    [
        ("assistant_completed", {"score": 1.0}, (True, "terminal", False)),
        (
            "agent_hangup",
            {"score": 1.0, "details": {"reason": "agent_timeout_on_user_turn"}},
            (False, "timeout", False),
        ),
        ("assistant_completed", {"score": 0.0}, (None, "assistant_completed", False)),
        ("assistant_completed", {"score": 1.0, "skipped": True}, (None, "assistant_completed", False)),
        ("assistant_completed", None, (None, "assistant_completed", False)),
        ("session_ended", {"score": 1.0}, (False, "hangup", False)),  # a word that is known decides
        ("elevenlabs_disconnect", {"score": 1.0}, (False, "hangup", False)),
        ("provider_error", {"score": 1.0}, (False, "error", True)),
    ],
)
def test_where_eva_has_no_such_word_its_own_metric_tells_whether_the_call_ended_well(
    tmp_path: Path, word: str, valid_end: dict[str, Any] | None, ended: tuple[bool | None, str, bool]
) -> None:
    run = _eva(tmp_path, word)
    (result,) = run.rglob("result.json")
    metrics = {} if valid_end is None else {"conversation_valid_end": {"name": "conversation_valid_end"} | valid_end}
    result.with_name("metrics.json").write_text(json.dumps({"record_id": "1.1.2", "context": {}, "metrics": metrics}))
    call, facts, _ = scored(run)
    assert (call.completed, call.stop_reason, call.errored) == ended
    if not call.errored:
        assert facts.aspects["completion"] == {True: 10.0, False: 0.0, None: None}[ended[0]]


@pytest.mark.parametrize("write", [_vapi, _retell, _livekit, _native])
def test_a_word_that_goes_on_and_on_is_cut_in_the_reason(tmp_path: Path, write: Callable[[Path, str], Path]) -> None:
    items = load(plan_of(write(tmp_path, "struck " * 1000), None, with_text=True))
    noted = [each.reason for each in items if isinstance(each, Skipped)]
    assert noted
    assert all(len(reason) <= 1000 for reason in noted)
