"""Ratios of sums over calls: the permutations as counted by hand, and what their tests must not say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.surface.store import RatiosCallSums as CallSums
from tests.surface.store import RatioTest, ratios


class CallSum(NamedTuple):
    part: float
    whole: float


CALLS = st.lists(
    st.integers(0, 5).flatmap(lambda whole: st.builds(CallSum, st.integers(0, whole), st.just(whole))),
    min_size=2,
    max_size=6,
)
ALWAYS, NEVER, HALF = CallSum(5, 5), CallSum(0, 5), CallSum(2, 4)


def sums(calls: Sequence[CallSum]) -> CallSums:
    return CallSums(*np.array(calls, float).reshape(-1, 2).T)


def paired(first: Sequence[CallSum], second: Sequence[CallSum]) -> RatioTest:
    return ratios.paired(sums(first), sums(second))


def unpaired(first: Sequence[CallSum], second: Sequence[CallSum]) -> RatioTest:
    return ratios.unpaired(sums(first), sums(second))


def ratio(calls: list[CallSum]) -> float:
    return sum(call.part for call in calls) / sum(call.whole for call in calls)


def surplus(calls: list[CallSum], common: float) -> float:
    return sum(call.part - common * call.whole for call in calls)


def is_as_far(value: float, seen: float) -> bool:
    return abs(value) >= abs(seen) - 1e-7


def dealt(first: list[CallSum], second: list[CallSum]) -> float:
    first, second = ([call for call in side if call.whole] for side in (first, second))
    every, common = [*first, *second], ratio([*first, *second])
    deals = list(combinations(every, len(first)))
    return sum(is_as_far(surplus(list(deal), common), surplus(first, common)) for deal in deals) / len(deals)


def swapped(first: list[CallSum], second: list[CallSum]) -> float:
    common, pairs = ratio([*first, *second]), list(zip(first, second, strict=True))
    swaps = [
        sum(
            (-1 if swap else 1) * (surplus([b], common) - surplus([a], common))
            for swap, (a, b) in zip(way, pairs, strict=True)
        )
        for way in product((False, True), repeat=len(pairs))
    ]
    return sum(is_as_far(value, swaps[0]) for value in swaps) / len(swaps)


@given(CALLS, CALLS)
def test_p_is_no_smaller_than_that_of_dealing_the_calls_out_anew(first: list[CallSum], second: list[CallSum]) -> None:
    assume(sum(call.whole for call in first) and sum(call.whole for call in second))
    found = unpaired(first, second)
    assert found.p >= dealt(first, second) - 1e-9
    if found.estimate is None:
        assert found.p == pytest.approx(dealt(first, second))


@given(
    st.lists(st.tuples(CALLS.map(lambda calls: calls[0]), CALLS.map(lambda calls: calls[1])), min_size=2, max_size=6)
)
def test_p_is_no_smaller_than_that_of_swapping_pairs(pairs: list[tuple[CallSum, CallSum]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    assume(sum(call.whole for call in first) and sum(call.whole for call in second))
    found = paired(first, second)
    assert found.p >= swapped(first, second) - 1e-9
    if found.estimate is None:
        assert found.p == pytest.approx(swapped(first, second))


@given(CALLS, CALLS)
def test_p_and_interval_agree_and_do_not_hang_on_which_side_is_which(
    first: list[CallSum], second: list[CallSum]
) -> None:
    assume(sum(call.whole for call in first) and sum(call.whole for call in second))
    found, turned = unpaired(first, second), unpaired(second, first)
    assert found.p == pytest.approx(turned.p)
    if found.estimate is not None and turned.estimate is not None:
        low, high = found.estimate.interval
        assert (low, high) == pytest.approx((-turned.estimate.interval[1], -turned.estimate.interval[0]))
        assert low <= ratio(second) - ratio(first) <= high
        assert found.p > 0.05 or low > 0 or high < 0


def test_many_events_in_few_calls_are_few() -> None:
    """Fisher's test of 15 against 0 of 15 events would be surer than anything; there are but three calls a side."""
    assert unpaired([ALWAYS] * 3, [NEVER] * 3).p == pytest.approx(2 / math.comb(6, 3))
    assert paired([ALWAYS] * 3, [NEVER] * 3).p == pytest.approx(2 / 2**3)


def test_calls_without_such_an_event_change_nothing() -> None:
    silent = CallSum(0, 0)
    first, second = [ALWAYS, HALF, NEVER, HALF], [HALF, NEVER, NEVER, HALF]
    assert unpaired([*first, silent, silent], [silent, *second]) == unpaired(first, second)
    assert paired([*first, silent], [*second, silent]) == paired(first, second)


def test_what_is_alike_is_no_difference() -> None:
    assert unpaired([HALF] * 4, [HALF] * 5).p == 1.0
    assert paired([HALF, ALWAYS], [HALF, ALWAYS]).p == 1.0


def test_many_calls_are_tested_by_the_normal_curve() -> None:
    first = [CallSum(number % 4, 4) for number in range(60)]
    second = [CallSum(3 + number % 2, 4) for number in range(60)]
    assert unpaired(first, second).p < 1e-6
    assert paired(first, second).p < 1e-6
    assert unpaired(first, [*first]).p == pytest.approx(1.0)


def test_with_many_events_on_one_side_p_is_not_too_sure() -> None:
    """Forty calls of one event and five of forty: it is the five that say how sure the difference is."""
    first = [CallSum(number % 2, 1) for number in range(40)]
    second = [CallSum(part, 40) for part in (36, 30, 12, 38, 34)]
    found = unpaired(first, second).estimate
    assert found is not None
    low, high = found.interval
    assert low < 0 < high
    assert unpaired(first, second).p > 0.05
