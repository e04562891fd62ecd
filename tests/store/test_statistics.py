"""The statistics against what can be counted by hand, what was published, and scipy asked in another way."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.support.examples import examples
from tests.surface.store import intervals, significance

counts = st.integers(0, 30)
values = st.lists(st.floats(-100, 100, allow_subnormal=False).map(lambda x: round(x, 3)), min_size=2, max_size=12)


def coin(heads: int, tosses: int) -> float:
    """Twice the chance of at most so many heads of a fair coin, by counting."""
    few = sum(math.comb(tosses, k) for k in range(min(heads, tosses - heads) + 1))
    return float(min(Fraction(1), Fraction(2 * few, 2**tosses)))


@given(counts, counts)
def test_mcnemar_is_a_matter_of_tossing_a_coin(one: int, other: int) -> None:
    assert significance.mcnemar(one, other) == pytest.approx(coin(one, one + other), rel=1e-9)


def test_mcnemar_by_hand() -> None:
    assert significance.mcnemar(0, 0) == 1.0
    assert significance.mcnemar(1, 0) == 1.0
    assert significance.mcnemar(0, 5) == pytest.approx(2 / 32)
    assert significance.mcnemar(6, 0) == pytest.approx(2 / 64)
    assert significance.mcnemar(1, 7) == pytest.approx(2 * (1 + 8) / 256)


@given(st.integers(0, 12), st.integers(1, 12), st.integers(0, 12), st.integers(1, 12))
def test_fisher_counts_the_tables_that_are_as_unlikely(hits: int, n: int, other: int, m: int) -> None:
    hits, other = min(hits, n), min(other, m)
    whole = math.comb(n + m, hits + other)
    ways = [math.comb(n, k) * math.comb(m, hits + other - k) for k in range(hits + other + 1)]
    expected = Fraction(sum(way for way in ways if way <= ways[hits]), whole)
    assert significance.fisher(hits, n, other, m) == pytest.approx(float(expected), rel=1e-6)


def by_t(found: float, student: Any) -> float:
    """The larger of the share of arrangements and Student's p; scipy has none where nothing varies."""
    return max(found, 0.0 if math.isnan(student.pvalue) else float(student.pvalue))


@settings(max_examples=examples(20))
@given(st.lists(st.integers(-40, 60).map(float), min_size=2, max_size=9), st.integers(-5, 5))
def test_paired_means_are_tested_by_all_flips_of_their_signs(changes: list[float], margin: int) -> None:
    moved = [change - margin for change in changes]
    sums = [
        sum(one * sign for one, sign in zip(moved, signs, strict=True)) for signs in product((1, -1), repeat=len(moved))
    ]
    flips = sum(abs(found) >= abs(sum(moved)) for found in sums) / len(sums)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        student = stats.ttest_1samp(moved, 0)
    assert significance.paired_means(changes, margin) == pytest.approx(by_t(flips, student), rel=1e-7)


@settings(max_examples=examples(20))
@given(st.lists(st.integers(0, 50).map(float), min_size=4, max_size=9), st.data())
def test_unpaired_means_are_tested_by_all_ways_to_deal_them_out(drawn: list[float], data: st.DataObject) -> None:
    size = data.draw(st.integers(2, len(drawn) - 2))

    def welch(first: Sequence[float], second: Sequence[float]) -> float:
        variance = sum(float(np.var(each, ddof=1)) / len(each) for each in (first, second))
        change = abs(float(np.mean(first) - np.mean(second)))
        return change / variance**0.5 if variance > 1e-12 else math.inf if change > 1e-9 else 0.0

    def dealt(chosen: Sequence[int]) -> float:
        rest = [drawn[place] for place in range(len(drawn)) if place not in chosen]
        return welch([drawn[place] for place in chosen], rest)

    seen = dealt(range(size))
    ways = [dealt(chosen) for chosen in combinations(range(len(drawn)), size)]
    share = sum(found >= seen * (1 - 1e-7) for found in ways) / len(ways)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        student = stats.ttest_ind(drawn[:size], drawn[size:], equal_var=False)
    assert significance.unpaired_means(drawn[:size], drawn[size:]) == pytest.approx(by_t(share, student), rel=1e-6)


