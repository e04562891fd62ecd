"""Agreement of paired scores, against the textbook, scipy, numpy and a walk over all pairs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from riff_store.agreement import Weights, equal_share, kappa, ranks, rounded, spearman

scores = st.floats(0, 10).map(lambda value: round(value, 2))
points = st.integers(0, 10)


def pairs_of(values: st.SearchStrategy[float]) -> st.SearchStrategy[list[tuple[float, float]]]:
    return st.lists(st.tuples(values, values), min_size=3, max_size=30)


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
    assert rounded(score) == whole


def test_kappa_is_that_of_the_textbook() -> None:
    # Fifty proposals, two readers: 20 twice yes, 15 twice no, 5 and 10 apart.
    first = [1] * 25 + [0] * 25
    second = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert kappa(first, second, "none") == pytest.approx(0.4)
    # With two categories weights change nothing.
    assert kappa(first, second) == pytest.approx(0.4)
    assert equal_share(first, second) == pytest.approx(0.7)


@given(pairs_of(points))
@pytest.mark.parametrize("weights", ["none", "quadratic"])
def test_kappa_is_that_of_the_contingency_table(weights: Weights, pairs: list[tuple[int, int]]) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    found, known = kappa(first, second, weights), by_matrix(first, second, weights)
    assert found is None if known is None else found == pytest.approx(known, abs=1e-9)
    assert found == kappa(second, first, weights)
    assert found is None or found <= 1


@given(pairs_of(scores))
def test_rank_correlation_is_that_of_scipy(pairs: list[tuple[float, float]]) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    assert ranks(first) == list(stats.rankdata(first))
    found = spearman(first, second)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(float(stats.spearmanr(first, second).statistic), abs=1e-9)


@given(pairs_of(points))
def test_the_equal_share_counts_pairs(pairs: list[tuple[int, int]]) -> None:
    equal = sum(1 for one, other in pairs if one == other)
    assert equal_share(*zip(*pairs, strict=True)) == pytest.approx(equal / len(pairs))


@pytest.mark.parametrize("size", range(3))
def test_too_few_pairs_say_nothing(size: int) -> None:
    values = [1, 2, 3][:size]
    assert (kappa(values, values), kappa(values, values, "none")) == (None, None)
    assert (equal_share(values, values), spearman(values, values)) == (None, None)


def test_judges_that_always_say_the_same_have_no_kappa_and_one_that_does_agrees_by_chance() -> None:
    assert kappa([7, 7, 7], [7, 7, 7]) is None
    assert kappa([7, 7, 7], [3, 3, 3]) == 0
    assert kappa([7, 7, 7], [3, 7, 8]) == 0
    for first, second in itertools.product(([7, 7, 7], [1, 2, 3]), repeat=2):
        assert kappa(first, second, "none") == by_matrix(first, second, "none")
