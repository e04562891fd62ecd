"""The order of what happened in a call is that of its source, and only several lists are joined by time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.surface.ingest import joined, with_times

ITEMS = st.lists(st.tuples(st.none() | st.floats(0, 100), st.integers()))


def test_what_has_no_time_has_that_of_what_follows_and_all_keeps_its_place() -> None:
    items = [(None, "a"), (2.0, "b"), (1.0, "c"), (None, "d"), (1.5, "e"), (None, "f")]
    assert with_times(items, 9.0) == [(2.0, "a"), (2.0, "b"), (1.0, "c"), (1.5, "d"), (1.5, "e"), (9.0, "f")]


def test_what_comes_last_without_any_time_stays_last() -> None:
    assert with_times([(5.0, "a"), (None, "b")]) == [(5.0, "a"), (None, "b")]


def test_two_lists_are_joined_by_time_and_the_first_goes_before() -> None:
    entered, said = [(0.0, "A"), (5.0, "B")], [(0.0, "a"), (3.0, "b"), (5.0, "c")]
    assert [item for _, item in joined(entered, said)] == ["A", "a", "b", "B", "c"]


@given(ITEMS, ITEMS)
def test_nothing_is_lost_and_each_list_keeps_its_order(
    first: list[tuple[float | None, int]], second: list[tuple[float | None, int]]
) -> None:
    marked = [[(t, (which, item)) for t, item in items] for which, items in enumerate((first, second))]
    found = joined(*marked)
    assert [[each for each in found if each[1][0] == which] for which in (0, 1)] == marked
