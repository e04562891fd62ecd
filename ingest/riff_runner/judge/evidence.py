"""Write the evidence that a judge sees of a call, with every character made visible."""

from __future__ import annotations

import json
import re
import secrets
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any

from riff_ingest.conversation import Turn
from riff_runner.judge.protocol import JudgePrompt, Rubric

LONGEST_TURN = 4_000
LONGEST_BLOCK = 120_000
_SPEAKERS = ("agent", "caller")
SPELLED = 3
"""Hidden characters in a row that are spelled out; of more, only the number is told."""
# Brackets that look like < or >, or become them under normalisation.
_BRACKETS = (
    "<>\u00ab\u00bb\u02c2\u02c3\u1438\u1433\u2039\u203a\u2264-\u226b\u226e-\u2279\u227a-\u2281\u22d6-\u22d9\u22dc-\u22e1"
    "\u2329\u232a\u276c-\u2771\u27e8-\u27eb\u2991-\u2992\u29fc\u29fd\u2a7d-\u2aa2\u3008-\u300b\ufe3d-\ufe40\ufe64\ufe65"
    "\uff1c\uff1e\U00016f3f\U0001d236\U0001d237"
)
_BRACKET = re.compile(f"[{_BRACKETS}]")
# Marks on letters, and blanks that take no room of their own.
_UNSEEN = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2028\u2029\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)
_DRAWN_FORMATS = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
_encode = json.JSONEncoder(ensure_ascii=False).encode
# What scripts and emoji are written with.
_JOINERS = frozenset(("\u200c", "\u200d", "\ufe0e", "\ufe0f", "\ufe0f\u200d"))


@dataclass(frozen=True, slots=True)
class Evidence:
    """Describe the JSON array that a judge sees, the numbers of the turns in it, and whether anything was left out."""

    document: str
    turns: frozenset[int]
    is_cut: bool

    def prompt(self, rubric: Rubric) -> JudgePrompt:
        """Return the prompt with this evidence, under a code that nobody has seen before."""
        code = secrets.token_hex(16)
        while code in self.document:
            code = secrets.token_hex(16)
        return rubric.prompt(self.document, code)


def can_be_judged(turns: Sequence[Turn]) -> bool:
    """Return whether the agent said anything."""
    return any(turn.role == "agent" and turn.text.strip() for turn in turns)


def evidence_of(turns: Sequence[Turn]) -> Evidence:
    """Return what a judge is shown of a call: turns are numbered from 1 as in the transcript, silent ones left out.

    Of a turn at most `LONGEST_TURN` characters are shown, and of a call that is longer than `LONGEST_BLOCK` its
    beginning and its end; a note counts what is not shown.
    """
    numbered = [(number, turn) for number, turn in enumerate(turns, start=1) if turn.text.strip()]
    lines = [_line(_shown(number, turn)) for number, turn in numbered]
    first, last = _fitting([len(line) for line in lines])
    shown = frozenset(number for place, (number, _) in enumerate(numbered) if place < first or place >= last)
    if first < last:
        gap = {"turns_left_out": {"from": numbered[first][0], "to": numbered[last - 1][0]}}
        lines[first:last] = [_line(gap)]
    is_cut = first < last or any(len(turn.text) > LONGEST_TURN for _, turn in numbered)
    return Evidence("[\n" + ",\n".join(lines) + "\n]", shown, is_cut)


def _shown(number: int, turn: Turn) -> dict[str, Any]:
    speaker = turn.role if turn.role in _SPEAKERS else "other"
    shown = {"turn": number, "speaker": speaker, "text": visible(turn.text[:LONGEST_TURN])}
    if len(turn.text) > LONGEST_TURN:
        shown["characters_left_out"] = len(turn.text) - LONGEST_TURN
    return shown


def _line(element: dict[str, Any]) -> str:
    return without_brackets(_encode(element))


def _fitting(sizes: Sequence[int]) -> tuple[int, int]:
    """Return the places from which and up to which turns are left out, so that both ends get half of the room."""
    if sum(sizes) <= LONGEST_BLOCK:
        return len(sizes), len(sizes)
    first, room = 0, LONGEST_BLOCK // 2
    while sizes[first] <= room:
        room -= sizes[first]
        first += 1
    last, room = len(sizes), LONGEST_BLOCK // 2
    while sizes[last - 1] <= room:
        room -= sizes[last - 1]
        last -= 1
    return first, last


def visible(text: str) -> str:
    """Return the text with `[U+001B]` for what would not be seen, `[40 hidden characters]` for many of them in a row.

    Newlines and tabs stay, and joiners where words and emoji are written with them.
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    parts: list[str] = []
    before = ""
    for hidden, group in groupby(text, _is_hidden):
        found = "".join(group)
        parts.append(found if not hidden or (found in _JOINERS and not before.isascii()) else _as_numbers(found))
        before = found[-1]
    return "".join(parts)


def without_brackets(document: str) -> str:
    """Return a JSON document that means the same and contains nothing that looks like `<` or `>`."""
    if document.isascii() and "<" not in document and ">" not in document:
        return document
    return _BRACKET.sub(_escaped, document)


def _as_numbers(found: str) -> str:
    if len(found) > SPELLED:
        return f"[{len(found)} hidden characters]"
    return "".join(f"[U+{ord(character):04X}]" for character in found)


def _escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be")
    return "".join(f"\\u{units[place : place + 2].hex()}" for place in range(0, len(units), 2))


@lru_cache(maxsize=8192)
def _is_hidden(character: str) -> bool:
    if character in "\n\t":
        return False
    category = unicodedata.category(character)
    if category == "Cn":
        return not 0x1F300 <= ord(character) <= 0x1FAFF  # emoji younger than the interpreter's own table
    return (category[0] == "C" and character not in _DRAWN_FORMATS) or character in _UNSEEN
