"""Describe where a run is: how many of its calls are done, what came of them, and how long the rest will take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from riff_runner.run.agent_call import CallStatus
from riff_runner.run.prices import SpentTokens

RunPhase: TypeAlias = Literal["running", "ended", "stopped"]
"""`ended` runs have every call that was planned, `stopped` ones do not, and no process works on them."""

WatchedStatus: TypeAlias = CallStatus | Literal["dropped"]
"""`dropped` calls were under way when their run stopped; nothing of them was kept."""


@dataclass(frozen=True, slots=True)
class WatchedCall:
    """Describe where a call is; times are seconds since the epoch.

    `changed_at` is when it last gave a sign of life, `None` if that is not known any more; `completed` shows what came
    of one that is over.
    """

    conversation_id: str
    flow: str
    status: WatchedStatus
    state: str | None = None
    turn: int | None = None
    changed_at: float | None = None
    why: str | None = None
    completed: bool | None = None

    def idle_s(self, now: float) -> float | None:
        """Return for how many seconds a call that is under way gave no sign; `None` for one that is over."""
        if self.changed_at is None or self.status not in ("running", "retrying"):
            return None
        return max(0.0, now - self.changed_at)


class CallCounts(NamedTuple):
    """Count calls: `done` are over, whatever came of them; `errored`, `caller_failed` and `completed` are among them.

    `errored` ones are in no mean, `caller_failed` among them for their caller alone. `retried` took more than one
    request for an answer, or were made more than once.
    """

    done: int = 0
    completed: int = 0
    errored: int = 0
    caller_failed: int = 0
    retried: int = 0
    running: int = 0
    retrying: int = 0

    def plus(self, more: CallCounts, times: int = 1) -> CallCounts:
        """Return the counts with others added so many times."""
        return CallCounts(*(count + times * other for count, other in zip(self, more, strict=True)))


@dataclass(frozen=True, slots=True)
class RunStatus:
    """Describe where a run is at `as_of`, in seconds since the epoch.

    `under_way` are the calls that run or are retried, the ones that were silent longest first. `rate_per_min` is that
    of the last minutes, `None` as long as no call ended in them; `eta_s` follows from it. Tokens are `None` if no model
    was asked. `reasons` show why calls were errored and how many, the most frequent first. `ending` shows how the last
    process ended, `killed` if it had no chance to say so.
    """

    run_id: str
    directory: Path
    as_of: float
    phase: RunPhase
    agent: str
    caller: str
    planned: int
    counts: CallCounts
    flows: Mapping[str, CallCounts] = field(default_factory=dict)
    under_way: tuple[WatchedCall, ...] = ()
    rate_per_min: float | None = None
    agent_tokens: SpentTokens | None = None
    caller_tokens: SpentTokens | None = None
    reasons: tuple[tuple[str, int], ...] = ()
    started_at: float | None = None
    ending: str | None = None
    host: str | None = None

    @property
    def left(self) -> int:
        """Return how many calls are not done."""
        return max(0, self.planned - self.counts.done)

    @property
    def spent(self) -> list[SpentTokens]:
        """Return the tokens of both sides, as far as models were asked."""
        return [tokens for tokens in (self.agent_tokens, self.caller_tokens) if tokens is not None]

    @property
    def eta_s(self) -> float | None:
        """Return in how many seconds the run will be done at its present rate, `None` if that is not known."""
        if self.phase != "running" or not self.rate_per_min:
            return None
        return self.left / self.rate_per_min * 60.0
