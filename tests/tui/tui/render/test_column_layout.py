"""How columns share a line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.fake_catalog import COLUMNS, flow_row
from tests.surface.explorer import NARROWEST_FIRST, ColumnWidths, layout_columns, scroll_to_column
from tests.surface.tui import ASCII, UNICODE, Column, Row, cell_width, fitted, wrap

NAME = Column("flow", "Flow", kind="name")
AGENT = Column("agent", "Agent", kind="name")
NUMBERS = [Column(f"n{index}", f"number {index}") for index in range(8)]


def test_names_stay_while_numbers_scroll_away() -> None:
    columns = [NAME, AGENT, *NUMBERS]
    found = scroll_to_column(columns, [20, 12, *[8] * 8], 70, 0, 9)
    assert [slot.index for slot in found.slots][:2] == [0, 1]
    assert found.shows(9)
    assert found.more_left
    assert not found.more_right


def test_names_give_way_before_numbers_do() -> None:
    found = layout_columns([NAME, *NUMBERS[:3]], [60, 6, 6, 6], 60)
    widths = [slot.width for slot in found.slots]
    assert widths[1:] == [6, 6, 6]
    assert NARROWEST_FIRST <= widths[0] < 60


def test_a_column_is_found_by_the_cell_under_the_pointer() -> None:
    found = layout_columns([NAME, *NUMBERS[:2]], [10, 6, 6], 60)
    assert [found.column_at(x) for x in (0, 1, 12, 18, 20, 40)] == [None, 0, 1, 1, 2, None]


@given(
    st.lists(st.tuples(st.sampled_from(["name", "text", "number", "count"]), st.integers(1, 60)), max_size=12),
    st.integers(60, 200),
    st.integers(0, 11),
)
def test_a_line_is_never_too_long_and_a_number_never_cut(
    shapes: list[tuple[str, int]], total: int, wanted: int
) -> None:
    columns = [Column(f"c{place}", "", kind=kind) for place, (kind, _) in enumerate(shapes)]  # type: ignore[arg-type]  # sampled
    widths = [width for _, width in shapes]
    found = scroll_to_column(columns, widths, total, 0, min(wanted, len(columns) - 1))
    for slot in found.slots:
        assert slot.start + slot.width <= total
        if slot.right:
            assert slot.width == widths[slot.index]
    starts = [slot.start for slot in found.slots]
    assert starts == sorted(starts)


@given(st.text(max_size=40), st.integers(1, 20), st.booleans())
def test_a_cell_is_exactly_as_wide_as_its_column(text: str, width: int, right: bool) -> None:
    from tests.surface.tui import one_line

    assert cell_width(fitted(one_line(text), width, right=right)) == width


@given(st.text(max_size=200), st.integers(1, 40))
def test_wrapped_text_loses_nothing_but_blanks(text: str, width: int) -> None:
    from tests.surface.tui import one_line

    safe = one_line(text)
    lines = wrap(safe, width)
    assert "".join("".join(lines).split()) == "".join(safe.split())
    assert all(cell_width(line) <= max(width, 2) for line in lines)


def test_titles_are_short_where_long_ones_have_no_room_and_show_the_order() -> None:
    widths = ColumnWidths(COLUMNS, UNICODE, "-operability")
    widths.measure([flow_row(0)])
    widths.layout(200, 0, 2)
    assert widths.titles[2] == "operability▼"
    widths.layout(100, 0, 2)
    assert widths.titles[2:4] == ["oper▼", "corr"]
    assert ColumnWidths(COLUMNS, ASCII, "operability").layout(200, 0, 2).slots


def test_columns_get_wider_for_what_comes_into_view_and_never_narrower() -> None:
    widths = ColumnWidths([NAME], UNICODE, None)
    assert widths.measure([Row("a", {"flow": "a" * 30})])
    assert not widths.measure([Row("b", {"flow": "b"})])
    assert widths.layout(100, 0, 0).slots[0].width == 30


@pytest.mark.parametrize("width", [1, 5, 59])
def test_there_is_an_arrangement_for_every_width(width: int) -> None:
    assert ColumnWidths(COLUMNS, UNICODE, None).layout(width, 0, 5) is not None


RUNS = ("nightly-2026-06-22", "nightly-2026-06-19", "branch-2026-06-16-shorter-prompts")


def drawn(names: tuple[str, ...], total: int, *, whole: bool = True) -> list[str]:
    """The title and the cells of a column of names beside a wide number, on a line of so many cells."""
    widths = ColumnWidths([AGENT, NUMBERS[0]], UNICODE, None, whole=whole)
    rows = [Row(name, {"agent": name, "n0": 12345678.9}) for name in names]
    widths.measure(rows)
    slot = widths.layout(total, 0, 0).slots[0]
    return [text.rstrip() for text in (widths.head(slot), *(widths.cell(slot, name) for name in names))]


def test_names_that_have_no_room_differ_still_and_what_all_begin_with_is_said_once() -> None:
    title, *cells = drawn(RUNS, 32)
    assert title == "Agent"
    assert len(set(cells)) == 3
    assert cells[2].endswith("prompts")
    title, *cells = drawn(("a-long-prefix-thrifty-one", "a-long-prefix-swift-one"), 37)
    assert (title, cells) == ("Agent (a-long-)", ["prefix-thrifty-one", "prefix-swift-one"])


def test_of_rows_that_are_not_all_known_no_prefix_is_left_out() -> None:
    _, *cells = drawn(("a-long-prefix-thrifty", "a-long-prefix-swift"), 32, whole=False)
    assert all(cell.startswith("a-long") for cell in cells)
    assert len(set(cells)) == 2


def test_names_are_shown_whole_where_there_is_room() -> None:
    assert drawn(RUNS, 80) == ["Agent", *RUNS]
