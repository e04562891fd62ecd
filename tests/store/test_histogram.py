"""Buckets that fit what they count: few, round, and never losing a value."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.store import MOST, Bucket, buckets, percentile

WAITS = st.lists(st.floats(0, 1e300, allow_nan=False), min_size=1, max_size=60).map(sorted)


@given(WAITS)
def test_every_value_is_in_just_one_bucket(waits: list[float]) -> None:
    found = buckets(waits)
    assert 1 <= len(found) <= MOST
    assert [each.count for each in found] == [
        sum(each.low <= wait < (float("inf") if each.high is None else each.high) for wait in waits) for each in found
    ]
    assert sum(each.count for each in found) == len(waits)


@given(WAITS)
def test_buckets_touch_and_end_where_values_do(waits: list[float]) -> None:
    found = buckets(waits)
    assert all(one.high == other.low for one, other in pairwise(found))
    assert all(each.high is not None for each in found[:-1])
    assert found[-1].count > 0


@given(WAITS, st.floats(0, 1))
def test_a_percentile_lies_among_the_values_and_grows(waits: list[float], share: float) -> None:
    assert waits[0] <= percentile(waits, share) <= waits[-1]
    assert percentile(waits, share) <= percentile(waits, 1.0) == waits[-1]


def test_voice_latencies_fall_into_steps_that_people_use() -> None:
    waits = sorted([0.3, 0.4, 0.6, 0.9, 1.1, 1.6, 1.7, 2.2, 4.8, 11.0])
    assert [(each.low, each.high) for each in buckets(waits)] == [
        (0.3, 0.5), (0.5, 0.7), (0.7, 1.0), (1.0, 1.5), (1.5, 2.0), (2.0, 3.0), (3.0, 5.0), (5.0, 7.0), (7.0, 10.0),
        (10.0, 15.0),
    ]  # fmt: skip


def test_a_single_outlier_does_not_make_the_rest_coarse() -> None:
    found = buckets([1.05] * 500 + [1.3] * 500 + [600.0])
    assert found[:2] == [Bucket(1.0, 1.1, 500), Bucket(1.1, 1.2, 0)]
    assert found[-1] == Bucket(1.4, None, 1)


@pytest.mark.parametrize(
    ("waits", "found"),
    [
        ([], []),
        ([0.0, 0.0], [Bucket(0.0, 0.001, 2)]),
        ([1.0, 1.0], [Bucket(1.0, 1.1, 2)]),
        ([0.0, 2.0], [Bucket(0.0, 0.001, 1)]),
    ],
)
def test_few_values_need_few_buckets(waits: list[float], found: list[Bucket]) -> None:
    assert buckets(waits)[: len(found) or None] == found
