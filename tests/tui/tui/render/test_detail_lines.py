"""The detail pane: what it tells of a row, where it stands, and that it waits until the cursor rests."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.fake_catalog import FakeCatalog, conversation_table
from tests.support.golden import assert_golden
from tests.support.hostile import HOSTILE
from tests.support.pty_terminal import MOST_PER_MOVE, Terminal, foreign_controls, program
from tests.support.view_answers import flow_cell, state_cell
from tests.support.walker import LONGEST_S, Walker, exploring, press_key, walking
from tests.surface.explorer import PALETTES, Backend, Explorer, Pane, detail_lines, funnel_lines, width_of
from tests.surface.explorer import detail as detail_controller
from tests.surface.explorer import details_heading as heading
from tests.surface.store import StoreBusy
from tests.surface.tui import ASCII, UNICODE, Bar, Column, Glyphs, Request, Row, Table, cell_width, flows, states


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the pane follow as soon as a key was handled."""
    monkeypatch.setattr(detail_controller, "RESTS_AFTER_S", 0.001)


def told(table: Table, row: Row, width: int = 46, glyphs: Glyphs = UNICODE, call: Table | None = None) -> list[str]:
    lines = detail_lines(table, row, width, glyphs, PALETTES["ansi"], call)
    # The transcript's own lines are cut where they are drawn.
    assert call is not None or all(width_of(line) <= width for line in lines)
    return ["".join(text for text, _ in line).rstrip() for line in lines]


# What it tells


def test_every_value_has_its_title_unit_and_interval_and_enough_digits() -> None:
    table = states([state_cell("f", "collect", n=9, stall=1 / 3, progress=0.9, latency_p95=2.0, dwell_turns=None)])
    text = told(table, table.rows[0])
    assert any(re.fullmatch(r" stall +!33\.3% +12–65%", line) for line in text)
    assert any(re.fullmatch(r" lat_p95\(s\) +2\.0 s .*", line) for line in text)
    assert any(re.fullmatch(r" dwell +·", line) for line in text)
    assert any(re.fullmatch(r" n +9", line) for line in text)
    assert " Segment     collect" in text


def test_a_small_value_stands_within_the_interval_that_is_told_of_it() -> None:
    columns = [Column("slow", "slow", decimals=2, unit="share"), Column("stall", "stall", decimals=2, unit="share")]
    ends = {"slow": [0.0002, 0.0031], "stall": [0.1234, 0.3456]}
    row = Row("a", {"slow": 0.0012, "stall": 0.2, "intervals": ends})
    text = told(Table("states", "States", columns, [row]), row)
    assert [line.split()[-1] for line in text if line] == ["0.0–0.3%", "12–35%"]


def test_an_interval_without_room_beside_its_value_has_a_line_of_its_own() -> None:
    column = Column("mean_diff", "mean_diff of all calls", decimals=2, unit="points")
    row = Row("a", {"mean_diff": -2.095, "intervals": {"mean_diff": [-2.12, -2.07]}})
    text = told(Table("states", "States", [column], [row]), row, 44)
    assert [line.split() for line in text if line][-2:] == [
        ["mean_diff", "of", "al…", "-2.095", "points"],
        ["-2.12", "to", "-2.07"],
    ]


def test_why_cells_are_marked_stands_first_and_like_reasons_together() -> None:
    table = flows([flow_cell("f", "x", n=3, correctness=1.0, completion=2.0, errors=6.0, operability=3.0)])
    text = told(table, table.rows[0], 60)
    assert text[:3] == [
        " ! correctness, completion, operability: 4 or less of 10",
        " △ errors: below 7 of 10",
        " ~ thin: fewer than 5 calls are behind it",
    ]


def test_what_a_column_holds_in_itself_is_listed_the_largest_first() -> None:
    table = states([state_cell("f", "collect", to_states={"confirm": 3, "escalated": 31})])
    text = told(table, table.rows[0])
    first = next(index for index, line in enumerate(text) if line.startswith(" to_states"))
    assert text[first].split() == ["to_states", "escalated", "31"]
    assert text[first + 1].split() == ["confirm", "3"]


