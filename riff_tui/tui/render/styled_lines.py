"""Define the colours of the explorer, and build the lines of a screen out of safe text in few runs of one style.

Colours are foregrounds only, so that the terminal's background stays; each change costs a terminal a dozen bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from riff_tui.charts import transcript
from riff_tui.charts.transcript import Tone
from riff_tui.table import Row, Severity
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
    """Keep text in one style; blanks after a `lit` run are not drawn in its style."""

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


_BOLD = Style(bold=True)
_REVERSE = Style(reverse=True)


@dataclass(frozen=True, slots=True)
class Palette:
    """Describe one set of colours; `None` is the terminal's own foreground and costs no byte."""

    name: str
    bad: Style | None
    warn: Style | None
    faint: Style | None
    accent: Style | None
    good: Style | None = None
    head: Style = _BOLD
    cursor: Style = _REVERSE

    def of(self, severity: Severity | None) -> Style | None:
        """Return the colour of a severity; `ok` and none at all are plain."""
        if severity == "bad":
            return self.bad
        if severity == "capped":
            return self.faint
        return self.warn if severity == "warn" else self.good if severity == "good" else None

    def of_tone(self, tone: Tone | None) -> Style | None:
        """Return the colour of a piece of a transcript."""
        if tone == "faint":
            return self.faint
        if tone == "accent":
            return self.accent
        return self.head if tone == "strong" else self.of(tone)


def _palette(name: str, bad: str, warn: str, faint: str, accent: str, good: str) -> Palette:
    return Palette(name, *map(Style.parse, (bad, warn, faint, accent, good)))


PALETTES: dict[str, Palette] = {
    palette.name: palette
    for palette in (
        _palette("ansi", "red", "yellow", "dim", "cyan", "green"),
        _palette("dark", "color(210)", "color(179)", "color(245)", "color(110)", "color(114)"),
        _palette("light", "color(160)", "color(130)", "color(243)", "color(25)", "color(28)"),
        Palette("plain", None, None, None, None),
    )
}


def next_palette(palette: Palette) -> Palette:
    """Return the palette after this one, the first after the last."""
    names = list(PALETTES)
    return PALETTES[names[(names.index(palette.name) + 1) % len(names)]]


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    """Pair a line of the transcript and the row that it belongs to; notes after the last row belong to none."""

    row: int | None
    line: Line


def transcript_lines(
    rows: Sequence[Row], notes: Sequence[str], width: int, glyphs: Glyphs, palette: Palette
) -> list[TranscriptLine]:
    """Return the rows and notes of a `conversation` table in lines of `width` cells."""
    told = transcript.transcript_lines(rows, notes, width, glyphs)
    return [TranscriptLine(each.row, colored(each.line, palette)) for each in told]


def colored(line: transcript.Line, palette: Palette) -> Line:
    """Return a line with the colours of its tones."""
    return tuple((text, palette.of_tone(tone)) for text, tone in line)
