"""Hold the differences of two runs, or of two agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from riff_store.measure import Measure, PooledMeasure

Verdict: TypeAlias = Literal["worse", "better", "differs", "mixed", "noise", "not measured"]
Newly: TypeAlias = Literal["broken", "mended"]
Failed: TypeAlias = Literal["a", "b", "both"]


@dataclass(frozen=True, slots=True)
class Side:
    """Describe a run or an agent: `n` of its calls are compared, `excluded` are errored, `led` names agents or runs.

    `led` holds a run's agents, and an agent's runs; `called` what played the callers, where that is known.
    """

    kind: Literal["run", "agent"]
    name: str
    n: int = 0
    excluded: int = 0
    led: Sequence[str] = ()
    called: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """Hold how B differs from A in one aspect of one flow, by one judge; computed aspects have no judge.

    With `pairs` the measures are over so many pairs of calls and `alone_a`, `alone_b` count the measured
    calls that have no partner; `pairs` None means that all calls of either side are compared as they are.
    `effect` is b − a and `interval` its 95 % interval, in the aspect's unit: a share for `success_rate`,
    0-10 for `completion`, else that of the aspect. `only_a`, `only_b`, `both` and `neither` count the
    pairs whose call failed on that side, for rates. Of a `mixed` one most calls went one way and the
    mean the other. `p_adjusted` is corrected across all differences of the comparison; `tendency` is the
    verdict that there would be if none were chance. Between runs a flow is `newly` broken where its
    success rate fell by more than chance, mended where it rose.
    """

    flow: str
    aspect: str
    judge: str | None
    better: Literal["higher", "lower"] | None
    rate: bool
    a: Measure | PooledMeasure
    b: Measure | PooledMeasure
    effect: float | None
    interval: tuple[float, float] | None
    pairs: int | None
    alone_a: int
    alone_b: int
    test: str | None
    p: float | None
    p_adjusted: float | None
    verdict: Verdict
    tendency: Verdict
    only_a: int | None = None
    only_b: int | None = None
    both: int | None = None
    neither: int | None = None
    newly: Newly | None = None

    @property
    def events_a(self) -> int | None:
        """Return the events of A, `None` for what is no figure over events."""
        return self.a.events if isinstance(self.a, PooledMeasure) else None

    @property
    def events_b(self) -> int | None:
        """Return the events of B, `None` for what is no figure over events."""
        return self.b.events if isinstance(self.b, PooledMeasure) else None


@dataclass(frozen=True, slots=True)
class FlowPairs:
    """Describe a flow that both sides called: how many calls count on each, were errored, and make pairs."""

    flow: str
    n_a: int
    n_b: int
    excluded_a: int
    excluded_b: int
    pairs: int


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Count pairs by which of their calls failed; `p` is McNemar's, exact, of those that came out differently."""

    only_a: int
    only_b: int
    both: int
    neither: int
    p: float

    @property
    def pairs(self) -> int:
        """Return the number of all pairs."""
        return self.only_a + self.only_b + self.both + self.neither


@dataclass(frozen=True, slots=True)
class Comparison:
    """Hold the differences of two sides, the worst first; `tested` of them have a p and were corrected for.

    The sides, `flows`, `only_in_a` and `only_in_b` are of the calls that are looked at, `differences` of every flow.
    `only_in_a` and `only_in_b` are flows that one side alone has calls of that count, with how many. `counts` are those
    of all paired success rates that are looked at, `None` without any.
    """

    a: Side
    b: Side
    differences: Sequence[Difference]
    flows: Sequence[FlowPairs]
    only_in_a: Mapping[str, int]
    only_in_b: Mapping[str, int]
    counts: PairCounts | None = None

    @property
    def tested(self) -> int:
        """Return the number of differences that the p-values are corrected for."""
        return sum(difference.p is not None for difference in self.differences)

    @property
    def looked_at(self) -> Sequence[Difference]:
        """Return the differences in the flows that are looked at."""
        flows = {flow.flow for flow in self.flows}
        return [difference for difference in self.differences if difference.flow in flows]


@dataclass(frozen=True, slots=True)
class FailedCall:
    """Describe one side of a pair: the call, its end, and its correctness, or completion if that alone failed.

    `told_by` is as in `Call`.
    """

    run: str
    conversation: str
    agent: str
    stop_reason: str | None
    final_state: str | None
    score: float
    told_by: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FailedPair:
    """Hold two calls of the same task, of which one or both failed; `persona` is `None` where theirs differ."""

    failed: Failed
    flow: str
    persona: str | None
    scenario: str | None
    trial: int
    a: FailedCall
    b: FailedCall


@dataclass(frozen=True, slots=True)
class Failures:
    """Hold the pairs that failed: by side, then flow, scenario, persona and trial.

    `counts` are of all pairs that are measured. `alone_a` and `alone_b` count failed calls without a partner,
    `unknown` the pairs of which a side has neither correctness nor completion.
    """

    a: Side
    b: Side
    pairs: Sequence[FailedPair]
    counts: PairCounts
    unknown: int
    alone_a: int
    alone_b: int
