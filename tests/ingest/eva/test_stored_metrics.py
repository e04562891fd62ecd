"""Verdicts of EVA's judges: each by its own name, unscored where there is no score, without what models were asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.surface.ingest import (
    LONGEST_RATIONALE,
    NO_TURNS,
    Identity,
    MetricScore,
    Warnings,
    stored_metrics,
    stored_pass,
    stored_scores,
)
from tests.surface.ingest import stored_metrics_verdicts as verdicts
from tests.surface.store import JudgedScore

ID = Identity("run", "1.1.2", "1.1.2")
PLACES = {("agent", 0): 1, ("caller", 1): 2, ("agent", 1): 3, ("caller", 2): 5, ("agent", 2): 6}


def judged(**metrics: Any) -> dict[str, JudgedScore]:
    folder = metrics.pop("folder")
    (folder / "metrics.json").write_text(json.dumps({"metrics": metrics}))
    warnings = Warnings()
    found = {
        score.judge: score for score in verdicts(stored_scores(stored_metrics(folder, warnings), warnings), ID, PLACES)
    }
    assert warnings.lines() == []
    assert len({score.line for score in found.values()}) == len(found)
    return found


def test_a_verdict_has_the_name_of_its_metric_and_a_score_from_0_to_10(tmp_path: Path) -> None:
    details = {
        "explanation": {
            "dimensions": {
                "hallucination": {"rating": 1, "flagged": True, "evidence": "a seat that is not there"},
                "violating_policies": {"rating": 3, "flagged": False, "evidence": "none"},
            }
        },
        "judge_prompt": "You are a judge",
        "judge_raw_response": "{}",
    }
    given = {"score": 2, "normalized_score": 0.5, "details": details, "version": "0.3", "prompt_hash": "0123456789ab"}
    found = judged(folder=tmp_path, faithfulness=given)["faithfulness"]
    assert (found.judge, found.aspect, found.score) == ("faithfulness", "faithfulness", 5.0)
    assert (found.prompt_hash, found.prompt_version, found.judged_at) == ("0123456789ab", "0.3", None)
    assert found.rationale == "hallucination: a seat that is not there"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"score": None, "skipped": True, "details": {"skipped_reason": "no entities"}}, "no entities"),
        ({"score": 0.0, "error": NO_TURNS}, NO_TURNS),
        ({"score": 0.0, "normalized_score": 0.0, "error": "HTTP 500"}, "HTTP 500"),
        ({"score": -1, "normalized_score": None}, "There was nothing to judge"),
        ({"score": 2.0, "normalized_score": None}, "It has no score from 0 to 1"),
        ({"score": 2.0, "normalized_score": 7}, "Its score 7 is not between 0 and 1"),
        ({}, "It has no score"),
    ],
)
def test_what_has_no_score_is_unscored_with_the_reason_and_never_zero(
    tmp_path: Path, given: dict[str, Any], why: str
) -> None:
    found = judged(folder=tmp_path, conciseness=given)["conciseness"]
    assert (found.score, found.rationale) == (None, why)


def test_a_judge_names_the_turns_that_it_found_wanting(tmp_path: Path) -> None:
    ratings = {"per_turn_ratings": {"0": 3, "1": 2, "2": None, "9": 1, "x": 1, "-1": 1, "9" * 20: 1}}
    normalized = {"per_turn_ratings": {"1": 3}, "per_turn_normalized": {"1": 1.0, "2": 0.5}}
    found = judged(
        folder=tmp_path,
        conciseness={"normalized_score": 0.9, "details": ratings},
        user_speech_fidelity={"normalized_score": 0.9, "details": normalized},
        speakability={"normalized_score": 1.0, "details": {"per_turn_ratings": {"1": 1}}},
        faithfulness={"normalized_score": 0.5, "details": {"rating": 2}},
        tts_fidelity={"skipped": True, "details": {"per_turn_ratings": {"1": 0}}},
    )
    assert {name: score.evidence for name, score in found.items()} == {
        "conciseness": [3], "user_speech_fidelity": [5], "speakability": None, "faithfulness": None,
        "tts_fidelity": None,
    }  # fmt: skip


def test_entities_of_an_audio_native_call_are_of_tools_and_not_of_turns() -> None:
    score = MetricScore("transcription_accuracy_key_entities", 0.5, 0.5, {"per_turn_ratings": {"1": 0}})
    assert [each.evidence for each in verdicts({score.name: score}, ID, PLACES)] == [[2]]
    assert [each.evidence for each in verdicts({score.name: score}, ID, PLACES, audio_native=True)] == [None]


def test_a_judge_whose_scale_is_known_needs_no_normalised_score(tmp_path: Path) -> None:
    assert judged(folder=tmp_path, speakability={"score": 0.8})["speakability"].score == 8.0


def test_what_is_computed_here_is_nobodys_verdict_but_turn_taking_once_was(tmp_path: Path) -> None:
    computed = {"score": 1.0, "normalized_score": 1.0}
    assert judged(folder=tmp_path, task_completion=computed, turn_taking=computed, conversation_finished=computed) == {}
    old = {"score": 0.1, "normalized_score": 0.55, "details": {"per_turn_judge_timing_ratings": {}}, "version": "0.1"}
    assert judged(folder=tmp_path, turn_taking=old)["turn_taking"].score == 5.5


def test_a_metric_of_tomorrow_is_a_verdict_too(tmp_path: Path) -> None:
    assert judged(folder=tmp_path, empathy={"normalized_score": 1.0})["empathy"].score == 10.0


def test_long_reasons_are_cut(tmp_path: Path) -> None:
    turns = {str(turn): "because " * 40 for turn in range(20)}
    given = {"normalized_score": 1.0, "details": {"per_turn_explanations": turns}}
    rationale = judged(folder=tmp_path, conciseness=given)["conciseness"].rationale or ""
    assert rationale.startswith("turn 0: because")
    assert len(rationale) == LONGEST_RATIONALE
    assert rationale.endswith("…")


@pytest.mark.parametrize(
    ("content", "warning"),
    [
        ("{", "metrics_unreadable: file is not JSON: it ends too early"),
        ("[]", "metrics_unreadable: file is not a JSON object"),
        ('{"metrics": 3}', "metrics_unreadable: its metrics are not an object"),
        ('{"metrics": {"a": 3, "b": null}}', "metrics_score_unreadable: a is not an object"),
    ],
)
def test_a_broken_file_is_told_and_costs_nothing_else(tmp_path: Path, content: str, warning: str) -> None:
    (tmp_path / "metrics.json").write_text(content)
    warnings = Warnings()
    assert stored_scores(stored_metrics(tmp_path, warnings), warnings) == {}
    assert warnings.lines() == [warning]


@pytest.mark.parametrize(
    ("given", "passed"),
    [
        ({"score": 1.0, "normalized_score": 1.0}, True),
        ({"score": 1.0}, True),
        ({"score": 0.0, "normalized_score": 0.0}, False),
        ({"score": 0.0, "error": NO_TURNS}, None),
        ({"score": None, "skipped": True}, None),
        ({}, None),
    ],
)
def test_whether_the_task_was_done_is_known_or_not(tmp_path: Path, given: dict[str, Any], passed: bool | None) -> None:
    (tmp_path / "metrics.json").write_text(json.dumps({"metrics": {"task_completion": given}}))
    assert stored_pass(stored_scores(stored_metrics(tmp_path, Warnings()), Warnings())) is passed
