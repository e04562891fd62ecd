"""Keep some lines of a terminal up to date in place, and send no more than what changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from riff_tui.text.safe_text import cell_width

_CLEAR_REST = "\x1b[K"
_CLEAR_BELOW = "\x1b[J"
_CLEAR_ALL = "\x1b[2J\x1b[H"


class LiveLines:
    """Draw lines at the end of what a terminal shows; the cursor rests below them."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._drawn: list[str] = []
        self._size: tuple[int, int] | None = None

    def draw(self, lines: Sequence[str], size: tuple[int, int]) -> None:
        """Show safe lines that fit a terminal of (columns, rows); one of another size is drawn on anew."""
        new = list(lines)
        resized = self._size not in (None, size)
        self._drawn = [] if resized else self._drawn
        text = (_CLEAR_ALL if resized else "") + self._changes(new)
        self._size = size
        self._drawn = new
        if text:
            self._stream.write(text)
            self._stream.flush()

    def _changes(self, new: Sequence[str]) -> str:
        """Return what turns the lines that are drawn into others, from the cursor below them and back there."""
        old = self._drawn
        if new == old:
            return ""
        shared = min(len(old), len(new))
        parts, at = [], len(old)
        for number in range(shared):
            if new[number] != old[number]:
                parts += [_moved(at, number), _rewritten(old[number], new[number])]
                at = number
        parts.append(_moved(at, shared))
        if len(new) > shared:
            parts += [f"\r{line}{_CLEAR_REST}\r\n" for line in new[shared:]]
        elif len(old) > shared:
            parts.append(f"\r{_CLEAR_BELOW}")
        return "".join(parts)


def _moved(before: int, after: int) -> str:
    if before == after:
        return "\r"
    return f"\r\x1b[{before - after}A" if before > after else f"\r\x1b[{after - before}B"


def _rewritten(old: str, new: str) -> str:
    """Return what is to be sent for a line from its first change on, from column 0."""
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same] and new[same].isascii():
        same += 1
    forward = f"\x1b[{cell_width(new[:same])}C" if same else ""
    return f"{forward}{new[same:]}{_CLEAR_REST}"
