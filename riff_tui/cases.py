"""Make cases of stored calls: what broke yesterday is what the next agent is tried on."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec

from riff_runner.run.cases.case_file import CASE_SCHEMA, CaseFact, CaseFailure, CaseFile, CaseLine, CaseOrigin
from riff_runner.run.flows.scenarios import pools_of
from riff_runner.simulate.cast import personas
from riff_runner.simulate.lexicon import SpokenValue, pools
from riff_tui.errors import UsageError
from riff_tui.text.redaction import CARD_DIGITS, Redactor, is_luhn
from riff_tui.timeline_events import Moment, moments

if TYPE_CHECKING:
    from riff_runner.run.flows.flow import RunnableFlow
    from riff_store.database import Store
    from riff_store.queries.conversation import CallDetail
    from riff_store.queries.conversations import Call


# Put made-up values in the place of what points at a caller, so that a case can still be played.
#
# What breaks an agent is often the form of a value (a unit such as 132B, a name with an accent), so a stand-in has the
# form of what it replaces.
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
_RUN = re.compile(r"\d{4,}")
_DATE = re.compile(
    r"(?P<y>\d{4})(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})|(?P<a>\d{1,2})(?P<t>[-/.])(?P<b>\d{1,2})(?P=t)(?P<z>\d{4}|\d\d)"
)
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")
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
        broke=case.broke
        and msgspec.structs.replace(case.broke, detail=case.broke.detail and stand_ins.in_text(case.broke.detail)),
    )


class _StandIns:
    def __init__(self, case: CaseFile, slot_pools: Mapping[str, str]) -> None:
        self._random = Random(case.name)
        self._redact = Redactor(self._made_up)
        self._replaced: dict[str, str] = {}
        for slot, fact in case.facts.items():
            for text, pool in _pointing(fact.value, slot_pools.get(slot)):
                if text not in self._replaced:
                    self._stand_in(text, pool)
        for text in _names_told(case):
            if text not in self._replaced:
                self._stand_in(text, "person")
        whole = "|".join(re.escape(text) for text in sorted(self._replaced, key=len, reverse=True))
        self._found = re.compile(rf"(?<![\w-])(?:{whole})(?![\w-])", re.IGNORECASE) if whole else None
        self._by_case = {text.casefold(): new for text, new in self._replaced.items()}
        self._by_digits = {_digits(text): new for text, new in self._replaced.items() if _digits(text)}

    def fact(self, slot: str, fact: CaseFact) -> CaseFact:
        """Return what the caller of the case knows instead."""
        value, said = self._in_value(fact.value), self.in_text(fact.say)
        # What was said in other words than the value, and has nothing of it, would still tell of the old one.
        return CaseFact(value, said if value == fact.value or said != fact.say else "")

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
            return self._replaced.get(value) or self.in_text(value)
        if isinstance(value, int) and not isinstance(value, bool):
            new = self._replaced.get(str(value), "")
            return int(new) if new.removeprefix("-").isdecimal() else value
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
        # An address is said without its town as well, a code without its signs, and a date in other ways.
        if pool == "address":
            self._replaced.setdefault(text.partition(",")[0], new.partition(",")[0])
        runs = () if pool == "phone" else zip(_RUN.findall(text), _RUN.findall(new), strict=False)
        for old_part, new_part in runs:
            self._replaced.setdefault(old_part, new_part)
        for old_part, new_part in zip(_ways_to_say(text), _ways_to_say(new), strict=False):
            self._replaced.setdefault(old_part, new_part)

    def _of_pool(self, text: str, pool: str) -> str:
        words = set(_WORD.findall(text.casefold())) if pool == "person" else set()
        offered = [str(each.value) for each in pools()[pool].values if str(each.value) not in ("", text)]
        strange = [each for each in offered if not words & set(_WORD.findall(each.casefold()))]
        form = _form(text)
        # As a number it would lose a nought that it begins with.
        alike = [each for each in strange if _form(each) == form and (each[0] == "0") == (text[0] == "0")]
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
        """Return other digits and single letters in the same places, and other letters of `words` as well.

        A date stays one, and what has a digit by which it is checked can be checked still.
        """
        if (found := _DATE.fullmatch(text)) is not None:
            return self._date(found)
        form, first = (_SIGNS if words else _SIGNS_OF_CODES), re.search(r"\d", text)

        def other(match: re.Match[str]) -> str:
            is_first = first is not None and match.start() == first.start() and match[0] != "0"
            return self._pick(_TENS[is_first:] if match[0].isdecimal() else _LETTERS)

        return _checked(text, form.sub(other, text))

    def _date(self, found: re.Match[str]) -> str:
        """Return another day, written in the same way."""
        new = {"y": f"19{self._pick(_TENS[4:])}{self._pick(_TENS)}", "m": self._pick(_TENS[1:])}
        new |= {"d": f"{self._pick('12')}{self._pick(_TENS[:9])}"}
        # If it is not known which is the month, either can be.
        new |= {
            part: self._pick(_TENS[1:]) if int(found[part]) < 10 else f"1{self._pick(_TENS[:3])}"
            for part in ("a", "b")
            if int(found[part] or 99) <= 12
        }
        new |= {part: f"{self._pick('12')}{self._pick(_TENS[3:9])}" for part in ("a", "b") if part not in new}
        new |= {"z": new["y"]}

        def part(name: str) -> str:
            return new[name].zfill(len(found[name]))[-len(found[name]) :] if len(found[name]) > 1 else new[name][-1:]

        names = ("y", "m", "d") if found["y"] else ("a", "b", "z")
        return (found["s"] or found["t"]).join(map(part, names))

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


def _pointing(value: Any, pool: str | None) -> Iterator[tuple[str, str]]:
    """Yield what points at a person in a value, however deep, with the pool that represents it."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _pointing(part, pools_of([key], {}).get(key, pool))
    elif isinstance(value, list):
        for part in value:
            yield from _pointing(part, pool)
    elif pool in PERSONAL and type(value) in (str, int, float) and len(str(value)) >= _SHORTEST:
        yield str(value), pool