@pytest.mark.parametrize(("n", "shift"), [(17, 0.4), (40, 0.3), (300, 0.1), (300, 0.0)])
def test_drawn_flips_come_to_what_very_many_come_to(n: int, shift: float) -> None:
    changes = np.random.default_rng(n).exponential(1.0, n) - 1 + shift
    many = stats.permutation_test((changes,), np.mean, permutation_type="samples", n_resamples=20_000, rng=1).pvalue
    found = significance.paired_means(changes)
    assert found == pytest.approx(by_t(many, stats.ttest_1samp(changes, 0)), abs=0.015)
    assert significance.paired_means(changes[::-1]) == found
    assert significance.paired_means(-changes) == pytest.approx(found)


@pytest.mark.parametrize(("n", "m", "shift"), [(10, 12, 0.5), (30, 60, 0.3), (200, 100, 0.2)])
def test_drawn_deals_come_to_what_very_many_come_to(n: int, m: int, shift: float) -> None:
    chance = np.random.default_rng(n)
    first, second = chance.exponential(1.0, n), chance.exponential(1.5, m) - 0.5 + shift

    def welch(one: Any, other: Any, axis: int) -> Any:
        parts = [each.var(axis, ddof=1) / each.shape[axis] for each in (one, other)]
        return np.abs(one.mean(axis) - other.mean(axis)) / np.sqrt(parts[0] + parts[1])

    many = stats.permutation_test((first, second), welch, n_resamples=20_000, alternative="greater", rng=1).pvalue
    found = significance.unpaired_means(first, second)
    assert found == pytest.approx(by_t(many, stats.ttest_ind(first, second, equal_var=False)), abs=0.015)
    assert significance.unpaired_means(second[::-1], first[::-1]) == found


def test_a_difference_that_no_drawn_arrangement_reaches_is_as_sure_as_student_says() -> None:
    changes = np.linspace(1.0, 2.0, 60)
    assert significance.paired_means(changes) == pytest.approx(max(stats.ttest_1samp(changes, 0).pvalue, 0.5**59))
    assert significance.unpaired_means(changes, changes + 9) < 1e-30


def test_beyond_thousands_of_values_means_are_tested_by_students_curve() -> None:
    changes = np.random.default_rng(3).normal(0.05, 1, 2_001)
    assert significance.paired_means(changes) == pytest.approx(stats.ttest_1samp(changes, 0).pvalue)
    expected = stats.ttest_ind(changes, changes[:50] + 0.2, equal_var=False).pvalue
    assert significance.unpaired_means(changes, changes[:50] + 0.2) == pytest.approx(expected)


def test_means_of_values_that_are_all_alike_say_nothing_or_all() -> None:
    assert significance.unpaired_means([1.0, 1.0], [1.0] * 9) == 1.0
    assert significance.unpaired_means([1.0], [1.0]) == 1.0
    assert significance.paired_means([0.0] * 30) == 1.0
    assert significance.paired_means([0.1 + 0.2 - 0.3] * 30) == 1.0  # what is left of binary fractions is no difference
    assert significance.paired_means([1.0] * 9) == 2 / 2**9
    assert significance.unpaired_means([10.0] * 5, [9.0] * 5) == pytest.approx(2 / 252)


@settings(max_examples=examples(30))
@given(values, st.floats(-2, 2).map(lambda x: round(x, 3)))
def test_no_interval_of_a_mean_that_surely_differs_holds_the_margin(changes: list[float], margin: float) -> None:
    found = intervals.of_pairs(changes)
    assert found is not None
    if significance.paired_means(changes, margin) <= 0.05:
        assert not found.interval[0] + 1e-9 < margin < found.interval[1] - 1e-9


@given(st.lists(st.floats(0, 1), max_size=20))
def test_corrected_p_values_are_those_of_benjamini_and_hochberg(ps: list[float]) -> None:
    found = significance.benjamini_hochberg(ps)
    for p, adjusted in zip(ps, found, strict=True):
        larger = [(q, sum(other <= q for other in ps)) for q in ps if q >= p]
        assert adjusted == pytest.approx(min(1.0, *(q * len(ps) / rank for q, rank in larger)), abs=1e-12)


def test_the_interval_of_two_rates_is_the_published_one() -> None:
    """Newcombe 1998, table II, (a): 56/70 - 48/80 by method 10."""
    found = intervals.unpaired_rates(48, 80, 56, 70)
    assert found is not None
    assert [round(end, 4) for end in found] == [0.0524, 0.3339]


