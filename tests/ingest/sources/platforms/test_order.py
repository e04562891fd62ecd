"""The order of what happened in a call: by time, where there is one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.surface.ingest import in_time_order

ITEMS = st.lists(st.tuples(st.none() | st.floats(0, 100), st.integers()))


def test_what_has_no_time_has_that_of_what_follows() -> None:
    items = [(None, "a"), (2.0, "b"), (1.0, "c"), (None, "d"), (1.0, "e"), (None, "f")]
    assert in_time_order(items, 9.0) == [(1.0, "c"), (1.0, "d"), (1.0, "e"), (2.0, "a"), (2.0, "b"), (9.0, "f")]


def test_what_comes_last_without_any_time_stays_last() -> None:
    assert in_time_order([(5.0, "a"), (None, "b")]) == [(5.0, "a"), (None, "b")]


@given(ITEMS)
def test_nothing_is_lost_and_times_never_go_back(items: list[tuple[float | None, int]]) -> None:
    found = in_time_order(items)
    assert sorted(item for _, item in found) == sorted(item for _, item in items)
    times = [t for t, _ in found if t is not None]
    assert times == sorted(times)


@given(st.lists(st.integers()))
def test_without_times_the_order_stays(items: list[int]) -> None:
    assert [item for _, item in in_time_order([(None, item) for item in items])] == items
