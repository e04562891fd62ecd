"""Tails of distributions, against scipy and against what can be counted."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from tests.surface.store import (
    fair_binomial,
    hypergeometric,
    student_quantile,
    student_tail,
    sums_of_subsets,
    surely_likelier,
)

DEGREES = st.one_of(st.integers(1, 60).map(float), st.floats(1, 3e6))


@given(st.floats(-40, 40), DEGREES)
def test_tails_of_student_are_those_of_scipy_however_thin(t: float, degrees: float) -> None:
    expected = float(special.stdtr(degrees, -t))
    assert student_tail(t, degrees) == pytest.approx(expected, rel=1e-9, abs=1e-290)


@given(DEGREES)
def test_quantiles_of_student_are_those_of_scipy(degrees: float) -> None:
    assert student_quantile(degrees) == pytest.approx(float(special.stdtrit(degrees, 0.975)), rel=1e-11)


def test_student_at_the_ends() -> None:
    assert student_tail(0.0, 7.5) == 0.5
    assert student_tail(math.inf, 7.5) == 0.0
    assert student_tail(1.0, 1.0) == pytest.approx(0.25)  # Cauchy: 1/2 - arctan(1) / pi
    assert student_quantile(1.0) == pytest.approx(12.706204736)


@given(st.integers(0, 400), st.data())
def test_a_fair_coin_is_counted_out(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    expected = Fraction(sum(math.comb(n, heads) for heads in range(k + 1)), 2**n)
    assert fair_binomial(n).at_most(k) == pytest.approx(float(expected), rel=1e-12)


def test_a_million_tosses_have_all_their_digits() -> None:
    for k in (480_000, 497_000, 499_999, 500_000):
        assert fair_binomial(1_000_000).at_most(k) == pytest.approx(stats.binom.cdf(k, 1_000_000, 0.5), rel=1e-9)
    assert fair_binomial(1_000_000).at_most(1_000) == 0.0


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), st.integers(-1, 61))
def test_marked_calls_of_a_draw_are_counted_out(marked: int, others: int, drawn: int, hits: int) -> None:
    calls, drawn = marked + others, min(drawn, marked + others)
    ways = {k: math.comb(marked, k) * math.comb(others, drawn - k) for k in range(drawn + 1)}
    found, whole = hypergeometric(drawn, marked, calls), math.comb(calls, drawn)
    at_least = Fraction(sum(count for k, count in ways.items() if k >= hits), whole)
    at_most = Fraction(sum(count for k, count in ways.items() if k <= hits), whole)
    assert found.at_least(hits) == pytest.approx(float(at_least), rel=1e-12)
    assert found.at_most(hits) == pytest.approx(float(at_most), rel=1e-12)


@given(st.integers(1, 20_000), st.data())
def test_what_is_surely_likelier_than_a_level_is_so(calls: int, data: st.DataObject) -> None:
    drawn, marked = data.draw(st.integers(1, calls)), data.draw(st.integers(1, calls))
    mean = max(drawn * marked // calls, drawn + marked - calls)
    hits = data.draw(st.integers(mean, min(drawn, marked, mean + 30)))
    chance = hypergeometric(drawn, marked, calls).at_least(hits)
    (surely,) = surely_likelier([(hits, drawn, marked, calls)], 0.05)
    assert surely <= (chance > 0.05)
    assert surely or chance < 0.5, "most of what is common is known to be so without all of its tail"


@given(st.lists(st.integers(-50, 50).map(float), min_size=1, max_size=8), st.data())
def test_sums_of_subsets_are_those_of_all_choices(values: list[float], data: st.DataObject) -> None:
    size = data.draw(st.integers(1, len(values)))
    assert sorted(sums_of_subsets(values, size)) == sorted(sum(chosen) for chosen in combinations(values, size))
