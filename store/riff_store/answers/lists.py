"""What is listed beside the matrices, and what the store holds as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from riff_store.answers.cells import FlowCell, SegmentCell, StateCell
from riff_store.measure import Measure


@dataclass(frozen=True, slots=True)
class RunSummary:
    run: str
    label: str | None
    commit: str | None
    branch: str | None
    started_at: int | None
    flows: int
    n: int
    excluded: int


@dataclass(frozen=True, slots=True)
class JudgeSummary:
    """A judge in one version of its prompt, and how it goes with the others on the calls both scored.

    `prompt_version` is what most of its verdicts say, `shown` the name that a filter finds it by.
    """

    judge: str
    model: str | None
    prompt_hash: str | None
    n: int
    unscored: int
    mean: Measure
    agreement: Mapping[str, float | None] = field(default_factory=dict)
    prompt_version: str | None = None
    shown: str = ""
    aspect: str = "humanness"


@dataclass(frozen=True, slots=True)
class SkippedEntry:
    """Something that was not taken as it stood."""

    path: str
    line: int | None
    kind: str
    reason: str
    conversation: str | None


@dataclass(frozen=True, slots=True)
class Worklist:
    """What to work on: the cells behind each list, already ranked and cut."""

    flows: Sequence[FlowCell]
    segments: Sequence[SegmentCell]
    states: Sequence[StateCell]
    excluded: int


@dataclass(frozen=True, slots=True)
class Overview:
    """What the store holds; `calls` count, `excluded` were errored."""

    flows: int
    agents: int
    runs: int
    calls: int
    excluded: int
