"""Define what a judge is to whoever asks it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from riff_ingest.judging.rubric import JudgePrompt
from riff_store.errors import RiffError, UsageError


class ConversationName(NamedTuple):
    """Identify a call; what a verdict does not say of flow, agent and trial is `None`."""

    run: str
    conversation: str
    flow: str | None = None
    agent: str | None = None
    trial: int | None = None

    @property
    def id(self) -> tuple[str, str]:
        """Return the run and the id, which several calls may have in common."""
        return self[:2]

    def may_be(self, call: ConversationName) -> bool:
        """Say whether nothing that this name says speaks against a call."""
        pairs = zip(self, call, strict=True)
        return all(mine == theirs or mine is None or theirs is None for mine, theirs in pairs)


class Signature(NamedTuple):
    """Hold what has to be the same for a score to count as given already."""

    model: str | None
    prompt_hash: str | None


@dataclass(frozen=True, slots=True)
class Usage:
    """Count the tokens that were paid for."""

    input: int = 0
    output: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.input + other.input, self.output + other.output)


@dataclass(frozen=True, slots=True)
class Question:
    """Hold one call to be judged, and the prompt that asks for it."""

    run: str
    conversation: str
    prompt: JudgePrompt
    flow: str | None = None
    agent: str | None = None
    trial: int | None = None

    @property
    def name(self) -> ConversationName:
        """Return the name of the call."""
        return ConversationName(self.run, self.conversation, self.flow, self.agent, self.trial)


@dataclass(frozen=True, slots=True)
class Answer:
    """Hold what came back: `text` to be read as a verdict, or the `fault` for which there is none.

    `judged_at` is the time of a verdict that was given earlier.
    """

    text: str = ""
    fault: str | None = None
    usage: Usage = Usage()
    judged_at: str | None = None


class Judge(Protocol):
    """Answer prompts; a judge knows neither files nor retries."""

    def signature(self, run: str, conversation: str) -> Signature | None:
        """Return how the answer will be signed; `None` where this judge has nothing to say of the call."""

    async def ask(self, question: Question) -> Answer:
        """Try once to answer; raises `Unanswered` where there was no answer and `Refused` where there will be none."""

    async def close(self) -> None:
        """Give back what the judge holds."""


class Unanswered(RiffError):
    """Report a try that brought no answer.

    `again` says whether another one may, `after` how many seconds to wait first.
    """

    def __init__(self, reason: str, *, again: bool = True, after: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.again = again
        self.after = after


class Refused(RiffError):
    """Report that the judge cannot be asked at all, for this call or any other; the message says what to do."""


class Misconfigured(UsageError):
    """Refuse settings of a judge that make no sense; the message says which."""
