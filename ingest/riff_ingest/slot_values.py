"""Compare what was noted about a caller with what the caller had to say (docs/metrics.md, section 4)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

SPOKEN = frozenset({"value", "say"})
"""The keys of a fact that is said in other words than its value."""
MOST_ELEMENTS = 50
LONGEST = 1000
"""What is compared of a list, and the characters of a text."""

Words: TypeAlias = tuple[str, ...]


def contradicts(said: Any, fact: Any) -> bool:
    """Return whether a value that was noted cannot be what the caller had to say.

    Case, accents, blanks and punctuation do not count, numbers may be spelled out, and lists have no order. A value
    that shows less or more than the fact, or that cannot be compared with it, contradicts nothing. A fact may be a
    table of `value` and `say`, of which either is right.
    """
    if said is None or fact is None:
        return False
    for one, other in ((said, fact), (fact, said)):
        if isinstance(one, Mapping):
            return _contradicts_table(other, one)
    if isinstance(said, list | tuple) or isinstance(fact, list | tuple):
        return _contradicts_list(said, fact)
    if isinstance(said, bool) or isinstance(fact, bool):
        truths = _truth(said), _truth(fact)
        return None not in truths and truths[0] != truths[1]
    if isinstance(said, int | float) or isinstance(fact, int | float):
        numbers = _numbers(said), _numbers(fact)
        return all(numbers) and numbers[0].isdisjoint(numbers[1])
    ours, others = _readings(str(said)), _readings(str(fact))
    if _only_dates(str(said), others) or _only_dates(str(fact), ours):
        return False
    return not any(_agree(one, other) for one in ours for other in others)


def _contradicts_table(said: Any, fact: Mapping[Any, Any]) -> bool:
    if fact and fact.keys() <= SPOKEN:
        return all(contradicts(said, right) for right in fact.values())
    if not isinstance(said, Mapping):
        return False
    return any(contradicts(said[key], fact[key]) for key in said.keys() & fact.keys())


def _contradicts_list(said: Any, fact: Any) -> bool:
    """Compare lists as sets; a text that names every element is the list."""
    ours, others = ([*each[:MOST_ELEMENTS]] if isinstance(each, list | tuple) else None for each in (said, fact))
    if ours is None or others is None:
        return any(contradicts(each, said if ours is None else fact) for each in others or ours or ())
    unmatched = (all(contradicts(one, other) for other in others) for one in ours)
    unmet = (all(contradicts(one, other) for one in ours) for other in others)
    return any(unmatched) or any(unmet)


_TRUTHS = {
    **dict.fromkeys(("true", "yes", "y", "yeah", "yep", "sure", "correct", "1"), True),
    **dict.fromkeys(("false", "no", "n", "nope", "none", "0"), False),
}


def _truth(value: Any) -> bool | None:
    """Return whether a value means yes or no, `None` if that is unclear."""
    if isinstance(value, bool):
        return value
    words = _words(str(value)[:LONGEST])
    return _TRUTHS.get(words[0]) if len(words) == 1 else None


def _numbers(value: Any) -> set[float]:
    """Return the numbers that a value may represent."""
    if not isinstance(value, str):
        return {value}
    text = _THOUSANDS.sub("", value[:LONGEST])
    spelled = [word for words in _readings(text) for word in words if word[0].isdigit()]
    return {float(number) for number in _DECIMAL.findall(text)} | {int(number) for number in spelled}


_THOUSANDS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_DECIMAL = re.compile(r"(?<![\w.])-?[0-9]{1,300}(?:\.[0-9]{1,300})?")


def _agree(one: Words, other: Words) -> bool:
    """Return whether two rows of words are the same in whatever order or parted, or one is a part of the other."""
    if "".join(one) == "".join(other) or sorted(one) == sorted(other):
        return True
    short, long = sorted((one, other), key=len)
    return any(long[start : start + len(short)] == short for start in range(len(long) - len(short) + 1))


def _only_dates(text: str, others: Sequence[Words]) -> bool:
    """Return whether a text is a date where the other has no number, such as a day counted from today."""
    return _DATE.search(text) is not None and not any(word.isdigit() for words in others for word in words)


_DATE = re.compile(r"\b([0-9]{4})-(0[1-9]|1[0-2])-([0-3][0-9])(?:t[0-9:.]*z?|\b)", re.IGNORECASE)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_AFTERNOON = re.compile(r"\b(1[3-9]|2[0-3])(?=[:h][0-5][0-9]\b)")
_FULL_HOUR = re.compile(r"(?<=[0-9])(?:[:.]00?)+(?![0-9:.])")
_COUNTRY = re.compile(r"\s*\+")
_LONG_NUMBER = 7
_SAME = tuple(
    (re.compile(pattern), plain)
    for pattern, plain in (
        (r"\bhalf past (\w+)", r"\1 thirty"),
        (r"\bquarter past (\w+)", r"\1 fifteen"),
        (r"\bin the morning\b|\ba\.m\b\.?", "am"),
        (r"\bin the (?:afternoon|evening)\b|\bp\.m\b\.?", "pm"),
        (r"(?<=[0-9])(am|pm)\b", r" \1"),
        (r"\bo['’]clock\b", ""),
        (r"(?<=[0-9])(?:st|nd|rd|th)\b", ""),
    )
)


@lru_cache(maxsize=4096)
def _readings(text: str) -> tuple[Words, ...]:
    """Return a text in plain words, with dates and times as they are spoken and without its country code as well."""
    text = text[:LONGEST]
    words = _words(text)
    found = [words]
    if _AFTERNOON.search(text):
        found.append(_words(_AFTERNOON.sub(lambda hour: str(int(hour[1]) - 12), text) + " pm"))
    if date := _DATE.search(text):
        year, month, day = date.groups()
        spoken = f"{_MONTHS[int(month) - 1]} {int(day)}"
        numbers = [f"{one} {other} {year}" for one, other in ((month, day), (day, month))]
        numbers += [f"{int(one)} {int(other)} {year}" for one, other in ((month, day), (day, month))]
        found += [
            _words(each) for each in (spoken, f"{spoken} {year}", f"{int(day)} {spoken.split()[0]} {year}", *numbers)
        ]
    if _COUNTRY.match(text) and len(words) == 1 and words[0].isdigit():
        found += [(words[0][code:],) for code in (1, 2, 3) if len(words[0]) - code >= _LONG_NUMBER]
    return tuple(found)


_UNITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_DIGITS = {word: str(number) for number, word in enumerate(_UNITS)}
_SPELLED = _DIGITS | {word: str(number) for number, word in enumerate(_TEENS, 10)}
_BY_TENS = {word: 10 * number for number, word in enumerate(_TENS, 2)}
_SCALES = {"thousand": 1000, "million": 1_000_000}
_REPEATED = {"double": 2, "triple": 3}
_ZERO = frozenset({"oh", "o"})
_NINTH = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_ORDINALS = {word: str(number) for number, word in enumerate(_NINTH, 1)}
_SIGNS = frozenset(
    {"the", "at", "dot", "dash", "hyphen", "underscore", "plus", "pound", "hash", "around", "about", "of", "on"}
)
"""Words that stand for a sign of a number or an address, or that say nothing of a value."""
_WORD = re.compile(r"[0-9]+|[^\W\d_]+")


def _words(text: str) -> Words:
    """Return the words of a text in small letters without accents; digits in a row are one, however they were said."""
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign)).casefold()
    for pattern, plain in _SAME:
        bare = pattern.sub(plain, bare)
    said = _WORD.findall(_FULL_HOUR.sub("", bare))
    joined: list[str] = []
    for word in _with_digits([word for word in said if word not in _SIGNS] or said):
        if joined and word.isdigit() and joined[-1].isdigit():
            joined[-1] += word
        else:
            joined.append(word)
    return tuple(joined)


def _with_digits(words: Sequence[str]) -> Iterator[str]:
    """Yield words, the numbers among them in digits."""
    place, after_number = 0, False
    while place < len(words):
        number, end = _number_at(words, place)
        if number is None and words[place] in _ZERO and (after_number or _number_at(words, place + 1)[0] is not None):
            number, end = "0", place + 1
        after_number = number is not None
        yield words[place] if number is None else number
        place = max(end, place + 1)


def _number_at(words: Sequence[str], place: int) -> tuple[str | None, int]:
    """Return the number that begins at a place in digits, and where it ends; `None` if none does."""
    first, end = _plain_number(words, place)
    if first is None or end >= len(words) or (words[end] != "hundred" and words[end] not in _SCALES):
        return first, end
    whole, part = 0, int(first)
    while end < len(words):
        if words[end] == "hundred" and 0 < part < 100:
            part, end = part * 100, end + 1
        elif words[end] in _SCALES and part:
            whole, part, end = whole + part * _SCALES[words[end]], 0, end + 1
        else:
            more, behind = _plain_number(words, end + (words[end] == "and"))
            if more is None or part % 100 or len(more) > 3 or int(more) >= (100 if part else 1000):
                break
            part, end = part + int(more), behind
    return str(whole + part), end


def _plain_number(words: Sequence[str], place: int) -> tuple[str | None, int]:
    """Return a number below a hundred that is spelled out, or digits, and where it ends."""
    word = words[place] if place < len(words) else ""
    following = words[place + 1] if place + 1 < len(words) else ""
    if word.isdigit() and word.isascii():
        return word, place + 1
    if word in _BY_TENS:
        unit = _DIGITS.get(following) or _ORDINALS.get(following) or "0"
        return str(_BY_TENS[word] + int(unit)), place + 1 + (unit != "0")
    if word in _REPEATED and (digit := _DIGITS.get(following) or (following if len(following) == 1 else "")).isdigit():
        return digit * _REPEATED[word], place + 2
    return _SPELLED.get(word) or _ORDINALS.get(word), place + 1