def test_what_no_column_shows_is_told_as_well() -> None:
    table = flows([flow_cell("f", "x", correctness=9.0, judges={"codex": 4.0})])
    row = table.rows[0]
    trended = row._replace(record={**row.record, "trend": [0.1, None, 1.0], "note": {"a": None, "b": [1, 2]}})
    text = told(table, trended)
    assert any(re.fullmatch(r" success +50\.0% +24–76%", line) for line in text)
    assert any(line.split() == ["last", "10", "runs", "▂·█", "10%", "·", "100%"] for line in text)
    assert any(line.split() == ["hum:codex", "!4.0", "0-10", "4.0–4.0"] for line in text)
    assert not any("intervals" in line or "humanness" in line for line in text)


def test_a_call_is_told_with_what_was_said_first() -> None:
    table = Table("conversations", "", (Column("conversation", "Conversation", kind="name"),), [])
    row = Row("c", {"conversation": "c-0001"}, where="conversation=c-0001")
    text = told(table, row, 60, call=conversation_table())
    assert [line.strip("─ ") for line in text if line.startswith("──")] == ["details", "transcript"]
    assert any("Hi, which day suits you?" in line for line in text)


def test_states_of_a_funnel_are_told_apart_however_narrow_the_pane_is() -> None:
    names = ["modify_pending_order_items", "modify_pending_order_address", "modify_pending_order_payment"]
    rows = [Row(name, {"state": name, "reached": 5, "failed": 0}, bars={"bar": Bar(0.5)}) for name in names]
    funnel = Table("funnel", "", (Column("state", "State", kind="name"),), rows)
    for width in range(30, 70):
        lines = funnel_lines(funnel, width, UNICODE, PALETTES["ansi"])
        assert len({line[0][0] for line in lines}) == len(names), width
        assert all(width_of(line) <= width for line in lines)


def test_it_is_headed_by_what_one_knows_the_row_by() -> None:
    table = flows([flow_cell("f", "x")])
    assert heading(table, table.rows[0], UNICODE) == "f @ x"
    placed = Row("states: f", {}, display={"place": "f/collect"})
    assert heading(Table("worklist", "", (), [placed]), placed, UNICODE) == "f/collect"
    weak = Row("flows: f x", {"list": "flows", "agent": "x"}, display={"place": "f"})
    assert heading(Table("worklist", "", (), [weak]), weak, UNICODE) == "f @ x"


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_hostile_values_are_text_of_the_width_there_is(text: str, glyphs: Glyphs) -> None:
    columns = (Column("flow", text, kind="name"), Column("n", "n", kind="count"), Column("note", "Note", kind="text"))
    row = Row("x", {"flow": text, "n": text, "note": text, text: {text: 1}, "list": text}, thin=True)
    table = Table("flows", "", columns, [row])
    lines = told(table, row, 46, glyphs) + told(table, row, 46, glyphs, conversation_table(text))
    for line in lines:
        assert all(ord(character) >= 32 and not 0x7F <= ord(character) < 0xA0 for character in line)
        assert line.isascii() or not glyphs.ascii_only


# Where it stands


def lines(at: Walker) -> list[str]:
    return [strip.text.rstrip() for strip in at.app.screen._compositor.render_strips()]


async def test_on_a_wide_screen_it_stands_beside_the_rows_until_it_is_hidden_for_good() -> None:
    async with walking(size=(110, 24)) as at:
        shown = lines(at)
        assert "│ viewing @ gemini" in shown[1]
        assert shown[2].startswith("!viewing")
        assert at.controls.table.size.width + at.controls.detail.pane.size.width == 110
        await at.press("escape", "p")
        assert "│" not in lines(at)[1]
        assert at.controls.backend.session.state.preview is False
        await at.press("enter")
        assert "│" not in lines(at)[1]
        await at.press("p")
        assert "│" in lines(at)[1]
    async with walking(size=(109, 24)) as at:
        assert "│" not in lines(at)[1]


async def test_on_a_narrower_screen_it_stands_below_then_in_the_place_of_the_rows_and_then_goes() -> None:
    async with walking(size=(80, 24)) as at:
        await at.press("p")
        shown = lines(at)
        assert shown[2].startswith("!viewing")
        assert shown[14].startswith("── viewing @ gemini ─")
        assert all(cell_width(line) <= 80 for line in shown)
        await at.press("p")
        assert lines(at)[1].startswith("── viewing @ gemini ─")
        await at.press("j")
        await at.until(lambda: lines(at)[1].startswith("── viewing @ qwen ─"))
        await at.press("p")
        assert not at.controls.detail.is_visible
        await at.press("p", "p", "q")
        assert not at.controls.detail.is_visible
        assert lines(at)[2].startswith("!viewing")
        assert at.row == "viewing qwen"


