"""Whoever reads calls notes with the keys of the home row what they find, and sees it at once."""

from __future__ import annotations

import shutil
from itertools import count
from pathlib import Path

import pytest
from textual import events

from tests.support.golden import assert_golden
from tests.support.walker import Walker, exploring
from tests.surface.explorer import open_link, spot_at
from tests.surface.store import Annotation, SqliteEngine, open_store, read_notes, standing
from tests.surface.tui import Notebook

ANN = "ann@example.org"
LIST = open_link("conversations", "flow=viewing")


@pytest.fixture
def store(tiny: Path, tmp_path: Path) -> Path:
    """A store of its own, to be written."""
    path = tmp_path / "calls.db"
    shutil.copy(tiny, path)
    return path


def lines(store: Path) -> list[Annotation]:
    with open_store(store) as opened:
        return read_notes(opened)


def said(store: Path) -> list[tuple[str, int | None, str | None, str | None, str | None, str | None]]:
    """What stands: on which call, turn and state, and what."""
    return [
        (line.conversation, line.turn, line.state, line.verdict, line.code, line.note)
        for line in standing(lines(store))
    ]


def screen(at: Walker) -> str:
    return "\n".join(strip.text.rstrip() for strip in at.app.screen._compositor.render_strips())


async def type_in(at: Walker, text: str) -> None:
    """Paste into the line that is being edited, and press Enter."""
    at.app.post_message(events.Paste(text))
    await at.settle()
    await at.press("enter")


async def to_turn(at: Walker, number: int) -> None:
    """Put the cursor on a turn of the call."""
    await at.press("g")
    while spot_at(at.controls.transcript.table, at.controls.transcript.cursor).turn != number:
        await at.press("j")


async def test_a_verdict_is_written_where_the_cursor_is_and_seen_at_once(store: Path) -> None:
    async with exploring(store, (80, 24), LIST, author=ANN) as at:
        await at.press("enter")
        await to_turn(at, 2)
        row = at.row
        await at.press("f")
        assert at.bottom.strip() == "fail · turn 2 in collect_details · s code  i note  l next unread  u undo"
        assert said(store) == [("c-0000", 2, "collect_details", "fail", None, None)]
        assert "✎ ann: [fail]" in screen(at)
        assert at.row == row


async def test_a_call_fails_as_a_whole_until_the_cursor_points_at_something(store: Path) -> None:
    async with exploring(store, (80, 24), LIST, author=ANN) as at:
        await at.press("enter")
        opened_at = at.row
        await at.press("f")
        assert "fail · the whole call" in at.bottom
        await at.press("g", "j", "f")
        assert [line[1:4] for line in said(store)] == [(1, "greet", "fail")]
        while at.row != opened_at:
            await at.press("j")
        await at.press("f")
        assert [line[1:4] for line in said(store)] == [(2, "collect_details", "fail")]


async def test_the_whole_call_is_all_right_wherever_the_cursor_is(store: Path) -> None:
    async with exploring(store, (80, 24), LIST, author=ANN) as at:
        await at.press("enter", "j", "a")
        assert "pass · the whole call" in at.bottom
        await at.press("a")
        assert "pass is there already" in at.bottom
        assert said(store) == [("c-0000", None, None, "pass", None, None)]
        assert len(lines(store)) == 1


async def test_a_code_is_a_new_word_first_and_found_by_a_letter_then(store: Path) -> None:
    async with exploring(store, (80, 24), LIST, author=ANN) as at:
        await at.press("enter", "s", *"late", "enter")
        assert "late" in at.bottom
        assert "and so fail" in at.bottom
        await at.press("l", "s", "l", "enter")
        assert {call: code for call, _, _, _, code, _ in said(store)} == {"c-0000": "late", "c-0001": "late"}
        await at.press("l", "s")
        await type_in(at, "  LATE")
        assert {code for _, _, _, _, code, _ in said(store)} == {"late"}
        await at.press("s", *"lat", "up", "enter")
        assert "lat" in {code for _, _, _, _, code, _ in said(store)}


