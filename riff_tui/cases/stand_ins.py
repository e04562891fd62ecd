"""Put made-up values in the place of what points at a caller, so that a case can still be played.

What breaks an agent is often the form of a value (a unit such as 132B, a name with an accent), so a stand-in has the
form of what it stands for.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import msgspec

from riff_runner.run.cases.case_file import CaseFact, CaseFile, CaseLine
from riff_runner.run.cases.scenarios import pools_of
from riff_runner.simulate.lexicon import pools
from riff_tui.text.redaction import Redactor

_CODES = frozenset({"phone", "unit", "pin", "gate_code", "birth_date", "member_id"})
PERSONAL = _CODES | {"person", "attendee", "recipient", "email", "address", "passphrase"}
"""The pools of the simulator that stand for what points at a person, or opens a door."""
_SHORTEST = 3
_FICTITIOUS = "55501"
_TENS = "0123456789"
_LETTERS = "ABCDEFGHKLMNPRSTUVW"
_SIGNS = re.compile(r"[^\W_]")
_SIGNS_OF_CODES = re.compile(r"\d|(?<![^\W\d_])[^\W\d_](?![^\W\d_])")
_WORD = re.compile(r"[^\W\d_]{2,}")
_FORMS = ((re.compile(r"\d"), "9"), (_WORD, "w"), (re.compile(r"[^\W\d_](?<!w)"), "A"))
_NAME = r"([^\W\d_a-z][\w'’-]+(?: [^\W\d_a-z][\w'’-]+){0,2})"
_INTRODUCED = re.compile(rf"\b(?i:my name is|my name's) {_NAME}")
_IN_ANSWER = re.compile(rf"\b(?i:i am|i'm|this is|it's) {_NAME}|^{_NAME}[.,!]*$")
_NO_NAMES = frozenset({"yes", "no", "sure", "okay", "ok", "hello", "hi", "hey", "thanks", "thank you", "sorry", "none"})
_FIRST_FREE, _FREE = 0xE000, 0x1900
_KEPT_FREE = re.compile("[\ue000-\uf8ff]")


def with_stand_ins(case: CaseFile, slot_pools: Mapping[str, str]) -> CaseFile:
    """Return the case with other values: for slots that point at a person, and for what a pattern finds anywhere.

    The same text is replaced by the same one throughout, and the same case always gets the same.
    """
    stand_ins = _StandIns(case, slot_pools)
    return msgspec.structs.replace(
        case,
        redacted=True,
        goal=stand_ins.in_text(case.goal),
        says=[stand_ins.in_text(text) for text in case.says],
        facts={slot: stand_ins.fact(slot, fact) for slot, fact in case.facts.items()},
        lines=[CaseLine(stand_ins.in_text(line.text), line.state) for line in case.lines],
    )


class _StandIns:
    def __init__(self, case: CaseFile, slot_pools: Mapping[str, str]) -> None:
        self._random = Random(case.name)
        self._redact = Redactor(self._made_up)
        self._personal = {
            slot: str(fact.value)
            for slot, fact in case.facts.items()
            if slot_pools.get(slot) in PERSONAL
            and not isinstance(fact.value, bool)
            and len(str(fact.value)) >= _SHORTEST
        }
        self._replaced: dict[str, str] = {}
        for slot, text in self._personal.items():
            if text not in self._replaced:
                self._stand_in(text, slot_pools[slot])
        for text in _names_told(case):
            if text not in self._replaced:
                self._stand_in(text, "person")
        whole = "|".join(re.escape(text) for text in sorted(self._replaced, key=len, reverse=True))
        self._found = re.compile(rf"(?<![\w-])(?:{whole})(?![\w-])", re.IGNORECASE) if whole else None
        self._by_case = {text.casefold(): new for text, new in self._replaced.items()}
        self._by_digits = {_digits(text): new for text, new in self._replaced.items() if _digits(text)}

    def fact(self, slot: str, fact: CaseFact) -> CaseFact:
        """Return what the caller of the case knows instead."""
        old = self._personal.get(slot)
        if old is None:
            return CaseFact(self._in_value(fact.value), self.in_text(fact.say))
        new = self._replaced[old]
        said = self.in_text(fact.say) if old.casefold() in fact.say.casefold() else ""
        return CaseFact(int(new) if isinstance(fact.value, int) and new.isdecimal() else new, said)

    def in_text(self, text: str) -> str:
        """Return a text with stand-ins, which no pattern is looked for in again."""
        held: list[str] = []

        def hold(match: re.Match[str]) -> str:
            held.append(self._by_case.get(match[0].casefold(), "…"))
            return chr(_FIRST_FREE + len(held) - 1) if len(held) <= _FREE else held[-1]

        text = _KEPT_FREE.sub("\ufffd", text)
        text = self._found.sub(hold, text) if self._found is not None else text
        return _KEPT_FREE.sub(lambda match: held[ord(match[0]) - _FIRST_FREE], self._redact(text))

    def _in_value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.in_text(value)
        if isinstance(value, list):
            return [self._in_value(item) for item in value]
        if isinstance(value, dict):
            return {key: self._in_value(item) for key, item in value.items()}
        return value

    def _stand_in(self, text: str, pool: str) -> None:
        new = self._of_pool(text, pool)
        if pool == "person" and " " not in text:
            new = new.partition(" ")[0]
        self._replaced[text] = new
        if pool == "person":
            # Callers use one of their names alone as well.
            for old_part, new_part in zip(_WORD.findall(text), _WORD.findall(new), strict=False):
                self._replaced.setdefault(old_part, new_part)

    def _of_pool(self, text: str, pool: str) -> str:
        words = set(_WORD.findall(text.casefold())) if pool == "person" else set()
        offered = [str(each.value) for each in pools()[pool].values if str(each.value) not in ("", text)]
        strange = [each for each in offered if not words & set(_WORD.findall(each.casefold()))]
        form = _form(text)
        alike = [each for each in strange if _form(each) == form]
        if alike:
            return self._pick(alike)
        if pool in _CODES:
            return self._phone(text) if pool == "phone" else self._same_form(text)
        near = difflib.get_close_matches(form, {_form(each) for each in strange}, n=1, cutoff=0.0)
        return self._pick([each for each in strange if _form(each) in near])

    def _made_up(self, kind: str, number: int, found: str) -> str:
        known = self._by_digits.get(_digits(found)) if kind in ("phone", "number", "card") else None
        if known is not None:
            return known
        if kind == "email":
            return self._of_pool(found, "email")
        return self._phone(found) if kind == "phone" else self._same_form(found, words=kind in ("token", "iban", "ip"))

    def _phone(self, text: str) -> str:
        """Return a number that nobody has, written in the same way; what is said before the number stays."""
        before = len(_digits(text)) - len(_FICTITIOUS) - 2
        if before < 0:
            return self._same_form(text)
        digits = iter(_digits(text)[:before] + _FICTITIOUS + self._pick(_TENS) + self._pick(_TENS))
        return "".join(next(digits) if sign.isdecimal() else sign for sign in text)

    def _same_form(self, text: str, *, words: bool = False) -> str:
        """Return other digits and single letters in the same places, and other letters of `words` as well."""
        form = _SIGNS if words else _SIGNS_OF_CODES
        return form.sub(lambda match: self._pick(_TENS if match[0].isdecimal() else _LETTERS), text)

    def _pick(self, options: Sequence[str]) -> str:
        return options[int(self._random.random() * len(options))]


def _names_told(case: CaseFile) -> list[str]:
    """Return names by which callers introduce themselves, or that answer a state which asks for a name."""
    found: list[str] = []
    for line in case.lines:
        found += _INTRODUCED.findall(line.text)
        if line.state and pools_of([line.state], {}).get(line.state) == "person":
            found += [name for match in _IN_ANSWER.finditer(line.text) for name in match.groups() if name]
    return [name for name in dict.fromkeys(found) if name.casefold() not in _NO_NAMES]


def _form(text: str) -> str:
    """Return what a value looks like: 9 for a digit, w for a word, A for a single letter."""
    for pattern, sign in _FORMS:
        text = pattern.sub(sign, text)
    return text


def _digits(text: str) -> str:
    return "".join(sign for sign in text if sign.isdecimal())
