"""Match what was typed with texts, letter by letter, and highlight matches without a change of colour."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.style import Style

from riff_store.filters.predicates import Not, Predicate, Term
from riff_tui.text.safe_text import cell_width
from riff_tui.tui.render.styled_lines import Line, Piece

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
        """Return how well a word fits a text, 0 where it does not, and the letters that it is found in."""
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
    """Return the last index where each letter can stand so that the ones after it still fit; none where they do not."""
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
