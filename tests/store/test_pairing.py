"""Calls of two sides, paired by task: arrays against a walk over every call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.store import Places, Tasks, by_key, compared, paired, pairs_by_key


class Call(NamedTuple):
    flow: int
    scenario: int
    trial: int
    within: int
    persona: int


few = st.integers(0, 2)
CALLS = st.lists(st.builds(Call, few, few, st.sampled_from((0, 1, 10**12)), few, few), max_size=14)


def tasks(calls: Sequence[Call]) -> Tasks:
    return Tasks(*np.array(calls, np.int64).reshape(-1, 5).T)


def by_hand(first: Sequence[Call], second: Sequence[Call]) -> set[tuple[int, int]]:
    """Pairs as the rule says them, a call at a time."""

    def task(call: Call) -> tuple[int, ...]:
        return call[:4]

    def named(call: Call) -> bool:
        return bool(call.scenario or call.persona)

    times = [Counter(task(call) for call in side if named(call)) for side in (first, second)]

    def told(call: Call) -> tuple[object, ...]:
        apart = any(count[task(call)] > 1 for count in times) or not call.scenario
        return (*task(call), call.persona if apart else None)

    alone = [Counter(told(call) for call in side if named(call)) for side in (first, second)]
    return {
        (one, other)
        for one, a in enumerate(first)
        for other, b in enumerate(second)
        if named(a) and named(b) and told(a) == told(b) and alone[0][told(a)] == alone[1][told(b)] == 1
    }


@given(CALLS, CALLS)
def test_calls_are_paired_as_the_rule_says(first: list[Call], second: list[Call]) -> None:
    found = paired(tasks(first), tasks(second))
    assert set(zip(found.first.tolist(), found.second.tolist(), strict=True)) == by_hand(first, second)


def test_tasks_with_more_combinations_than_a_number_holds_are_told_apart() -> None:
    far = 10**15
    first = [Call(1, 1, far, 7, 0), Call(far, 2, far - 1, 8, 1), Call(3, far, 0, far, 2)]
    found = paired(tasks(first), tasks(first[::-1]))
    assert sorted(zip(found.first.tolist(), found.second.tolist(), strict=True)) == [(0, 2), (1, 1), (2, 0)]


@given(st.lists(st.integers(0, 3), max_size=12))
def test_places_are_listed_by_key(keys: list[int]) -> None:
    found = {key: places.tolist() for key, places in by_key(np.array(keys, np.int64)).items()}
    assert found == {key: [at for at, each in enumerate(keys) if each == key] for key in sorted(set(keys))}


def test_pairs_are_listed_by_the_key_of_the_first_call() -> None:
    pairs = Places(np.array([2, 0, 1]), np.array([5, 6, 7]))
    found = pairs_by_key(np.array([10, 20, 10]), pairs)
    assert {key: (each.first.tolist(), each.second.tolist()) for key, each in found.items()} == {
        10: ([2, 0], [5, 6]),
        20: ([1], [7]),
    }


@pytest.mark.parametrize(("known", "on_pairs"), [(2, 2), (1, None)])
def test_pairs_are_compared_where_they_are_half_of_the_smaller_side(known: int, on_pairs: int | None) -> None:
    first, second = np.array([1.0, 2.0, 3.0, np.nan]), np.array([4.0, 5.0, 6.0, 7.0])
    calls, pairs = Places(np.arange(4), np.arange(4)), Places(np.arange(known), np.arange(known))
    found = compared((first, second), (~np.isnan(first), ~np.isnan(second)), calls, pairs)
    assert found.pairs == on_pairs
    assert found.first.tolist() == ([1.0, 2.0] if on_pairs else [1.0, 2.0, 3.0])
    assert found.second.tolist() == ([4.0, 5.0] if on_pairs else [4.0, 5.0, 6.0, 7.0])
    assert found.alone == ((1, 2) if on_pairs else (0, 0))
