"""What is said of single calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Call:
    """A line of the conversation list. `started_at` is microseconds since the epoch, durations are seconds."""

    id: int
    run: str
    conversation: str
    flow: str
    agent: str
    persona: str | None
    scenario: str | None
    trial: int
    started_at: int | None
    duration_s: float | None
    completed: bool | None
    stop_reason: str | None
    final_state: str | None
    final_status: str | None
    errored: bool
    error: str | None
    correctness: float | None
    turn_count: float | None
    latency_p95: float | None
    error_count: int
    defects: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """One judge's score of one call on one aspect.

    `evidence` are the numbers of the turns that it named, counted from 1; `None` where it says nothing of turns.
    """

    aspect: str
    judge: str
    score: float | None
    judged_at: int | None
    model: str | None
    rationale: str | None
    prompt_hash: str | None = None
    prompt_version: str | None = None
    evidence: Sequence[int] | None = None


@dataclass(frozen=True, slots=True)
class VisitedState:
    """A state's row of one call (metrics.md, section 2); latency in milliseconds."""

    state: str
    segment: str
    progress: int
    stall: int
    escalation: int
    revisit: int
    dwell_turns: float
    latency_p95_ms: float | None
    guard_error: int
    slot_fill_rate: float | None
    to_states: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class CallDetail:
    """One call with everything that is known of it; `document` is the kept transcript as plain JSON values.

    `document` is None where text was not kept; its keys are turns, events, slots, tool_calls, errors.
    """

    call: Call
    aspects: Mapping[str, float | None]
    verdicts: Sequence[Verdict]
    states: Sequence[VisitedState]
    document: Mapping[str, object] | None
    source_path: str
    source_line: int
