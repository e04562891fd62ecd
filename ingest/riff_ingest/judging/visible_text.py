"""Text of a call as a judge may see it: nothing hidden, nothing that a reader could take for a mark."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import groupby

SPELLED = 3
"""Hidden characters in a row that are spelled out; of more, only the number is told."""

# Marks in the making: brackets that look like < or >, or become them under normalisation.
_BRACKETS = (
    "<>\u00ab\u00bb\u02c2\u02c3\u1438\u1433\u2039\u203a\u2264-\u226b\u226e-\u2279\u227a-\u2281\u22d6-\u22d9\u22dc-\u22e1"
    "\u2329\u232a\u276c-\u2771\u27e8-\u27eb\u2991-\u2992\u29fc\u29fd\u2a7d-\u2aa2\u3008-\u300b\ufe3d-\ufe40\ufe64\ufe65"
    "\uff1c\uff1e\U00016f3f\U0001d236\U0001d237"
)
_BRACKET = re.compile(f"[{_BRACKETS}]")
# Marks on letters and blanks that take no room of their own.
_UNSEEN = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2028\u2029\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)
_DRAWN_FORMATS = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
# Joiners and selectors that scripts and emoji are written with.
_JOINERS = frozenset(("\u200c", "\u200d", "\ufe0e", "\ufe0f", "\ufe0f\u200d"))


def visible(text: str) -> str:
    """The text with `[U+001B]` for what would not be seen, `[40 hidden characters]` for many of them in a row.

    Newlines and tabs stay, and joiners where words and emoji are written with them.
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    parts: list[str] = []
    before = ""
    for hidden, group in groupby(text, _is_hidden):
        found = "".join(group)
        parts.append(found if not hidden or _joins(found, before) else _told(found))
        before = found[-1]
    return "".join(parts)


def without_brackets(document: str) -> str:
    """A JSON document that means the same and holds nothing that looks like `<` or `>`."""
    return _BRACKET.sub(_escaped, document)


def _joins(found: str, before: str) -> bool:
    return found in _JOINERS and not before.isascii()


def _told(found: str) -> str:
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
