"""Recorded verdicts come back as they were given, and junk comes back as junk."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.surface.ingest import Turn
from tests.surface.runner import (
    CallToJudge,
    ConversationName,
    JudgingOutcome,
    Misconfigured,
    ReplayJudge,
    Retry,
    Rubric,
    Signature,
)
from tests.surface.runner import RetryRetryPolicy as RetryPolicy

TURNS = [Turn("agent", "Good morning."), Turn("caller", "Hello.")]


def recorded(folder: Path, *lines: dict[str, Any]) -> ReplayJudge:
    path = folder / "run-1" / "humanness-old.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"torn', encoding="utf-8")
    return ReplayJudge([folder], "old")


def line(conversation: str, **more: Any) -> dict[str, Any]:
    return {"run_id": "run-1", "conversation_id": conversation, "judge": "old", **more}


def outcome_of(judge: ReplayJudge, conversation: str) -> JudgingOutcome:
    asking = Retry(judge, Rubric(), RetryPolicy(5.0, 1))
    return asyncio.run(asking.outcome(CallToJudge(ConversationName("run-1", conversation), TURNS)))


def test_a_verdict_comes_back_with_its_signature_and_its_time(tmp_path: Path) -> None:
    signed = {"prompt_hash": "abc", "model": "m-1", "judged_at": "2026-01-01T00:00:00Z"}
    judge = recorded(tmp_path, line("c-1", score=4.5, rationale="Stiff.", evidence=[1], **signed))
    outcome = outcome_of(judge, "c-1")
    assert outcome.verdict is not None
    assert (outcome.verdict.score, outcome.verdict.evidence, outcome.verdict.reason) == (4.5, (1,), "Stiff.")
    assert outcome.judged_at == "2026-01-01T00:00:00Z"
    assert judge.signature(ConversationName("run-1", "c-1")) == Signature("m-1", "abc")
    assert judge.signature(ConversationName("run-1", "c-2")) is None
    assert judge.signature(ConversationName("run-2", "c-1")) is None


def test_a_plain_score_is_enough_and_the_run_may_be_that_of_the_directory(tmp_path: Path) -> None:
    judge = recorded(tmp_path, {"conversation_id": "c-1", "judge": "old", "score": 0})
    outcome = outcome_of(judge, "c-1")
    assert outcome.verdict is not None
    assert (outcome.verdict.score, outcome.verdict.reason) == (0.0, "No reason was recorded.")


def test_the_latest_of_several_verdicts_counts(tmp_path: Path) -> None:
    judge = recorded(
        tmp_path,
        line("c-1", score=1, judged_at="2026-01-02T00:00:00Z"),
        line("c-1", score=2, judged_at="2026-01-01T00:00:00Z"),
        line("c-1", score=3),
        line("c-2", score=4),
        line("c-2", score=5),
    )
    scores = [outcome.verdict.score for name in ("c-1", "c-2") if (outcome := outcome_of(judge, name)).verdict]
    assert scores == [1.0, 5.0]


def test_what_was_unscored_stays_so_with_its_reason(tmp_path: Path) -> None:
    judge = recorded(tmp_path, line("c-1", score=None, unscored="no answer in time"), line("c-2", score=None))
    assert outcome_of(judge, "c-1").unscored == "no answer in time"
    assert outcome_of(judge, "c-2").unscored == "No reason was recorded."


@pytest.mark.parametrize("score", [11, "7", True, [], {}, -1])
def test_a_score_that_is_none_is_unscored(tmp_path: Path, score: Any) -> None:
    outcome = outcome_of(recorded(tmp_path, line("c-1", score=score)), "c-1")
    assert outcome.verdict is None
    assert "the score is not" in str(outcome.unscored)


def test_raw_answers_are_read_as_if_they_had_just_come(tmp_path: Path) -> None:
    good = '```json\n{"score": 8, "evidence": [2], "reason": "Warm."}\n```'
    judge = recorded(tmp_path, line("c-1", answer=good), line("c-2", answer="eight"))
    assert getattr(outcome_of(judge, "c-1").verdict, "score", None) == 8.0
    assert outcome_of(judge, "c-2").unscored == "the answer is not JSON"


def test_verdicts_of_another_judge_are_named(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="no verdict of old; there are verdicts of claude, codex"):
        recorded(tmp_path, line("c-1", score=1) | {"judge": "codex"}, line("c-1", score=1) | {"judge": "claude"})


def test_what_was_recorded_of_an_id_of_several_calls_is_given_to_none_of_them_without_the_part_that_decides(
    tmp_path: Path,
) -> None:
    judge = recorded(tmp_path, line("c-1", score=1), line("c-1", score=2, flow="dental"), line("c-2", score=3))
    calls = [ConversationName("run-1", "c-1", flow, "m", 0) for flow in ("dental", "garage")]
    other = ConversationName("run-1", "c-2", "garage", "m", 0)
    judge.expect([*calls, other])
    assert [judge.signature(call) is not None for call in (*calls, other)] == [True, False, True]
    asking = Retry(judge, Rubric(), RetryPolicy(5.0, 1))
    outcome = asyncio.run(asking.outcome(CallToJudge(calls[0], TURNS)))
    assert outcome.verdict is not None
    assert outcome.verdict.score == 2
