"""Split a command line that is still being typed, and fit what completes it into what a shell expects."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_SAFE = re.compile(r"[\w@%+=:,./><#-]*")
_BREAKS = "=:><"


class TypedLine(NamedTuple):
    """Hold the whole words of a line, the one that the cursor stands behind, and the quote that is open in it."""

    words: list[str]
    current: str
    quote: str = ""


def split_line(line: str) -> TypedLine:
    """Split a line up to the cursor as shells do; a quote may be open."""
    words: list[str] = []
    word, quote, begun, at = "", "", False, 0
    while at < len(line):
        character = line[at]
        at += 1
        if quote:
            if character == quote:
                quote = ""
            elif character == "\\" and quote == '"' and line[at : at + 1] in ('"', "\\", "$", "`"):
                word, at = word + line[at : at + 1], at + 1
            else:
                word += character
        elif character in "'\"":
            quote, begun = character, True
        elif character == "\\":
            word, begun, at = word + line[at : at + 1], True, at + 1
        elif character.isspace():
            if begun:
                words.append(word)
            word, begun = "", False
        else:
            word, begun = word + character, True
    return TypedLine(words, word, quote)


def replies(shell: str, line: TypedLine, candidates: Sequence[str]) -> list[str]:
    """Return what the shell is to be told: what begins as typed and stays one word as it is quoted there.

    Bash puts a reply in the place of what follows the last sign that breaks a word, unless a quote is open.
    """
    fitting = [each for each in candidates if each.startswith(line.current) and each.isprintable()]
    if shell == "bash" and not line.quote:
        behind = max((line.current.rfind(sign) for sign in _BREAKS), default=-1) + 1
        return [each[behind:] for each in fitting if _SAFE.fullmatch(each)]
    if shell == "bash":
        ends = {"'": "'", '"': '"$`\\'}[line.quote]
        return [each for each in fitting if not any(sign in each for sign in ends)]
    return fitting
