"""Sums and counts of samples against plain arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.store import UNIT, samples

VALUES = st.lists(st.floats(0, 1e4).map(lambda value: round(value, 3)), max_size=20)


@given(VALUES)
def test_sums_are_whole_billionths(values: list[float]) -> None:
    found = samples.mean_of(np.array(values, float))
    assert found.n == len(values)
    assert found.total == sum(int(value * UNIT + 0.5) for value in values)
    assert found.squares == pytest.approx(math.fsum(value * value for value in values))


def test_sums_of_what_no_machine_word_holds_are_exact() -> None:
    values = [9e12, 9e12, 1.0]
    assert samples.billionths(np.array(values)) == sum(int(value * UNIT + 0.5) for value in values)


@given(st.lists(st.tuples(*[st.sampled_from((0.0, 4.0, 10.0))] * 2), max_size=20))
def test_hits_of_pairs_are_counted(pairs: list[tuple[float, float]]) -> None:
    first, second = np.array(pairs, float).reshape(-1, 2).T
    found = samples.hit_pairs(first, second, 10.0)
    hits = [(one >= 10, other >= 10) for one, other in pairs]
    assert found == (
        hits.count((True, True)),
        hits.count((True, False)),
        hits.count((False, True)),
        hits.count((False, False)),
    )
    assert samples.hits(first, 10.0) == found.both + found.only_first
    assert samples.signs(second - first) == (
        sum(other > one for one, other in pairs),
        sum(other < one for one, other in pairs),
    )
