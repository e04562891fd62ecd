"""Composites, trials, thresholds and the shape of scores (10.0, 11)."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.eva_calls import NO_FILES, call
from tests.surface.ingest import (
    ACCURACY,
    COMPUTED,
    EXPERIENCE,
    METRICS,
    NO_TURNS,
    MetricContext,
    MetricScore,
    applies,
    composite_verdicts,
    composites,
    compute_metrics,
    counts_in_trials,
    higher_is_better,
    pass_at_k,
    pass_power_k,
    pass_rates,
    theoretical_power_k,
    threshold,
)
from tests.surface.ingest import compute_verdicts as verdicts

GOOD = {
    "task_completion": 1.0,
    "faithfulness": 0.5,
    "agent_speech_fidelity": 0.95,
    "conversation_progression": 0.5,
    "turn_taking": 0.8,
    "conciseness": 0.5,
}


def scores(**changed: float | MetricScore | None) -> dict[str, MetricScore]:
    """Scores that just pass but for what is changed; `None` leaves one out."""
    values = {**GOOD, **changed}
    return {
        name: value if isinstance(value, MetricScore) else MetricScore(name, value, value)
        for name, value in values.items()
        if value is not None
    }


def test_a_call_that_reaches_every_threshold_passes() -> None:
    assert composites(scores()) == {
        "EVA-A_pass": 1.0,
        "EVA-X_pass": 1.0,
        "EVA-A_mean": pytest.approx(2.45 / 3),
        "EVA-X_mean": pytest.approx(1.8 / 3),
        "EVA-overall_mean": pytest.approx(4.25 / 6),
        "EVA-overall_pass": 1.0,
    }


@pytest.mark.parametrize("name", GOOD)
def test_one_that_misses_a_threshold_fails_but_not_by_how_numbers_are_written(name: str) -> None:
    near, under = composites(scores(**{name: GOOD[name] - 1e-10})), composites(scores(**{name: GOOD[name] - 1e-3}))
    assert near["EVA-overall_pass"] == 1.0
    assert under["EVA-overall_pass"] == 0.0
    assert (under["EVA-A_pass"], under["EVA-X_pass"]) == ((0.0, 1.0) if name in ACCURACY else (1.0, 0.0))


@pytest.mark.parametrize("name", GOOD)
def test_what_is_missing_or_has_an_error_leaves_it_open(name: str) -> None:
    for lost in (None, MetricScore(name, 1.0, 1.0, error="x"), MetricScore(name)):
        found = composites(scores(**{name: lost}))
        assert found["EVA-A_pass" if name in ACCURACY else "EVA-X_pass"] is None
        assert found["EVA-overall_pass"] is None
        assert found["EVA-overall_mean"] == pytest.approx((4.25 - GOOD[name]) / 5)


def test_what_was_skipped_is_left_out() -> None:
    skipped = {name: MetricScore(name, skipped=True) for name in EXPERIENCE}
    assert composites(scores(turn_taking=skipped["turn_taking"]))["EVA-X_pass"] == 1.0
    found = composites(scores(**skipped))
    assert (found["EVA-X_pass"], found["EVA-X_mean"], found["EVA-overall_pass"]) == (None, None, None)
    assert composites({})["EVA-overall_mean"] is None


def test_turn_taking_had_a_lower_threshold_before_2_0_0() -> None:
    given = scores(turn_taking=0.5)
    assert [composites(given, version)["EVA-X_pass"] for version in ("1.9.9", "2.0.0", "2.2.2", None, "odd")] == [
        1.0, 0.0, 0.0, 0.0, 0.0,
    ]  # fmt: skip
    assert threshold("unknown") == threshold("user_speech_fidelity") == 0.5
    assert threshold("task_completion") == 1.0


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.integers(0, 8))
def test_passing_at_k_is_what_drawing_every_subset_says(trials: list[bool], k: int) -> None:
    n, c = len(trials), sum(trials)
    if k > n:
        assert pass_rates(trials, k) is None
        return
    subsets = list(combinations(trials, k))
    at_k = sum(any(subset) for subset in subsets) / len(subsets) if k else 1.0
    power_k = sum(all(subset) for subset in subsets) / len(subsets)
    assert pass_at_k(n, c, k) == pytest.approx(at_k)
    assert pass_power_k(n, c, k) == pytest.approx(power_k)
    assert pass_rates(trials, k) == (pass_at_k(n, c, k), pass_power_k(n, c, k), (c / n) ** k)
    assert theoretical_power_k(n, c, k) == (c / n) ** k


def test_no_trials_have_no_rates() -> None:
    assert pass_rates([], 0) is None
    assert (pass_at_k(3, 0, 0), pass_power_k(3, 0, 0), pass_power_k(3, 1, 2)) == (1.0, 1.0, 0.0)


def test_only_trials_that_say_something_are_counted() -> None:
    trials = [
        MetricScore("turn_taking", 0.8, 0.8),
        MetricScore("turn_taking", 0.79, 0.79),
        MetricScore("turn_taking", 1.0, 1.0, error="x"),
        MetricScore("turn_taking", 1.0, 1.0, skipped=True),
        MetricScore("turn_taking"),
        MetricScore("turn_taking", 0.9),
    ]
    assert verdicts("turn_taking", trials) == [True, False, True]
    assert verdicts("turn_taking", trials, "1.0") == [True, True, True]


def test_a_record_is_left_out_of_composites_for_one_trial_that_is_open() -> None:
    assert composite_verdicts([1.0, 0.0, 1.0], 3) == [True, False, True]
    assert composite_verdicts([1.0, None, 1.0], 2) is None
    assert composite_verdicts([1.0], 2) is None


def test_diagnostics_are_no_passes() -> None:
    out = {name for name in METRICS if not counts_in_trials(name)}
    assert out == {
        "authentication_success",
        "response_speed",
        "tool_call_validity",
        "stt_wer",
        "conversation_correctly_finished",
        "conversation_completed_on_time",
        "speakability",
        "transcription_accuracy_key_entities",
        "tts_fidelity",
    }
    assert counts_in_trials("unknown")


def test_metrics_apply_to_the_pipelines_that_have_what_they_measure() -> None:
    assert {name for name in METRICS if not applies(name, "s2s")} == {"stt_wer", "speakability", "tts_fidelity"}
    assert {name for name in METRICS if not applies(name, "audio_llm")} == {"stt_wer"}
    assert all(applies(name, "cascade") for name in [*METRICS, "unknown"])
    assert {name for name, metric in METRICS.items() if not metric.judged} == set(COMPUTED)


@pytest.mark.parametrize(
    ("name", "higher"),
    [
        ("task_completion", True),
        ("response_speed", False),
        ("response_speed.with_tool_calls", False),
        ("turn_taking.on_time_rate", False),
        ("turn_taking.mean_latency_ms", True),
        ("authentication_success.authentication_success_rate", False),
        ("transcription_accuracy_key_entities.name_accuracy", True),
        ("some_rate", True),
        ("conversation_finished", True),
    ],
)
def test_directions_go_by_the_ends_of_names(name: str, higher: bool) -> None:
    assert higher_is_better(name) is higher


def test_a_value_is_the_normalised_score_or_else_the_score_and_nothing_with_an_error() -> None:
    assert MetricScore("x", 3.0, 1.0).value == 1.0
    assert MetricScore("x", 3.0).value == 3.0
    assert MetricScore("x", 3.0, 0.0).value == 0.0
    assert MetricScore("x", 3.0, 1.0, error="y").value is None


def test_a_score_survives_its_json_and_old_ones_are_understood() -> None:
    part = MetricScore("x.y", 0.5, None, {"n": 1}, sub_metrics={"z": MetricScore("x.y.z", 1.0)})
    score = MetricScore("x", 0.5, 0.5, {"1": [1, 2]}, None, True, "v0.2", "abc", {"y": part})
    assert MetricScore.from_dict(score.to_dict()) == score
    assert "prompt_hash" not in score.to_dict()["sub_metrics"]["y"]
    old = MetricScore.from_dict({"score": 1, "details": None, "skipped": "no", "error": ""}, "conversation_finished")
    assert old == MetricScore("conversation_valid_end", 1.0)
    odd = {"name": 5, "score": "1", "normalized_score": float("nan"), "version": 2, "sub_metrics": {"a": 5, "b": {}}}
    assert MetricScore.from_dict(odd, "m") == MetricScore("m", sub_metrics={"b": MetricScore("m.b")})
    assert MetricScore.from_dict({"score": 10**400, "normalized_score": True}, "m") == MetricScore("m")


def test_every_metric_that_applies_has_a_score() -> None:
    assert list(compute_metrics(call(), NO_FILES)) == list(COMPUTED)
    assert set(COMPUTED) - set(compute_metrics(call(pipeline_type="s2s"), NO_FILES)) == {"stt_wer"}


@pytest.mark.parametrize("silent", [call(num_assistant_turns=0), call(num_user_turns=0)])
def test_without_turns_of_one_side_every_metric_is_0_with_an_error(silent: MetricContext) -> None:
    found = compute_metrics(silent, NO_FILES)
    assert {(score.score, score.error, score.value) for score in found.values()} == {(0.0, NO_TURNS, None)}
    assert len(found) == len(COMPUTED)


@pytest.mark.parametrize(
    ("logs", "unknown"),
    [
        (["audit_log", "pipecat"], {"turn_taking", "response_speed", "stt_wer", "conversation_valid_end"}),
        (["pipecat", "user_simulator"], {"tool_call_validity", "stt_wer"}),
        (["audit_log", "user_simulator"], set()),
    ],
)
def test_a_metric_without_the_log_that_it_needs_is_null_and_says_so(logs: list[str], unknown: set[str]) -> None:
    found = compute_metrics(call(logs=logs), NO_FILES)
    said = {name: score for name, score in found.items() if (score.error or "").startswith("it needs the ")}
    assert set(said) == unknown
    assert all(score.score is None and score.normalized_score is None for score in said.values())


def test_turns_that_only_the_missing_log_would_tell_make_no_zeros() -> None:
    found = compute_metrics(call(num_assistant_turns=0, logs=["audit_log"], pipeline_type="s2s"), NO_FILES)
    assert {score.score for score in found.values()} == {None}
    assert all(score.error for score in found.values())


def test_a_metric_that_fails_costs_no_other() -> None:
    broken = call(
        tool_responses=[5], expected_scenario_db={"session": {"a": 1}}, final_scenario_db={"session": {"a": 1}}
    )
    found = compute_metrics(broken, NO_FILES)
    assert found["tool_call_validity"].error == "cannot be computed: AttributeError"
    assert found["tool_call_validity"].value is None
    assert found["turn_taking"].error is None
    assert found["task_completion"].score == 1.0
