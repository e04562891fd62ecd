"""Compare two runs, or two agents, and test whether they differ by more than chance."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from riff_store import schema as m
from riff_store.database import Store
from riff_store.filters.predicates import Predicate
from riff_store.interaction import EVENTS
from riff_store.measure import UNIT, Measure, PooledMeasure
from riff_store.metrics import OF_CALLS, OF_TURNS, POOLED, TEN, Direction, Metric, Pooled, metric_of
from riff_store.queries.flows import selected_judges
from riff_store.queries.sides import (
    KINDS,
    ComparedAspect,
    PairCounts,
    Side,
    SideCalls,
    Solved,
    measured,
    paired,
    side_reader,
    sides,
)
from riff_store.queries.sums import has_interaction
from riff_store.statistics import intervals, pairing, ratios, significance
from riff_store.statistics import pairing as samples
from riff_store.statistics.intervals import Estimate, Interval
from riff_store.statistics.pairing import Chosen, Compared, Places, chosen
from riff_store.statistics.ratios import CallSums
from riff_store.statistics.significance import Stratum

if TYPE_CHECKING:
    from riff_store.queries.sides import MeasuredRow
    from riff_store.statistics import Floats, Keys

    Sums: TypeAlias = Mapping[str, Floats]
    """The sums of calls by name; nan where it is not known who spoke when."""


_ORDER: tuple[Verdict, ...] = ("worse", "differs", "better", "noise", "not measured")
_NEWLY: Mapping[Verdict, Newly] = {"worse": "broken", "better": "mended"}
_FIRST: tuple[Newly | None, ...] = ("broken", "mended", None)

Verdict: TypeAlias = Literal["worse", "better", "differs", "noise", "not measured"]
Newly: TypeAlias = Literal["broken", "mended"]
Allowed: TypeAlias = Callable[[str, str | None], float]
"""Return how far an aspect, by a judge, may fall, in its unit."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Describe how B differs from A in one aspect of one flow, by one judge; computed aspects have no judge.

    With `pairs` the measures are over so many pairs of calls and `alone_a`, `alone_b` count the measured calls that
    have no partner; `pairs` None means that all calls of either side are compared as they are. `effect` is b − a and
    `interval` its 95 % interval, in the aspect's unit: a share for `success_rate`, 0-10 for `completion`, else that of
    the aspect. `only_a`, `only_b`, `both` and `neither` count the pairs whose call failed on that side, for rates; `up`
    and `down` the pairs in which B has more, or less, of a mean. `p_adjusted` is corrected across all differences of
    the comparison; `tendency` is the verdict that there would be if none were chance. `error` is the standard error of
    a mean's `effect`; `p_beyond` is the p of no more than what is allowed, where B is worse by more. Between runs a
    flow is `newly` broken if its success rate fell by more than chance, fixed if it rose.
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
    up: int | None = None
    down: int | None = None
    newly: Newly | None = None
    error: float | None = None
    p_beyond: float | None = None

    @property
    def events_a(self) -> int | None:
        """Return the events of A, `None` for what is not a figure over events."""
        return self.a.events if isinstance(self.a, PooledMeasure) else None

    @property
    def events_b(self) -> int | None:
        """Return the events of B, `None` for what is not a figure over events."""
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
class Comparison:
    """Describe the differences of two sides, the worst first; `tested` of them have a p and were corrected for.

    The sides, `flows`, `only_in_a` and `only_in_b` are of the calls that are looked at, `differences` of every flow.
    `only_in_a` and `only_in_b` are flows that one side alone has calls of that count, with how many. `solved` counts
    the successes in the flows that are looked at, `None` if they are not measured. `errored_a` and `errored_b` count
    the errored calls of each flow.
    """

    a: Side
    b: Side
    differences: Sequence[Difference]
    flows: Sequence[FlowPairs]
    only_in_a: Mapping[str, int]
    only_in_b: Mapping[str, int]
    solved: Solved | None = None
    errored_a: Mapping[str, int] = field(default_factory=dict)
    errored_b: Mapping[str, int] = field(default_factory=dict)

    @property
    def counts(self) -> PairCounts | None:
        """Return the counts of all pairs, `None` if nothing is compared in pairs."""
        return None if self.solved is None else self.solved.pairs

    @property
    def tested(self) -> int:
        """Return the number of differences that the p-values are corrected for."""
        return sum(difference.p is not None for difference in self.differences)

    @property
    def looked_at(self) -> Sequence[Difference]:
        """Return the differences in the flows that are looked at."""
        flows = {flow.flow for flow in self.flows}
        return [difference for difference in self.differences if difference.flow in flows]


_PLACE = {name: place for place, name in enumerate(name for name in KINDS if OF_CALLS[name].compared)}


