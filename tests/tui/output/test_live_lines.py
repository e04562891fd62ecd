"""Lines that are drawn over: the terminal shows what was asked for, and gets no more than what changed."""

from __future__ import annotations

import io

import pyte
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.tui import LiveLines

SIZE = (40, 12)


def shown(screen: pyte.Screen) -> list[str]:
    """The lines of a screen without blanks at their ends and without empty lines below them."""
    return "\n".join(line.rstrip() for line in screen.display).rstrip().split("\n")


@given(st.lists(st.lists(st.text("ab ·é漢", max_size=18).map(str.rstrip), max_size=10), min_size=1, max_size=6))
def test_a_terminal_shows_the_lines_that_were_drawn_last(frames: list[list[str]]) -> None:
    screen = pyte.Screen(*SIZE)
    terminal = pyte.Stream(screen)
    stream = io.StringIO()
    live = LiveLines(stream)
    for frame in frames:
        before = stream.tell()
        live.draw(frame, SIZE)
        stream.seek(before)
        terminal.feed(stream.read())
        assert shown(screen) == "\n".join(frame).rstrip().split("\n")


def test_what_stays_the_same_is_not_sent() -> None:
    stream = io.StringIO()
    live = LiveLines(stream)
    live.draw(["run a  1/9 calls", "call b  running", "flow c"], SIZE)
    sent = stream.tell()
    live.draw(["run a  1/9 calls", "call b  running", "flow c"], SIZE)
    assert stream.tell() == sent
    live.draw(["run a  2/9 calls", "call b  running", "flow c"], SIZE)
    assert "call b" not in stream.getvalue()[sent:]
    assert len(stream.getvalue()[sent:]) < 40


def test_a_window_of_another_size_is_drawn_on_anew() -> None:
    stream = io.StringIO()
    live = LiveLines(stream)
    live.draw(["a", "b"], SIZE)
    sent = stream.tell()
    live.draw(["a", "b"], (30, 12))
    assert stream.getvalue()[sent:].startswith("\x1b[2J\x1b[H")