async def test_the_list_of_codes_counts_calls_and_fits_a_small_terminal(store: Path) -> None:
    async with exploring(store, (80, 24), LIST, author=ANN) as at:
        for keys, code in ((("enter", "s"), "rude"), (("s",), "late"), (("n", "s"), "late")):
            await at.press(*keys)
            await type_in(at, code)
        await at.press("s")
        shown = screen(at)
        codes = [" ".join(line.split()) for line in shown.splitlines() if line.endswith(("call", "calls"))]
        assert codes == ["late 2 calls", "rude 1 call"]
        await at.press(*"rud")
        assert "new:" in screen(at)


async def test_a_note_is_written_edited_and_left(store: Path) -> None:
    async with exploring(store, (80, 24), LIST, author=ANN) as at:
        await at.press("enter")
        await to_turn(at, 1)
        await at.press("i", *"hello", "escape")
        assert "not written; i brings it back" in at.bottom
        assert lines(store) == []
        await at.press("i", "enter")
        assert [line.note for line in lines(store)] == ["hello"]
        await at.press("i", *"!", "enter", "i", "ctrl+u", "enter")
        assert [note for *_, note in said(store)] == ["hello!"]
        assert "✎ ann: hello!" in screen(at)


async def test_what_was_written_is_taken_back_to_the_beginning(store: Path) -> None:
    async with exploring(store, (80, 24), LIST, author=ANN) as at:
        await at.press("enter", "u")
        assert "nothing to take back" in at.bottom
        await at.press("j", "f", "s", *"late", "enter", "a")
        found = [said(store)]
        for _ in range(3):
            await at.press("u")
            assert "taken back" in at.bottom
            found.append(said(store))
        assert [[(verdict, code) for _, _, _, verdict, code, _ in each] for each in found] == [
            [(None, "late"), ("pass", None)],
            [("fail", None), (None, "late")],
            [("fail", None)],
            [],
        ]
        assert "✎" not in screen(at)
        await at.press("u")
        assert "nothing to take back" in at.bottom


async def test_a_long_note_is_seen_again_once_a_terminal_that_was_too_narrow_is_wide(store: Path) -> None:
    async with exploring(store, (80, 24), LIST, author=ANN) as at:
        await at.press("enter", "i")
        at.app.post_message(events.Paste("it asked for the date again although the caller had said it"))
        await at.settle()
        for width in (40, 80):
            await at.pilot.resize_terminal(width, 24)
            await at.settle()
        assert "date again although the caller had said it" in screen(at)


async def test_the_next_unread_call_passes_over_those_that_one_has_noted(store: Path) -> None:
    async with exploring(store, (80, 24), open_link("conversations", "agent=qwen flow=viewing"), author=ANN) as at:
        first, second, third = (row.record["conversation"] for row in at.controls.table.table.rows)
        await at.press("enter", "n", "a", "p", "l")
        assert at.screen.location.crumb == third, f"{second} has a verdict"
        await at.press("a", "l")
        assert "no unread call after this one" in at.bottom
        await at.press("p", "p")
        assert at.screen.location.crumb == first
        await at.press("a", "l")
        assert "all 3 of this list are read · q and then # shows the codes of them" in at.bottom


async def test_notes_of_others_leave_a_call_unread_and_are_not_changed(store: Path) -> None:
    async with exploring(store, (80, 24), LIST, author="bob") as at:
        await at.press("enter", "l", "a")
    async with exploring(store, (80, 24), LIST, author=ANN) as at:
        await at.press("enter", "l", "f")
        assert sorted((line.author, line.verdict) for line in standing(lines(store))) == [
            (ANN, "fail"),
            ("bob", "pass"),
        ]


async def test_the_list_behind_the_call_shows_what_was_noted(store: Path) -> None:
    noted = open_link("conversations", "flow=viewing noted=0")
    async with exploring(store, (80, 24), noted, author=ANN) as at:
        calls = len(at.controls.table.table.rows)
        await at.press("enter", "a", "l", "a", "escape")
        assert len(at.controls.table.table.rows) == calls - 2


