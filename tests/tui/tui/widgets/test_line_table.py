"""The table widget: the cursors, pages, order, long lists, and that only two lines are repainted for a move."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.pilot import Pilot

from tests.support.fake_catalog import COLUMNS, LazyRows, flow_row, flow_table, long_table
from tests.support.hostile import HOSTILE
from tests.surface.explorer import PALETTES, LineTable
from tests.surface.tui import ASCII, UNICODE, Column, Glyphs, Row, Severity, Table


class Shown(App[None]):
    """An application of one table."""

    def __init__(self, table: Table, sort: str | None = None, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(ansi_color=True)
        self._table, self._sort, self._glyphs = table, sort, glyphs

    def compose(self) -> ComposeResult:
        yield LineTable(glyphs=self._glyphs)

    def on_mount(self) -> None:
        self.query_one(LineTable).load(self._table, sort=self._sort)


@asynccontextmanager
async def shown(
    table: Table, *, width: int = 80, height: int = 24, sort: str | None = None, glyphs: Glyphs = UNICODE
) -> AsyncIterator[tuple[LineTable, Pilot[None]]]:
    app = Shown(table, sort, glyphs)
    async with app.run_test(size=(width, height)) as pilot:
        await pilot.pause()
        yield app.query_one(LineTable), pilot


def line(widget: LineTable, y: int) -> str:
    return widget.render_line(y).text


async def test_the_header_and_as_many_rows_as_fit_are_shown() -> None:
    async with shown(flow_table(100)) as (widget, _):
        assert line(widget, 0).split()[:3] == ["Flow", "Agent", "n"]
        assert line(widget, 1).startswith("!apartment_schedul")
        assert line(widget, 23).split()[4] == "!2.2"
        assert all(widget.render_line(y).cell_length == 80 for y in range(24))


async def test_the_cursor_moves_within_the_rows_and_the_window_follows() -> None:
    async with shown(flow_table(100)) as (widget, _):
        widget.move(-1)
        assert widget.cursor == 0
        widget.move(40)
        assert widget.scroll_offset.y == 40 - 22
        widget.to_end(1)
        assert (widget.cursor, widget.scroll_offset.y) == (99, 77)
        widget.page(-1)
        assert (widget.cursor, widget.scroll_offset.y) == (76, 54)
        widget.to_end(-1)
        assert (widget.cursor, widget.scroll_offset.y) == (0, 0)


async def test_a_move_repaints_two_lines() -> None:
    async with shown(flow_table(100)) as (widget, pilot):
        repainted: list[Region] = []
        refresh = widget.refresh

        def note(*regions: Region, **options: bool) -> LineTable:
            repainted.extend(regions or [widget.size.region])
            return refresh(*regions, **options)

        widget.refresh = note  # type: ignore[method-assign]  # to see what it asks for
        widget.move(1)
        await pilot.pause()
        assert sorted(region.y for region in repainted) == [1, 2]
        assert {region.height for region in repainted} == {1}


async def test_a_row_is_one_run_of_text_and_one_for_each_count_and_severity_cell() -> None:
    async with shown(flow_table(100)) as (widget, _):
        plain, marked = [*widget.render_line(46 - 1)], [*widget.render_line(6)]
        assert [bool(segment.style and segment.style.dim) for segment in plain] == [False, True, False]
        assert plain[1].text.strip() == "5"
        texts = [segment.text.strip() for segment in marked]
        assert texts[:6] == ["!", texts[1], "6", "0.5", "!0.5", "△3.5"]
        assert all(segment.style is None or segment.style.bgcolor is None for segment in marked)


async def test_the_cursor_row_is_reversed_and_its_cell_underlined() -> None:
    async with shown(flow_table(10)) as (widget, _):
        assert all(segment.style is not None and segment.style.reverse for segment in widget.render_line(1))
        assert [
            segment.text.strip() for segment in widget.render_line(1) if segment.style and segment.style.underline
        ] == ["1~"]


async def test_a_thin_row_is_dimmed_and_its_count_carries_a_mark() -> None:
    async with shown(flow_table(10)) as (widget, _):
        assert "2~" in line(widget, 2)
        assert any(segment.style is not None and segment.style.dim for segment in widget.render_line(2))


async def test_nothing_is_lost_without_colours() -> None:
    async with shown(flow_table(10)) as (widget, _):
        widget.restyle(PALETTES["mono"])
        assert "!0.5" in line(widget, 6)
        assert all(not segment.style or segment.style.color is None for segment in widget.render_line(6))


async def test_columns_scroll_under_the_column_cursor_while_names_stay() -> None:
    async with shown(flow_table(10), width=60) as (widget, _):
        assert line(widget, 0).rstrip().endswith("›")
        widget.sideways(20)
        assert widget.under is not None
        assert widget.under.key == "hum:gemini"
        header = line(widget, 0)
        assert header.startswith("‹Flow")
        assert "gemini" in header
        assert "oper" not in header
        widget.sideways(-20)
        assert widget.under.key == "flow"


async def test_the_sorted_column_says_so() -> None:
    async with shown(flow_table(10), sort="-operability") as (widget, _):
        assert "oper▼" in line(widget, 0)
    async with shown(flow_table(10), sort="operability", glyphs=ASCII) as (widget, _):
        assert "oper v" in line(widget, 0)


async def test_the_cursor_stays_on_its_row_when_the_rows_change_places() -> None:
    table = flow_table(50)
    async with shown(table) as (widget, _):
        widget.move(7)
        turned = table._replace(rows=list(reversed(table.rows)))
        widget.load(turned, row="r7", index=7, column="n")
        assert widget.row is not None
        assert widget.row.id == "r7"
        assert widget.under is not None
        assert widget.under.key == "n"
        widget.load(table._replace(rows=table.rows[20:]), row="r7", index=7)
        assert widget.cursor == 7


async def test_bad_cells_of_a_row_are_found_in_both_directions() -> None:
    marks: dict[str, Severity] = {"operability": "bad", "errors": "bad", "n": "warn", "hidden": "bad"}
    rows = [row._replace(severity=marks) for row in flow_table(2).rows]
    async with shown(flow_table(2)._replace(rows=rows)) as (widget, _):
        assert widget.is_bad(rows[0])
        assert not widget.is_bad(rows[0]._replace(severity={"hidden": "bad", "": "bad"}))
        keys = [column.key for column in widget.columns]
        widget.column = 0
        assert widget.to_bad(1)
        assert widget.to_bad(1)
        assert (widget.cursor, keys[widget.column]) == (0, "errors")
        assert not widget.to_bad(1)
        assert widget.to_bad(-1)
        assert keys[widget.column] == "operability"
        assert widget.to_bad(-1, whole=True)
        assert keys[widget.column] == "errors"


async def test_of_a_hundred_thousand_rows_only_those_in_view_are_touched() -> None:
    rows = LazyRows(100_000)
    async with shown(Table("flows", "", COLUMNS, rows)) as (widget, pilot):
        widget.to_end(1)
        await pilot.pause()
        widget.page(-1)
        await pilot.pause()
        assert line(widget, 23).split()[0].startswith("property_")
        assert len(rows.touched) < 250


async def test_an_empty_table_has_no_cursor_and_shows_its_notes() -> None:
    async with shown(flow_table(0, notes=["Nothing matches."])) as (widget, _):
        assert widget.row is None
        widget.move(1)
        widget.sideways(1)
        assert not widget.to_bad(1)
        assert "Nothing matches." in line(widget, 2)


async def test_notes_stand_below_the_last_row() -> None:
    async with shown(flow_table(3, notes=["Units: seconds."])) as (widget, _):
        assert [line(widget, y).strip() for y in (4, 5)] == ["", "Units: seconds."]


async def test_a_hostile_cell_stays_one_line_of_text() -> None:
    texts = list(HOSTILE.values())
    records = [{**flow_row(0).record, "flow": text, "agent": text} for text in texts]
    rows = [Row(f"{number}", record, where="flow=a") for number, record in enumerate(records)]
    async with shown(Table("flows", texts[0], COLUMNS, rows, notes=texts), width=100) as (widget, pilot):
        await pilot.resize_terminal(100, 4 * len(texts))
        await pilot.pause()
        strips = [widget.render_line(y) for y in range(3 * len(texts))]
        assert all(strip.cell_length == 100 for strip in strips)
        assert sum(bool(strip.text.strip()) for strip in strips) > 1.5 * len(texts)
        assert not any(
            ord(character) < 32 or 0x7F <= ord(character) < 0xA0 for strip in strips for character in strip.text
        )


async def test_a_click_moves_both_cursors_and_a_second_one_opens() -> None:
    opened: list[LineTable.Opened] = []

    class Listening(Shown):
        def on_line_table_opened(self, event: LineTable.Opened) -> None:
            opened.append(event)

    app = Listening(long_table(100))
    async with app.run_test(size=(80, 24)) as pilot:
        widget = app.query_one(LineTable)
        await pilot.click(LineTable, offset=(45, 5))
        assert (widget.cursor, widget.under and widget.under.key) == (4, "blend")
        assert not opened
        await pilot.click(LineTable, offset=(45, 5))
        await pilot.pause()
        assert len(opened) == 1
        await pilot.click(LineTable, offset=(42, 0))
        assert widget.cursor == 4


async def test_a_marked_row_keeps_its_sign_and_stands_out() -> None:
    async with shown(flow_table(10)) as (widget, _):
        before = line(widget, 1)
        widget.mark(["r0"])
        assert [line(widget, y)[:2] for y in (1, 2, 5)] == ["●!", " !", " !"]
        widget.move(1)
        assert any(segment.style is not None and segment.style.bold for segment in widget.render_line(1))
        assert all(widget.render_line(y).cell_length == 80 for y in range(12))
        widget.mark([])
        assert line(widget, 1) == before


async def test_a_share_is_a_bar_as_well_and_the_last_run_has_the_colour_of_its_value() -> None:
    success = Column("success_rate", "success", unit="share", graded=True)
    columns = [Column("flow", "Flow", kind="name"), success, Column("n", "n", kind="count", thin=True)]
    record = {"flow": "a", "success_rate": 0.5, "n": 9, "trend": [1.0, 0.5, 0.2]}
    marks: dict[str, Severity] = {"success_rate": "warn", "trend": "bad"}
    table = Table("flows", "", columns, [Row("a", record, severity=marks), Row("b", {**record, "success_rate": None})])
    async with shown(table) as (widget, _):
        widget.move(1)
        assert "████     △50%" in line(widget, 1)
        assert "·" in line(widget, 2)
        runs = {segment.text.strip(): segment.style for segment in widget.render_line(1)}
        assert runs["▂"] == widget.palette.bad
        assert runs["9 █▅"] == widget.palette.quiet
        # Under the cursor both colours are swapped; a bar that is drawn there as elsewhere would be a hole.
        widget.palette = PALETTES["dark"]
        widget.move(-1)
        runs = {segment.text.strip(): segment.style for segment in widget.render_line(1)}
        for text, role in (("████", "warn"), ("█▅", "quiet"), ("▂", "bad")):
            style = runs[text]
            assert style is not None
            assert (style.reverse, style.color, style.bgcolor) == (True, None, getattr(widget.palette, role).color)
    async with shown(table, glyphs=ASCII) as (widget, _):
        assert "####.... w50%" in line(widget, 1)


async def test_a_mark_in_the_first_column_moves_no_cell_and_cuts_no_letter_off() -> None:
    columns = [Column("failed", "failed", kind="flag"), Column("end", "end", kind="name")]
    row = Row("1", {"failed": True, "end": "booked"}, display={"failed": "only A"}, severity={"failed": "good"})
    async with shown(Table("failures", "", columns, [row]), width=15) as (widget, _):
        assert line(widget, 0) == " failed end    "
        assert line(widget, 1) == "+only A booked "