def _ways_to_say(text: str) -> list[str]:
    """Return how a date is said that is written in figures, the year before all else; nothing for any other text."""
    found = _DATE.fullmatch(text)
    if found is None or not found["y"] or not 1 <= int(found["m"]) <= len(_MONTHS):
        return []
    year, month, day = found["y"], _MONTHS[int(found["m"]) - 1], int(found["d"])
    nth = f"{day}{'th' if day in (11, 12, 13) else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"
    days = [f"{month} {nth}", f"{month} {day}", f"{nth} of {month}", f"{nth} {month}", f"{day} {month}"]
    numbers = [f"{day:02}.{found['m']}.{year}", f"{found['m']}/{day:02}/{year}", f"{day:02}/{found['m']}/{year}"]
    return [*(f"{each}{comma} {year}" for each in days for comma in ("", ",")), *days, *numbers]


def _checked(old: str, new: str) -> str:
    """Return a made-up number with the digits by which it is checked, where those of the old one are right."""
    plain = old.replace(" ", "")
    if _IBAN.fullmatch(plain) and _rest_of_iban(plain) == 1:
        made = f"{plain[:2]}00{new.replace(' ', '')[4:]}"
        signs = iter(f"{made[:2]}{98 - _rest_of_iban(made):02}{made[4:]}")
        return "".join(sign if sign == " " else next(signs) for sign in old)
    if len(_digits(old)) in CARD_DIGITS and is_luhn(_digits(old)):
        place = max(at for at, sign in enumerate(new) if sign.isdecimal())
        return next(made for digit in _TENS if is_luhn(_digits(made := f"{new[:place]}{digit}{new[place + 1 :]}")))
    return new


def _rest_of_iban(plain: str) -> int:
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97


def _digits(text: str) -> str:
    return "".join(sign for sign in text if sign.isdecimal())


LOOPING = 3
SHORTEST = 3


def case_of_call(
    detail: CallDetail, slot_pools: Mapping[str, str], *, until: int | None = None, name: str | None = None
) -> CaseFile:
    """Return the case of a call, up to turn `until` where one is given, counted from 1.

    `slot_pools` names the pool of the simulator for each slot of the flow that has one; by these it is known what the
    caller said and the agent never took down. Raises `UsageError` if the words of the call were not kept, if it has no
    such turn, and where its caller says nothing.
    """
    call = detail.call
    if detail.document is None:
        raise UsageError(
            f"the words of {call.conversation} were not kept, so there is nothing to say again",
            "ingest its file without --no-text",
        )
    happened = moments(detail.document)
    lines = _lines(happened, until)
    if not lines:
        raise UsageError(f"the caller of {call.conversation} says nothing{' until there' if until else ''}")
    entered = [moment.state for moment in happened if moment.kind == "state" and moment.state]
    return CaseFile(
        case_schema=CASE_SCHEMA,
        flow=call.flow,
        name=name or call.conversation.removeprefix(f"{call.flow}-"),
        persona=call.persona if call.persona in {persona.name for persona in personas()} else None,
        path=entered[: _broken_at(call, entered)],
        origin=CaseOrigin(call.run, call.conversation, call.agent, call.scenario, call.trial),
        broke=_failure(call),
        facts=_facts(detail.document, slot_pools, lines),
        lines=lines,
    )


def _lines(happened: Sequence[Moment], until: int | None) -> list[CaseLine]:
    """Return what the caller said in one go each: what the agent did not come between is one line."""
    spoken = [moment for moment in happened if moment.kind == "turn"]
    if until is not None and not 1 <= until <= len(spoken):
        raise UsageError(f"--until {until}: the call has turns 1 to {len(spoken)}")
    lines: list[CaseLine] = []
    goes_on = False
    for moment in spoken[:until]:
        text = str(moment.entry.get("text") or "").strip()
        if moment.entry.get("role") != "caller":
            goes_on = False
        elif text:
            said = CaseLine(text, moment.state)
            if goes_on:
                said = CaseLine(f"{lines[-1].text} {text}", lines.pop().state)
            lines.append(said)
            goes_on = True
    return lines


