"""Operability is the published one, bounded, and never rises when something gets worse."""

from __future__ import annotations

import statistics
from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.store import humanness_score, latency_score, operability

PUBLISHED = [
    ("apartment_scheduler", "0.3", 0.0, 0.0, 0.0, 11.1, {"codex": None, "dashscope": None, "gemini": None}),
    ("property_trouble_ticket", "1.8", 0.0, 4.2, 0.3, 4.2, {"codex": 1.1, "dashscope": 0.8, "gemini": 2.2}),
    ("austin_plumbing", "4.0", 6.8, 10.0, 2.9, 3.9, {"codex": 1.8, "dashscope": 0.9, "gemini": 2.1}),
    ("dental_clinic", "4.0", 9.2, 10.0, 3.0, 3.9, {"codex": 4.4, "dashscope": 6.2, "gemini": 6.6}),
    ("generic_inquiry", "4.0", 9.3, 10.0, 5.4, 4.1, {"codex": 3.3, "dashscope": 3.4, "gemini": 5.2}),
]

scores = st.floats(0, 10)
maybe = st.none() | scores
seconds = st.none() | st.floats(0, 60)
judges = st.dictionaries(st.sampled_from(["codex", "gemini", "qwen"]), maybe)


@pytest.mark.parametrize(
    ("flow", "shown", "correctness", "completion", "errors", "latency", "humanness"),
    PUBLISHED,
    ids=[row[0] for row in PUBLISHED],
)
def test_gives_the_published_figure(
    flow: str,
    shown: str,
    correctness: float,
    completion: float,
    errors: float,
    latency: float,
    humanness: dict[str, float | None],
) -> None:
    found = operability(correctness, completion, errors, latency, humanness)
    assert found is not None
    assert str(Decimal(repr(found)).quantize(Decimal("0.1"), ROUND_HALF_UP)) == shown


def test_a_perfect_flow_without_a_judge_gets_ten() -> None:
    assert operability(10, 10, 10, 0.0, None) == 10
    assert operability(10, None, None, None, {}) == 10


def test_without_correctness_there_is_none() -> None:
    assert operability(None, 10, 10, 0.5, {"codex": 9}) is None


def test_a_judge_that_scored_nothing_counts_like_no_judge() -> None:
    assert operability(10, 10, 5, 3, {"codex": None}) == operability(10, 10, 5, 3, None)


@pytest.mark.parametrize(
    ("correctness", "completion", "most"), [(9.99, 10, 4), (10, 9.99, 6), (9.99, 9.99, 4), (9.99, None, 4)]
)
def test_what_is_not_whole_is_capped(correctness: float, completion: float | None, most: float) -> None:
    assert operability(correctness, completion, 10, 0, {"codex": 10}) == most


def test_an_outlier_among_the_judges_does_not_carry_the_score() -> None:
    assert humanness_score({"codex": 8, "gemini": 8.5, "swayed": 10}) == 8.5
    assert humanness_score({"codex": 8, "gemini": 9}) == 8.5


@given(st.lists(scores, min_size=1, max_size=6))
def test_half_of_the_judges_stand_on_either_side(given_scores: list[float]) -> None:
    found = humanness_score({f"judge {number}": score for number, score in enumerate(given_scores)})
    assert found == statistics.median(given_scores)


def test_latency_is_nothing_worth_from_fifteen_seconds_on() -> None:
    assert latency_score(0) == 10
    assert latency_score(7.5) == 5
    assert latency_score(15) == latency_score(40) == 0


@given(scores, maybe, maybe, seconds, judges)
def test_stays_between_zero_and_its_caps(
    correctness: float,
    completion: float | None,
    errors: float | None,
    latency: float | None,
    humanness: dict[str, float | None],
) -> None:
    found = operability(correctness, completion, errors, latency, humanness)
    assert found is not None
    cap = 4.0 if correctness < 10 else 6.0 if completion is not None and completion < 10 else 10.0
    assert 0 <= found <= cap


@given(
    st.lists(st.tuples(scores, scores), min_size=4, max_size=4),
    st.tuples(st.floats(0, 60), st.floats(0, 60)),
)
def test_a_cell_that_is_better_in_everything_is_not_worse(
    pairs: list[tuple[float, float]], latencies: tuple[float, float]
) -> None:
    low = [min(pair) for pair in pairs]
    high = [max(pair) for pair in pairs]
    worse = operability(low[0], low[1], low[2], max(latencies), {"codex": low[3]})
    better = operability(high[0], high[1], high[2], min(latencies), {"codex": high[3]})
    assert worse is not None
    assert better is not None
    assert worse <= better
