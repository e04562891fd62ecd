"""What only a terminal can tell: the bytes it gets, how the program ends, what a hostile string does to it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.support.explorer_programs import SECRET
from tests.support.pty_terminal import MOST_PER_MOVE, MOST_PER_PAGE, Terminal, program

LEAVES_ALTERNATE_SCREEN = b"\x1b[?1049l"
SHOWS_CURSOR = b"\x1b[?25h"


@pytest.fixture(scope="module")
def big() -> Iterator[Terminal]:
    with program("big", "3600", width=120, height=36) as terminal:
        terminal.wait_for("? help")
        terminal.take()
        yield terminal


def test_a_cursor_move_sends_few_bytes_also_where_it_scrolls(big: Terminal) -> None:
    big.press("g" + "j" * 30)
    moves = [len(big.press(key, quiet=0.06)) for key in "jjjjjjjjj"]
    big.press("k" * 30)
    moves += [len(big.press(key, quiet=0.06)) for key in "kkkkkkkkllhh"]
    assert max(moves) <= MOST_PER_MOVE
    assert min(moves) > 50


def test_the_top_line_counts_along_for_a_few_bytes(big: Terminal) -> None:
    big.press("g")
    assert "1 of 10,000" in big.lines[0]
    big.press("jjj" + " ")
    assert re.search(r"\b3\d of 10,000", big.lines[0])
    sent = big.press("j")
    assert re.search(rb"\x1b\[1;\d+H\x1b\[[\d;]+m\d", sent)
    assert b"of 10,000" not in sent
    assert re.search(r"\b3\d of 10,000", big.lines[0])


def test_a_page_sends_few_bytes(big: Terminal) -> None:
    big.press("g")
    assert max(len(big.press(" ")) for _ in range(4)) <= MOST_PER_PAGE


def test_an_idle_explorer_sends_nothing(big: Terminal) -> None:
    assert big.take(quiet=0.8) == b""


def test_a_pointer_that_hovers_and_a_window_without_focus_cost_nothing(big: Terminal) -> None:
    moves = "".join(f"\x1b[<35;{10 + step};{5 + step % 20}M" for step in range(50))
    assert big.press(moves) == b""
    assert big.press("\x1b[O\x1b[I") == b""
    assert 50 < len(big.press("\x1b[<65;30;12M")) <= MOST_PER_MOVE


def test_lines_that_the_terminal_moved_itself_stand_where_a_repaint_would_put_them() -> None:
    with program("big", width=100, height=36) as terminal:
        terminal.wait_for("? help")
        terminal.press("g")
        terminal.press("j" * 60)
        for key in "jjjjj":
            terminal.press(key, quiet=0.05)
        terminal.press("k" * 30)
        for key in "kkkkkkkkjkk":
            terminal.press(key, quiet=0.05)
        moved = terminal.lines
        terminal.resize(99, 36)
        terminal.take()
        terminal.resize(100, 36)
        terminal.take()
        assert moved == terminal.lines


def test_what_others_wrote_over_it_goes_when_all_is_drawn_anew() -> None:
    with program("big", width=100, height=36) as terminal:
        terminal.wait_for("? help")
        terminal.take()
        before = terminal.lines
        terminal.overwrite("\x1b[7;1Hmail for you\x1b[K")
        assert "mail for you" in terminal.text
        terminal.press("r", quiet=0.3)
        assert terminal.lines == before


def test_a_screen_of_24_lines_holds_21_rows() -> None:
    with program("big", width=80, height=24) as terminal:
        terminal.wait_for("? help")
        terminal.take()
        rows = [line for line in terminal.lines if re.search(r"\d\.\d", line)]
        assert len(rows) == 21


def test_keys_work_while_a_question_takes_long_and_quitting_does_not_wait_for_it() -> None:
    with program("slow") as terminal:
        terminal.wait_for("? help")
        terminal.press("\r")
        terminal.wait_for("reading segments")
        terminal.press("j")
        assert LEAVES_ALTERNATE_SCREEN in terminal.press("Q")
        assert terminal.end() == 0


def test_an_error_of_its_own_ends_it_without_the_callers_words() -> None:
    with program("broken") as terminal:
        assert terminal.end() == 1
        sent = terminal.take()
        assert b"failed: RuntimeError" in sent
        assert SECRET.encode() not in sent
        assert sent.count(LEAVES_ALTERNATE_SCREEN) == 1


def test_a_terminal_without_unicode_gets_ascii_alone() -> None:
    with program("walk", environ={"PYTHONIOENCODING": "ascii"}) as terminal:
        terminal.wait_for("? help")
        sent = terminal.take()
        for key in "3\rv\x1b\r?":
            sent += terminal.press(key)
        assert sent.isascii()