def compare(
    store: Store,
    a: str,
    b: str,
    calls: Predicate | None = None,
    judges: Predicate | None = None,
    *,
    also: Collection[str] = (),
    within: Predicate | None = None,
    allowed: Allowed | None = None,
) -> Comparison:
    """Compare B with A, flow by flow: what is newly failing or passing first (docs/statistics.md).

    `a` and `b` are as `sides` takes them. `within` narrows `calls` to those that are looked at: it names the last
    runs and the sides' calls are counted in it, but tests are corrected across all flows. `judges` chooses the
    judges, `also` asks for aspects that are left out unless asked for (`latency_mean`); of what is `allowed` means are
    tested as well. A row is compared on its pairs where they cover at least half of the smaller side's measured calls.
    Raises `SideError`.
    """
    with store.snapshot():
        reader = side_reader(store)
        first, second = (SideCalls(store, reader, side, calls) for side in sides(store, a, b, within))
        names = dict(store.execute(m.Flow.select(m.Flow.id, m.Flow.name)))
        flows_a, flows_b = first.by_flow(), second.by_flow()
        shared = sorted(flows_a.keys() & flows_b.keys(), key=names.__getitem__)
        pairs = pairing.pairs_by_key(first.flows(), paired(first, second))
        chosen = [(names[flow], Places(flows_a[flow], flows_b[flow]), pairs.get(flow)) for flow in shared]
        rows = measured(store, first, second, selected_judges(store, judges), also)
        found = list(_differences(rows, chosen, allowed or _nothing))
        if has_interaction(store):
            interactions = first.interactions(), second.interactions()
            found += [each for flow in chosen for each in pooled_differences(*flow, interactions, allowed or _nothing)]
        for key in sorted(set(also) & OF_TURNS.keys()):
            turns = first.latencies(), second.latencies()
            found += [each for flow in chosen for each in _tails(*flow, OF_TURNS[key], turns, allowed or _nothing)]
        seen, in_a, in_b = (first, second), flows_a, flows_b
        if within is not None and within != calls:
            seen = SideCalls(store, reader, first.side, within), SideCalls(store, reader, second.side, within)
            in_a, in_b = (side.by_flow() for side in seen)
    seen_flows = {names[flow] for flow in shared if flow in in_a or flow in in_b}
    return Comparison(
        a=seen[0].side,
        b=seen[1].side,
        solved=_solved(each for each in found if each.flow in seen_flows),
        differences=sorted(_corrected(found, of_runs=first.side.kind == "run"), key=_rank),
        flows=[
            FlowPairs(
                flow, len(places.first), len(places.second), first.errored.get(flow, 0), second.errored.get(flow, 0),
                0 if of_flow is None else len(of_flow.first),
            )
            for flow, places, of_flow in chosen
            if flow in seen_flows
        ],
        only_in_a={names[flow]: len(flows_a[flow]) for flow in sorted(in_a.keys() - flows_b.keys())},
        only_in_b={names[flow]: len(flows_b[flow]) for flow in sorted(in_b.keys() - flows_a.keys())},
        errored_a=seen[0].errored,
        errored_b=seen[1].errored,
    )  # fmt: skip


def _nothing(aspect: str, judge: str | None) -> float:
    """Allow no fall."""
    return 0.0


