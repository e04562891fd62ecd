"""Mark the words in which the intended text and the transcript of a turn differ, by signs and by tones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from riff_tui.table import Row, Severity
from riff_tui.text import word_diff
from riff_tui.text.column_fit import wrap
from riff_tui.text.glyphs import Glyphs, in_ascii
from riff_tui.text.safe_text import cell_width, one_line

Wording: TypeAlias = Literal["meant", "heard"]
Tone: TypeAlias = Severity | Literal["faint", "accent", "strong"]
Piece: TypeAlias = tuple[str, Tone | None]
Line: TypeAlias = Sequence[Piece]
"""Pieces of safe text, each with what its colour is to say."""


def said_lines(row: Row, width: int, glyphs: Glyphs) -> list[Line]:
    """Return the text of a row with its differing words marked, nothing if none differ or they are not in it."""
    text, meant, heard = (str(row.record.get(key) or "") for key in ("text", "meant", "heard"))
    if not row.record.get("changed"):
        return []
    labels, rest = word_diff.leading_labels(text)
    if not any(word_diff.same_words(rest, each) for each in (meant, heard)):
        return []
    return flowed([(label, "warn") for label in labels] + _marked(meant, heard), width, glyphs)


def changed_lines(row: Row, width: int, glyphs: Glyphs) -> list[Line]:
    """Return where transcript and intended text differ, for a row whose text is neither."""
    meant, heard = (str(row.record.get(key) or "") for key in ("meant", "heard"))
    if not row.record.get("changed") or said_lines(row, width, glyphs):
        return []
    return flowed([("heard", "faint"), *_marked(meant, heard)], width, glyphs)


def side_lines(row: Row, width: int, glyphs: Glyphs) -> list[tuple[str, list[Line]]]:
    """Return the intended text and the transcript, each whole, with the words that the other one lacks marked."""
    meant, heard = (str(row.record.get(key) or "") for key in ("meant", "heard"))
    found: list[tuple[str, list[Line]]] = []
    sides: tuple[tuple[Wording, str], ...] = (("meant", meant), ("heard", heard))
    for side, text in sides:
        if text:
            own = _marked(meant, heard, only=side) if meant and heard else [(text, None)]
            found.append((side, flowed(own, width, glyphs)))
    return found


def flowed(runs: Iterable[tuple[str, Tone | None]], width: int, glyphs: Glyphs) -> list[Line]:
    """Break runs of raw words into lines of at most `width` cells; a word keeps the tone of its run."""
    lines: list[list[Piece]] = []
    used = width + 1
    for text, tone in runs:
        for word in text.split():
            for number, piece in enumerate(wrap(plain(word, glyphs), width)):
                needed = cell_width(piece) + 1
                if number or used + needed > width:
                    lines.append([])
                    used = -1
                _add(lines[-1], piece, tone)
                used += needed
    return [tuple(line) for line in lines]


def _add(line: list[Piece], word: str, tone: Tone | None) -> None:
    """Append a word to a line, into the last piece if it has the same tone."""
    if line and line[-1][1] == tone:
        line[-1] = (f"{line[-1][0]} {word}", tone)
    else:
        line += [(" ", None), (word, tone)] if line else [(word, tone)]


def plain(text: str, glyphs: Glyphs) -> str:
    """Return data as safe text on one line, in ASCII where wanted."""
    safe = one_line(text)
    return in_ascii(safe) if glyphs.ascii_only else safe


def width_of(line: Iterable[Piece]) -> int:
    """Return the cells that a line takes."""
    return sum(cell_width(text) for text, _ in line)


def _marked(meant: str, heard: str, *, only: Wording | None = None) -> list[tuple[str, Tone | None]]:
    tones: dict[str, Tone | None] = {"same": None, "meant": "bad", "heard": "accent"}
    return [
        (word_diff.marked(change, text), tones[change])
        for change, text in word_diff.parts(meant, heard, only or "heard")
        if only is None or change in ("same", only)
    ]
