"""Find out whether a caller keeps to the facts of its case by what nobody says by chance: numbers, addresses, names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from riff_ingest.runner.callers.spoken_numbers import spoken_numbers
from riff_ingest.runner.cases.case import CallCase
from riff_ingest.runner.flows.flow import SpokenFact

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