def _broken_at(call: Call, entered: Sequence[str]) -> int:
    """Return the place of the visit in which the call first went wrong, or how many there are if it did not."""
    places = [place for place, state in enumerate(entered) if state == call.first_failed]
    if not places:
        return len(entered)
    if call.failure == "loop":
        return places[min(len(places), LOOPING) - 1]
    return places[-1] if call.failure in ("stall", "escalation") else places[0]


def _failure(call: Call) -> CaseFailure | None:
    if call.first_failed is None:
        return None
    detail = ": ".join(filter(None, (call.failure_detail, call.failure_error)))
    return CaseFailure(call.first_failed, call.failure, call.last_ok, detail or None)


def _facts(
    document: Mapping[str, Any], slot_pools: Mapping[str, str], lines: Sequence[CaseLine]
) -> dict[str, CaseFact]:
    """Return what the agent took down, in the words of the caller where these are known, and what it missed."""
    slots = document.get("slots")
    said = "\n".join(line.text for line in lines)
    taken = {str(slot): value for slot, value in slots.items() if value is not None} if isinstance(slots, dict) else {}
    facts = {slot: CaseFact(value, _spoken(value, slot_pools.get(slot), said)) for slot, value in taken.items()}
    for slot, pool in slot_pools.items():
        if slot not in facts and (found := _missed(pool, said)) is not None:
            facts[slot] = CaseFact(found.value, "" if found.say == found.value else found.say)
    return facts


def _spoken(value: Any, pool: str | None, said: str) -> str:
    """Return how a value is said, an empty text if it is said as it is spelled."""
    if isinstance(value, str) and value:
        place = said.casefold().find(value.casefold())
        found = said[place : place + len(value)] if place >= 0 else ""
        if found.casefold() == value.casefold():
            return "" if found == value else found
    ways = [each.say for each in _values(pool) if type(each.value) is type(value) and each.value == value]
    if ways:
        return next((way for way in ways if way in said), ways[0])
    return ("yes" if value else "no") if isinstance(value, bool) else ""


def _missed(pool: str, said: str) -> SpokenValue | None:
    """Return the value of a pool that a caller says and no agent took down, the longest if there are several."""
    heard = said.casefold()
    told = ((each, each.say.casefold()) for each in _values(pool) if len(each.say.casefold()) >= SHORTEST)
    alone = (each for each, say in told if say in heard and re.search(rf"(?<![\w-]){re.escape(say)}(?![\w-])", heard))
    return max(alone, key=lambda each: len(each.say), default=None)


def _values(pool: str | None) -> Sequence[SpokenValue]:
    return pools()[pool].values if pool in pools() else ()


def case_where(
    store: Store,
    where: str,
    *,
    until: int | None = None,
    name: str | None = None,
    redact: bool = True,
    flow_file: str | None = None,
) -> CaseFile:
    """Return the case of the one call that a filter selects, with stand-ins for what points at its caller.

    `flow_file` is that of the call's flow if it is not a built-in one. Raises `UsageError` if the filter selects no
    call or several, where the file is of another flow, and as `case_of_call` does.
    """
    from riff_tui.views.conversation import call_named

    detail = call_named(
        store, where, "a case is made of one call: riff-tui case --where 'run=R conversation=C' -o FILE"
    )
    slot_pools = _slot_pools(detail, _flow_of(detail, flow_file))
    case = case_of_call(detail, slot_pools, until=until, name=name)
    return with_stand_ins(case, slot_pools) if redact else case


def case_text_at(location: str, where: str) -> str:
    """Return the file of the case of the one call that a filter selects in the store at a location."""
    from riff_runner.run.cases.case_file import case_text
    from riff_store.database import open_store

    with open_store(location) as opened, opened.snapshot():
        return case_text(case_where(opened, where))


def _flow_of(detail: CallDetail, flow_file: str | None) -> RunnableFlow | None:
    from riff_runner.run.flows.flow_files import load_flow
    from riff_runner.simulate.flow_file import flow_names

    if flow_file is None:
        return load_flow(detail.call.flow) if detail.call.flow in flow_names() else None
    flow = load_flow(flow_file)
    if flow.name != detail.call.flow:
        raise UsageError(f"{flow_file} is of the flow {flow.name}, and the call is of {detail.call.flow}")
    return flow


def _slot_pools(detail: CallDetail, flow: RunnableFlow | None) -> Mapping[str, str]:
    """Return the pool of each slot: what the flow has for the call's scenario, else what the slot's name means."""
    from riff_runner.run.flows.scenarios import pools_of

    slots = (detail.document or {}).get("slots")
    taken = list(map(str, slots)) if isinstance(slots, Mapping) else []
    if flow is None:
        return pools_of(taken, {})
    return pools_of(dict.fromkeys([*flow.slots, *taken]), flow.scenario_like(detail.call.scenario).pools)
