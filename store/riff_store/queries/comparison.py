"""Compare two runs, or two agents, and test whether they differ by more than chance."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from riff_store import schema as m
from riff_store.database import Store
from riff_store.filters.predicates import Predicate
from riff_store.interaction import EVENTS
from riff_store.measure import UNIT, Measure, PooledMeasure
from riff_store.metrics import OF_CALLS, POOLED, Direction, Metric, Pooled, plugins
from riff_store.queries.conversations import Call, calls_of
from riff_store.queries.flows import selected_judges
from riff_store.queries.sides import PairCounts, Side, SideCalls, paired, side_reader, sides
from riff_store.queries.sums import has_interaction
from riff_store.statistics import intervals, pairing, ratios, significance
from riff_store.statistics import pairing as samples
from riff_store.statistics.intervals import Interval
from riff_store.statistics.pairing import Chosen, Compared, Places, chosen
from riff_store.statistics.ratios import CallSums

if TYPE_CHECKING:
    from riff_store.statistics import Flags, Floats, Keys

    MeasuredRow: TypeAlias = tuple["ComparedAspect", str | None, tuple[Floats, Floats]]
    """A kind of row, its judge, and the values of both sides; nan is not measured."""
    Sums: TypeAlias = Mapping[str, Floats]
    """The sums of calls by name; nan where it is not known who spoke when."""


SUCCESS = 10.0
_ORDER: tuple[Verdict, ...] = ("worse", "mixed", "differs", "better", "noise", "not measured")
_NEWLY: Mapping[Verdict, Newly] = {"worse": "broken", "better": "mended"}
_FIRST: tuple[Newly | None, ...] = ("broken", "mended", None)

Verdict: TypeAlias = Literal["worse", "better", "differs", "mixed", "noise", "not measured"]
Newly: TypeAlias = Literal["broken", "mended"]


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


class ComparedAspect(NamedTuple):
    """Describe a kind of row; a rate counts the calls whose `source` is at its `top`, of which `scale` is the whole."""

    name: str
    source: str
    better: Direction | None
    rate: bool = False
    scale: float = 1.0
    top: float = SUCCESS


def _kind(metric: Metric) -> ComparedAspect:
    rate = bool(metric.rate_of)
    source = metric.of_call or metric.rate_of or metric.key
    top = OF_CALLS[source].bounds[1] if source in OF_CALLS else metric.bounds[1]
    return ComparedAspect(metric.key, source, metric.better, rate, metric.bounds[1] if rate else 1.0, top)


_COMPUTED = {
    metric.key: _kind(metric)
    for metric in sorted(OF_CALLS.values(), key=lambda metric: not metric.rate_of)
    if metric.kind == "call" or metric.of_call
}
_PLACE = {name: place for place, name in enumerate(name for name in _COMPUTED if OF_CALLS[name].compared)}


def compare(
    store: Store,
    a: str,
    b: str,
    calls: Predicate | None = None,
    judges: Predicate | None = None,
    *,
    also: Collection[str] = (),
    within: Predicate | None = None,
) -> Comparison:
    """Compare B with A, flow by flow: what is newly broken or mended first (docs/metrics.md, section 10).

    `a` and `b` are as `sides` takes them. `within` narrows `calls` to those that are looked at: it names the last
    runs and the sides' calls are counted in it, but tests are corrected across all flows. `judges` chooses the
    judges, `also` asks for aspects that are left out unless asked for (`latency_mean`). A row is compared on its
    pairs where they cover at least half of the smaller side's measured calls. Raises `SideError`.
    """
    with store.snapshot():
        reader = side_reader(store)
        first, second = (SideCalls(store, reader, side, calls) for side in sides(store, a, b, within))
        names = dict(store.execute(m.Flow.select(m.Flow.id, m.Flow.name)))
        flows_a, flows_b = first.by_flow(), second.by_flow()
        shared = sorted(flows_a.keys() & flows_b.keys(), key=names.__getitem__)
        pairs = pairing.pairs_by_key(first.flows(), paired(first, second))
        chosen = [(names[flow], Places(flows_a[flow], flows_b[flow]), pairs.get(flow)) for flow in shared]
        found = list(_differences(measured(store, first, second, selected_judges(store, judges), also), chosen))
        if has_interaction(store):
            interactions = first.interactions(), second.interactions()
            found += [each for flow in chosen for each in pooled_differences(*flow, interactions)]
        seen, in_a, in_b = (first, second), flows_a, flows_b
        if within is not None and within != calls:
            seen = SideCalls(store, reader, first.side, within), SideCalls(store, reader, second.side, within)
            in_a, in_b = (side.by_flow() for side in seen)
    seen_flows = {names[flow] for flow in shared if flow in in_a or flow in in_b}
    return Comparison(
        a=seen[0].side,
        b=seen[1].side,
        counts=_counts(each for each in found if each.flow in seen_flows),
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
    )  # fmt: skip


def _counts(differences: Iterable[Difference]) -> PairCounts | None:
    """Count the pairs of all success rates that are compared in pairs."""
    paired_rates = [each for each in differences if each.aspect == "success_rate" and each.pairs]
    if not paired_rates:
        return None
    only_a, only_b, both, neither = (
        sum(getattr(each, name) or 0 for each in paired_rates) for name in ("only_a", "only_b", "both", "neither")
    )
    return PairCounts(only_a, only_b, both, neither, significance.mcnemar(only_a, only_b))


def measured(
    store: Store, first: SideCalls, second: SideCalls, judges: dict[int, str], also: Collection[str]
) -> Iterator[MeasuredRow]:
    """Yield each kind of row with the values of both sides, an aspect at a time."""
    for kind in _COMPUTED.values():
        column = OF_CALLS[kind.name].of_call
        if column:
            yield kind, None, (first.kept(column), second.kept(column))
    judged = sorted({*first.judged(), *second.judged()})
    for key, name in sorted(store.execute(m.Aspect.select(m.Aspect.id, m.Aspect.name)), key=lambda row: str(row[1])):
        for aspect, judge in judged:
            kinds = list(_kinds(name, also) if judge == m.COMPUTED_JUDGE else [ComparedAspect(name, name, "higher")])
            if aspect == key and kinds and (judge == m.COMPUTED_JUDGE or judge in judges):
                values = first.values(aspect, judge), second.values(aspect, judge)
                for kind in kinds:
                    yield kind, judges[judge] if judge != m.COMPUTED_JUDGE else None, values


def _kinds(aspect: str, also: Collection[str]) -> Iterator[ComparedAspect]:
    """Yield the kinds of rows that a computed aspect makes."""
    own = [kind for kind in _COMPUTED.values() if kind.source == aspect and not OF_CALLS[kind.name].of_call]
    added = None if own else plugins().metrics.get(aspect)
    for kind in own if added is None else [_kind(added)]:
        metric = added or OF_CALLS[kind.name]
        if metric.compared or metric.key in also:
            yield kind


def _differences(
    rows: Iterable[MeasuredRow], chosen: Sequence[tuple[str, Places, Places | None]]
) -> Iterator[Difference]:
    """Yield the differences of each kind of row in those flows that have any, with their calls and pairs."""
    for kind, judge, values in rows:
        known = samples.known(values[0]), samples.known(values[1])
        for flow, places, pairs in chosen:
            difference = _difference(flow, kind, judge, pairing.compared(values, known, places, pairs))
            if difference is not None:
                yield difference


def _difference(flow: str, kind: ComparedAspect, judge: str | None, of_flow: Compared) -> Difference | None:
    """Return the difference in one flow, or `None` where neither side measured anything."""
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
    test = {
        (True, True): _paired_rates,
        (True, False): _unpaired_rates,
        (False, True): _paired_scores,
        (False, False): _unpaired_scores,
    }[kind.rate, on_pairs is not None]
    return test(plain, kind, first, second)


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
        tendency=_direction(plain, hits.only_second - hits.only_first),
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
        tendency=_direction(plain, hits[2] * hits[1] - hits[0] * hits[3]),
    )


def _paired_scores(plain: Difference, kind: ComparedAspect, first: Floats, second: Floats) -> Difference:
    changes = second - first
    up, down = samples.signs(changes)
    return replace(
        _with_effect(plain, intervals.paired_means(changes)),
        test="sign",
        p=significance.sign_test(up, down),
        tendency=_direction(plain, up - down),
    )


def _unpaired_scores(plain: Difference, kind: ComparedAspect, first: Floats, second: Floats) -> Difference:
    found = significance.mann_whitney(first, second)
    return replace(
        _with_effect(plain, intervals.unpaired_means(first, second)),
        test="Mann-Whitney",
        p=found.p,
        tendency=_direction(plain, found.superiority),
    )


def _with_effect(plain: Difference, interval: tuple[float, float] | None) -> Difference:
    return replace(plain, effect=_change(plain) / (UNIT * plain.a.n * plain.b.n), interval=interval)


def _change(plain: Difference) -> int:
    """Return the difference of the means in whole numbers, so that its sign is never one of rounding."""
    return plain.b.total * plain.a.n - plain.a.total * plain.b.n


def _scaled(interval: tuple[float, float] | None, kind: ComparedAspect) -> tuple[float, float] | None:
    return None if interval is None else (interval[0] * kind.scale, interval[1] * kind.scale)


def _direction(plain: Difference, change: float) -> Verdict:
    """Return the verdict if a difference is more than chance; `change` is the direction that the test saw."""
    return "mixed" if change and _change(plain) * change <= 0 else _verdict(plain.better, change)


def _verdict(better: Direction | None, change: float) -> Verdict:
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


def pooled_differences(flow: str, calls: Places, pairs: Places | None, sums: tuple[Sums, Sums]) -> Iterator[Difference]:
    """Yield the differences of one flow in the figures of which either side has an event."""
    first, second = (samples.known(side[EVENTS[0]]) for side in sums)
    found = chosen((first, second), calls, pairs)
    for key, figure in POOLED.items():
        difference = _pooled_difference(flow, OF_CALLS[key], figure, found, sums)
        if difference.a.n or difference.b.n:
            yield difference


def _pooled_difference(
    flow: str, metric: Metric, figure: Pooled, chosen: Chosen, sums: tuple[Sums, Sums]
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
    change = b.total * a.events - a.total * b.events
    found = (ratios.unpaired if chosen.pairs is None else ratios.paired)(first, second)
    return replace(
        plain,
        effect=change / (UNIT * a.events * b.events),
        interval=None if found.interval is None else _within(found.interval, metric.bounds[1]),
        test="permutation",
        p=found.p,
        tendency=_verdict(metric.better, change),  # the test sees the same direction as the figures
    )


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


def _within(interval: Interval, most: float) -> Interval:
    """Return an interval cut to the differences that there can be."""
    return max(-most, interval[0]), min(most, interval[1])


ComparedRow: TypeAlias = tuple[str, str | None]
"""An aspect and its judge, `None` for what is computed."""


class ComparedCalls(NamedTuple):
    """Hold the measured calls of B in one flow: those that are compared with a partner, and those `alone`."""

    compared: Sequence[Call]
    alone: Sequence[Call]


def compared_calls(
    store: Store, sides: tuple[Side, Side], calls: Predicate | None, wanted: Collection[tuple[str, ComparedRow]]
) -> Mapping[tuple[str, ComparedRow], ComparedCalls]:
    """Return the calls of B behind rows of a comparison whose calls are compared in pairs, by flow and row."""
    aspects = {row for _, row in wanted}
    with store.snapshot():
        reader = side_reader(store)
        first, second = (SideCalls(store, reader, side, calls) for side in sides)
        pairs = paired(first, second)
        also = {aspect for aspect, _ in aspects}
        found: dict[ComparedRow, tuple[Flags, Flags]] = {
            (kind.name, judge): (samples.known(on_a), samples.known(on_b))
            for kind, judge, (on_a, on_b) in measured(store, first, second, selected_judges(store, None), also)
            if (kind.name, judge) in aspects
        }
        if also & POOLED.keys():
            known = [samples.known(side.interactions()[EVENTS[0]]) for side in (first, second)]
            found |= {(aspect, None): (known[0], known[1]) for aspect in also & POOLED.keys()}
        return {
            (flow, row): each
            for row, known in found.items()
            for flow, each in _by_flow(store, second, pairs, known).items()
            if (flow, row) in wanted
        }


def _by_flow(store: Store, side: SideCalls, pairs: Places, known: tuple[Flags, Flags]) -> dict[str, ComparedCalls]:
    with_partner = set(side.keys[pairs.second[known[0][pairs.first]]].tolist())
    found: dict[str, tuple[list[Call], list[Call]]] = {}
    for call in calls_of(store, side.keys[known[1]].tolist()):
        found.setdefault(call.flow, ([], []))[call.id not in with_partner].append(call)
    return {flow: ComparedCalls(*both) for flow, both in found.items()}
