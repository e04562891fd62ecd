"""Define the colours of the explorer, build lines of safe text in few runs of one style, and highlight matches in them.

Colours are foregrounds only, so that the terminal's background stays; each change costs a terminal a dozen bytes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeAlias

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from riff_store.filters.predicates import Not, Predicate, Term
from riff_tui.table import Row, Severity
from riff_tui.text.glyphs import Glyphs
from riff_tui.text.palette import ROLES, THEMES, Ink, Theme
from riff_tui.text.safe_text import cell_width, fit, steady

if TYPE_CHECKING:
    from riff_tui.charts.transcript import Line as ToldLine
    from riff_tui.charts.transcript import Tone

Piece: TypeAlias = tuple[str, Style | None]
Line: TypeAlias = Sequence[Piece]


class LineWriter:
    """Collect lines of a width."""

    def __init__(self, width: int, glyphs: Glyphs, palette: Palette) -> None:
        self.lines: list[Line] = []
        self._width = width
        self._glyphs = glyphs
        self._palette = palette


def strip_of(line: Line, width: int, base: Style | None = None) -> Strip:
    """Return a line as Textual draws it, in exactly `width` cells; `base` is under the pieces' own styles."""
    segments = [Segment(steady(text), add_style(base, style)) for text, style in line if text]
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
    return Strip([Segment(steady(run.text), run.style) for run in runs if run.text]).adjust_cell_length(width, base)


@dataclass(frozen=True, slots=True)
class Palette:
    """Describe one set of colours, one for each role; `None` is the terminal's own foreground and costs no byte.

    A `bar` is tinted from one edge of the screen to the other, and what stands out on it is bold.
    """

    name: str
    place: Style | None
    agent: Style | None
    caller: Style | None
    tool: Style | None
    good: Style | None
    warn: Style | None
    bad: Style | None
    quiet: Style | None
    bar: Style | None
    head: ClassVar[Style] = Style(bold=True)
    cursor: ClassVar[Style] = Style(reverse=True)

    def of(self, severity: Severity | None) -> Style | None:
        """Return the colour of a severity; `ok` and none at all are plain."""
        if severity == "bad":
            return self.bad
        if severity == "capped":
            return self.quiet
        return self.warn if severity == "warn" else self.good if severity == "good" else None

    def drawn_at_cursor(self, style: Style | None) -> Style:
        """Return a style for bars in the row of the cursor.

        There foreground and background are swapped: a colour as anywhere else would fill the cell around a dark bar.
        """
        if style is None or self.bar is None:
            return self.cursor
        return Style(reverse=True, bgcolor=style.color or self.bar.bgcolor)

    def of_tone(self, tone: Tone | None) -> Style | None:
        """Return the colour of a piece of a transcript."""
        if tone == "faint":
            return self.quiet
        if tone == "accent":
            return self.place
        return self.head if tone == "strong" else self.of(tone)


def _style(ink: Ink | None) -> Style | None:
    if isinstance(ink, str):
        return Style(bold=True) if ink == "bold" else Style(dim=True)
    return None if ink is None else Style(color=Color.from_ansi(ink))


def _palette(theme: Theme) -> Palette:
    bar = theme.bar and Style(color=Color.from_ansi(theme.bar.ink), bgcolor=Color.from_ansi(theme.bar.ground))
    return Palette(theme.name, bar=bar, **{role: _style(theme.inks.get(role)) for role in ROLES})


PALETTES: dict[str, Palette] = {theme.name: _palette(theme) for theme in THEMES}


def next_palette(palette: Palette) -> Palette:
    """Return the palette after this one, the first after the last."""
    names = list(PALETTES)
    return PALETTES[names[(names.index(palette.name) + 1) % len(names)]]


class TranscriptLine(NamedTuple):
    """Pair a line of the transcript and the row that it belongs to; notes after the last row belong to none."""

    row: int | None
    line: Line


def transcript_lines(
    rows: Sequence[Row], notes: Sequence[str], width: int, glyphs: Glyphs, palette: Palette
) -> list[TranscriptLine]:
    """Return the rows and notes of a `conversation` table in lines of `width` cells."""
    from riff_tui.charts import transcript

    told = transcript.transcript_lines(rows, notes, width, glyphs)
    return [TranscriptLine(each.row, colored(each.line, palette)) for each in told]


def colored(line: ToldLine, palette: Palette) -> Line:
    """Return a line with the colours of its tones."""
    return tuple((text, palette.of_tone(tone)) for text, tone in line)


_WHOLE, _START, _BEGINNING, _INSIDE, _LOOSE, _MORE = 1000, 800, 600, 400, 200, 50


@dataclass(frozen=True, slots=True)
class FuzzyMatch:
    """Pair the index of a name that fits, and which of its letters the words were found in."""

    index: int
    letters: frozenset[int]


