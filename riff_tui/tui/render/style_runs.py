"""A line in as few runs of one style as it takes: each change of style costs a terminal a dozen bytes."""

from __future__ import annotations

from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from riff_tui.text.safe_text import cell_width


@dataclass(slots=True)
class Run:
    """Text in one style; a `lit` one is marked, so blanks before the next do not belong to it."""

    text: str
    style: Style | None
    lit: bool = False


def append(runs: list[Run], gap: str, text: str, style: Style | None, *, lit: bool = False) -> None:
    """Put text at the end of a line, behind blanks that take whichever style is there."""
    last = runs[-1]
    if last.lit:
        text = gap + text
    else:
        last.text += gap
    if last.style == style and not lit:
        last.text += text
    else:
        runs.append(Run(text, style, lit))


def strip_of_runs(runs: list[Run], width: int, base: Style | None) -> Strip:
    """The line in exactly `width` cells, the rest of it blank in the style `base`."""
    append(runs, "", " " * (width - sum(cell_width(run.text) for run in runs)), base)
    return Strip([Segment(run.text, run.style) for run in runs if run.text]).adjust_cell_length(width, base)
