"""What is said on stderr fits the terminal, where there is one."""

from __future__ import annotations

import fcntl
import os
import struct
import sys
import termios

import pytest

from tests.surface.tui import say

COLUMNS = f"{'skipped':9}  {'inspect':11}  "


def said(message: str, width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines that come on a terminal of a width."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    with open(ours, "rb", buffering=0) as screen, open(theirs, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        say(message, fits=True)
        return screen.read(4096).decode().splitlines()


def test_a_long_line_is_broken_at_blanks_below_the_last_of_its_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = said(f"{COLUMNS}cut.eval: 1 skipped (it was cut off before its list of members)", 60, monkeypatch)
    assert lines == [
        f"{COLUMNS}cut.eval: 1 skipped (it was cut off",
        f"{' ' * len(COLUMNS)}before its list of members)",
    ]
    sentence = "6 conversations replaced, because the same call is also in another file."
    assert said(sentence, 40, monkeypatch) == [
        "6 conversations replaced, because the",
        "same call is also in another file.",
    ]


def test_a_line_that_fits_and_one_without_blanks_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(f"{COLUMNS}short", 60, monkeypatch) == [f"{COLUMNS}short"]
    path = "/" + "deep/" * 30
    assert "".join(said(path, 30, monkeypatch)) == path


def test_a_file_gets_whole_lines(capsys: pytest.CaptureFixture[str]) -> None:
    say("many words " * 40, fits=True)
    assert len(capsys.readouterr().err.splitlines()) == 1
