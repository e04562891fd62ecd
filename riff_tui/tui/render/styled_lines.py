"""Draw lines made of pieces of safe text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from riff_tui.text.glyphs import Glyphs
from riff_tui.text.safe_text import cell_width, fit

Piece: TypeAlias = tuple[str, Style | None]
Line: TypeAlias = Sequence[Piece]


def strip_of(line: Line, width: int, base: Style | None = None) -> Strip:
    """A line as Textual draws it, in exactly `width` cells; `base` lies under the pieces' own styles."""
    segments = [Segment(text, _over(base, style)) for text, style in line if text]
    return Strip(segments).adjust_cell_length(width, base)


def width_of(line: Iterable[Piece]) -> int:
    """The cells that a line takes."""
    return sum(cell_width(text) for text, _ in line)


def cut(line: Iterable[Piece], width: int, glyphs: Glyphs) -> Line:
    """A line of at most so many cells, cut with an ellipsis."""
    found: list[Piece] = []
    for text, style in line:
        room = width - width_of(found)
        if room <= 0:
            break
        found.append((fit(text, room, glyphs.ellipsis), style))
    return tuple(found)


def _over(base: Style | None, style: Style | None) -> Style | None:
    if base is None or style is None:
        return style or base
    return base + style
