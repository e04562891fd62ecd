"""Make one call: a caller and an agent speak in turn until something ends it, and the first cause counts."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

from riff_ingest.conversation import Conversation
from riff_runner.protocol import (
    Agent,
    AgentReply,
    AgentSession,
    AgentStopped,
    Caller,
    CallerFailed,
    CallerNotes,
    CallerSession,
    CallerTurn,
    CallLimits,
    CallProblem,
    CallRefused,
    CallView,
    StopReason,
    Unavailable,
)
from riff_runner.run.agent_call import AgentCall, CallProgress
from riff_runner.run.cases.case import CallCase
from riff_runner.run.clock import RunClock, as_measured
from riff_runner.run.flows.flow import SpokenFact
from riff_runner.run.tools import Tools, ToolSession


@dataclass(frozen=True, slots=True)
class CallEnd:
    """Describe how a call ended; `error` makes it one that is in no mean."""

    reason: StopReason
    completed: bool | None = False
    status: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class MadeCall:
    """Describe a call that was made; `extra` is what its line reports beyond the conversation."""

    case: CallCase
    conversation: Conversation
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallSetting:
    """Describe what all calls of a run share."""

    agent: Agent
    caller: Caller
    tools: Tools
    limits: CallLimits
    clock: RunClock
    report: Callable[[CallProgress], None]


class Call:
    """Make one call; `play` is used once."""

    def __init__(self, case: CallCase, setting: CallSetting) -> None:
        self._case = case
        self._setting = setting
        self._started_at = setting.clock.now()
        self._caller_requests: list[dict[str, Any]] = []
        self._opinion: dict[str, Any] = {}
        self._facts = {slot: fact.told for slot, fact in case.facts.items()}
        self._call = AgentCall(case, setting.limits, setting.clock, setting.report)

    async def play(self) -> MadeCall:
        """Return the call; raises `Unavailable` and `EndpointRefused`."""
        setting = self._setting
        self._call.tools = tools = await setting.tools.begin(self._case)
        session = caller = None
        end = CallEnd("error")
        try:
            session = await setting.agent.begin(self._call)
            caller = CheckedCaller(await setting.caller.begin(self._case, self._notes()), self._case)
            end = await self._until_end(session, caller)
        finally:
            reported = await _hung_up(session, caller, tools, end.reason)
        return self._made(self._with_status(end, reported), caller)

    def failed(self, problem: CallProblem) -> MadeCall:
        """Return the call as far as it came before a problem ended it; it is in no mean."""
        return self._recorded(CallEnd("error", None, error=str(problem)), None)

    async def _until_end(self, session: AgentSession, caller: CheckedCaller) -> CallEnd:
        try:
            return await self._converse(session, caller)
        except AgentStopped as stop:
            return self._at_end_state() or CallEnd(stop.reason)
        except CallerFailed as fault:
            return self._at_end_state() or CallEnd(fault.reason, None, error=f"caller: {fault}")
        except CallRefused as refused:
            return self._at_end_state() or CallEnd("error", None, error=str(refused))
        except Unavailable as problem:
            if end := self._at_end_state():
                self._call.note("unavailable", str(problem))
                return end
            raise

    async def _converse(self, session: AgentSession, caller: CheckedCaller) -> CallEnd:
        call, limits = self._call, self._setting.limits
        reply = await self._turn(session.greet)
        silences = unmoved = 0
        if end := self._ended(reply):
            return end
        while True:
            before = (call.state, len(call.view().collected))
            said = await caller.say(reply.text, call.view())
            if said.text.strip():
                call.caller_said(said.text)
            elif said.ends:  # there is nothing to answer
                return CallEnd("hangup")
            reply = await self._turn(partial(session.reply, said.text))
            silences = 0 if reply.text else silences + 1
            moved = call.state is None or (call.state, len(call.view().collected)) != before
            unmoved = 0 if moved else unmoved + 1
            if end := self._ended(reply):
                return end
            if said.ends:
                return CallEnd("hangup", status=reply.status)
            if silences >= limits.silences:
                return CallEnd("silence")
            if unmoved >= limits.state_turns:
                return CallEnd("loop")
            if call.turns >= limits.max_turns:
                return CallEnd("max_turns")

    async def _turn(self, ask: Callable[[], Awaitable[AgentReply | None]]) -> AgentReply:
        """Let the agent take one turn, for as long as the call may still last."""
        left = self._setting.limits.max_call_s - self._call.spent
        try:
            async with asyncio.timeout(max(0.0, left)) as timeout:
                self._call.begin_turn(timeout)
                reply = await ask()
        except TimeoutError:
            if not timeout.expired():
                raise
            raise AgentStopped("timeout") from None
        answer = reply or AgentReply("")
        self._call.end_turn(answer)
        return answer

    def _ended(self, reply: AgentReply) -> CallEnd | None:
        """Return the end of a call that the agent's turn ended, `None` if it goes on."""
        if end := self._at_end_state(reply):
            return end
        return CallEnd("agent_hangup", status=reply.status) if reply.ends else None

    def _at_end_state(self, reply: AgentReply | None = None) -> CallEnd | None:
        """Return the end of a call that reached a state in which its flow ends, `None` before that."""
        call = self._call
        outcome = call.flow.outcome_of(call.state)
        if outcome is None:
            return None
        completed = outcome == "success" or (outcome == "end" and not call.flow.contract.successes())
        return CallEnd("terminal", completed, reply.status if reply else None)

    def _with_status(self, end: CallEnd, reported: str | None) -> CallEnd:
        """Return the end with the status that the agent reported, else with that of the state that it reached."""
        statuses = self._case.flow.contract.final_statuses or ()
        status = end.status or reported
        if status is None and end.reason == "terminal" and self._call.state in statuses:
            status = self._call.state
        reports_goal = self._call.state is None and status in statuses and end.reason in ("hangup", "agent_hangup")
        if reports_goal:  # an agent that reports no states can only say it
            return CallEnd("terminal", True, status)
        return CallEnd(end.reason, end.completed, status, end.error)

    def _made(self, end: CallEnd, caller: CheckedCaller) -> MadeCall:
        error = end.error
        if error is None and (broke := caller.broke(self._call.view().collected)):
            error = f"caller: {broke}"
        self._opinion = caller.opinion
        if caller.is_recorded:  # who said then what the recording says, and nothing that was made up since
            self._facts = {}
        caller_ok = error is None or not error.startswith("caller:")
        return self._recorded(CallEnd(end.reason, end.completed, end.status, error), caller_ok)

    def _recorded(self, end: CallEnd, caller_ok: bool | None) -> MadeCall:
        case, setting, call = self._case, self._setting, self._call
        conversation = call.finish(
            archetype=case.flow.contract.archetype,
            agent_model=call.agent_model or setting.agent.name,
            persona=case.persona.name,
            scenario=case.scenario.name,
            trial=case.trial,
            started_at=self._started_at,
            duration_s=round(call.now, 3),
            completed=end.completed,
            stop_reason=end.reason,
            final_status=end.status,
            errored=end.error is not None,
            error=end.error,
            caller=setting.caller.name,
            caller_ok=caller_ok,
            contract=case.flow.contract,
            facts=self._facts,
            channel="text",
        )
        return MadeCall(case, conversation, self._extra())

    def _extra(self) -> dict[str, Any]:
        extra: dict[str, Any] = {"agent": self._setting.agent.name, "seed": self._case.seed}
        if self._call.requests:
            extra["requests"] = self._call.requests
        if self._caller_requests:
            extra["caller_requests"] = self._caller_requests
        if self._opinion:
            extra["caller_opinion"] = self._opinion
        return extra

    def _notes(self) -> CallerNotes:
        return CallerNotes(
            retried=lambda message, _: self._call.note("retried", f"caller: {message}"),
            request=lambda details: self._caller_requests.append(as_measured(self._setting.clock, details)),
        )


