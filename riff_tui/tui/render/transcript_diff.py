"""Mark the words in which the intended text and the transcript of a turn differ, by signs and by colour."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from rich.style import Style

from riff_tui.table import Row
from riff_tui.text import word_diff
from riff_tui.text.column_fit import wrap
from riff_tui.text.glyphs import Glyphs
from riff_tui.text.safe_text import cell_width
from riff_tui.tui.render.columns import shown
from riff_tui.tui.render.palette import Palette
from riff_tui.tui.render.styled_lines import Line, Piece

Wording: TypeAlias = Literal["meant", "heard"]


def said_lines(row: Row, width: int, glyphs: Glyphs, palette: Palette) -> list[Line]:
    """Return the text of a row with its differing words marked, nothing if none differ or they are not in it."""
    text, meant, heard = (str(row.record.get(key) or "") for key in ("text", "meant", "heard"))
    if not row.record.get("changed"):
        return []
    labels, rest = word_diff.leading_labels(text)
    if not any(word_diff.same_words(rest, each) for each in (meant, heard)):
        return []
    return flowed([(label, palette.warn) for label in labels] + _marked(meant, heard, palette), width, glyphs)


def changed_lines(row: Row, width: int, glyphs: Glyphs, palette: Palette) -> list[Line]:
    """Return where transcript and intended text differ, for a row whose text is neither."""
    meant, heard = (str(row.record.get(key) or "") for key in ("meant", "heard"))
    if not row.record.get("changed") or said_lines(row, width, glyphs, palette):
        return []
    return flowed([("heard", palette.faint), *_marked(meant, heard, palette)], width, glyphs)


def side_lines(row: Row, width: int, glyphs: Glyphs, palette: Palette) -> list[tuple[str, list[Line]]]:
    """Return the intended text and the transcript, each whole, with the words that the other one lacks marked."""
    meant, heard = (str(row.record.get(key) or "") for key in ("meant", "heard"))
    found: list[tuple[str, list[Line]]] = []
    sides: tuple[tuple[Wording, str], ...] = (("meant", meant), ("heard", heard))
    for side, text in sides:
        if text:
            own = _marked(meant, heard, palette, only=side) if meant and heard else [(text, None)]
            found.append((side, flowed(own, width, glyphs)))
    return found


def flowed(runs: Iterable[tuple[str, Style | None]], width: int, glyphs: Glyphs) -> list[Line]:
    """Break runs of raw words into lines of at most `width` cells; a word keeps the style of its run."""
    lines: list[list[Piece]] = []
    used = width + 1
    for text, style in runs:
        for word in text.split():
            for number, piece in enumerate(wrap(shown(word, glyphs), width)):
                needed = cell_width(piece) + 1
                if number or used + needed > width:
                    lines.append([])
                    used = -1
                _add(lines[-1], piece, style)
                used += needed
    return [tuple(line) for line in lines]


def _add(line: list[Piece], word: str, style: Style | None) -> None:
    """Append a word to a line, into the last piece if it has the same style."""
    if line and line[-1][1] == style:
        line[-1] = (f"{line[-1][0]} {word}", style)
    else:
        line += [(" ", None), (word, style)] if line else [(word, style)]


def _marked(meant: str, heard: str, palette: Palette, *, only: Wording | None = None) -> list[tuple[str, Style | None]]:
    styles = {"same": None, "meant": palette.bad, "heard": palette.accent}
    return [
        (word_diff.marked(change, text), styles[change])
        for change, text in word_diff.parts(meant, heard, only or "heard")
        if only is None or change in ("same", only)
    ]