async def test_it_moves_as_the_window_does() -> None:
    async with walking(size=(120, 36)) as at:
        await at.pilot.resize_terminal(80, 24)
        await at.pilot.pause()
        assert not at.controls.detail.is_visible
        await at.press("p")
        assert sum(line.startswith("── viewing") for line in lines(at)) == 1
        await at.pilot.resize_terminal(120, 36)
        await at.pilot.pause()
        assert "│ viewing @ gemini" in lines(at)[1]


# What it follows


async def test_it_follows_the_cursor_once_that_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    async with walking(size=(120, 36)) as at:
        await hurry(at, monkeypatch, "j")
        assert "viewing @ gemini" in lines(at)[1]
        await at.press("j")
        await at.until(lambda: "weather @ qwen" in lines(at)[1])


async def hurry(at: Walker, monkeypatch: pytest.MonkeyPatch, *keys: str) -> None:
    """Press keys so quickly that the pane follows none of them."""
    with monkeypatch.context() as patch:
        patch.setattr(detail_controller, "RESTS_AFTER_S", 3600.0)
        await at.press(*keys)


async def test_what_was_said_is_asked_for_only_where_the_cursor_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked() -> list[str]:
        return [request.where for view, request in at.catalog.asked if view == "conversation"]

    async with walking(size=(120, 36)) as at:
        await at.press("4")
        await at.until(lambda: len(asked()) == 1)
        await hurry(at, monkeypatch, "j", "j")
        await at.press("j")
        await at.until(lambda: len(asked()) == 2)
        await at.settle()
        assert asked() == ["run=r1 conversation=c-0000", "run=r1 conversation=c-0003"]
        assert any("Hi, which" in line for line in lines(at))
        await at.press("k")
        await at.until(lambda: len(asked()) == 3)
        await at.settle()
        await at.press("j")
        await at.until(lambda: "c-0003" in lines(at)[1])
        assert asked().count("run=r1 conversation=c-0003") == 1


async def test_what_is_being_asked_for_is_not_asked_for_again() -> None:
    gate = threading.Event()

    class Slow(FakeCatalog):
        def show(self, view: str, request: Request) -> Table:
            table = super().show(view, request)
            assert view != "conversation" or gate.wait(LONGEST_S)
            return table

    async with walking(size=(120, 36), catalog=Slow()) as at:
        await at.press("p", "4")
        press_key(at.app, "p")
        await at.until(lambda: at.controls.detail.is_visible)
        press_key(at.app, "p")
        await at.until(lambda: not at.controls.detail.is_visible)
        press_key(at.app, "p")
        await at.until(lambda: at.controls.detail.is_visible)
        gate.set()
        await at.until(lambda: any("Hi, which" in line for line in lines(at)))
        await at.settle()
        assert [view for view, _ in at.catalog.asked].count("conversation") == 1


async def test_what_was_said_stays_in_view_while_it_is_asked_for_again() -> None:
    async with walking(size=(120, 36)) as at:
        await at.press("4")
        await at.until(lambda: any("Hi, which" in line for line in lines(at)))
        shown = lines(at)
        asked = len([view for view, _ in at.catalog.asked if view == "conversation"])
        at.controls.detail.arrived()
        assert lines(at) == shown
        await at.app.workers.wait_for_complete()
        assert len([view for view, _ in at.catalog.asked if view == "conversation"]) == asked + 1
        assert lines(at) == shown


async def test_a_call_that_cannot_be_read_is_said_where_its_words_would_stand() -> None:
    class Busy(FakeCatalog):
        def show(self, view: str, request: Request) -> Table:
            if view == "conversation":
                raise StoreBusy("x.db: another process is writing to it")
            return super().show(view, request)

    async with walking(size=(120, 36), catalog=Busy()) as at:
        await at.press("4")
        await at.until(lambda: any("another process is writing" in line for line in lines(at)))
        assert "c-0000" in "\n".join(lines(at))


async def test_it_stays_while_one_walks_and_a_conversation_has_none() -> None:
    async with walking(size=(120, 36)) as at:
        await at.press("enter")
        assert "│ viewing › collect" in lines(at)[1]
        await at.press("4", "enter")
        assert not any("│ r1 › c-0000" in line for line in lines(at))
        await at.press("n", "p")
        assert "1 of 6" in at.path
        await at.press("escape")
        assert any("│ r1 › c-0000" in line for line in lines(at))


