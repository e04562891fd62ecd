"""Build the lines of a screen out of safe text in few runs of one style: each change costs a terminal a dozen bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from riff_tui.text.glyphs import Glyphs
from riff_tui.text.safe_text import cell_width, fit

Piece: TypeAlias = tuple[str, Style | None]
Line: TypeAlias = Sequence[Piece]


def strip_of(line: Line, width: int, base: Style | None = None) -> Strip:
    """Return a line as Textual draws it, in exactly `width` cells; `base` lies under the pieces' own styles."""
    segments = [Segment(text, add_style(base, style)) for text, style in line if text]
    return Strip(segments).adjust_cell_length(width, base)


def width_of(line: Iterable[Piece]) -> int:
    """Return the cells that a line takes."""
    return sum(cell_width(text) for text, _ in line)


def cut(line: Iterable[Piece], width: int, glyphs: Glyphs) -> Line:
    """Return a line of at most so many cells, cut with an ellipsis."""
    found: list[Piece] = []
    for text, style in line:
        room = width - width_of(found)
        if room <= 0:
            break
        found.append((fit(text, room, glyphs.ellipsis), style))
    return tuple(found)


def add_style(base: Style | None, style: Style | None) -> Style | None:
    """Lay a style over another one; `None` is plain."""
    if base is None or style is None:
        return style or base
    return base + style


@dataclass(slots=True)
class StyleRun:
    """Hold text in one style; blanks after a `lit` run are not drawn in its style."""

    text: str
    style: Style | None
    lit: bool = False


def append_run(runs: list[StyleRun], gap: str, text: str, style: Style | None, *, lit: bool = False) -> None:
    """Put text at the end of a line, after blanks that take whichever style is there."""
    last = runs[-1]
    if last.lit:
        text = gap + text
    else:
        last.text += gap
    if last.style == style and not lit:
        last.text += text
    else:
        runs.append(StyleRun(text, style, lit))


def strip_of_runs(runs: list[StyleRun], width: int, base: Style | None) -> Strip:
    """Return a line in exactly `width` cells, the rest of it blank in the style `base`."""
    append_run(runs, "", " " * (width - sum(cell_width(run.text) for run in runs)), base)
    return Strip([Segment(run.text, run.style) for run in runs if run.text]).adjust_cell_length(width, base)
