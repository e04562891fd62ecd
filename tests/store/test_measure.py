"""Means do not depend on the order of rows, and intervals are the textbook's."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.store import UNIT, Measure, PooledMeasure, percentile, student_t, wilson

values = st.lists(st.integers(0, 10_000).map(lambda thousandths: thousandths / 1000), min_size=1, max_size=30)


def measure(numbers: list[float]) -> Measure:
    return Measure(len(numbers), sum(round(number * UNIT) for number in numbers), sum(number**2 for number in numbers))


def test_nothing_measured_has_neither_mean_nor_interval() -> None:
    assert Measure(0, 0).mean is None
    assert Measure(0, 0).interval() is None
    assert Measure(0, 0, rate=True).interval() is None


def test_one_value_has_a_mean_but_no_interval() -> None:
    assert measure([3.5]).mean == 3.5
    assert measure([3.5]).interval() is None


def test_ten_times_ten_is_exactly_ten() -> None:
    assert measure([10.0] * 7).mean == 10.0
    assert measure([10.0] * 7).interval() == (10.0, 10.0)


def test_a_mean_has_students_interval() -> None:
    low, high = measure([1, 2, 3, 4, 5]).interval() or (0, 0)
    half = 2.7764451 * math.sqrt(2.5 / 5)
    assert (low, high) == pytest.approx((3 - half, 3 + half), abs=1e-6)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(8, 10, 0.490162, 0.943318), (0, 10, 0.0, 0.277533), (10, 10, 0.722467, 1.0), (1, 2, 0.094531, 0.905469)],
)
def test_a_rate_has_wilsons_interval(successes: int, n: int, low: float, high: float) -> None:
    assert wilson(successes, n) == pytest.approx((low, high), abs=1e-6)
    assert Measure(n, successes * UNIT, rate=True).interval() == pytest.approx((low, high), abs=1e-6)


def test_a_rate_beyond_its_scale_is_taken_as_whole() -> None:
    assert wilson(12, 10) == wilson(10, 10)
    assert wilson(-1, 10) == wilson(0, 10)


def test_a_rate_on_the_scale_of_ten_has_its_interval_there() -> None:
    completion = Measure(10, 80 * UNIT, rate=True, scale=10.0)
    assert completion.mean == 8
    assert completion.interval() == pytest.approx((4.90162, 9.43318), abs=1e-5)


def pooled(calls: list[tuple[float, int]]) -> PooledMeasure:
    """Pool the parts and the events of calls."""
    total, events = sum(part for part, _ in calls), sum(count for _, count in calls)
    spread = sum((part - total / events * count) ** 2 for part, count in calls)
    return PooledMeasure(len(calls), round(total * UNIT), events, spread)


def test_a_figure_over_the_events_of_calls_has_the_interval_of_a_ratio() -> None:
    found = pooled([(4.0, 2), (3.0, 1), (5.0, 3)])
    half = 4.3026527 * math.sqrt(3 / 2 * (0 + 1 + 1)) / 6
    assert found.mean == 2.0
    assert PooledMeasure(3, 12 * UNIT, 6, 20.0, high=3.0).interval() == (0.0, 3.0), "kept in the scale"
    assert PooledMeasure(3, 12 * UNIT, 6, 0.02).interval() == pytest.approx((2 - half / 10, 2 + half / 10), abs=1e-6)
    assert found.interval() == pytest.approx((2 - half, 2 + half), abs=1e-6)


def test_calls_without_events_or_that_do_not_vary_have_no_interval() -> None:
    assert PooledMeasure(0, 0, 0).mean is None
    assert PooledMeasure(5, 0, 0).interval() is None
    assert pooled([(4.0, 2)]).interval() is None
    assert pooled([(4.0, 2), (2.0, 1)]).interval() is None


@pytest.mark.parametrize(
    ("ranked", "share", "found"),
    [([3.0], 0.95, 3.0), ([1.0, 2.0, 5.0], 0.5, 2.0), ([1.0, 2.0, 5.0], 0.75, 3.5), ([1.0, 2.0, 5.0], 1.0, 5.0),
     ([0.0, 10.0], 0.95, 9.5), ([0.0, 1.0, 2.0, 3.0, 8.0], 0.95, 7.0)],
)  # fmt: skip
def test_a_percentile_lies_between_the_closest_ranks(ranked: list[float], share: float, found: float) -> None:
    assert percentile(ranked, share) == pytest.approx(found)


@pytest.mark.parametrize(
    ("degrees", "quantile"),
    [(1, 12.7062047), (2, 4.3026527), (3, 3.1824463), (4, 2.7764451), (5, 2.5705818), (10, 2.2281389),
     (29, 2.0452296), (30, 2.0422725), (100, 1.9839715), (1000, 1.9623391), (1001, 1.9623363), (10**6, 1.9599664)],
)  # fmt: skip
def test_students_quantiles_are_those_of_the_tables(degrees: int, quantile: float) -> None:
    assert student_t(degrees) == pytest.approx(quantile, abs=2e-6)


def test_students_quantile_falls_all_the_way() -> None:
    found = [student_t(degrees) for degrees in (*range(1, 60), 200, 999, 1000, 1001, 1002, 5000)]
    assert found == sorted(found, reverse=True)


@given(values, st.randoms())
def test_the_order_of_rows_changes_neither_mean_nor_interval(numbers: list[float], chance: random.Random) -> None:
    shuffled = list(numbers)
    chance.shuffle(shuffled)
    assert measure(numbers).mean == measure(shuffled).mean
    assert measure(numbers).interval() == measure(shuffled).interval()


@given(values, values)
def test_two_measures_add_up_to_that_of_all_rows(first: list[float], second: list[float]) -> None:
    together = measure(first) + measure(second)
    assert together.n == len(first) + len(second)
    assert together.mean == measure(first + second).mean


@given(values)
def test_the_mean_lies_in_its_interval(numbers: list[float]) -> None:
    found = measure(numbers)
    interval = found.interval()
    if interval is not None and found.mean is not None:
        assert interval[0] - 1e-6 <= found.mean <= interval[1] + 1e-6