def _solved(differences: Iterable[Difference]) -> Solved | None:
    """Count what either side solved: of pairs where any success rate is compared in pairs, else of all calls."""
    rates = [each for each in differences if each.aspect == "success_rate" and each.p is not None]
    pairs = [each for each in rates if each.pairs]
    if pairs:
        names = ("only_a", "only_b", "both", "neither")
        only_a, only_b, both, neither = (sum(getattr(each, name) or 0 for each in pairs) for name in names)
        return PairCounts(only_a, only_b, both, neither, significance.mcnemar(only_a, only_b)).solved
    strata = [Stratum(each.a.total // UNIT, each.a.n, each.b.total // UNIT, each.b.n) for each in rates]
    if not strata:
        return None
    first, n_a, second, n_b = (sum(counts) for counts in zip(*strata, strict=True))
    change = significance.rate_change(strata)
    return Solved(first, second, n_a, n_b, change or 0.0, significance.stratified_fisher(strata))


def _differences(
    rows: Iterable[MeasuredRow], chosen: Sequence[tuple[str, Places, Places | None]], allowed: Allowed
) -> Iterator[Difference]:
    """Yield the differences of each kind of row in those flows that have any, with their calls and pairs."""
    for kind, judge, values in rows:
        known = samples.known(values[0]), samples.known(values[1])
        for flow, places, pairs in chosen:
            of_flow = pairing.compared(values, known, places, pairs)
            difference = _difference(flow, kind, judge, of_flow, allowed(kind.name, judge))
            if difference is not None:
                yield difference


def _difference(
    flow: str, kind: ComparedAspect, judge: str | None, of_flow: Compared, allowed: float
) -> Difference | None:
    """Return the difference in one flow, or `None` if neither side measured anything."""
    first, second, on_pairs, alone = of_flow
    if not len(first) and not len(second):
        return None
    plain = Difference(
        flow=flow, aspect=kind.name, judge=judge, better=kind.better, rate=kind.rate,
        a=_measure(kind, first), b=_measure(kind, second), effect=None, interval=None,
        pairs=on_pairs, alone_a=alone[0], alone_b=alone[1],
        test=None, p=None, p_adjusted=None, verdict="not measured", tendency="not measured",
    )  # fmt: skip
    if not len(first) or not len(second):
        return plain
    if kind.rate:
        return (_unpaired_rates if on_pairs is None else _paired_rates)(plain, kind, first, second)
    return _means(plain, first, second, allowed)


def _measure(kind: ComparedAspect, values: Floats) -> Measure:
    if not kind.rate:
        return samples.mean_of(values)
    hits = samples.hits(values, kind.top)
    return Measure(len(values), round(hits * UNIT * kind.scale), hits * kind.scale**2, rate=True, scale=kind.scale)


def _paired_rates(plain: Difference, kind: ComparedAspect, first: Floats, second: Floats) -> Difference:
    hits = samples.hit_pairs(first, second, kind.top)
    return replace(
        _with_effect(plain, _scaled(intervals.paired_rates(*hits), kind)),
        test="McNemar",
        p=significance.mcnemar(hits.only_second, hits.only_first),
        tendency=_verdict(plain.better, hits.only_second - hits.only_first),
        only_a=hits.only_second,
        only_b=hits.only_first,
        both=hits.neither,
        neither=hits.both,
    )


def _unpaired_rates(plain: Difference, kind: ComparedAspect, first: Floats, second: Floats) -> Difference:
    hits = samples.hits(first, kind.top), len(first), samples.hits(second, kind.top), len(second)
    return replace(
        _with_effect(plain, _scaled(intervals.unpaired_rates(*hits), kind)),
        test="Fisher",
        p=significance.fisher(*hits),
        tendency=_verdict(plain.better, hits[2] * hits[1] - hits[0] * hits[3]),
    )


def _means(plain: Difference, first: Floats, second: Floats, allowed: float) -> Difference:
    if plain.pairs is None:
        found = intervals.of_samples(first, second)
        return _tested(plain, "permutation", found, lambda by: significance.unpaired_means(first, second, by), allowed)
    changes = second - first
    found = intervals.of_pairs(changes)
    tested = _tested(plain, "sign flips", found, lambda by: significance.paired_means(changes, by), allowed)
    up, down = samples.signs(changes)
    return replace(tested, up=up, down=down)


def _tested(
    plain: Difference, test: str, found: Estimate | None, p: Callable[[float], float], allowed: float
) -> Difference:
    """Return the difference with its estimate and test, whose p is that of a difference by so much."""
    change = _change(plain)
    margin = -allowed if plain.better == "higher" else allowed
    beyond = allowed and plain.better and margin * (change - margin) > 0
    return replace(
        _with_effect(plain, None if found is None else _possible(plain, found.interval)),
        test=test,
        p=p(0.0),
        p_beyond=p(margin) if beyond else None,
        tendency=_verdict(plain.better, change),
        error=None if found is None else math.sqrt(found.variance),
    )


def _possible(plain: Difference, interval: Interval) -> Interval:
    """Return an interval cut to the differences that there can be on the scale of the aspect."""
    metric = metric_of(plain.aspect)
    low, high = metric.bounds if metric is not None and plain.judge is None else TEN
    return max(low - high, interval[0]), min(high - low, interval[1])


def _with_effect(plain: Difference, interval: Interval | None) -> Difference:
    return replace(plain, effect=_change(plain), interval=interval)


def _change(plain: Difference) -> float:
    """Return the difference of the means by whole numbers, so that its sign is never one of rounding."""
    a, b = (each.events if isinstance(each, PooledMeasure) else each.n for each in (plain.a, plain.b))
    return (plain.b.total * a - plain.a.total * b) / (UNIT * a * b)


def _scaled(interval: Interval | None, kind: ComparedAspect) -> Interval | None:
    return None if interval is None else (interval[0] * kind.scale, interval[1] * kind.scale)


def _verdict(better: Direction | None, change: float) -> Verdict:
    """Return the verdict if a difference is more than chance."""
    if not change:
        return "noise"
    if better is None:
        return "differs"
    return "better" if (change > 0) == (better == "higher") else "worse"


def _corrected(found: Sequence[Difference], *, of_runs: bool) -> list[Difference]:
    tested = [difference.p for difference in found if difference.p is not None]
    adjusted = iter(significance.benjamini_hochberg(tested))
    return [
        difference if difference.p is None else _judged(difference, next(adjusted), of_runs=of_runs)
        for difference in found
    ]


def _judged(difference: Difference, p: float, *, of_runs: bool) -> Difference:
    verdict = difference.tendency if p <= significance.SIGNIFICANT else "noise"
    newly = _NEWLY.get(verdict) if of_runs and difference.aspect == "success_rate" else None
    return replace(difference, p_adjusted=p, verdict=verdict, newly=newly)


def _rank(difference: Difference) -> tuple[int, int, float, float, str, int, str, str]:
    whole = 10 / difference.a.scale if difference.rate else 1.0
    return (
        _FIRST.index(difference.newly),
        _ORDER.index(difference.verdict),
        1.0 if difference.p_adjusted is None else difference.p_adjusted,
        -round(abs(difference.effect or 0.0) * whole, 9),
        difference.flow,
        _PLACE.get(difference.aspect, len(_PLACE)),
        difference.aspect,
        difference.judge or "",
    )


def pooled_differences(
    flow: str, calls: Places, pairs: Places | None, sums: tuple[Sums, Sums], allowed: Allowed
) -> Iterator[Difference]:
    """Yield the differences of one flow in the figures of which either side has an event."""
    first, second = (samples.known(side[EVENTS[0]]) for side in sums)
    found = chosen((first, second), calls, pairs)
    for key, figure in POOLED.items():
        difference = _pooled_difference(flow, OF_CALLS[key], figure, found, sums, allowed(key, None))
        if difference.a.n or difference.b.n:
            yield difference


def _pooled_difference(
    flow: str, metric: Metric, figure: Pooled, chosen: Chosen, sums: tuple[Sums, Sums], allowed: float
) -> Difference:
    first, second = _of_calls(figure, sums[0], chosen.first), _of_calls(figure, sums[1], chosen.second)
    a, b = _pooled_measure(metric, first), _pooled_measure(metric, second)
    plain = Difference(
        flow=flow, aspect=metric.key, judge=None, better=metric.better, rate=False, a=a, b=b, effect=None,
        interval=None, pairs=chosen.pairs, alone_a=chosen.alone[0], alone_b=chosen.alone[1],
        test=None, p=None, p_adjusted=None, verdict="not measured", tendency="not measured",
    )  # fmt: skip
    if not a.events or not b.events:
        return plain
    test = ratios.unpaired if chosen.pairs is None else ratios.paired
    found = test(first, second)
    return _tested(plain, "permutation", found.estimate, lambda by: test(first, ratios.less(second, by)).p, allowed)


def _of_calls(figure: Pooled, sums: Mapping[str, Floats], places: Keys) -> CallSums:
    return CallSums(sums[figure.part][places], ratios.added([sums[name][places] for name in figure.whole]))


def _pooled_measure(metric: Metric, calls: CallSums) -> PooledMeasure:
    counted = calls.nonzero()
    events = int(counted.wholes.sum())
    if not events:
        return PooledMeasure(0, 0, 0)
    return PooledMeasure(
        len(counted.parts), samples.billionths(counted.parts), events, ratios.spread(counted), high=metric.bounds[1]
    )


def _tails(
    flow: str,
    calls: Places,
    pairs: Places | None,
    metric: Metric,
    turns: tuple[Sequence[Sequence[float]], Sequence[Sequence[float]]],
    allowed: Allowed,
) -> Iterator[Difference]:
    """Yield the difference of one flow in a percentile of all turns, which has no pairs of calls.

    A flow of which either side has no turns, or too few to show how far out its tail is, has none that is tested.
    """
    first, second = (
        intervals.tail_of([side[place] for place in places])
        for side, places in zip(turns, (calls.first.tolist(), calls.second.tolist()), strict=True)
    )
    if first is None and second is None:
        return
    a, b = (
        PooledMeasure(0, 0, 0)
        if tail is None
        else PooledMeasure(tail.calls, round(tail.value * UNIT) * tail.values, tail.values)
        for tail in (first, second)
    )
    plain = Difference(
        flow=flow, aspect=metric.key, judge=None, better=metric.better, rate=False, a=a, b=b, effect=None,
        interval=None, pairs=None, alone_a=0, alone_b=0,
        test=None, p=None, p_adjusted=None, verdict="not measured", tendency="not measured",
    )  # fmt: skip
    found = None if first is None or second is None else intervals.of_tails(first, second)
    if found is None:
        yield plain if not (a.events and b.events) else _with_effect(plain, None)
    else:
        margin = allowed(metric.key, None)
        yield _tested(plain, "Woodruff", found, lambda by: found._replace(change=found.change - by).p, margin)
