"""Judges' verdicts: what a line gives, and why another one is left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.dirty_inputs import packed
from tests.support.source_files import FULL
from tests.surface.ingest import humanness_read as read
from tests.surface.store import JudgedScore, Skipped


def lines(directory: Path, *records: Any) -> Path:
    path = directory / "humanness-a.jsonl"
    path.write_text("".join(f"{record if isinstance(record, str) else json.dumps(record)}\n" for record in records))
    return path


def test_a_line_becomes_a_verdict(tmp_path: Path) -> None:
    assert list(read(lines(tmp_path, "", FULL))) == [
        JudgedScore("nightly", "c-1", "codex", 7.0, 1_000_000, "empathy", "warm", "ab12", "gpt", 2)
    ]


def test_the_version_of_the_prompt_and_the_evidence_are_read(tmp_path: Path) -> None:
    found = list(read(lines(tmp_path, FULL | {"prompt_version": 2, "evidence": [3, 1]}, FULL | {"evidence": []})))
    told = [(score.prompt_version, score.evidence) for score in found if isinstance(score, JudgedScore)]
    assert told == [("2", [3, 1]), (None, [])]


@pytest.mark.parametrize("evidence", ["3", "[0]", '["a"]', "[1.5]", "{}", "[9e30]"])
def test_evidence_that_names_no_turns_is_left_out_and_noted(tmp_path: Path, evidence: str) -> None:
    note, score = read(lines(tmp_path, json.dumps(FULL)[:-1] + f', "evidence": {evidence}}}'))
    assert note == Skipped("defect", 1, "evidence is not a list and is left out", "c-1")
    assert isinstance(score, JudgedScore)
    assert score.evidence is None


def test_a_verdict_needs_a_conversation_a_judge_and_a_score(tmp_path: Path) -> None:
    path = lines(tmp_path, {"conversation_id": 5, "judge": "j", "score": None, "judged_at": None, "run_id": ""})
    assert list(read(path)) == [JudgedScore(tmp_path.name, "5", "j", None, None, "humanness", line=1)]


@pytest.mark.parametrize("score", [0, 10, 9.99, 0.0])
def test_scores_from_0_to_10_are_taken(tmp_path: Path, score: float) -> None:
    (found,) = read(lines(tmp_path, FULL | {"score": score}))
    assert isinstance(found, JudgedScore)
    assert found.score == score


@pytest.mark.parametrize(
    "score", ["true", "false", "NaN", "-Infinity", "1e999", "10.01", "-1", '"7"', "[7]", "9" * 5000, str(2**70)]
)
def test_what_is_no_score_is_skipped_and_never_becomes_unscored(tmp_path: Path, score: str) -> None:
    path = lines(tmp_path, json.dumps(FULL).replace('"score": 7', f'"score": {score}'), FULL)
    first, second = read(path)
    assert first == Skipped("skipped", 1, "score is not a number from 0 to 10", "c-1")
    assert isinstance(second, JudgedScore)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"conversation_id": None}, "conversation_id is missing"),
        ({"judge": ""}, "judge is missing"),
        ({"judge": [1]}, "judge is not text"),
        ({"conversation_id": 1.5}, "conversation_id is not text"),
    ],
)
def test_a_line_that_is_no_verdict_is_skipped_with_the_reason(
    tmp_path: Path, change: dict[str, Any], reason: str
) -> None:
    (found,) = read(lines(tmp_path, FULL | change))
    assert isinstance(found, Skipped)
    assert (found.kind, found.line, found.reason) == ("skipped", 1, reason)
    without_score = {name: value for name, value in FULL.items() if name != "score"}
    assert list(read(lines(tmp_path, without_score))) == [Skipped("skipped", 1, "score is missing", "c-1")]


def test_other_fields_that_do_not_fit_are_left_out_and_named(tmp_path: Path) -> None:
    path = lines(tmp_path, FULL | {"judged_at": "soon", "rationale": ["long"], "prompt_hash": 12, "model": {}})
    *notes, score = read(path)
    assert score == JudgedScore("nightly", "c-1", "codex", 7.0, None, "empathy", None, "12", None, 1)
    assert notes == [
        Skipped("defect", 1, "rationale is not text and is left out", "c-1"),
        Skipped("defect", 1, "model is not text and is left out", "c-1"),
        Skipped("defect", 1, "judged_at is not a time and is left out", "c-1"),
    ]


def test_broken_lines_and_files_are_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    path = lines(tmp_path, FULL, "{", "[]", json.dumps(FULL)[:-1] + ', "rationale": "a\\ud800"}')
    *_, note, score = found = list(read(path))
    assert found[1:3] == [
        Skipped("skipped", 2, "line is not JSON: it ends too early"),
        Skipped("skipped", 3, "line is not a JSON object"),
    ]
    assert note == Skipped("defect", 4, "lone surrogate 1", "c-1")
    assert isinstance(score, JudgedScore)
    assert score.rationale == "a�"
    path.write_bytes(packed(path.read_bytes(), 0)[:-9])
    assert list(read(path))[-1] == Skipped("skipped", None, "gzip data ends too early")


@given(st.lists(st.binary(max_size=30) | st.sampled_from([json.dumps(FULL).encode(), b'{"score":', b"1}", b"\n"])))
def test_no_bytes_make_reading_raise(tmp_path_factory: pytest.TempPathFactory, parts: list[bytes]) -> None:
    path = tmp_path_factory.mktemp("bytes") / "humanness-a.jsonl"
    path.write_bytes(b"".join(parts))
    for found in read(path):
        assert isinstance(found, JudgedScore | Skipped)


@given(
    st.dictionaries(
        st.sampled_from([*FULL]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.lists(st.none(), max_size=1),
    )
)
def test_no_json_makes_reading_raise(tmp_path_factory: pytest.TempPathFactory, change: dict[str, Any]) -> None:
    path = lines(tmp_path_factory.mktemp("json"), FULL | change)
    *_, last = read(path)
    if isinstance(last, JudgedScore):
        assert last.score is None or 0 <= last.score <= 10
