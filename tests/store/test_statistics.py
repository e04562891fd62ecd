"""The statistics against what can be counted by hand, what was published, and scipy asked in another way."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

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
def test_mcnemar_and_the_sign_test_are_tosses_of_a_coin(one: int, other: int) -> None:
    expected = coin(one, one + other)
    assert significance.mcnemar(one, other) == pytest.approx(expected, rel=1e-9)
    assert significance.sign_test(other, one) == pytest.approx(expected, rel=1e-9)


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


@settings(max_examples=examples(20))
@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=9, unique=True), st.data())
def test_mann_whitney_counts_the_orders_of_few_values(drawn: list[int], data: st.DataObject) -> None:
    size = data.draw(st.integers(1, len(drawn) - 1))
    first, second = [float(x) for x in drawn[:size]], [float(x) for x in drawn[size:]]

    def wins(chosen: Sequence[float]) -> int:
        return sum(one > other for one in chosen for other in drawn if other not in chosen)

    seen = [wins(chosen) for chosen in combinations([float(x) for x in drawn], size)]
    mine = wins(first)
    tail = min(sum(u <= mine for u in seen), sum(u >= mine for u in seen))
    assert significance.mann_whitney(first, second).p == pytest.approx(min(1.0, 2 * tail / len(seen)))


def test_mann_whitney_of_values_that_are_all_alike_says_nothing() -> None:
    assert significance.mann_whitney([1.0, 1.0], [1.0] * 9).p == 1.0
    assert significance.mann_whitney([1.0], [1.0]).p == 1.0


def test_a_few_values_against_very_many_do_not_keep_one_waiting() -> None:
    many = [float(x) for x in range(60_000)]
    expected = stats.mannwhitneyu([5.5, 7.5, 9.5], many, method="asymptotic").pvalue
    assert significance.mann_whitney([5.5, 7.5, 9.5], many).p == pytest.approx(expected)


@given(values, values)
def test_superiority_is_won_less_lost_comparisons(first: list[float], second: list[float]) -> None:
    won = sum(b > a for a in first for b in second) - sum(b < a for a in first for b in second)
    assert significance.mann_whitney(first, second).superiority == pytest.approx(
        won / len(first) / len(second), abs=1e-12
    )


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
    found = intervals.paired_means(changes)
    assert found is not None
    if len(set(changes)) == 1:
        assert found == pytest.approx((changes[0], changes[0]))
        return
    expected = stats.ttest_1samp(changes, 0).confidence_interval(0.95)
    assert found == pytest.approx((expected.low, expected.high), rel=1e-7, abs=1e-9)


@given(values, values)
def test_the_interval_of_two_means_is_that_of_welch(first: list[float], second: list[float]) -> None:
    found = intervals.unpaired_means(first, second)
    assert found is not None
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
    assert intervals.paired_means([1.0]) is None
    assert intervals.unpaired_means([1.0], [1.0, 2.0]) is None


@given(values, values)
def test_no_answer_depends_on_the_order_of_the_values(first: list[float], second: list[float]) -> None:
    turned, other = sorted(first), sorted(second)
    assert intervals.unpaired_means(first, second) == intervals.unpaired_means(turned, other)
    assert significance.mann_whitney(first, second).p == significance.mann_whitney(turned, other).p


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
