"""Sort positive values that spread over orders of magnitude, such as latencies, into buckets."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence

from riff_store.answers.cells import Bucket
from riff_store.measure import percentile

MOST = 12
_SMALLEST, _LARGEST = 1e-3, 1e9
# Steps within one power of ten, the finest first; every edge is a number that people use.
_STEPS = (
    (1.0, 1.1, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0),
    (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0),
    (1.0, 1.5, 2.0, 3.0, 5.0, 7.0),
    (1.0, 2.0, 5.0),
    (1.0, 3.0),
    (1.0,),
)
_TAIL = 0.01


def buckets(ranked: Sequence[float]) -> list[Bucket]:
    """Sort values of 0 or more into at most twelve buckets, as fine as the middle 98 % of them need.

    The first begins at 0 where values lie below its round edge, the last has no end where they lie above.
    """
    if not ranked:
        return []
    edges = _edges(ranked)
    if ranked[0] < edges[0]:
        edges = [0.0, *edges]
    counts = [0] * len(edges)
    for value in ranked:
        counts[bisect_right(edges, value) - 1] += 1
    ends: list[float | None] = [*edges[1:], None]
    found = [Bucket(low, high, count) for low, high, count in zip(edges, ends, counts, strict=True)]
    while not found[-1].count:
        found.pop()
    return found


def _edges(ranked: Sequence[float]) -> list[float]:
    """Return round numbers around the middle of the values, in the finest steps that are few enough."""
    tails = (0.0, _TAIL, 1 - _TAIL, 1.0)
    bottom, low, high, top = (min(max(_SMALLEST, percentile(ranked, share)), _LARGEST) for share in tails)

    def few(first: int, last: int) -> bool:
        return last - first + (ranked[0] < series[first]) + (ranked[-1] >= series[last]) <= MOST

    for steps in _STEPS:
        series = _series(steps, bottom, top)
        first, last = bisect_right(series, low) - 1, bisect_right(series, high)
        if few(first, last):
            break
    last = min(last, first + MOST - 2)
    # Where there is room for all of a tail, it is in buckets like the others.
    above, below = bisect_right(series, top), bisect_right(series, bottom) - 1
    last = above if few(first, above) else last
    first = below if few(below, last) else first
    return series[first : last + 1]


def _series(steps: Sequence[float], low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)) - 1, math.floor(math.log10(high)) + 2)
    # Below 1 it is divided by a power of ten, since 3 * 0.1 is not 0.3.
    return [round(step * 10**power if power >= 0 else step / 10**-power, 9) for power in powers for step in steps]
