"""English as a recogniser and a script both write it: one spelling, numbers as digits, no punctuation (10.6)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import cast

_ESCAPES = re.compile(r"(?:\\u[0-9a-fA-F]{4})+")
_QUOTES = str.maketrans(dict.fromkeys("‘’‛`´", "'"))
_SPELLED = re.compile(r"\b[A-Za-z](?: [A-Za-z]){2,}\b")
_DASH = re.compile(r"(?<=\w)\s+dash\s+(?=\w)", re.IGNORECASE)
_HYPHENATED = re.compile(r"\b\w+(?:-\w+)+\b")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_COMMA = re.compile(r"(?<!\d),|,(?!\d)")
_LETTER_DIGIT = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_ONE = re.compile(r"\b1(s?)\b")
_LEADING_ZEROS = re.compile(r"\b0+(?=\d+\b)")
_ORDINAL = re.compile(r"(?<=\d)\s+(?=(?:st|nd|rd|th)\b)")


def normalised_english(text: str) -> str:
    """The text as its words are compared, in lower case; raises `ImportError` without the extra packages."""
    if text.isascii():
        text = _ESCAPES.sub(lambda found: _decoded(found[0]), text)
    text = text.translate(_QUOTES)
    text = _SPELLED.sub(lambda found: found[0].replace(" ", "").upper(), text)
    text = _DASH.sub(" ", text)
    text = _HYPHENATED.sub(_without_hyphens, text)
    pieces = (_piece(piece) for piece in _COMMA.split(text))
    text = " ".join(piece for piece in pieces if piece)
    return _ORDINAL.sub("", _LEADING_ZEROS.sub("", text))


def _decoded(escapes: str) -> str:
    return bytes.fromhex(escapes.replace("\\u", "")).decode("utf-16-be", "replace")


def _without_hyphens(found: re.Match[str]) -> str:
    word = found[0]
    if not any(map(str.isdigit, word)):
        return word
    return word.replace("-", " " if _DATE.fullmatch(word) else "")


def _piece(text: str) -> str:
    text = _whisper()(text)
    # "first" becomes "1st", then "one st" (quirk 12).
    text = _ONE.sub(r"one\1", _LETTER_DIGIT.sub(" ", text)).lower()
    return "".join(sign for sign in text if not unicodedata.category(sign).startswith("P")).strip()


@cache
def _whisper() -> Callable[[str], str]:
    from whisper_normalizer.english import EnglishTextNormalizer

    return cast("Callable[[str], str]", EnglishTextNormalizer())
