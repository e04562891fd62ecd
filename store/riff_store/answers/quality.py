"""Hold the quality of the rows of the flow matrix as one judge at a time sees it: by run, and by flow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from riff_store.answers.edits import LastEdit

COMPUTED = "(computed)"
"""Quality in the eyes of no judge: humanness left out."""


@dataclass(frozen=True, slots=True)
class RunQuality:
    """Describe a run on the timeline: `quality` maps `(computed)` and each judge to the mean over the run's rows.

    A row is a (flow, agent). `rows` says over how many of them each mean was taken: those that the judge
    scored. `started_at` is microseconds since the epoch. `edit` is the latest edit of any of its flows that
    it contains.
    """

    run: str
    started_at: int | None
    commit: str | None
    flows: int
    n: int
    excluded: int
    quality: Mapping[str, float | None]
    rows: Mapping[str, int]
    edit: LastEdit | None = None


@dataclass(frozen=True, slots=True)
class QualityCell:
    """Hold the quality of one agent on one flow as one judge sees it; of `n` calls the judge scored `scored`."""

    agent: str
    judge: str
    quality: float | None
    n: int
    scored: int


@dataclass(frozen=True, slots=True)
class FlowQuality:
    """Describe a flow in the calibration panel: a cell for each agent that led it and each judge, in this order."""

    flow: str
    n: int
    excluded: int
    cells: Sequence[QualityCell]