class Fuzzy:
    """Search safe texts; `more` is what else each of them is found by."""

    def __init__(self, texts: Sequence[str], more: Sequence[str] = ()) -> None:
        self._texts = texts
        self._flat = [_flat(text) for text in texts]
        self._more = [_flat(text) for text in more] or [""] * len(texts)
        self._before: tuple[str, Sequence[int]] = ("", range(len(texts)))

    def find(self, query: str) -> list[FuzzyMatch]:
        """Return the texts in which every word of the query is found, the best first; all of them for a blank one."""
        words = _flat(query).split()
        if not words:
            return [FuzzyMatch(index, frozenset()) for index in range(len(self._texts))]
        # What does not fit some letters does not fit more of them.
        before, fitting = self._before
        candidates = fitting if before and query.startswith(before) else range(len(self._texts))
        ranked: list[tuple[int, int, int, frozenset[int]]] = []
        for index in candidates:
            flat, total, letters = self._flat[index], 0, frozenset[int]()
            for word in words:
                score, at = self._fits(word, index, flat)
                if not score:
                    break
                total += score
                letters |= at
            else:
                ranked.append((-total, len(flat), index, letters))
        ranked.sort(key=lambda found: found[:3])
        self._before = (query, [index for _, _, index, _ in ranked])
        return [FuzzyMatch(index, letters) for _, _, index, letters in ranked]

    def _fits(self, word: str, index: int, flat: str) -> tuple[int, frozenset[int]]:
        """Return how well a word fits a text, 0 if it does not, and the letters that it is found in."""
        at = flat.find(word)
        if at < 0:
            loose = _loose(word, self._texts[index], flat)
            return loose if loose[0] else (_MORE if word in self._more[index] else 0, frozenset())
        found = at
        while at > 0 and not _begins(self._texts[index], at):
            at = flat.find(word, at + 1)
        if at < 0:
            return _INSIDE, _run(found, word)
        if at > 0:
            return _BEGINNING, _run(at, word)
        return _WHOLE if len(word) == len(flat) else _START, _run(0, word)


def _run(start: int, word: str) -> frozenset[int]:
    return frozenset(range(start, start + len(word)))


def _loose(word: str, text: str, flat: str) -> tuple[int, frozenset[int]]:
    """Score the letters of a word one after the other, rather side by side or at the beginnings of words."""
    last = _rightmost(word, flat)
    if not last:
        return 0, frozenset()
    score = _LOOSE
    places: list[int] = []
    before = -1
    for letter, limit in zip(word, last, strict=True):
        if places and before < limit and flat[before + 1] == letter:
            at, worth = before + 1, 8
        else:
            at, worth = _next(letter, text, flat, before + 1, limit)
        score += worth - min(6, at - before - 1 if places else 0)
        places.append(at)
        before = at
    return max(_MORE + 1, min(_INSIDE - 1, score)), frozenset(places)


def _rightmost(word: str, flat: str) -> list[int]:
    """Return the last index where each letter can be so that the ones after it still fit; none if they do not."""
    places: list[int] = []
    end = len(flat)
    for letter in reversed(word):
        end = flat.rfind(letter, 0, end)
        if end < 0:
            return []
        places.append(end)
    return places[::-1]


def _next(letter: str, text: str, flat: str, start: int, limit: int) -> tuple[int, int]:
    """Return the next index of a letter, at the beginning of a word if there is one, and its score."""
    first = at = flat.find(letter, start, limit + 1)
    while at >= 0:
        if _begins(text, at):
            return at, 10
        at = flat.find(letter, at + 1, limit + 1)
    return first, 0


def _begins(text: str, at: int) -> bool:
    """Return whether a word begins there: behind a sign, a change of case or from letters to digits."""
    if at == 0:
        return True
    before, here = text[at - 1], text[at]
    return not before.isalnum() or (here.isupper() and before.islower()) or (here.isdigit() and not before.isdigit())


def _flat(text: str) -> str:
    """Return the text in lower case, letter for letter, so that indices in it are indices in the text."""
    if text.isascii():
        return text.lower()
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)


STRONG = Style(bold=True, underline=True)
_JOINER = "\u200d"


def emphasised(text: str, letters: Collection[int], style: Style | None = None) -> list[Piece]:
    """Return safe text in pieces, those letters strong; marks and joined signs go with the letter before them."""
    if not letters:
        return [(text, style)] if text else []
    pieces: list[Piece] = []
    part, strong = "", False
    for index, letter in enumerate(text):
        belongs = bool(part) and (not cell_width(letter) or part.endswith(_JOINER))
        if not belongs and (index in letters) != strong:
            pieces.append((part, _over(style, strong)))
            part, strong = "", not strong
        part += letter
    pieces.append((part, _over(style, strong)))
    return [piece for piece in pieces if piece[0]]


def marked(line: Line, patterns: Collection[re.Pattern[str]]) -> Line:
    """Return a line in which everything that a pattern finds is strong."""
    if not patterns:
        return line
    found: list[Piece] = []
    for text, style in line:
        spans = (hit.span() for pattern in patterns for hit in pattern.finditer(text))
        found += emphasised(text, frozenset(index for span in spans for index in range(*span)), style)
    return found


def match_patterns(predicate: Predicate | None) -> list[re.Pattern[str]]:
    """Return patterns of what to highlight: words and regular expressions, but those that must not be there."""
    return [re.compile(found) for found in dict.fromkeys(_wanted(predicate))]


def _wanted(predicate: Predicate | None) -> Iterator[str]:
    if isinstance(predicate, Term):
        if predicate.operator == "contains" and predicate.value:
            yield f"(?i){re.escape(str(predicate.value))}"
        elif predicate.operator == "matches":
            yield str(predicate.value)
    elif predicate is not None and not isinstance(predicate, Not):
        for part in getattr(predicate, "parts", ()):
            yield from _wanted(part)


def _over(style: Style | None, strong: bool) -> Style | None:
    if not strong:
        return style
    return STRONG if style is None else style + STRONG
