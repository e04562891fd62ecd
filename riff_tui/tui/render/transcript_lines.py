"""Colour the lines of a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from riff_tui.charts import transcript
from riff_tui.charts import transcript as word_marks
from riff_tui.table import Row
from riff_tui.text.glyphs import Glyphs
from riff_tui.tui.render.palette import Palette
from riff_tui.tui.render.styled_lines import Line


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    """Hold a line of the transcript and the row that it belongs to; notes after the last row belong to none."""

    row: int | None
    line: Line


def transcript_lines(
    rows: Sequence[Row], notes: Sequence[str], width: int, glyphs: Glyphs, palette: Palette
) -> list[TranscriptLine]:
    """Return the rows and notes of a `conversation` table in lines of `width` cells."""
    told = transcript.transcript_lines(rows, notes, width, glyphs)
    return [TranscriptLine(each.row, colored(each.line, palette)) for each in told]


def colored(line: word_marks.Line, palette: Palette) -> Line:
    """Return a line with the colours of its tones."""
    return tuple((text, palette.of_tone(tone)) for text, tone in line)