@given(counts, counts, counts, counts)
def test_the_interval_of_paired_rates_holds_the_effect_and_turns_with_the_sides(a: int, b: int, c: int, d: int) -> None:
    found, turned = intervals.paired_rates(a, b, c, d), intervals.paired_rates(a, c, b, d)
    if not a + b + c + d:
        assert found is None
        return
    assert found is not None
    assert turned is not None
    effect = (c - b) / (a + b + c + d)
    assert -1 <= found[0] <= effect + 1e-12
    assert effect - 1e-12 <= found[1] <= 1
    assert turned == pytest.approx((-found[1], -found[0]))


@pytest.mark.parametrize(("both", "first", "second", "neither"), [(0.6, 0.1, 0.2, 0.1), (0.4, 0.3, 0.1, 0.2)])
def test_the_interval_of_paired_rates_covers_what_is_true(
    both: float, first: float, second: float, neither: float
) -> None:
    """Over all samples of 25 pairs, each as likely as it is: the true difference lies inside 95 % of the time."""
    n, truth, inside = 25, second - first, 0.0
    for a in range(n + 1):
        for b in range(n + 1 - a):
            for c in range(n + 1 - a - b):
                d = n - a - b - c
                ways = math.factorial(n) // math.prod(map(math.factorial, (a, b, c, d)))
                chance = ways * both**a * first**b * second**c * neither**d
                low, high = intervals.paired_rates(a, b, c, d) or (0.0, 0.0)
                inside += chance * (low <= truth <= high)
    assert 0.935 <= inside <= 0.98


@given(values)
def test_the_interval_of_paired_means_is_that_of_student(changes: list[float]) -> None:
    estimate = intervals.of_pairs(changes)
    assert estimate is not None
    found = estimate.interval
    if len(set(changes)) == 1:
        assert found == pytest.approx((changes[0], changes[0]))
        return
    expected = stats.ttest_1samp(changes, 0).confidence_interval(0.95)
    assert found == pytest.approx((expected.low, expected.high), rel=1e-7, abs=1e-9)


@given(values, values)
def test_the_interval_of_two_means_is_that_of_welch(first: list[float], second: list[float]) -> None:
    estimate = intervals.of_samples(first, second)
    assert estimate is not None
    found = estimate.interval
    if len(set(first)) == 1 and len(set(second)) == 1:
        assert found == pytest.approx((second[0] - first[0], second[0] - first[0]))
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # it warns of a side whose values are all alike
        expected = stats.ttest_ind(second, first, equal_var=False).confidence_interval(0.95)
    assert found == pytest.approx((expected.low, expected.high), rel=1e-7, abs=1e-9)


def test_without_enough_values_there_is_no_interval() -> None:
    assert intervals.paired_rates(0, 0, 0, 0) is None
    assert intervals.unpaired_rates(0, 0, 1, 2) is None
    assert intervals.of_pairs([1.0]) is None
    assert intervals.of_samples([1.0], [1.0, 2.0]) is None


@given(values, values)
def test_no_answer_depends_on_the_order_of_the_values(first: list[float], second: list[float]) -> None:
    turned, other = sorted(first), sorted(second)
    assert intervals.of_samples(first, second) == intervals.of_samples(turned, other)
    assert significance.unpaired_means(first, second) == significance.unpaired_means(turned, other)


ps = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_holm_by_hand() -> None:
    assert significance.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert significance.holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert significance.holm([]) == []


@given(ps)
def test_holm_is_stricter_than_benjamini_and_hochberg_and_laxer_than_bonferroni(given_ps: list[float]) -> None:
    found = significance.holm(given_ps)
    discoveries = significance.benjamini_hochberg(given_ps)
    for raw, adjusted, discovered in zip(given_ps, found, discoveries, strict=True):
        assert discovered <= adjusted + 1e-12
        assert raw <= adjusted <= min(1.0, len(given_ps) * raw) + 1e-12


@given(ps)
def test_simes_rejects_where_benjamini_and_hochberg_find_anything(given_ps: list[float]) -> None:
    assert significance.simes(given_ps) == pytest.approx(min(significance.benjamini_hochberg(given_ps)), abs=1e-12)


def test_simes_by_hand() -> None:
    assert significance.simes([0.04, 0.02]) == pytest.approx(0.04)
    assert significance.simes([0.5, 0.02]) == pytest.approx(0.04)
    assert significance.simes([]) == 1.0
