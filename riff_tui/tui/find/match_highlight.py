"""Highlight the matches of a search in a line, without a change of colour that a terminal could lack."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from rich.style import Style

from riff_store.predicates import Not, Predicate, Term
from riff_tui.text.safe_text import cell_width
from riff_tui.tui.render.styled_lines import Line, Piece

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
    return [piece for text, style in line for piece in emphasised(text, _hit(text, patterns), style)]


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


def _hit(text: str, patterns: Iterable[re.Pattern[str]]) -> frozenset[int]:
    return frozenset(
        index for pattern in patterns for found in pattern.finditer(text) for index in range(*found.span())
    )


def _over(style: Style | None, strong: bool) -> Style | None:
    if not strong:
        return style
    return STRONG if style is None else style + STRONG
