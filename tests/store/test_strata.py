"""Rates compared within strata: exact where they are few, and never fooled by another mixture of calls."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from tests.surface.store import MOST_OUTCOMES, Stratum, rate_change, stratified_fisher


@st.composite
def strata(draw: st.DrawFn, most: int = 6) -> Stratum:
    first_n, second_n = draw(st.integers(0, most)), draw(st.integers(0, most))
    return Stratum(draw(st.integers(0, first_n)), first_n, draw(st.integers(0, second_n)), second_n)


@given(strata(most=60))
def test_one_stratum_is_tested_as_fisher_does(one: Stratum) -> None:
    table = [[one.first_hits, one.first_n - one.first_hits], [one.second_hits, one.second_n - one.second_hits]]
    wanted = float(fisher_exact(table).pvalue) if one.first_n and one.second_n else 1.0
    assert stratified_fisher([one]) == pytest.approx(wanted, rel=1e-6)


@given(st.lists(strata(), max_size=3))
def test_several_are_counted_out(found: list[Stratum]) -> None:
    shared = [one for one in found if one.first_n and one.second_n]
    seen = sum(one.second_hits for one in shared)
    chances: dict[int, float] = {}
    for hits in product(*(range(one.second_n + 1) for one in shared)):
        chance = math.prod(
            math.comb(one.second_n, found) * math.comb(one.first_n, one.first_hits + one.second_hits - found)
            / math.comb(one.first_n + one.second_n, one.first_hits + one.second_hits)
            if one.first_hits + one.second_hits >= found else 0.0
            for one, found in zip(shared, hits, strict=True)
        )  # fmt: skip
        chances[sum(hits)] = chances.get(sum(hits), 0.0) + chance
    p = sum(chance for chance in chances.values() if chance <= chances[seen] * (1 + 1e-7))
    assert stratified_fisher(found) == pytest.approx(p, rel=1e-9)


@given(st.lists(strata(), max_size=4))
def test_the_order_of_samples_turns_the_change_round_and_leaves_p(found: list[Stratum]) -> None:
    turned = [Stratum(one.second_hits, one.second_n, one.first_hits, one.first_n) for one in found]
    change, back = rate_change(found), rate_change(turned)
    assert change is None if back is None else change == pytest.approx(-back)
    assert stratified_fisher(found) == pytest.approx(stratified_fisher(turned), rel=1e-6)


@pytest.mark.parametrize("samples", [[(3, 9, 5, 8)], [(11, 30, 17, 25), (20, 40, 9, 33), (1, 2, 1, 3)]])
def test_p_is_the_same_to_the_last_digit_in_arrays(
    samples: list[tuple[int, int, int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    found, ps = [Stratum(*one) for one in samples], set()
    for many in (0, 10_000):
        monkeypatch.setattr("riff_store.statistics.significance._MANY", many)
        ps.add(stratified_fisher(found))
    assert len(ps) == 1


def test_another_mixture_of_easy_and_hard_flows_is_no_change() -> None:
    easy_and_hard = [Stratum(90, 100, 9, 10), Stratum(1, 10, 10, 100)]
    assert rate_change(easy_and_hard) == 0
    assert stratified_fisher(easy_and_hard) > 0.9


def test_many_calls_are_tested_by_the_normal_curve_and_it_is_near() -> None:
    few = Stratum(40, 50, 28, 50)
    assert few.first_hits + few.second_hits < MOST_OUTCOMES
    many = [few, few, few]
    exact = float(fisher_exact([[120, 30], [84, 66]]).pvalue)
    assert stratified_fisher(many) == pytest.approx(exact, rel=0.5)
    assert stratified_fisher([few]) > 10 * stratified_fisher(many)


def test_where_there_is_nothing_to_tell_p_is_1() -> None:
    assert stratified_fisher([]) == 1
    assert stratified_fisher([Stratum(0, 500, 0, 500), Stratum(500, 500, 500, 500)]) == 1
    assert rate_change([Stratum(3, 3, 0, 0)]) is None
