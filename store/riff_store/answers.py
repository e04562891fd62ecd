"""What the queries answer: frozen values, never rows of the database.

A `Measure` carries its n and its interval. `None` is not measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from riff_store.measure import Measure


@dataclass(frozen=True, slots=True)
class FlowCell:
    """A cell of the flow matrix: what was asked for in `keys` (flow, agent and any `by`), and its means.

    `aspects` maps a computed aspect to its measure, `humanness` a judge to its own; latencies are
    seconds. `successes` is the rate of calls with correctness 10.
    """

    keys: Mapping[str, str | None]
    n: int
    excluded: int
    aspects: Mapping[str, Measure]
    humanness: Mapping[str, Measure]
    successes: Measure | None
    operability: float | None
    trend: Sequence[float | None] = ()


@dataclass(frozen=True, slots=True)
class StateCell:
    """A cell of the state matrix; `keys` hold flow, state and any `by`.

    `measures` are progress, stall, escalation, revisit, dwell_turns, latency_p95 (seconds), guard_error
    and slot_fill_rate. A state that a flow file describes and no call has seen has n = 0. `expected`
    counts the calls whose task asks for the state, `missed` and `wrong_args` are shares of them;
    of the `failed` ones among them `missed_failed` never came there.
    """

    keys: Mapping[str, str | None]
    segment: str
    n: int
    measures: Mapping[str, Measure]
    to_states: Mapping[str, int]
    expected: int | None = None
    missed: float | None = None
    wrong_args: float | None = None
    failed: int | None = None
    missed_failed: int | None = None


@dataclass(frozen=True, slots=True)
class SegmentCell:
    """A cell of the segment matrix, with the member that does worst; of that only its measures are asked."""

    keys: Mapping[str, str | None]
    n: int
    measures: Mapping[str, Measure]
    worst: StateCell


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


@dataclass(frozen=True, slots=True)
class Call:
    """A line of the conversation list. `started_at` is microseconds since the epoch, durations are seconds."""

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


@dataclass(frozen=True, slots=True)
class Verdict:
    """One judge's score of one call on one aspect."""

    aspect: str
    judge: str
    score: float | None
    judged_at: int | None
    model: str | None
    rationale: str | None


@dataclass(frozen=True, slots=True)
class VisitedState:
    """A state's row of one call (metrics.md, section 2); latency in milliseconds."""

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
class CallDetail:
    """One call with everything that is known of it; `document` is the kept transcript as plain JSON values.

    `document` is None where text was not kept; its keys are turns, events, slots, tool_calls, errors.
    """

    call: Call
    aspects: Mapping[str, float | None]
    verdicts: Sequence[Verdict]
    states: Sequence[VisitedState]
    document: Mapping[str, object] | None
    source_path: str
    source_line: int


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
    """A judge in one version of its prompt, and how it goes with the others on the calls both scored."""

    judge: str
    model: str | None
    prompt_hash: str | None
    n: int
    unscored: int
    mean: Measure
    agreement: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ArchetypeCell:
    """A family of flows: pooled over its (flow, agent) cells, with the member that does worst.

    `archetype` is None for the flows that name no family.
    """

    archetype: str | None
    flows: int
    n: int
    excluded: int
    operability: float | None
    correctness: Measure
    completion: Measure
    worst_flow: str
    worst_operability: float | None


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
