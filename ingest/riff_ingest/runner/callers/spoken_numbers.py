"""Read the numbers that people say, in digits or in words."""

from __future__ import annotations

import re

_UNITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMERALS = {word: str(number) for number, word in enumerate((*_UNITS, *_TEENS))} | {"oh": "0", "o": "0"}
_BY_TENS = {word: str(number) for number, word in enumerate(_TENS, 2)}
_COMPOUND = re.compile(rf"\b({'|'.join(_TENS)})(?:[\s-]({'|'.join(_UNITS[1:])}))?\b")
_NUMERAL = re.compile(rf"\b({'|'.join(_NUMERALS)})\b(?!['’])")
_REPEATED = re.compile(r"\b(double|triple)[\s-](\d)\b")
_AMOUNT = re.compile(r"\d[\d\s,]*(?:and a half\s)?(?:hundred|thousand|million)\b")
_DATE_OR_TIME = re.compile(r"\b(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,4}([/.])\d{1,2}\1\d{2,4}|\d{1,2}:\d{2})\b")
_RUN = re.compile(r"\d(?:[\d\s()+#–-]|\.(?=\d)|,\s?(?=\d))*")


def spoken_numbers(text: str) -> list[list[str]]:
    """Return the numbers of a text, each as the groups of digits in which it was said.

    What is a date, a time or an amount in words is left out, since the same can be said in many ways.
    """
    text = _DATE_OR_TIME.sub("|", text.casefold())
    text = _COMPOUND.sub(lambda match: _BY_TENS[match[1]] + (_NUMERALS[match[2]] if match[2] else "0"), text)
    text = _NUMERAL.sub(lambda match: _NUMERALS[match[1]], text)
    text = _REPEATED.sub(lambda match: match[2] * (2 if match[1] == "double" else 3), text)
    return [re.findall(r"[0-9]+", run) for run in _RUN.findall(_AMOUNT.sub("|", text)) if re.search("[0-9]", run)]