async def _hung_up(
    session: AgentSession | None, caller: CheckedCaller | None, tools: ToolSession, reason: StopReason
) -> str | None:
    """Tell all of them that the call is over, whatever happens meanwhile; return the status that the agent reports."""
    async with AsyncExitStack() as ending:
        ending.push_async_callback(tools.end)
        if caller is not None:
            ending.push_async_callback(caller.end, reason)
        return await session.end(reason) if session is not None else None


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
        self.is_recorded = False
        self.opinion: dict[str, Any] = {}
        """What the caller itself says of how the call went, once it hung up; no score."""

    async def say(self, heard: str, view: CallView) -> CallerTurn:
        """Return what the caller says; raises `CallerFailed` if it makes no sense a second time."""
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
        """Return in what the caller did not keep to its part, `None` if it did.

        `collected` is what the agent took down at the end.
        """
        if self.is_recorded:
            return None
        return self._broke or self._facts.belies(collected)

    def _take(self, heard: str, turn: CallerTurn) -> None:
        self._lines.append(turn.text)
        self.is_recorded = turn.recorded
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
        """Return what a line gives away that the caller cannot know, `None` if there is nothing of that kind."""
        self._said.append((_plain(text), len(self._known)))
        for groups in spoken_numbers(text):
            if self._is_invented(groups):
                return f"gives the number {'-'.join(groups)}, which is not in its case"
        for mail in _MAIL.findall(_plain(text)):
            if not any(mail.rstrip(".") in known for known in self._known):
                return f"gives the address {mail}, which is not in its case"
        return None

    def belies(self, collected: Mapping[str, Any]) -> str | None:
        """Return of which slot the caller said something else than its case, `None` if there is none."""
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
        """Return whether a caller said a value that the fact does not contain, before anybody else did."""
        told = f"{fact.value} {fact.say}"
        digits = "".join(re.findall(r"[0-9]", value))
        if len(digits) >= SHARED and re.search(r"[0-9]{3}", told):
            said = (groups for line, _ in self._said for groups in spoken_numbers(line))
            return not self._is_known(digits) and any(digits in "".join(groups) for groups in said)
        known, words = str(fact.value).split(), value.split()
        if not all(word[:1].isupper() for word in known):
            return False
        for name in (known, words):  # whole sentences are the agent's doing
            if not 0 < len(name) <= NAME_WORDS or not all(word.isalpha() for word in name):
                return False
        return not _words(value) & _words(told) and self._was_first(value)

    def _was_first(self, value: str) -> bool:
        wanted = f" {' '.join(_WORD.findall(_plain(value)))} "
        for line, heard in self._said:
            if wanted in _spaced(line):
                return not any(wanted in _spaced(known) for known in self._known[:heard])
        return False


def _case_texts(case: CallCase) -> Iterator[str]:
    """Yield all that a caller may say because its case shows it."""
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


def _words(text: str) -> set[str]:
    return set(_WORD.findall(_plain(text)))


def _spaced(line: str) -> str:
    return f" {' '.join(_WORD.findall(line))} "
