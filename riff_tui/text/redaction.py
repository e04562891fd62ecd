"""Take out of a caller's words what points at a person, before they are posted.

Patterns find addresses, numbers and keys. They miss names and digits that were spoken as words; a posted transcript
reports it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

LIMITS = "Redacted by pattern: names and spoken digits are not found."

# If nothing is found, no pattern may look to the end of a long text from more than a few places of it.
_PATTERN = re.compile(
    r"""
      (?P<email>   (?<! [\w.+%-] ) [\w.+%-]{1,256} @ [\w-]+ (?: \. [\w-]+ )+ )
    | (?P<token>   \b eyJ[\w-]{1,512}+ (?: \. [\w-]++ )++
                 | \b (?: sk | pk | rk | gh[pousr] | xox[abprs] | AKIA | AIza ) [-_\w]{12,}
                 | \b (?<! [A-Za-z0-9_-] ) (?= [A-Za-z_-]* \d ) (?= [\d_-]* [A-Za-z] ) [A-Za-z0-9_-]{24,} )
    | (?P<iban>    \b [A-Z]{2} \d{2} (?: [ ]? [A-Z0-9]{4} ){2,7} (?: [ ]? [A-Z0-9]{1,4} )? \b )
    | (?P<ip>      \b (?: \d{1,3} \. ){3} \d{1,3} \b
                 | (?<! [\w:] ) (?: [0-9A-Fa-f]{0,4} : ){3,7} [0-9A-Fa-f]{1,4} (?! [\w:] ) )
    | (?P<number>  (?: \+ | \( (?= \d ) | (?<! [\w.] ) ) \d (?: [ ().\-/]{0,3} \d ){5,} )
    """,
    re.VERBOSE,
)
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
CARD_DIGITS = range(13, 20)
_PHONE_DIGITS = range(7, 16)


Replacement: TypeAlias = Callable[[str, int, str], str]
"""Says what stands for the n-th text of a kind that was found, told the kind, n and the text."""


def placeholder(kind: str, number: int, found: str) -> str:
    """Return what shows that something was taken out, such as `[phone 2]`."""
    return f"[{kind} {number}]"


class Redactor:
    """Replace what is found, by `[email 1]`, `[phone 2]` unless asked otherwise: the same text by the same one."""

    def __init__(self, replacement: Replacement = placeholder) -> None:
        self._replacement = replacement
        self._known: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}

    def __call__(self, text: str) -> str:
        """Return the text with placeholders."""
        return _PATTERN.sub(self._replaced, text)

    def _replaced(self, match: re.Match[str]) -> str:
        kind, found = match.lastgroup or "number", match[0]
        if kind == "number":
            if _DATE.fullmatch(found):
                return found
            digits = re.sub(r"\D", "", found)
            kind, key = _number_kind(found, digits), digits
        else:
            key = found.replace(" ", "").casefold()
        known = self._known.get((kind, key))
        if known is None:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            known = self._known[kind, key] = self._replacement(kind, self._counts[kind], found)
        return known


def _number_kind(found: str, digits: str) -> str:
    if len(digits) in CARD_DIGITS and is_luhn(digits):
        return "card"
    # A bare run of digits is an order or customer number as often as a phone.
    return "phone" if len(digits) in _PHONE_DIGITS and (found != digits or len(digits) >= 10) else "number"


def is_luhn(digits: str) -> bool:
    """Return whether a number ends, as that of a card does, in a digit by which Luhn's sum is a multiple of ten."""
    doubled = (int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(digits)))
    return sum(each - 9 if each > 9 else each for each in doubled) % 10 == 0
