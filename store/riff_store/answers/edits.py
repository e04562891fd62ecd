"""Hold edits of flows, and how the calls went before and after each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from riff_store.answers.changes import SuccessChange
from riff_store.measure import Measure

Basis: TypeAlias = Literal["commit", "time"]
"""What tells whether a run contains an edit: the ancestors of its commit, or only the time when it started."""


class Edit(NamedTuple):
    """Describe a commit that touched the file of a flow; `time` is the author's, in microseconds since the epoch."""

    flow: str
    commit: str
    time: int
    author: str
    subject: str
    path: str


class LastEdit(NamedTuple):
    """Name the last edit that a run contains, and what tells so."""

    edit: Edit
    basis: Basis


@dataclass(frozen=True, slots=True)
class FlowOutcome:
    """Hold how the calls of a flow in one run went: how many count, their success rate and quality."""

    n: int
    success: Measure
    quality: Measure


@dataclass(frozen=True, slots=True)
class EditEffect:
    """Describe an edit between two runs of its flow: the first that contains it, and one before that does not.

    The one before is the last whose edits the next one has all, so that no other line of work is taken for
    what was there before. `runs` counts the runs whose last edit it is, `together` the edits between the same
    two runs, this one among them. `basis` is `time` where the commit of one of the two does not tell, `None`
    where there is neither. `before` and `after` are how the flow's calls went in those runs, led by the agents that
    led it in both, `change` how far they differ. Unless they were `judged_alike`, by the same judges, their
    qualities do not compare.
    """

    edit: Edit
    runs: int
    together: int
    previous_run: str | None
    next_run: str | None
    before: FlowOutcome | None
    after: FlowOutcome | None
    change: SuccessChange | None
    judged_alike: bool
    basis: Basis | None
