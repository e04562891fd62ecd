"""Hold the entries of lists, and the totals of a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from riff_store.alignment import Rates
from riff_store.answers.cells import FirstToMend, FlowCell, SegmentCell, StateCell
from riff_store.measure import Measure


@dataclass(frozen=True, slots=True)
class RunSummary:
    """Describe a run: its calls that count, how many were correct and complete, and their mean quality.

    `written_by` says who stored its calls; `caller_failed` and `overall` are as in a cell of flows.
    """

    run: str
    label: str | None
    commit: str | None
    branch: str | None
    started_at: int | None
    flows: int
    n: int
    excluded: int
    success: Measure
    quality: Measure
    caller_failed: int = 0
    overall: Measure | None = None
    written_by: str | None = None


@dataclass(frozen=True, slots=True)
class JudgeSummary:
    """Describe a judge in one version of its prompt, and how it agrees with the others on shared calls.

    `shared` counts those calls by the other's name. `prompt_version` is what most of its verdicts say, `shown` the
    name that a filter finds it by. `rates` hold it against people and are `None` for a person; `disputed` counts the
    calls that they leave out since people disagree there.
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
    shared: Mapping[str, int] = field(default_factory=dict)
    rates: Rates | None = None
    disputed: int = 0


@dataclass(frozen=True, slots=True)
class SkippedEntry:
    """Describe something that was not taken as it stood, or a verdict that is joined to no call."""

    path: str
    line: int | None
    kind: str
    reason: str
    conversation: str | None


@dataclass(frozen=True, slots=True)
class Worklist:
    """Hold the cells behind each list of the worklist, ranked and cut, and the state to begin with.

    `excluded` and `caller_failed` are as in a cell of flows, over all of them. `by_steps` are the flows whose states
    are ranked by the steps that their tasks ask for, `by_ends` those of the others with states derived from tools in
    which calls were lost; `handovers` those steps of failed calls that hand over to a human and were missed, which are
    on no list.
    """

    flows: Sequence[FlowCell]
    segments: Sequence[SegmentCell]
    states: Sequence[StateCell]
    excluded: int
    first: FirstToMend | None = None
    caller_failed: int = 0
    by_steps: Sequence[str] = ()
    by_ends: Sequence[str] = ()
    handovers: Sequence[StateCell] = ()
