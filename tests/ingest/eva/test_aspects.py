"""What a voice call scores in the store: its logs go before what EVA stored, and judges are apart."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.surface.ingest import COMPUTED, CallAspects, MetricScore, aspects_of
from tests.surface.store import Metric, metric_of


def score(name: str, value: float | None = None, **given: Any) -> dict[str, MetricScore]:
    return {name: MetricScore(name, value, **given)}


def test_every_metric_that_is_computed_is_described_once_with_a_scale_and_a_direction() -> None:
    for name in COMPUTED:
        metric = metric_of(name)
        assert metric is not None
        assert metric.optional
        assert metric.better == ("lower" if name in ("response_speed", "stt_wer") else "higher")
        assert metric.bounds == (0.0, math.inf if name in ("response_speed", "stt_wer") else 1.0)


def test_a_metric_counts_on_its_own_scale() -> None:
    found = aspects_of(score("stt_wer", 1.25, normalized_score=0.0) | score("response_speed", 5.6), {})
    assert found.measured == {"response_speed": 5.6, "stt_wer": 1.25}


def test_what_the_logs_tell_goes_before_what_was_stored_and_a_difference_is_said() -> None:
    found = aspects_of(
        score("turn_taking", 0.5) | score("tool_call_validity", 0.9) | score("task_completion", 1.0),
        score("turn_taking", 0.75) | score("tool_call_validity", 0.93) | score("task_completion", 0.0),
    )
    assert found.measured == {"task_completion": 1.0, "turn_taking": 0.5, "tool_call_validity": 0.9}
    assert found.mismatches == ["turn_taking stored as 0.75, recomputed as 0.5"], "the task is told by its reader"


@pytest.mark.parametrize("lacking", [{}, {"error": "no log"}, {"skipped": True}, {"error": "no log", "value": 0.0}])
def test_what_the_logs_cannot_tell_is_as_it_was_stored(lacking: dict[str, Any]) -> None:
    ours = score("stt_wer", lacking.pop("value", None), **lacking)
    assert aspects_of(ours, score("stt_wer", 0.2)).measured == {"stt_wer": 0.2}
    assert aspects_of(ours, {}).measured == {}
    assert aspects_of(ours, {}).unmeasured == ({"stt_wer": "no log"} if lacking.get("error") else {})


@pytest.mark.parametrize(
    "stored",
    [
        score("stt_wer", 0.0, error="Skipped: no assistant or user turns"),
        score("stt_wer", 0.3, skipped=True),
        score("stt_wer", -1.0),
        score("turn_taking", 7.0),
        score("response_speed", 1e300),
        score("turn_taking", 0.5, details={"per_turn_judge_timing_ratings": {"1": 0}}),
        score("turn_taking", 0.0, details={"num_evaluated": 0, "missed_turn": False}),
        score("faithfulness", 1.0),
        score("metric_of_tomorrow", 1.0),
    ],
)
def test_a_stored_score_that_measures_nothing_or_that_a_judge_gave_is_no_aspect(stored: dict[str, MetricScore]) -> None:
    assert aspects_of({}, stored) == CallAspects()


def test_a_metric_of_ones_own_counts_where_it_is_described_and_on_its_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = Metric("pauses", "pauses", "Pauses in a call.", unit="pauses", compute="builtins:len", of_voice=True)
    monkeypatch.setattr(
        "riff_ingest.eva.to_conversation.metric_of", lambda key: pauses if key == "pauses" else metric_of(key)
    )
    assert aspects_of(score("pauses", 3.0), score("pauses", 9.0)).measured == {"pauses": 3.0}
    assert aspects_of(score("pauses", -1.0), {}).unmeasured == {"pauses": "-1 is not on its scale"}
    assert aspects_of(score("pauses", skipped=True), {}) == CallAspects()


def test_a_caller_who_was_left_waiting_is_a_zero_and_not_a_gap() -> None:
    left = score("turn_taking", 0.0, details={"num_evaluated": 0, "missed_turn": True})
    assert aspects_of(left, {}).measured == {"turn_taking": 0.0}