async def test_escape_closes_it_before_anything_else_where_it_was_opened() -> None:
    async with walking(size=(80, 24)) as at:
        await at.press("enter", "slash", *"coll", "enter", "p", "escape")
        assert not at.controls.detail.is_visible
        assert "[coll]" in at.path
        await at.press("escape")
        assert "[coll]" not in at.path


async def test_it_scrolls_by_keys_of_its_own_and_by_pages_where_it_covers_the_rows() -> None:
    async with walking(size=(80, 16)) as at:
        await at.press("J")
        assert "p opens it" in at.bottom
        await at.press("p", "p")
        pane = at.screen.query_one(Pane)
        first = pane.render_line(1).text
        await at.press("J")
        assert pane.render_line(1).text != first
        await at.press("K", "K")
        assert pane.render_line(1).text == first
        await at.press("pagedown")
        assert pane.render_line(1).text != first
        assert at.controls.table.cursor == 0


async def test_where_there_is_no_row_there_is_nothing_to_tell() -> None:
    app = Explorer(Backend(lambda view, request: Table("flows", "", (), [])))
    async with app.run_test(size=(80, 24)) as pilot:
        at = Walker(app, pilot, FakeCatalog())
        await at.until(lambda: at.screen.loaded is not None)
        await at.press("p")
        await at.until(lambda: "no rows" in at.bottom)


# What it costs


@pytest.fixture(scope="module")
def beside() -> Iterator[Terminal]:
    with program("big", width=120, height=36) as terminal:
        terminal.wait_for("│ apartment_scheduler")
        terminal.take()
        yield terminal


def test_moving_costs_no_more_with_the_pane_open_also_where_it_scrolls() -> None:
    with program("big", "3600", width=120, height=36) as terminal:
        terminal.wait_for("? help")
        terminal.press("g" + "j" * 32)
        moves = [len(terminal.press(key, quiet=0.06)) for key in "jjjjjjjj"]
        terminal.press("k" * 30)
        moves += [len(terminal.press(key, quiet=0.06)) for key in "kkkkkkkk"]
    assert max(moves) <= MOST_PER_MOVE


def test_what_was_shifted_along_is_put_right_when_the_cursor_rests(beside: Terminal) -> None:
    beside.press("g", quiet=0.3)
    beside.press("j" * 60, quiet=0.3)
    for key in "jjjjjj":
        beside.press(key, quiet=0.05)
    beside.take(quiet=0.3)
    moved = beside.lines
    assert sum("│" in line for line in moved) == 34
    beside.resize(121, 36)
    beside.take(quiet=0.3)
    beside.resize(120, 36)
    beside.take(quiet=0.3)
    assert moved == beside.lines


def test_a_resting_pane_sends_nothing(beside: Terminal) -> None:
    assert beside.take(quiet=0.8) == b""


def test_hostile_text_reaches_the_terminal_as_text_only() -> None:
    with program("hostile", width=130, height=36, environ={"NO_COLOR": "1"}) as terminal:
        terminal.wait_for("help")
        sent, seen = terminal.take(), set[str]()
        for keys in ("jjjjJJJKj", "\x1bgmj=", "pjjp\x1b", "cjj\x1b", "wllll", "ojjj\x1b", "4pjjJJ", "mjm=?\x1b"):
            for key in keys:
                sent += terminal.press(key, quiet=0.12)
                seen |= {word for word in ("b is", "[x]", "write to:", "transcript") if word in terminal.text}
        assert "b is" in terminal.text
    assert seen == {"b is", "[x]", "write to:", "transcript"}
    assert foreign_controls(sent) == []


# How it looks


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=["80x24", "120x36"])
async def test_details_columns_and_a_comparison_look_as_they_did(tiny: Path, size: tuple[int, int]) -> None:
    async with exploring(tiny, size) as at:
        details = "3p" if size[0] < 110 else "3"
        for name, keys in (("details", details), ("comparison", "\x1bmj="), ("columns", "\x1bcj ")):
            for key in keys:
                await at.press({"\x1b": "escape", "=": "equals_sign", " ": "space"}.get(key, key))
            await at.until(lambda: at.controls.detail._resting is None)
            await at.settle()
            assert_golden("\n".join(lines(at)) + "\n", f"screens/{name}.{size[0]}x{size[1]}.txt")
