"""Try a call until there is a verdict, wait between tries, and give up in time."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NoReturn

from riff_ingest.conversation import Turn
from riff_runner.judge.evidence import evidence_of
from riff_runner.judge.protocol import Answer, ConversationName, Judge, Question, Refused, Rubric, Unanswered, Usage
from riff_store.errors import RiffError

LONGEST_ANSWER = 64 * 1024
LONGEST_REASON = 2_000
_KEYS = frozenset(("score", "evidence", "reason"))
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL | re.IGNORECASE)


class Malformed(RiffError):
    """Refuse an answer that is not a verdict; the message shows why, without words of the answer."""


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """Describe a score from 0 to 10, the numbers of the turns that decided it, and the judge's reason."""

    score: float
    evidence: tuple[int, ...]
    reason: str


def parse(answer: str, turns: Collection[int]) -> JudgeVerdict:
    """Return the verdict in an answer about a call of which these turns were shown; raise `Malformed`.

    The answer is one JSON object with exactly `score`, `evidence` and `reason`. One fence of code around
    the whole of it is taken off, for models without a JSON mode put it there; words before or after are not,
    for then somebody would have to choose which of several objects counts.
    """
    if len(answer) > LONGEST_ANSWER:
        raise Malformed("the answer is too long")
    text = answer.strip()
    if not text:
        raise Malformed("the answer is empty")
    fenced = _FENCED.fullmatch(text)
    try:
        value = json.loads(fenced[1] if fenced else text, object_pairs_hook=_object, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise Malformed("the answer is not JSON") from error
    if not isinstance(value, dict) or value.keys() != _KEYS:
        raise Malformed("the answer is not an object of score, evidence and reason alone")
    return JudgeVerdict(_score(value["score"]), _evidence(value["evidence"], turns), _reason(value["reason"]))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Malformed("the answer names a key twice")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _score(value: Any) -> float:
    if type(value) not in (int, float):
        raise Malformed("the score is not a number")
    if not 0 <= value <= 10:
        raise Malformed("the score is not from 0 to 10")
    return float(abs(value))  # of the two zeros, the plain one


def _evidence(value: Any, turns: Collection[int]) -> tuple[int, ...]:
    if not isinstance(value, list) or any(type(number) is not int for number in value):
        raise Malformed("the evidence is not a list of turn numbers")
    if any(number not in turns for number in value):
        raise Malformed("the evidence names a turn that was not shown")
    return tuple(sorted(set(value)))


def _reason(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Malformed("the reason is not text")
    reason = value.strip()
    return reason if len(reason) <= LONGEST_REASON else reason[:LONGEST_REASON] + "…"


MALFORMED_TRIES = 2
MOST_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Limit how long to wait for an answer, how often to try, and how long to wait in between, all in seconds."""

    timeout: float
    tries: int
    pause: float = 1.0
    longest_pause: float = 60.0
    longest_wait: float = 600.0


@dataclass(frozen=True, slots=True)
class CallToJudge:
    """Describe a conversation to be judged."""

    name: ConversationName
    turns: Sequence[Turn]


@dataclass(frozen=True, slots=True)
class JudgingOutcome:
    """Keep what came of a call: a verdict, or why it is unscored; `answered` where the judge said anything at all."""

    verdict: JudgeVerdict | None
    unscored: str | None = None
    answered: bool = True
    is_cut: bool = False
    judged_at: str | None = None


class RunStopped(RiffError):
    """Report that a call was given up unasked, because the whole run is to end."""


@dataclass
class Retry:
    """Ask one judge; `spent` grows with every answer, and `asking` counts questions that wait for theirs.

    A question takes one of the `turns` while it is asked, not while it waits to be asked again. A refusal that shows
    when to come back holds up its own question alone as long as others are answered; where the next one is refused as
    well nobody asks before `paused_until`.
    """

    judge: Judge
    rubric: Rubric
    policy: RetryPolicy
    random: Random = field(default_factory=Random)
    spent: Usage = field(default_factory=Usage)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MOST_AT_ONCE))
    asking: int = 0
    paused_until: float = 0.0
    _is_answered: bool = True

    async def outcome(self, call: CallToJudge) -> JudgingOutcome:
        """Return the verdict on a call; raise `Refused` and `RunStopped`."""
        evidence = evidence_of(call.turns)
        fault, answer = "", Answer()
        for attempt in range(MALFORMED_TRIES):
            if attempt and self.stopping.is_set():
                raise RunStopped
            try:
                answer = await self._answer(Question(call.name, evidence.prompt(self.rubric)))
                if answer.fault is not None:
                    raise Malformed(answer.fault)
                verdict = parse(answer.text, evidence.turns)
            except Unanswered as error:
                return JudgingOutcome(None, error.reason, answered=False, is_cut=evidence.is_cut)
            except Malformed as error:
                fault = str(error)
                continue
            return JudgingOutcome(verdict, is_cut=evidence.is_cut, judged_at=answer.judged_at)
        return JudgingOutcome(None, fault, is_cut=evidence.is_cut, judged_at=answer.judged_at)

    async def _answer(self, question: Question) -> Answer:
        attempt = 1
        while True:
            try:
                async with self.turns:
                    while self.paused_until > _now():
                        await self._wait(self.paused_until - _now())
                    await self._wait(0.0)
                    answer = await self._try(question)
            except Unanswered as error:
                if not error.again:
                    raise
                if attempt >= self.policy.tries:
                    tried = f", {attempt} times" if attempt > 1 else ""
                    raise Unanswered(f"{error.reason}{tried}") from error
                await self._pause(attempt, error)
                attempt += 1
            else:
                self._is_answered = True
                self.spent += answer.usage
                return answer

    async def _try(self, question: Question) -> Answer:
        self.asking += 1
        try:
            async with asyncio.timeout(self.policy.timeout):
                return await self.judge.ask(question)
        except TimeoutError:
            raise Unanswered("no answer in time") from None
        finally:
            self.asking -= 1

    async def _pause(self, attempt: int, error: Unanswered) -> None:
        if error.after is None:
            pause = min(self.policy.longest_pause, self.policy.pause * 2 ** (attempt - 1))
            await self._wait(pause * self.random.uniform(0.5, 1.0))
            return
        if error.after > self.policy.longest_wait:
            raise Refused(f"it wants to be asked again in {error.after / 60:.0f} minutes only ({error.reason})")
        if not self._is_answered:
            self.paused_until = max(self.paused_until, _now() + error.after)
        self._is_answered = False
        # Not all who were told the same time should come back at the same time.
        await self._wait(error.after + self.policy.pause * self.random.uniform(0.0, 0.5))

    async def _wait(self, seconds: float) -> None:
        """Wait, but not beyond the end of the run; raises `RunStopped` then."""
        if seconds > 0:
            try:
                await asyncio.wait_for(self.stopping.wait(), seconds)
            except TimeoutError:
                return
        if self.stopping.is_set():
            raise RunStopped


def _now() -> float:
    return asyncio.get_running_loop().time()
