"""Hold the cells of the matrices, with the measures behind them, and a state among its neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from riff_store.answers.edits import LastEdit
from riff_store.answers.steps import StepCounts
from riff_store.interaction import Interaction
from riff_store.measure import Measure


@dataclass(frozen=True, slots=True)
class FlowCell:
    """Describe a cell of the flow matrix: its names in `keys` (flow, agent and any `by`), and its means.

    `aspects` maps a computed aspect to its measure, `humanness` a judge to its own; latencies are
    seconds. `success` is the rate of calls that were correct and complete, `quality` the mean quality of calls,
    `computed_quality` that without judges, `lost` counts the calls that ended without being served. `blend` is
    operability before its caps. `trend` holds success rates. `last_edit` is the flow's last before the latest run
    of the cell. Of the excluded calls `caller_failed` are those whose caller failed; `overall` is the success with
    these counted as they ended, `None` where there are none. `interaction` sums how the sides of the calls in `n`
    shared the line, `interaction_all` adds the excluded ones; both are `None` where no such call has a record of it.
    """

    keys: Mapping[str, str | None]
    n: int
    excluded: int
    aspects: Mapping[str, Measure]
    humanness: Mapping[str, Measure]
    success: Measure
    quality: Measure
    computed_quality: Measure
    lost: int | None
    operability: float | None
    blend: float | None
    trend: Sequence[float | None] = ()
    last_edit: LastEdit | None = None
    caller_failed: int = 0
    overall: Measure | None = None
    interaction: Interaction | None = None
    interaction_all: Interaction | None = None


@dataclass(frozen=True, slots=True)
class ArchetypeCell:
    """Describe a family of flows: its pooled cell, and the (flow, agent) with the least and the most success.

    `archetype` is None for the flows that name no family. Thin members stand for a family only where there is no
    other; without any success rate there is none.
    """

    archetype: str | None
    flows: int
    family: FlowCell
    least: FlowCell | None
    most: FlowCell | None


@dataclass(frozen=True, slots=True)
class StateCell:
    """Describe a cell of the state matrix; `keys` hold flow, state and any `by`, `lost` counts the calls lost there.

    `measures` are progress, stall, escalation, revisit, dwell_turns, latency_p95 (seconds), guard_error
    and slot_fill_rate. A state that a flow file describes and no call has seen has n = 0. `steps` counts the
    calls whose task asks for the state, `None` where none does; `asks_steps` says that tasks of its flow name steps.
    """

    keys: Mapping[str, str | None]
    segment: str
    n: int
    measures: Mapping[str, Measure]
    to_states: Mapping[str, int]
    lost: int | None = None
    steps: StepCounts | None = None
    asks_steps: bool = False

    def figure(self, metric: str) -> float | None:
        """Return what a metric shows: its mean, of lost calls their number."""
        return _figure(self, metric)


@dataclass(frozen=True, slots=True)
class SegmentCell:
    """Describe a cell of the segment matrix, with the member that does worst, of which only the measures are given.

    `lost` counts the calls lost in its states. `most` and `least` are the members with most and least progress.
    """

    keys: Mapping[str, str | None]
    n: int
    measures: Mapping[str, Measure]
    worst: StateCell
    least: StateCell
    most: StateCell
    lost: int | None = None

    def figure(self, metric: str) -> float | None:
        """Return what a metric shows: its mean, of lost calls their number."""
        return _figure(self, metric)


def _figure(cell: StateCell | SegmentCell, metric: str) -> float | None:
    if metric == "lost":
        return cell.lost
    measure = cell.measures.get(metric)
    return None if measure is None else measure.mean


@dataclass(frozen=True, slots=True)
class FirstToMend:
    """Name the state behind most failed calls, and what mending it could bring.

    It lost `lost` of the `n` calls of its flow; `completion` is the share of these that were complete, and
    `completion_at_most` what it could be without the loss. Of the `agents` that led calls through the state
    `losing` lost some.

    With `steps` it is a step that tasks ask for: `agents` led calls that had to take it, failed ones of those that are
    `losing` missed it. Mended, `success_rate` could rise to `success_rate_at_most`; of completion nothing is known.
    """

    flow: str
    state: str
    lost: int
    n: int
    completion: float | None
    completion_at_most: float | None
    agents: Sequence[str]
    losing: Sequence[str]
    steps: StepCounts | None = None
    success_rate: float | None = None
    success_rate_at_most: float | None = None


@dataclass(frozen=True, slots=True)
class Neighbor:
    """Describe a state before or after another: how often the step was taken, its share of the side, and its stall.

    `n` calls came to it, None where they were not counted.
    """

    state: str
    count: int
    share: float | None
    stall: float | None
    n: int | None
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class Victim:
    """Describe a state that lies behind another one: what it would lose if that one broke.

    Of its `n` calls the share `through` had been in the other state before; of the calls that left the other one
    forward the share `reached` came here. It would have seen `starved` more calls, had the other one lost none.
    """

    state: str
    through: float | None
    reached: float | None
    starved: float | None
    n: int | None


@dataclass(frozen=True, slots=True)
class BlastRadius:
    """Hold the states behind a state, in the order in which they would starve.

    The figures are from the `calls` themselves, or from those of the flow's other `agents`; what the flow's `files`
    say has none. It is not `is_ordered` where the store has calls of which it does not know the order of visits.
    """

    basis: Literal["calls", "agents", "files"]
    victims: Sequence[Victim]
    is_ordered: bool = True


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """Describe a state between its predecessors and successors, and what starves if it breaks.

    `cell` is None where no call saw the state; `steps` counts the calls whose tasks ask for it, seen or not. `blast`
    and some `n` of neighbours are looked for only where it `is_whole`.
    """

    flow: str
    state: str
    cell: StateCell | None
    predecessors: Sequence[Neighbor]
    successors: Sequence[Neighbor]
    loops: int
    blast: BlastRadius
    calls: int
    steps: StepCounts | None = None
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class Bucket:
    """Count the values from `low` up to but not at `high`; the last bucket may have no end."""

    low: float
    high: float | None
    count: int


@dataclass(frozen=True, slots=True)
class PooledLatency:
    """Hold the latencies in seconds of all turns in a state, as far as transcripts were kept.

    `turns` with a latency come from `calls`, those from `kept` transcripts. Where these are `too_many`
    to be read, and where they hold no latency, the percentiles are None and there are no buckets.
    """

    p50: float | None
    p95: float | None
    p99: float | None
    turns: int
    calls: int
    kept: int
    too_many: bool = False
    buckets: Sequence[Bucket] = ()
