"""The grid of failed calls, as it is read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.tui import MOST, FailureGrid, cell_width

STATES = ("(start)", "greet", "listen", "book", "(none found)")


def test_rows_and_columns_stand_in_the_order_of_the_flow_and_the_fullest_cell_in_brackets() -> None:
    counts = {("listen", "book"): 7, ("greet", "listen"): 12, ("(start)", "(none found)"): 1, ("listen", "listen"): 3}
    assert FailureGrid(counts, STATES).draw() == [
        "last good       listen         book (none found) calls",
        "(start)              ·            ·            1     1",
        "greet             [12]            ·            ·    12",
        "listen               3            7            ·    10",
        "calls               15            7            1",
    ]


def test_columns_without_room_for_their_names_have_letters() -> None:
    states = ["(start)", *(f"ask_for_the_number_{number}" for number in range(6))]
    grid = FailureGrid({("(start)", name): 1 + len(name) for name in states[1:]}, states)
    lines = grid.draw(width=60)
    assert lines[0].split() == ["last", "good", "a", "b", "c", "d", "e", "f", "calls"]
    assert "first failed: a ask_for_the_number_0" in lines[3]
    assert "f ask_for_the_number_5" in lines[-1]


def test_what_is_too_much_for_a_grid_is_counted() -> None:
    states = [f"state_{number}" for number in range(MOST + 3)]
    grid = FailureGrid({(name, name): 20 - place for place, name in enumerate(states)}, states)
    assert len([line for line in grid.draw() if line.startswith("state_")]) == MOST
    assert grid.left_out == 10 + 9 + 8


@given(
    st.dictionaries(st.tuples(st.integers(0, 14), st.integers(0, 14)), st.integers(1, 99_999), min_size=1),
    st.lists(st.text(min_size=1, max_size=30), min_size=15, max_size=15, unique=True),
    st.booleans(),
)
def test_no_line_is_wider_than_the_screen(
    counts: dict[tuple[int, int], int], names: list[str], ascii_only: bool
) -> None:
    grid = FailureGrid({(names[one], names[other]): n for (one, other), n in counts.items()}, names)
    assert all(cell_width(line) <= 78 for line in grid.draw(ascii_only=ascii_only))


@pytest.mark.parametrize("width", [40, 78, 120])
def test_calls_of_rows_and_columns_add_up(width: int) -> None:
    grid = FailureGrid({("greet", "listen"): 3, ("greet", "book"): 4, ("listen", "book"): 5}, STATES)
    lines = [line.split() for line in grid.draw(width=width)]
    assert [line[-1] for line in lines[1:3]] == ["7", "5"]
    assert lines[3][1:] == ["3", "9"]
