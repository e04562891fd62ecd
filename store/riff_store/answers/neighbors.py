"""What is said of a state and of the states around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from riff_store.answers.cells import StateCell


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A state on one side of another: how often the step was taken, its share of that side, and its own health."""

    state: str
    count: int
    share: float | None
    stall: float | None
    n: int
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """A state between its predecessors and successors, and what it can reach.

    `cell` is None where no call saw the state. `reach` maps each state reachable from it to the
    share of the flow's calls that got there.
    """

    flow: str
    state: str
    cell: StateCell | None
    predecessors: Sequence[Neighbor]
    successors: Sequence[Neighbor]
    loops: int
    reach: Mapping[str, float]
    calls: int


@dataclass(frozen=True, slots=True)
class Bucket:
    """How many values lie from `low` up to but not at `high`; the last bucket may have no end."""

    low: float
    high: float | None
    count: int


@dataclass(frozen=True, slots=True)
class PooledLatency:
    """Latencies in seconds of all turns in a state at once, as far as transcripts were kept.

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
