"""The screen of a voice call: lanes above the words, nearer and along them, and all of a moment beside it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.golden import assert_golden
from tests.support.pty_terminal import MOST_PER_MOVE, MOST_PER_PAGE, Terminal, foreign_controls, program
from tests.support.view_answers import detail
from tests.support.voice_answers import MARKED, VOICE, document
from tests.support.voice_tables import HOSTILE_VOICE, IN_LIST, Voices
from tests.support.walker import Walker, walking
from tests.surface.explorer import PALETTES, SHORTEST_S, LanesHeader, transcript_lines, turn_lines
from tests.surface.store import TraceEntry, Voice, VoiceTurn
from tests.surface.tui import ASCII, UNICODE, Glyphs, Lanes, cell_width, conversation, glossary

PLAIN = PALETTES["mono"]


def head_line(at: Walker, name: str) -> str:
    return next(line for line in at.head.splitlines() if line.startswith(f" {name}"))


def pane(at: Walker) -> str:
    drawn = at.controls.detail.pane
    return "\n".join("".join(text for text, _ in drawn._line(y)) for y in range(drawn.size.height))


def here(at: Walker) -> str:
    """What stands out in the line of turns."""
    line = next(line for line in at.controls.header.lines if "".join(text for text, _ in line).startswith(" turn"))
    return "".join(text for text, style in line if style == at.controls.header.palette.cursor)


def screen_text(at: Walker) -> str:
    strips = at.app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips) + "\n"


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_voice_call_on_the_screen(size: tuple[int, int]) -> None:
    async with walking(IN_LIST, size=size, catalog=Voices()) as at:
        await at.press("enter", *"jjjjjj")
        assert_golden(screen_text(at), f"screens/voice-call.{size[0]}x{size[1]}.txt")


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_call_with_marks_on_the_screen(size: tuple[int, int]) -> None:
    async with walking(IN_LIST, size=size, catalog=Voices(MARKED)) as at:
        await at.press("enter", *"jjj")
        assert_golden(screen_text(at), f"screens/marked-call.{size[0]}x{size[1]}.txt")


async def test_one_goes_from_one_thing_that_the_agent_did_wrong_to_the_next() -> None:
    async with walking(IN_LIST, catalog=Voices(MARKED)) as at:
        await at.press("enter")
        found = []
        for _ in range(4):
            await at.press("e")
            assert at.controls.transcript.row is not None
            found.append(at.controls.transcript.row.record["t"])
        assert found == [1.0, 17.5, 21.0, 31.4]


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
def test_every_sign_on_the_lanes_is_explained(glyphs: Glyphs) -> None:
    lanes = Lanes.of(MARKED)
    assert lanes is not None
    rows = {line[:7].strip(): line[7:] for line in lanes.draw(ascii_only=glyphs.ascii_only, width=120)}
    signs = {sign for name in ("caller", "s", "agent") for sign in rows[name] if not sign.isdigit()}
    told = "".join(sign for sign, _ in glossary(MARKED.marks, glyphs))
    assert signs - set(told) <= {" ", *glyphs.sparks, glyphs.filled, glyphs.half_filled}


async def test_help_explains_the_signs_of_the_call_on_the_screen() -> None:
    async with walking(IN_LIST, size=(120, 60), catalog=Voices(MARKED)) as at:
        await at.press("enter", "question_mark")
        await at.until(lambda: "Signs on the lanes" in screen_text(at))
        assert "a backchannel" in screen_text(at)


async def test_the_lanes_leave_room_for_the_words() -> None:
    async with walking(IN_LIST, size=(80, 24), catalog=Voices()) as at:
        await at.press("enter")
        assert len(at.controls.header.lines) == 2 + 7 + 1
        assert at.controls.transcript.size.height == 12
        assert "▒▒▒▒▒" in head_line(at, "caller")
        assert "▒▒▒▒▒" in head_line(at, "agent")
        assert "▲3.5" in at.head


async def test_the_turn_under_the_cursor_stands_out() -> None:
    async with walking(IN_LIST, catalog=Voices()) as at:
        await at.press("enter")
        assert here(at).startswith("0")
        await at.press(*"jjj")
        assert here(at).startswith("2──────")
        await at.press("G")
        assert here(at) == ""


async def test_one_goes_nearer_around_that_turn_and_along_and_back() -> None:
    async with walking(IN_LIST, catalog=Voices()) as at:
        await at.press("enter", *"jjj")
        whole = at.head
        await at.press("greater_than_sign", "greater_than_sign")
        assert head_line(at, "<x4>")
        assert "▲3.5" in at.head
        near = at.head
        await at.press("full_stop")
        assert at.head != near
        await at.press("comma")
        assert at.head == near
        await at.press("less_than_sign", "less_than_sign")
        assert at.head == whole
        await at.press("less_than_sign")
        assert "the whole call is shown" in at.bottom


async def test_the_lanes_follow_the_cursor_to_a_turn_that_they_do_not_show() -> None:
    async with walking(IN_LIST, catalog=Voices()) as at:
        await at.press("enter", *["greater_than_sign"] * 3)
        assert "4" not in head_line(at, "turn")
        await at.press("G", *"kkkkkk")
        assert here(at).startswith("4")


async def test_one_goes_as_near_as_there_is_something_to_see() -> None:
    async with walking(IN_LIST, catalog=Voices()) as at:
        await at.press("enter", *["greater_than_sign"] * 12)
        assert "as near as it goes" in at.bottom
        lanes = at.controls.header.lanes
        assert lanes is not None
        start, end = lanes.lanes.shown
        assert SHORTEST_S <= end - start < 2 * SHORTEST_S


async def test_what_is_shown_stays_when_the_store_is_asked_again_and_not_in_the_next_call() -> None:
    async with walking(IN_LIST, catalog=Voices()) as at:
        await at.press("enter", "j", "greater_than_sign", "r")
        assert " x2>" in at.head
        await at.press("n")
        assert "x2" not in at.head


async def test_a_call_that_was_written_has_no_lanes_and_the_keys_say_so() -> None:
    async with walking(IN_LIST, catalog=Voices()) as at:
        await at.press("j", "j", "j", "enter")
        assert "caller" not in at.head
        for key in ("greater_than_sign", "less_than_sign", "comma", "full_stop"):
            await at.press(key)
            assert "only a voice call has lanes" in at.bottom
        await at.press("enter")
        assert "nothing is below" in at.bottom
        await at.press("escape", "greater_than_sign")
        assert "only a voice call has lanes" in at.bottom


@pytest.mark.parametrize("size", [(80, 24), (100, 36), (120, 36)])
async def test_enter_tells_all_of_a_moment_and_it_follows_the_cursor(size: tuple[int, int]) -> None:
    async with walking(IN_LIST, size=size, catalog=Voices()) as at:
        await at.press("enter", *"jjj", "enter")
        assert "turn 2 · caller · 14.5 s" in pane(at)
        assert "[-Abernathy,-]" in pane(at)
        assert "{+Aber" in pane(at)
        await at.press(*"jjj")
        await at.until(lambda: "turn 2 · agent · 19.0 s" in pane(at))
        assert "agent interrupts, 3.5 s both" in pane(at)
        await at.press("escape")
        assert not at.controls.detail.is_visible
        assert "c-0000" in at.path


async def test_the_pane_of_a_list_and_that_of_a_call_are_open_apart() -> None:
    async with walking(IN_LIST, size=(120, 36), catalog=Voices()) as at:
        await at.press("p", "enter")
        assert not at.controls.detail.is_visible
        await at.press("enter")
        assert at.controls.detail.is_visible
        await at.press("q")
        assert not at.controls.detail.is_visible
        await at.press("p", "enter")
        assert at.controls.detail.is_visible


async def test_bad_moments_are_gone_to_and_words_are_found() -> None:
    async with walking(IN_LIST, catalog=Voices()) as at:
        await at.press("enter", "slash", *"abernathy", "enter")
        assert at.controls.transcript.row is not None
        assert at.controls.transcript.row.record["turn"] == 2


# What the lines hold


def lines_of(voice: Voice, width: int, glyphs: Glyphs = UNICODE) -> list[str]:
    table = conversation(detail(document(voice)))
    told = ["".join(text for text, _ in each.line) for each in transcript_lines(table.rows, (), width, glyphs, PLAIN)]
    for row in table.rows:
        told += ["".join(text for text, _ in line) for line in turn_lines(table, row, width, glyphs, PLAIN)]
    return told


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
@pytest.mark.parametrize("width", [60, 80, 200])
def test_hostile_words_stay_in_their_lines(width: int, glyphs: Glyphs) -> None:
    for line in lines_of(HOSTILE_VOICE, width, glyphs):
        assert cell_width(line) <= width, line
        assert not any(ord(sign) < 32 or 0x7F <= ord(sign) < 0xA0 for sign in line)
        assert glyphs is UNICODE or line.isascii()


def test_hostile_words_reach_the_terminal_as_words_only() -> None:
    with program("hostile_voice", width=130, height=36) as terminal:
        terminal.wait_for("? help")
        sent = terminal.take()
        for key in ("4", "\r", *"  ", ">", ">", "\r", *"jjjJJjjjj", "G", "?", "\x1b"):
            sent += terminal.press(key, quiet=0.1)
        assert "turn" in terminal.text
    assert foreign_controls(sent) == []


def test_words_that_differ_are_marked_where_they_were_said_also_without_colours() -> None:
    told = lines_of(VOICE, 120)
    assert any("It is [-Abernathy,-] {+Aber Nathy,+} spelled" in line for line in told)
    assert any(line.split() == ["0.0", "0", "agent", "Good", "morning,", "the", "dental", "clinic."] for line in told)


def test_a_text_that_is_neither_meant_nor_heard_stands_above_what_was() -> None:
    voice = Voice(
        turns=[VoiceTurn(1, caller_meant="all of it", caller_heard="all off it")],
        trace=[TraceEntry("transcribed", 1, 0.5, "user", "only a part")],
    )
    assert [line.strip() for line in lines_of(voice, 80)][:2] == [
        "0.5  1  caller  only a part",
        "heard all [-of-] {+off+} it",
    ]


def test_a_window_never_leaves_the_call() -> None:
    lanes = Lanes.of(VOICE)
    assert lanes is not None
    head = LanesHeader(lanes)
    for step in (head.zoom, head.zoom, head.zoom):
        step(True)
    for _ in range(40):
        head.pan(1)
    assert head.lanes.shown[1] == pytest.approx(lanes.extent[1])
    for _ in range(40):
        head.pan(-1)
    assert head.lanes.shown[0] == pytest.approx(lanes.extent[0])


# What it costs


@pytest.fixture(scope="module")
def call() -> Iterator[Terminal]:
    with program("voice", width=120, height=36) as terminal:
        terminal.wait_for("? help")
        terminal.press("4")
        terminal.press("\r")
        terminal.wait_for("both")
        terminal.take()
        yield terminal


def test_moving_through_a_call_sends_few_bytes(call: Terminal) -> None:
    moves = [len(call.press(key, quiet=0.08)) for key in "jjjjjjjjkkkkkkkk"]
    assert max(moves) <= MOST_PER_MOVE
    assert min(moves) > 100


@pytest.mark.parametrize("keys", ["", "\r"], ids=["alone", "beside the pane"])
def test_words_that_the_terminal_moved_itself_stand_where_a_repaint_would_put_them(keys: str) -> None:
    with program("voice", width=120, height=24) as terminal:
        terminal.wait_for("? help")
        terminal.press("4")
        terminal.press(f"\r{keys}")
        terminal.wait_for("both")
        terminal.take()
        moves = []
        for way in ("j" * 20, "kkkkkkjjkkjj"):
            moves += [len(terminal.press(key, quiet=0.05)) for key in way]
            terminal.take(quiet=0.3)
            moved = terminal.lines
            terminal.resize(121, 24)
            terminal.take(quiet=0.1)
            terminal.resize(120, 24)
            terminal.take(quiet=0.3)
            assert moved == terminal.lines
    if not keys:
        assert max(moves) <= 2 * MOST_PER_MOVE


def test_going_nearer_and_along_sends_no_more_than_a_page(call: Terminal) -> None:
    assert max(len(call.press(key)) for key in ">>.,<<") <= MOST_PER_PAGE
