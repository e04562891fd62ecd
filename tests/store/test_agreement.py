"""Agreement of paired scores, against the textbook, scipy, numpy and a walk over all pairs."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.support.agreement import pairs, rank_correlation
from tests.surface.store import Pairs, Scores, Weights, pairs_of, rounded, scores_at, scores_of
from tests.surface.store import statistics_agreement as agreement

scores = st.floats(0, 10).map(lambda value: round(value, 2))
points = st.integers(0, 10)


def lists_of(values: st.SearchStrategy[float]) -> st.SearchStrategy[list[tuple[float, float]]]:
    return st.lists(st.tuples(values, values), min_size=3, max_size=30)


def kappa(first: list[int], second: list[int], weights: Weights = "quadratic") -> float | None:
    return agreement.kappa(*pairs(first, second), weights)


def equal_share(first: Sequence[int], second: Sequence[int]) -> float | None:
    return agreement.equal_share(*pairs(first, second))


def by_matrix(first: list[int], second: list[int], weights: Weights) -> float | None:
    """Kappa by the contingency table, as the textbook writes it."""
    counts = np.zeros((11, 11))
    for one, other in zip(first, second, strict=True):
        counts[one, other] += 1
    observed = counts / counts.sum()
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0))
    row, column = np.indices(counts.shape)
    apart = (row - column) ** 2 / 100 if weights == "quadratic" else (row != column).astype(float)
    chance = float((apart * expected).sum())
    return None if math.isclose(chance, 0, abs_tol=1e-12) else 1 - float((apart * observed).sum()) / chance


@pytest.mark.parametrize(("score", "whole"), [(0.0, 0), (4.4, 4), (4.5, 5), (5.5, 6), (9.49, 9), (10.0, 10)])
def test_halves_are_rounded_up(score: float, whole: int) -> None:
    assert rounded(np.array([score])) == whole


def test_kappa_is_that_of_the_textbook() -> None:
    # Fifty proposals, two readers: 20 twice yes, 15 twice no, 5 and 10 apart.
    first = [1] * 25 + [0] * 25
    second = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert kappa(first, second, "none") == pytest.approx(0.4)
    # With two categories weights change nothing.
    assert kappa(first, second) == pytest.approx(0.4)
    assert equal_share(first, second) == pytest.approx(0.7)


@given(lists_of(points))
@pytest.mark.parametrize("weights", ["none", "quadratic"])
def test_kappa_is_that_of_the_contingency_table(weights: Weights, pairs: list[tuple[int, int]]) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    found, known = kappa(first, second, weights), by_matrix(first, second, weights)
    assert found is None if known is None else found == pytest.approx(known, abs=1e-9)
    assert found == kappa(second, first, weights)
    assert found is None or found <= 1


@given(lists_of(scores))
def test_rank_correlation_is_that_of_scipy(pairs: list[tuple[float, float]]) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    found = rank_correlation(first, second)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(float(stats.spearmanr(first, second).statistic), abs=1e-9)


@given(lists_of(points))
def test_the_equal_share_counts_pairs(pairs: list[tuple[int, int]]) -> None:
    equal = sum(1 for one, other in pairs if one == other)
    assert equal_share(*zip(*pairs, strict=True)) == pytest.approx(equal / len(pairs))


@pytest.mark.parametrize("size", range(3))
def test_too_few_pairs_say_nothing(size: int) -> None:
    values = [1, 2, 3][:size]
    assert (kappa(values, values), kappa(values, values, "none")) == (None, None)
    assert (equal_share(values, values), rank_correlation(values, values)) == (None, None)


def test_judges_that_always_say_the_same_have_no_kappa_and_one_that_does_agrees_by_chance() -> None:
    assert kappa([7, 7, 7], [7, 7, 7]) is None
    assert kappa([7, 7, 7], [3, 3, 3]) == 0
    assert kappa([7, 7, 7], [3, 7, 8]) == 0
    for first, second in itertools.product(([7, 7, 7], [1, 2, 3]), repeat=2):
        assert kappa(first, second, "none") == by_matrix(first, second, "none")


columns = st.lists(st.one_of(st.none(), scores, st.floats(-1e6, 1e6)), max_size=30)


def column(values: Sequence[float | None]) -> Scores:
    return scores_of(np.array(values, float))


def counted(found: Pairs) -> dict[tuple[float, float], int]:
    return dict(zip(zip(found.first.tolist(), found.second.tolist(), strict=True), found.counts.tolist(), strict=True))


@given(columns)
def test_coded_scores_are_the_same_scores(values: list[float | None]) -> None:
    found = column(values)
    assert found.n == sum(value is not None for value in values)
    assert found.values.tolist() == sorted({value for value in values if value is not None})
    assert found.at(np.arange(len(values))).tolist() == pytest.approx(
        [math.nan if value is None else value for value in values], nan_ok=True, rel=0, abs=0
    )


@given(st.lists(st.tuples(*[st.one_of(st.none(), scores)] * 2), max_size=30), st.data())
def test_pairs_are_of_the_calls_that_both_scored(
    rows: list[tuple[float | None, float | None]], data: st.DataObject
) -> None:
    keys = np.cumsum([data.draw(st.integers(1, 3)) for _ in rows], dtype=np.int64)
    first, second = ([row[side] for row in rows] for side in (0, 1))
    expected = Counter((a, b) for a, b in rows if a is not None and b is not None)
    few = [
        scores_at(
            keys, {int(key): score for key, score in zip(keys, side, strict=True) if score is not None} | {0: 1.0}
        )
        for side in (first, second)
    ]
    every = column(first), column(second)
    for one, other in itertools.product((every[0], few[0]), (every[1], few[1])):
        assert counted(pairs_of(one, other)) == expected


def test_scores_of_any_digits_are_told_apart() -> None:
    chance = np.random.default_rng(1)
    first, second = chance.normal(size=3000), chance.normal(size=3000)
    found = pairs_of(scores_of(first), scores_of(second))
    assert counted(found) == Counter(zip(first.tolist(), second.tolist(), strict=True))
    assert agreement.spearman(found) == pytest.approx(float(stats.spearmanr(first, second).statistic), abs=1e-12)
