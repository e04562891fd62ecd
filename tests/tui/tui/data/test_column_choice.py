"""Choosing columns: what is shown, what stays, and that nothing is cut where it is to be wide."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.fake_catalog import FakeCatalog, flow_table
from tests.support.walker import walking
from tests.surface.explorer import (
    AS_IT_IS,
    ColumnChoice,
    all_columns,
    layout_columns,
    offering,
    scroll_to_column,
    text_of,
    visible_columns,
)
from tests.surface.tui import ASCII, UNICODE, Column, Request, Row, Table

KEYS = st.frozensets(st.text(alphabet="abcdefgh_.", min_size=1, max_size=12), max_size=6)
COLUMNS = (
    Column("state", "State", kind="name"),
    Column("segment", "Segment", kind="name", shown=False),
    Column("n", "n", kind="count"),
    Column("stall", "stall", decimals=2, trim=True),
    Column("guard", "guard", shown=False),
    Column("never", "never"),
)
RECORD = {"state": "triage", "segment": "routing", "n": 9, "stall": 0.25, "guard": 0.0, "never": None}
TABLE = Table("states", "", COLUMNS, [Row("a", {**RECORD, "intervals": {"stall": [0.1, 0.456]}})])


def keys(choice: ColumnChoice, hide: frozenset[str] = frozenset(), table: Table = TABLE) -> list[str]:
    return [column.key for column in visible_columns(table, hide, choice)]


@given(KEYS, KEYS, st.booleans())
def test_a_choice_is_words_and_comes_back_from_them(shown: frozenset[str], hidden: frozenset[str], wide: bool) -> None:
    choice = ColumnChoice(shown, hidden, wide)
    assert ColumnChoice.of(choice.words) == choice


def test_words_that_make_no_sense_are_left_out() -> None:
    assert ColumnChoice.of(["", "stall", "?x"]) == AS_IT_IS


def test_hidden_columns_can_be_shown_and_shown_ones_hidden() -> None:
    assert keys(AS_IT_IS) == ["state", "n", "stall"]
    assert keys(ColumnChoice(shown=frozenset({"segment", "guard"}))) == ["state", "segment", "n", "stall", "guard"]
    assert keys(ColumnChoice(hidden=frozenset({"n"}))) == ["state", "stall"]


def test_an_interval_stands_behind_its_metric() -> None:
    choice = ColumnChoice(shown=frozenset({"intervals.stall"}))
    assert keys(choice) == ["state", "n", "stall", "intervals.stall"]
    column = visible_columns(TABLE, choice=choice)[-1]
    assert text_of(column, TABLE.rows[0], UNICODE) == "0.10–0.46"
    assert text_of(column, TABLE.rows[0], ASCII) == "0.10-0.46"
    assert text_of(column, Row("b", RECORD), UNICODE) == ""


def test_names_stay_and_what_the_place_fixes_is_left_out_whatever_was_chosen() -> None:
    assert keys(ColumnChoice(hidden=frozenset({"state"})))[0] == "state"
    assert "segment" not in keys(ColumnChoice(shown=frozenset({"segment"})), frozenset({"segment"}))
    assert [column.key for column in offering(TABLE, frozenset({"segment"}))] == [
        "n", "stall", "intervals.stall", "guard", "never"
    ]  # fmt: skip


def test_a_column_in_which_nothing_stands_is_shown_if_it_is_asked_for() -> None:
    assert "never" not in keys(AS_IT_IS)
    assert "never" in keys(ColumnChoice(shown=frozenset({"never"})))


def test_the_worklist_has_columns_of_its_own() -> None:
    from tests.surface.tui import Section

    table = Table("worklist", "", COLUMNS, TABLE.rows, sections=[Section("x", "!", ("a",))])
    assert offering(table, frozenset()) == []


def test_what_is_as_usual_is_no_choice() -> None:
    usual, offered = {"n", "stall"}, {"n", "stall", "guard"}
    choice = AS_IT_IS.asking(usual, {"stall", "guard"}, offered)
    assert choice == ColumnChoice(frozenset({"guard"}), frozenset({"n"}))
    assert choice.asking(usual, usual, offered) == AS_IT_IS
    assert ColumnChoice(shown=frozenset({"elsewhere"})).asking(usual, usual, offered).shown == {"elsewhere"}


def test_every_column_that_there_is_can_be_looked_up() -> None:
    assert [column.key for column in all_columns(TABLE)] == [
        "state", "segment", "n", "stall", "intervals.stall", "guard", "never"
    ]  # fmt: skip


NAME, TEXT = Column("flow", "Flow", kind="name"), Column("why", "Why", kind="text")
NUMBERS = [Column(f"n{index}", f"number {index}") for index in range(6)]


def test_wide_columns_are_whole_and_scroll() -> None:
    columns, widths = [NAME, *NUMBERS, TEXT], [20, *[10] * 6, 70]
    found = scroll_to_column(columns, widths, 80, 0, 0, wide=True)
    assert found.slots[0].width == 20
    assert found.more_right
    found = scroll_to_column(columns, widths, 80, 0, 7, wide=True)
    assert [slot.index for slot in found.slots] == [0, 7]
    assert found.more_left
    narrow = scroll_to_column(columns, widths, 80, 0, 0)
    assert narrow.slots[0].width < 20 or len(narrow.slots) >= len(found.slots)


def test_a_name_that_is_longer_than_half_of_the_line_leaves_room_for_the_rest() -> None:
    found = layout_columns([NAME, *NUMBERS], [100, *[10] * 6], 80, wide=True)
    assert 40 <= found.slots[0].width < 60
    assert len(found.slots) > 2


@given(
    st.lists(st.tuples(st.sampled_from(["name", "text", "number", "count"]), st.integers(1, 120)), max_size=12),
    st.integers(60, 200),
    st.integers(0, 11),
)
def test_a_wide_line_is_never_too_long_and_no_column_out_of_reach(
    shapes: list[tuple[str, int]], total: int, wanted: int
) -> None:
    columns = [
        Column(f"c{index}", f"c{index}", kind=kind)  # type: ignore[arg-type]  # one of the kinds
        for index, (kind, _) in enumerate(shapes)
    ]
    widths = [width if kind in ("name", "text") else min(width, 25) for kind, width in shapes]
    wanted = min(wanted, max(0, len(columns) - 1))
    found = scroll_to_column(columns, widths, total, 0, wanted, wide=True)
    assert all(slot.start + slot.width <= total for slot in found.slots)
    assert not columns or found.shows(wanted)


async def test_columns_are_chosen_from_a_list_over_the_table() -> None:
    async with walking(size=(80, 24)) as at:
        await at.press("2", "c")
        lines = "\n".join(strip.text for strip in at.app.screen._compositor.render_strips())
        assert "[x] stall" in lines
        assert "[ ]   stall 95%" in lines
        assert "Space shows or hides" in lines
        await at.press("1", "p", "Q")
        assert at.screen.dialog is not None
        await at.press("space", "G", "k", "space", "enter")
        titles = at.controls.table.render_line(0).text.split()
        assert "n" not in titles
        assert "95%" in titles


async def test_leaving_the_list_changes_nothing_and_r_goes_back_to_the_views_own() -> None:
    async with walking() as at:
        await at.press("2", "c", "space", "escape")
        assert "n" in at.controls.table.render_line(0).text.split()
        await at.press("c", "space", "enter")
        assert "n" not in at.controls.table.render_line(0).text.split()
        await at.press("c", "r", "enter")
        assert "n" in at.controls.table.render_line(0).text.split()
        assert at.controls.list_state.columns(at.screen.history.here) == AS_IT_IS


async def test_a_choice_belongs_to_the_view_and_the_cursor_stays() -> None:
    async with walking() as at:
        await at.press("2", "j", "c", "space", "enter")
        assert at.row == "viewing confirm"
        await at.press("3")
        assert "n" in at.controls.table.render_line(0).text.split()
        await at.press("2")
        assert "n" not in at.controls.table.render_line(0).text.split()


async def test_a_list_that_is_taller_than_the_screen_scrolls() -> None:
    async with walking(size=(80, 14)) as at:
        await at.press("c", "G")
        lines = "\n".join(strip.text for strip in at.app.screen._compositor.render_strips())
        assert "hum:gemini" in lines
        await at.press("g")
        lines = "\n".join(strip.text for strip in at.app.screen._compositor.render_strips())
        assert "operability" in lines


async def test_wide_and_back() -> None:
    class Flows(FakeCatalog):
        def show(self, view: str, request: Request) -> Table:
            return flow_table(20)

    async with walking(size=(80, 24), catalog=Flows()) as at:
        narrow = at.controls.table.render_line(0).text
        assert "score▲" in narrow
        await at.press("w")
        assert "full width" in at.bottom
        wide = at.controls.table.render_line(0).text
        assert "operability" in wide
        assert wide.rstrip().endswith("›")
        assert "property_trouble_ticket_1 " in at.controls.table.render_line(2).text
        await at.press(*["l"] * 12)
        assert "hum:gemini" in at.controls.table.render_line(0).text
        await at.press(*["h"] * 12, "w")
        assert at.controls.table.render_line(0).text == narrow


async def test_a_conversation_has_no_columns_to_choose() -> None:
    async with walking() as at:
        await at.press("4", "enter", "c")
        assert "not columns" in at.bottom
        await at.press("w")
        assert "not columns" in at.bottom
