"""Hold answers about single calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from riff_store.interaction import Interaction


class CallNames(NamedTuple):
    """Name a call."""

    run: str
    flow: str
    agent: str
    conversation: str
    trial: int


@dataclass(frozen=True, slots=True)
class Note:
    """Describe what a person wrote on a call, a turn (from 1) or a state of it; `at` is microseconds since the epoch.

    `verdict` is `pass` or `fail`, `code` the kind of failure, `labels` what else it was filed under, `editor` who wrote
    it as it stands where that is not its author.
    """

    id: str
    author: str
    at: int | None
    text: str | None
    turn: int | None = None
    state: str | None = None
    verdict: str | None = None
    code: str | None = None
    labels: Sequence[str] = ()
    editor: str | None = None


def verdict_of(notes: Iterable[Note]) -> str | None:
    """Return what people say of a call: `pass`, `fail`, `split` where they differ, `None` where nobody judged it."""
    given = {note.verdict for note in notes if note.verdict is not None}
    return "split" if len(given) > 1 else next(iter(given), None)


def codes_of(notes: Iterable[Note]) -> list[str]:
    """Return the codes that people gave a call, each once, in the order in which they were given."""
    return list(dict.fromkeys(note.code for note in notes if note.code is not None))


def authors_of(notes: Iterable[Note]) -> list[str]:
    """Return who wrote on a call, in the order in which they did."""
    return list(dict.fromkeys(note.author for note in notes))


@dataclass(frozen=True, slots=True)
class Call:
    """Describe a line of the list of calls; `started_at` is microseconds since the epoch, durations are seconds.

    What says where it first went wrong is `None` for a call that was served. `caller` names what played the caller,
    `caller_ok` says whether that kept to its part. `told_by` are the names that tell it from other calls of its id and
    run, empty where there are none. `notes` are what counts of what people wrote on it.
    """

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
    last_ok: str | None = None
    first_failed: str | None = None
    failure: str | None = None
    failure_detail: str | None = None
    failure_error: str | None = None
    caller: str | None = None
    caller_ok: bool | None = None
    told_by: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[Note] = ()

    @property
    def verdict(self) -> str | None:
        """Return what people say of it, as `verdict_of`."""
        return verdict_of(self.notes)

    @property
    def codes(self) -> list[str] | None:
        """Return the codes that people gave it, `None` where nobody wrote on it."""
        return codes_of(self.notes) if self.notes else None

    @property
    def noted_by(self) -> list[str] | None:
        """Return who wrote on it, `None` where nobody did."""
        return authors_of(self.notes) if self.notes else None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Describe one judge's score of one call on one aspect.

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
    """Describe a state's row of one call (docs/metrics.md, section 2); latency in milliseconds."""

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
class AskedStep:
    """Describe a step that a call's task asks for: the state that it enters, and the side that has to take it.

    `matched` says whether its arguments were those of the task, `None` where nothing tells.
    """

    state: str
    by: str
    called: bool
    matched: bool | None

    @property
    def is_right(self) -> bool:
        """Return whether the step was taken, and nothing speaks against its arguments."""
        return self.called and self.matched is not False


@dataclass(frozen=True, slots=True)
class CallDetail:
    """Hold all that is known of one call; `document` is the kept transcript as plain JSON values.

    `document` is None where text was not kept; its keys are turns, events, slots, tool_calls, expected_steps, errors.
    `interaction` is None where there is no record of who spoke when. `steps` are those of the task, in its order.
    """

    call: Call
    aspects: Mapping[str, float | None]
    verdicts: Sequence[Verdict]
    states: Sequence[VisitedState]
    document: Mapping[str, object] | None
    source_path: str
    source_line: int
    notes: Sequence[Note] = ()
    interaction: Interaction | None = None
    steps: Sequence[AskedStep] = ()
