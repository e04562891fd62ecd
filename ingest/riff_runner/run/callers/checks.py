"""Check what a caller did: whether it gave its facts, true to what it was told."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from riff_runner.run.cases.case import CallCase
from riff_runner.run.flows.flow import SpokenFact
from riff_runner.run.protocol import CallerFailed, CallerSession, CallerTurn, CallView, StopReason

SAME_LINES = 3
"""Lines of a caller in a row that are the same before it counts as repeating itself."""
_AGENTS_WORDS = re.compile(
    r"^[\s*_>\[(]*(?:agent|assistant|ai|bot|system|representative|receptionist|operator)[\s*_\])]*:"
    r"|(?:^|[.!?,;]\s*)as an? (?:ai|language model)\b"
    r"|\bi(?:'m| am) (?:just |only )?an? (?:ai|language model|virtual assistant)\b"
    r"|\bhow (?:can|may) i (?:help|assist) you\b",
    re.IGNORECASE | re.MULTILINE,
)


class CheckedCaller:
    """Ask a caller, once more where what it says makes no sense, and remember whether it kept to its part."""

    def __init__(self, session: CallerSession, case: CallCase) -> None:
        self._session = session
        self._facts = FactsGiven(case)
        self._lines: list[str] = []
        self._broke: str | None = None
        self._is_recorded = False
        self.opinion: dict[str, Any] = {}
        """What the caller itself says of how the call went, once it hung up; no score."""

    async def say(self, heard: str, view: CallView) -> CallerTurn:
        """Return what the caller says; raises `CallerFailed` where it makes no sense a second time."""
        turn = await self._session.say(heard, view)
        if self._fault(turn):
            turn = await self._session.say(heard, replace(view, again=True))
            if fault := self._fault(turn):
                raise CallerFailed(fault)
        self._take(heard, turn)
        return turn

    async def end(self, reason: StopReason) -> None:
        """Take note that the call is over."""
        await self._session.end(reason)

    def broke(self, collected: Mapping[str, Any]) -> str | None:
        """Return in what the caller did not keep to its part, `None` where it did.

        `collected` is what the agent took down at the end.
        """
        if self._is_recorded:
            return None
        return self._broke or self._facts.belies(collected)

    def _take(self, heard: str, turn: CallerTurn) -> None:
        self._lines.append(turn.text)
        self._is_recorded = turn.recorded
        self._facts.hears(heard)
        self._broke = self._broke or self._facts.says(turn.text)
        if turn.ends:
            told = {"success": turn.success, "reason": turn.reason}
            self.opinion = {name: value for name, value in told.items() if value is not None}

    def _fault(self, turn: CallerTurn) -> str | None:
        if turn.recorded:
            return None
        if _AGENTS_WORDS.search(turn.text.replace("\u2019", "'")):
            return "speaks as the agent"
        if turn.ends:
            return None
        if not turn.text.strip():
            return "says nothing"
        last = self._lines[1 - SAME_LINES :]
        if len(last) == SAME_LINES - 1 and all(line == turn.text for line in last):
            return "repeats itself"
        return None


# Read the numbers that people say, in digits or in words.
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


# Find out whether a caller keeps to the facts of its case by what nobody says by chance: numbers, addresses, names.
LONG_NUMBER = 7
"""Digits from which on a number that is said in groups is one that somebody has, not a count or a year."""
LONG_GROUP = 5
SHARED = 4
"""Digits that a part of a number and a known one need in common, so that it counts as that one."""
SLIPS = 2
"""Digits of a long number that may belong to something else that was said beside it."""
NAME_WORDS = 3
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_SPOKEN_MAIL = ((re.compile(r"\s+at\s+"), "@"), (re.compile(r"\s+dot\s+"), "."))
_WORD = re.compile(r"[^\W_]+")


class FactsGiven:
    """Compare what a caller says with its case, with what it heard before, and with what the agent took down."""

    def __init__(self, case: CallCase) -> None:
        self._facts = case.facts
        self._digits: set[str] = set()
        self._known: list[str] = []
        self._said: list[tuple[str, int]] = []
        for text in _case_texts(case):
            self.hears(text)

    def hears(self, text: str) -> None:
        """Take in something that the caller may repeat."""
        self._known.append(_plain(text))
        self._digits.update(_all_digits(text))

    def says(self, text: str) -> str | None:
        """Return what a line gives away that the caller cannot know, `None` where there is nothing of that kind."""
        self._said.append((_plain(text), len(self._known)))
        for groups in spoken_numbers(text):
            if self._is_invented(groups):
                return f"gives the number {'-'.join(groups)}, which is not in its case"
        for mail in _MAIL.findall(_plain(text)):
            if not any(mail.rstrip(".") in known for known in self._known):
                return f"gives the address {mail}, which is not in its case"
        return None

    def belies(self, collected: Mapping[str, Any]) -> str | None:
        """Return of which slot the caller said something else than its case, `None` where there is none."""
        for slot, value in collected.items():
            fact = self._facts.get(slot)
            if fact is not None and not isinstance(value, bool) and self._differs(str(value), fact):
                return f"gives {slot} as something that is not in its case"
        return None

    def _is_invented(self, groups: list[str]) -> bool:
        if len(groups) == 1:
            return len(groups[0]) >= LONG_GROUP and not self._is_known(groups[0])
        if sum(map(len, groups)) < LONG_NUMBER:
            return False
        return self._unknown_digits(groups) > SLIPS

    def _unknown_digits(self, groups: list[str]) -> int:
        """Count the digits that are left once known numbers are taken out, the longest first."""
        unknown, place = 0, 0
        while place < len(groups):
            for end in range(len(groups), place, -1):
                joined = "".join(groups[place:end])
                if len(joined) >= SHARED and self._is_known(joined):
                    place = end
                    break
            else:
                unknown += len(groups[place])
                place += 1
        return unknown

    def _is_known(self, digits: str) -> bool:
        return any(digits in known or (len(known) >= LONG_NUMBER and digits.endswith(known)) for known in self._digits)

    def _differs(self, value: str, fact: SpokenFact) -> bool:
        """Tell whether a caller said a value that the fact does not hold, before anybody else did."""
        told = f"{fact.value} {fact.say}"
        digits = "".join(re.findall(r"[0-9]", value))
        if len(digits) >= SHARED and re.search(r"[0-9]{3}", told):
            return not self._is_known(digits) and self._said_digits(digits)
        if not _is_name(str(fact.value)) or not _may_be_name(value):  # whole sentences are the agent's doing
            return False
        return not _words(value) & _words(told) and self._said_first(value)

    def _said_digits(self, digits: str) -> bool:
        return any(digits in "".join(groups) for line, _ in self._said for groups in spoken_numbers(line))

    def _said_first(self, value: str) -> bool:
        wanted = f" {' '.join(_WORD.findall(_plain(value)))} "
        for line, heard in self._said:
            if wanted in _spaced(line):
                return not any(wanted in _spaced(known) for known in self._known[:heard])
        return False


def _case_texts(case: CallCase) -> Iterator[str]:
    """Yield all that a caller may say because its case says so."""
    scenario, persona = case.scenario, case.persona
    for fact in case.facts.values():
        yield str(fact.value)
        yield fact.say
    yield from (*scenario.says, *scenario.clarifies, scenario.goal, *persona.before, *persona.after)
    for state in case.flow.states.values():
        yield from state.replies


@lru_cache(maxsize=4096)
def _all_digits(text: str) -> tuple[str, ...]:
    """Return the numbers of a text, and all of its digits at once where it is as short as a fact."""
    joined = ["".join(groups) for groups in spoken_numbers(text)]
    return (*joined, "".join(joined)) if joined else ()


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    """Return a text without accents, in small letters, with addresses spelled as they are written."""
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign)).casefold()
    for pattern, sign in _SPOKEN_MAIL:
        bare = pattern.sub(sign, bare) if sign == "@" and " dot " in bare else bare
    return _SPOKEN_MAIL[1][0].sub(".", bare) if "@" in bare else bare


def _is_name(value: str) -> bool:
    words = value.split()
    return 0 < len(words) <= NAME_WORDS and all(word[:1].isupper() and word.isalpha() for word in words)


def _may_be_name(value: str) -> bool:
    words = value.split()
    return 0 < len(words) <= NAME_WORDS and all(word.isalpha() for word in words)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(_plain(text)))


def _spaced(line: str) -> str:
    return f" {' '.join(_WORD.findall(line))} "
