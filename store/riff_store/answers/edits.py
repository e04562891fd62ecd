"""Hold edits of flows, and the quality before and after each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

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
class EditEffect:
    """Describe an edit between two runs of its flow: the first that contains it, and one before that does not.

    The one before is the last whose edits the next one has all, so that no other line of work is taken for
    what was there before. `runs` counts the runs whose last edit it is, `together` the edits between the same
    two runs, this one among them. `basis` is `time` where the commit of one of the two does not tell, `None`
    where there is neither. `before` and `after` are the quality of the flow in those runs, `(computed)` and over
    the agents that led it in both; `n_before` and `n_after` are the calls that count behind them.
    """

    edit: Edit
    runs: int
    together: int
    previous_run: str | None
    next_run: str | None
    before: float | None
    after: float | None
    n_before: int
    n_after: int
    basis: Basis | None
