"""Compare figures over the events of all calls together, and test them over calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from riff_store.answers.comparison import Difference, Verdict
from riff_store.interaction import SUMS
from riff_store.interaction_metrics import FIGURES
from riff_store.measure import UNIT, PooledMeasure
from riff_store.metric import Pooled
from riff_store.metrics import OF_CALLS, Metric
from riff_store.statistics import ratios, samples
from riff_store.statistics.intervals import Interval
from riff_store.statistics.pairing import Chosen, Places, chosen
from riff_store.statistics.ratios import CallSums

if TYPE_CHECKING:
    from riff_store.statistics.pairing import Keys
    from riff_store.statistics.samples import Floats

    Sums: TypeAlias = Mapping[str, Floats]
    """The sums of calls by name; nan where it is not known who spoke when."""


def pooled_differences(flow: str, calls: Places, pairs: Places | None, sums: tuple[Sums, Sums]) -> Iterator[Difference]:
    """Yield the differences of one flow in the figures of which either side has an event."""
    first, second = (samples.known(side[SUMS[1]]) for side in sums)
    found = chosen((first, second), calls, pairs)
    for key, figure in FIGURES.items():
        difference = _difference(flow, OF_CALLS[key], figure, found, sums)
        if difference.a.n or difference.b.n:
            yield difference


def _difference(flow: str, metric: Metric, figure: Pooled, chosen: Chosen, sums: tuple[Sums, Sums]) -> Difference:
    first, second = _of_calls(figure, sums[0], chosen.first), _of_calls(figure, sums[1], chosen.second)
    a, b = _measure(metric, first), _measure(metric, second)
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
        tendency=_direction(metric, change),
    )


def _of_calls(figure: Pooled, sums: Mapping[str, Floats], places: Keys) -> CallSums:
    return CallSums(sums[figure.part][places], ratios.added([sums[name][places] for name in figure.whole]))


def _measure(metric: Metric, calls: CallSums) -> PooledMeasure:
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


def _direction(metric: Metric, change: int) -> Verdict:
    """Return the verdict if a difference is more than chance; the test sees the same direction as the figures."""
    if not change:
        return "noise"
    return "better" if (change > 0) == (metric.better == "higher") else "worse"
