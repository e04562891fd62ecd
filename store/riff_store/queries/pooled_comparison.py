"""Compare figures over the events of all calls together, and test them over calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from riff_store.answers.comparison import Difference, Verdict
from riff_store.interaction import Interaction
from riff_store.interaction_metrics import FIGURES
from riff_store.measure import UNIT, PooledMeasure
from riff_store.metric import Metric, Pooled
from riff_store.metrics import OF_CALLS
from riff_store.queries.sides import Compared, Pair, compared
from riff_store.statistics import ratios
from riff_store.statistics.intervals import Interval
from riff_store.statistics.ratios import CallSum


def pooled_differences(
    flow: str,
    a: tuple[Sequence[int], Mapping[int, Interaction]],
    b: tuple[Sequence[int], Mapping[int, Interaction]],
    pairs: Iterable[Pair],
) -> Iterator[Difference]:
    """Yield the differences of one flow in the figures of which either side has an event."""
    chosen = compared(a, b, pairs)
    for key, figure in FIGURES.items():
        difference = _difference(flow, OF_CALLS[key], figure, chosen)
        if difference.a.n or difference.b.n:
            yield difference


def _difference(flow: str, metric: Metric, figure: Pooled, chosen: Compared[Interaction]) -> Difference:
    first, second = ([_of_call(figure, call) for call in side] for side in (chosen.first, chosen.second))
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


def _of_call(figure: Pooled, call: Interaction) -> CallSum:
    return CallSum(call.part(figure), call.events(figure))


def _measure(metric: Metric, calls: Sequence[CallSum]) -> PooledMeasure:
    heard = [call for call in calls if any(call)]
    events = sum(int(call.whole) for call in heard)
    if not events:
        return PooledMeasure(0, 0, 0)
    # Rounded as the sums of the store are, so that a figure reads the same here and there.
    total = sum(int(call.part * UNIT + 0.5) for call in heard)
    return PooledMeasure(len(heard), total, events, ratios.spread(heard), high=metric.bounds[1])


def _within(interval: Interval, most: float) -> Interval:
    """Return an interval cut to the differences that there can be."""
    return max(-most, interval[0]), min(most, interval[1])


def _direction(metric: Metric, change: int) -> Verdict:
    """Return the verdict if a difference is more than chance; the test sees the same direction as the figures."""
    if not change:
        return "noise"
    return "better" if (change > 0) == (metric.better == "higher") else "worse"
