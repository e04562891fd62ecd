"""Lists to pick from and the prompt on a real terminal: what they send, and what hostile names do there."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.support.pty_terminal import MOST_PER_MOVE, MOST_PER_PAGE, Terminal, foreign_controls, program

UP, DOWN, ESCAPE, ENTER, TAB, PALETTE = "\x1b[A", "\x1b[B", "\x1b", "\r", "\t", "\x10"


@pytest.fixture(scope="module")
def big() -> Iterator[Terminal]:
    with program("big", width=120, height=36) as terminal:
        terminal.wait_for("? help")
        terminal.take()
        yield terminal


def test_a_list_opens_and_closes_for_a_page_and_its_cursor_moves_for_a_line(big: Terminal) -> None:
    opened = len(big.press(PALETTE))
    assert "all actions" in big.text
    moves = [len(big.press(key)) for key in (DOWN, DOWN, UP)]
    letters = [len(big.press(key)) for key in "wo"]
    assert big.take(quiet=0.8) == b""
    closed = len(big.press(ESCAPE, quiet=0.3))
    assert "all actions" not in big.text
    assert max(opened, closed, *letters) <= MOST_PER_PAGE
    assert max(moves) <= MOST_PER_MOVE


def test_a_letter_in_the_prompt_costs_two_lines_and_waiting_costs_nothing(big: Terminal) -> None:
    assert len(big.press("/")) <= MOST_PER_MOVE
    assert max(len(big.press(key)) for key in "dent") <= MOST_PER_MOVE
    assert "match" in big.lines[-1]
    assert big.take(quiet=0.8) == b""
    big.press(ESCAPE, quiet=0.3)
    assert "? help" in big.text


@pytest.mark.parametrize(
    ("keys", "shown"), [("/dental", "/dental"), ("jj/dog w\x1b[D!", "/dog !w"), (PALETTE + "wri", "wri")]
)
def test_keys_that_come_together_with_the_one_that_opens_a_prompt_are_typed_into_it(
    big: Terminal, keys: str, shown: str
) -> None:
    big.press(keys)
    assert any(shown in line for line in big.lines)
    big.press(ESCAPE, quiet=0.3)
    assert "? help" in big.text


def test_a_filter_that_comes_with_its_enter_in_one_piece_is_applied() -> None:
    with program("walk") as terminal:
        terminal.wait_for("? help")
        terminal.press("/weather\r", quiet=0.3)
        terminal.wait_for("[weather]")


def test_hostile_names_reach_the_terminal_as_text_only() -> None:
    with program("hostile", width=100, height=30, environ={"NO_COLOR": "1"}) as terminal:
        terminal.wait_for("help")
        sent = terminal.take()
        # The list from top to bottom, then narrowed by letters of the names, then one of them picked.
        for keys in ("f", *["\x1b[6~"] * 4, "evil", "\x7f" * 4 + "52;c", "\x7f" * 4 + "img 7", ESCAPE):
            sent += terminal.press(keys, quiet=0.15)
        # The same names finished in the prompt, one after the other, then kept as a filter and fetched back.
        sent += terminal.press("/agent:", quiet=0.15)
        for _ in range(60):
            sent += terminal.press(TAB, quiet=0.02)
        for keys in (ENTER, "/" + UP, "\x15\x12", ESCAPE, ESCAPE, "aclip", ENTER, "R", ENTER, "\x10", ESCAPE):
            sent += terminal.press(keys, quiet=0.15)
        # And pasted, with and without the marks of a paste.
        sent += terminal.press("/\x1b[200~x\x1b]52;c;eA==\x07\x9b2J\u202e\u200b\x1b[201~", quiet=0.15)
        sent += terminal.press("\u202e\u200b\u3164", quiet=0.15)
    assert len(sent) > 40_000
    assert foreign_controls(sent) == []
    assert not any(character in sent.decode("utf-8", "replace") for character in "\u202e\u2066\u200b\u3164\ufe00")
    styles = {part for found in re.findall(rb"\x1b\[([0-9;]*)m", sent) for part in found.split(b";")}
    assert styles <= {b"0", b"1", b"4", b"7", b"39", b"49"}


def test_a_terminal_without_unicode_gets_lists_in_ascii_alone() -> None:
    with program("hostile", environ={"PYTHONIOENCODING": "ascii"}) as terminal:
        terminal.wait_for("? help")
        sent = terminal.take()
        for keys in ("f", "\x1b[6~", "e", ESCAPE, "/agent:", TAB, TAB, ESCAPE, PALETTE, "x", ESCAPE):
            sent += terminal.press(keys, quiet=0.15)
        assert sent.isascii()