@pytest.fixture
def _read_only(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SqliteEngine, "can_write", lambda engine: False)


@pytest.mark.usefixtures("_read_only")
async def test_on_a_store_that_cannot_be_written_notes_are_kept_and_that_is_said(store: Path) -> None:
    async with exploring(store, (120, 36), LIST, author=ANN) as at:
        await at.press("enter", "k", "f")
        assert "notes.jsonl, for the store is read-only" in " ".join(at.bottom.split())
        assert "✎ ann: [fail]" in screen(at)
        await at.press("a")
        assert "kept beside the settings" in at.bottom
        await at.press("u", "l")
        assert at.screen.location.crumb == "c-0001"
    assert lines(store) == []
    async with exploring(store, (120, 36), LIST, author=ANN) as at:
        await at.press("enter")
        assert "✎ ann: [fail]" in screen(at)


async def test_a_note_waits_for_another_writer_while_keys_go_on_working(store: Path) -> None:
    async with exploring(store, (80, 24), LIST, author=ANN) as at:
        await at.press("enter")
        with open_store(store, write=True) as other, other.writing():
            await at.pilot.press("f")
            await at.until(lambda: "the note waits" in at.bottom)
            await at.pilot.press("n")
            await at.until(lambda: at.screen.location.crumb == "c-0001")
        await at.settle()
    assert [(call, verdict) for call, _, _, verdict, *_ in said(store)] == [("c-0000", "fail")]


async def test_a_note_on_its_way_is_written_when_the_explorer_ends(store: Path) -> None:
    async with exploring(store, (80, 24), LIST, author=ANN) as at:
        await at.press("enter")
        with open_store(store, write=True) as other, other.writing():
            await at.pilot.press("f")
            await at.until(lambda: "the note waits" in at.bottom)
            at.app.exit()
            await at.pilot.pause()
    assert at.app.write_pending_notes() == []
    assert [verdict for _, _, _, verdict, *_ in said(store)] == ["fail"]
    assert at.app.write_pending_notes() == []


async def test_two_explorers_on_one_store_add_to_each_other(store: Path) -> None:
    async with exploring(store, (80, 24), LIST, author=ANN) as ann:
        await ann.press("enter")
        async with exploring(store, (80, 24), LIST, author="bob") as bob:
            await bob.press("enter", "a")
            await ann.press("f")
            assert "bob" in screen(ann) or "2 notes" in screen(ann)
    assert {(line.author, line.verdict) for line in standing(lines(store))} == {(ANN, "fail"), ("bob", "pass")}


async def test_what_is_typed_cannot_act_on_a_terminal(store: Path) -> None:
    async with exploring(store, (80, 24), LIST, author="ann\x1b[2J@example.org") as at:
        await at.press("enter", "i")
        await type_in(at, "bad\x1b]52;c;aGk=\x07\nnews \u202eback")
    (line,) = lines(store)
    assert line.note == "bad]52;c;aGk= news back"
    assert line.author == "ann[2J@example.org"


async def test_without_a_store_to_write_the_keys_say_so(tiny: Path) -> None:
    async with exploring(tiny, (80, 24), LIST) as at:
        await at.press("enter", "f")
        assert "nothing is noted here: the explorer was opened with --read-only" in at.bottom


async def test_a_coded_call_looks_so_on_a_small_terminal(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noon = count(1_780_000_000_000_000)
    monkeypatch.setattr(Notebook, "now", lambda notebook: next(noon))
    async with exploring(store, (80, 24), LIST, author=ANN) as at:
        await at.press("enter")
        await to_turn(at, 2)
        await at.press("f", "s")
        await type_in(at, "wrong day")
        await at.press("i")
        await type_in(at, "heard Friday")
        assert_golden(screen(at) + "\n", "screens/coded_call.80x24.txt")
        await at.press("j")
        assert " ".join(at.bottom.split()) == "? help q back a pass f fail s code l next unread"
