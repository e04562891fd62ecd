"""Metrics that somebody else wrote: whatever they do, they cost no other, and what cannot be loaded is said."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from riff_ingest.eva import MetricContext
from tests.support.eva_calls import NO_FILES, call
from tests.surface.ingest import MetricScore, compute_metrics, named, own_score
from tests.surface.store import UsageError


def fails(context: MetricContext) -> float:
    raise KeyError(context.record_id)


def leaves(context: MetricContext) -> float:
    raise SystemExit(3)


def score_of(given: Any) -> MetricScore:
    return own_score("mine", lambda context: given, call())


@pytest.mark.parametrize(("given", "value"), [(2, 2.0), (0.25, 0.25), (True, 1.0), (False, 0.0), (-1.5, -1.5)])
def test_a_number_is_the_score(given: float, value: float) -> None:
    assert score_of(given) == MetricScore("mine", value)


def test_nothing_measured_is_no_score_and_no_error() -> None:
    found = score_of(None)
    assert (found.score, found.error, found.skipped) == (None, None, True)


def test_a_whole_score_keeps_its_parts_under_the_functions_name() -> None:
    given = MetricScore("other", 3.0, 0.5, {"turns": [1, 2]}, sub_metrics={"part": MetricScore("other.part", 1.0)})
    found = score_of(given)
    assert (found.name, found.score, found.normalized_score) == ("mine", 3.0, 0.5)
    assert found.details == {"turns": [1, 2]}
    assert list(found.sub_metrics or ()) == ["part"]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ("0.5", "returned str instead of a number, None or a MetricScore"),
        ([1.0], "returned list instead of a number, None or a MetricScore"),
        (math.nan, "returned no finite number"),
        (math.inf, "returned no finite number"),
        (10**400, "returned no finite number"),
        (MetricScore("mine", math.nan), "returned a MetricScore whose score is not a finite number"),
        (MetricScore("mine", 1.0, details={"of": object()}), "returned a MetricScore whose details are not JSON"),
        (MetricScore("mine", 1.0, details={"of": math.nan}), "returned a MetricScore whose details are not JSON"),
    ],
)
def test_anything_else_is_an_error_and_no_score(given: Any, error: str) -> None:
    assert score_of(given) == MetricScore("mine", error=error)


def test_a_function_that_fails_or_leaves_costs_no_other() -> None:
    own = {"fails": fails, "leaves": leaves, "fine": lambda context: context.num_user_turns}
    found = compute_metrics(call(record_id="a caller's words"), NO_FILES, own)
    assert found["fails"].error == "cannot be computed: KeyError"
    assert found["leaves"].error == "cannot be computed: SystemExit"
    assert found["fine"].score == 1.0
    assert {**compute_metrics(call(), NO_FILES), **{name: found[name] for name in own}}.keys() == found.keys()


@pytest.mark.parametrize(
    ("paths", "why"),
    [
        (["silence"], "--metric silence: it takes module:function"),
        (["a.b:c.d"], "--metric a.b:c.d: it takes module:function"),
        (["no_such_module:silence"], "--metric no_such_module:silence: cannot be loaded: ModuleNotFoundError"),
        (["own_metrics_a:missing"], "--metric own_metrics_a:missing: cannot be loaded: AttributeError"),
        (["own_metrics_a:LIMIT"], "--metric own_metrics_a:LIMIT: LIMIT is not a function of a MetricContext"),
        (["own_metrics_b:silence"], "--metric own_metrics_b:silence: cannot be loaded: SystemExit"),
        (["own_metrics_a:stt_wer"], "--metric own_metrics_a:stt_wer: there is a metric stt_wer already"),
        (["own_metrics_a:silence", "own_metrics_a:silence"], "there is a metric silence already"),
    ],
)
def test_what_cannot_be_loaded_is_said_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paths: list[str], why: str
) -> None:
    (tmp_path / "own_metrics_a.py").write_text("LIMIT = 3\ndef silence(c): return 0.0\ndef stt_wer(c): return 0.0\n")
    (tmp_path / "own_metrics_b.py").write_text("raise SystemExit(0)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError) as refused:
        named(paths, ["stt_wer"])
    assert why in refused.value.message
    assert "\n" not in refused.value.message


def test_functions_are_known_by_their_names() -> None:
    assert named([f"{__name__}:fails", f"{__name__}:leaves"], []) == {"fails": fails, "leaves": leaves}
