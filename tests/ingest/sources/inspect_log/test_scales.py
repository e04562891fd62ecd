"""Which score of a log stands for the whole, and on which scale its values are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from riff_ingest import Conversation
from tests.support import inspect_logs as logs
from tests.surface.ingest import INSPECT_LOG_SOURCE as SOURCE
from tests.surface.ingest import ReadContext
from tests.surface.store import JudgedScore, Skipped


def read(
    directory: Path, values: list[Any], results: Any = None, **spec: Any
) -> tuple[list[bool | None], list[float | None], list[str]]:
    """Return of a log with such values of the scorer `rubric` which calls passed, their scores, and what is noted."""
    samples = [logs.sample(f"s{place}", scores={"rubric": {"value": each}}) for place, each in enumerate(values)]
    spec = {"scorers": [{"name": "rubric"}], "model_roles": {}} | spec
    path = directory / "log.json"
    path.write_text(json.dumps(logs.header(**spec) | {"results": results or {}, "samples": samples}))
    found = list(SOURCE.items(path, ReadContext()))
    calls: list[Conversation] = [item[1] for item in found if isinstance(item, tuple)]
    scores = [item.score for item in found if isinstance(item, JudgedScore)]
    return [call.passed for call in calls], scores, [item.reason for item in found if isinstance(item, Skipped)]


def score(name: str, scorer: str, *metrics: str, reducer: str | None = None) -> dict[str, Any]:
    return {"name": name, "scorer": scorer, "reducer": reducer, "metrics": {each: {"value": 1} for each in metrics}}


SCORES = [score("polite", "rubric", "mean"), score("right", "rubric", "accuracy"), score("right", "other", "accuracy")]
BOTH = [{"right": "C", "polite": 0.5}, {"right": "I", "polite": 1.0}]


@pytest.mark.parametrize(
    ("headline", "passed"),
    [
        ({"scorer": "rubric", "score": "right"}, [True, False]),
        ({"scorer": "rubric", "metric": "accuracy"}, [True, False]),
        ({"scorer": "rubric", "score": "right", "metric": "accuracy", "reducer": None}, [True, False]),
        ({"score": "polite"}, [False, True]),
        ({"scorer": "nobody", "score": "right"}, [False, True]),  # no match: the first score
        ({}, [False, True]),
    ],
)
def test_the_headline_names_a_scorer_and_a_key_of_its_values(
    tmp_path: Path, headline: dict[str, Any], passed: list[bool]
) -> None:
    assert read(tmp_path, BOTH, {"scores": SCORES, "headline": headline})[0] == passed
    assert read(tmp_path, BOTH, {"scores": SCORES}, headline_metric=headline)[0] == passed


def test_two_scorers_may_share_a_key(tmp_path: Path) -> None:
    other = {"scorer": "other", "score": "right"}
    assert read(tmp_path, BOTH, {"scores": SCORES, "headline": other})[0] == [None, None]


def test_a_run_that_broke_off_has_no_results_and_knows_its_headline_all_the_same(tmp_path: Path) -> None:
    assert read(tmp_path, BOTH, headline_metric={"scorer": "rubric", "score": "right"})[0] == [True, False]


@pytest.mark.parametrize(
    ("values", "scores", "metrics"),
    [
        (["C", "P", "I", "N", "yes"], [10.0, 5.0, 0.0, 0.0, 10.0], ["accuracy"]),
        (["C", "A", "I"], [None, None, None], ["accuracy"]),
        (["C", "D", "yes", "0.5"], [None, None, 10.0, 5.0], None),
        (["c", "I"], [None, None], ["accuracy"]),  # exactly C, not c
        (["C", "C"], [10.0, 10.0], [{"name": "inspect_ai/accuracy"}, "stderr"]),
        (["C", "C"], [10.0, 10.0], {"*": [{"name": "mean"}]}),
        (["C", "C"], [None, None], [{"name": "my_grades"}]),
        (["C", "C"], [10.0, 10.0], None),  # old logs do not tell
        (["C", None, "", 0.25], [10.0, None, None, 2.5], None),
    ],
)
def test_letters_are_scores_only_on_the_scale_of_inspect_ai(
    tmp_path: Path, values: list[Any], scores: list[float | None], metrics: Any
) -> None:
    scorer = {"name": "rubric"} | ({} if metrics is None else {"metrics": metrics})
    found = read(tmp_path, values, scorers=[scorer])
    assert found[1] == scores
    assert found[2] == (
        ["rubric: its letters are on a scale nobody knows, so they are not scores"] if None in scores[:1] else []
    )


def test_the_letters_of_one_key_say_nothing_of_another(tmp_path: Path) -> None:
    values = [{"grade": "C", "right": "C"}, {"grade": "E", "right": "I"}]
    passed, scores, noted = read(
        tmp_path, values, {"scores": SCORES, "headline": {"scorer": "rubric", "score": "right"}}
    )
    assert (passed, scores) == ([True, False], [None, 10.0, None, 0.0])
    assert noted == ["rubric, grade: its letters are on a scale nobody knows, so they are not scores"]
