"""Count what comes of a run: its calls, what was tried again, and the tokens that it took."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from riff_ingest.conversation import Contract, Conversation
from riff_runner.protocol import StopReason
from riff_runner.run.agent_call import RETRIED
from riff_runner.run.call import MadeCall

TokenSide: TypeAlias = Literal["agent", "caller"]
DIVERGED: StopReason = "diverged"
REQUESTS: Mapping[TokenSide, str] = {"agent": "requests", "caller": "caller_requests"}
"""The key of a line's `extra` that lists the requests of a side."""
LONGEST_REASON = 300
_MOST_REASONS = 1000
_CHANGING = re.compile(r"\b(?=\w*\d)\w{6,}\b")
"""What differs from call to call in errors that are the same otherwise: ids, addresses and times."""


@dataclass(slots=True)
class TokenTally:
    """Count tokens; `None` if a request did not report them."""

    input: int | None = 0
    output: int | None = 0

    def add(self, requests: Iterable[Mapping[str, Any]]) -> None:
        """Add what requests took."""
        for request in requests:
            self.input = _sum(self.input, request.get("prompt_tokens"))
            self.output = _sum(self.output, request.get("completion_tokens"))


@dataclass(slots=True)
class CallTally:
    """Count the calls that ended; the errored ones are in `calls`, and those whose caller failed are errored.

    `diverged` are those of the latter in which a frozen caller met another state than the recorded one. `stopped`
    counts by their `stop_reason` those that are neither errored nor completed; of these `handed_over` went to a human.
    """

    calls: int = 0
    completed: int = 0
    errored: int = 0
    caller_failed: int = 0
    diverged: int = 0
    stopped: Counter[str] = field(default_factory=Counter)
    handed_over: int = 0

    def add(self, call: Conversation) -> None:
        """Count a call."""
        self.calls += 1
        self.errored += call.errored
        self.caller_failed += call.caller_ok is False
        self.diverged += call.errored and call.stop_reason == DIVERGED
        self.completed += not call.errored and call.completed is True
        if not call.errored and call.completed is not True:
            self.stopped[call.stop_reason or "unknown"] += 1
            escalations = (call.contract or Contract()).escalations()
            self.handed_over += call.stop_reason == "terminal" and call.final_state in escalations


@dataclass(slots=True)
class RunTally:
    """Count how far a run is.

    `planned` are the calls of the run and `before` those that it had already; `retried` counts calls in which a
    request, or all of the call, was tried again. `reasons` counts why calls were errored, with `…` for what differs
    from call to call.
    """

    planned: int
    before: int = 0
    running: int = 0
    retried: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    total: CallTally = field(default_factory=CallTally)
    flows: dict[str, CallTally] = field(default_factory=dict)
    tokens: dict[TokenSide, TokenTally] = field(default_factory=lambda: {"agent": TokenTally(), "caller": TokenTally()})

    @property
    def done(self) -> int:
        """Return how many calls of the run are there."""
        return self.before + self.total.calls

    @property
    def has_tokens(self) -> bool:
        """Return whether a model was asked."""
        return any((each.input, each.output) != (0, 0) for each in self.tokens.values())

    def spend(self, extra: Mapping[str, Any]) -> None:
        """Count the tokens of a try, whatever came of it."""
        for side, name in REQUESTS.items():
            self.tokens[side].add(extra.get(name, ()))

    def add(self, made: MadeCall) -> None:
        """Count a call that ended."""
        call = made.conversation
        self.total.add(call)
        if call.errored:
            count_reason(self.reasons, reason_of(call.error))
        self.flows.setdefault(call.flow, CallTally()).add(call)
        noted = call.errors if isinstance(call.errors, list) else []
        was_retried = any(isinstance(error, dict) and error.get("kind") == RETRIED for error in noted)
        self.retried += was_retried or "attempts" in made.extra


def reason_of(error: str | None) -> str:
    """Return why a call was errored, with `…` for what differs from call to call."""
    return _CHANGING.sub("…", error[:LONGEST_REASON]) if error else "unknown"


def count_reason(reasons: Counter[str], reason: str, calls: int = 1) -> None:
    """Count calls that were errored for a reason; of more reasons than anybody reads the later ones are left out."""
    if reason in reasons or len(reasons) < _MOST_REASONS:
        reasons[reason] += calls


def _sum(known: int | None, more: Any) -> int | None:
    return None if known is None or type(more) is not int else known + more
