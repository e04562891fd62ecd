"""Hold edits of flows, and the quality before and after each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Edit(NamedTuple):
    """Describe a commit that touched the file of a flow; `time` is the author's, in microseconds since the epoch."""

    flow: str
    commit: str
    time: int
    author: str
    subject: str
    path: str


@dataclass(frozen=True, slots=True)
class EditEffect:
    """Describe an edit between two runs of its flow: the last that started before it, and the first that did not.

    `runs` counts the runs that had no later edit, `together` the edits between the same two runs, this one
    among them. `before` and `after` are the quality of the flow in those runs, `(computed)` and over the agents
    that led it in both; `n_before` and `n_after` are the calls that count behind them.
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
