"""Hold how good calls were, run by run and flow by flow, and how each judge saw them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from riff_store.answers.changes import FlowChange, SuccessChange
from riff_store.answers.edits import LastEdit
from riff_store.measure import Measure

COMPUTED = "(computed)"
"""Quality in the eyes of no judge: humanness left out."""


@dataclass(frozen=True, slots=True)
class RunQuality:
    """Describe a run on the timeline, its measures over all its calls that count.

    `quality` maps `(computed)` to the quality without humanness, and each judge to its own scores. `change` is that
    against the run before, `moved` the flows whose change is more than chance. `started_at` is microseconds since
    the epoch. `edit` is the latest edit of any of its flows that it contains.
    """

    run: str
    started_at: int | None
    commit: str | None
    flows: int
    n: int
    excluded: int
    success: Measure
    quality: Mapping[str, Measure]
    change: SuccessChange | None = None
    moved: Sequence[FlowChange] = ()
    edit: LastEdit | None = None


@dataclass(frozen=True, slots=True)
class QualityCell:
    """Hold what one judge says of one agent on one flow, or `(computed)`: the quality of its calls without humanness.

    The agent is `None` for all of the flow's calls.
    """

    agent: str | None
    judge: str
    quality: Measure


@dataclass(frozen=True, slots=True)
class FlowQuality:
    """Describe a flow in the calibration panel: a cell for each agent that led it and each judge, in this order.

    `pooled` are the cells over all its calls.
    """

    flow: str
    n: int
    excluded: int
    cells: Sequence[QualityCell]
    pooled: Sequence[QualityCell]
