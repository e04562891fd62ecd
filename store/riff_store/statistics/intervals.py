"""Return 95 % intervals of a difference, second minus first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from riff_store.measure import percentile, wilson
from riff_store.statistics.distributions import student_quantile, student_tail

if TYPE_CHECKING:
    from riff_store.statistics import Sample


Interval: TypeAlias = tuple[float, float]


def paired_rates(both: int, only_first: int, only_second: int, neither: int) -> Interval | None:
    """Return the interval of two rates over the same pairs, counted by whose side was a hit; `None` without pairs.

    Squares of Wilson's limits added up, less what the sides have in common (Newcombe 1998, Statistics in
    Medicine 17:2635-2650, method 10).
    """
    n = both + only_first + only_second + neither
    if not n:
        return None
    first, second = (both + only_first) / n, (both + only_second) / n
    low_1, high_1 = wilson(both + only_first, n)
    low_2, high_2 = wilson(both + only_second, n)
    shared = _correlation(both, only_first, only_second, neither)
    change = (only_second - only_first) / n
    return (
        max(-1.0, change - _added(second - low_2, high_1 - first, shared)),
        min(1.0, change + _added(high_2 - second, first - low_1, shared)),
    )


def unpaired_rates(first_hits: int, first_n: int, second_hits: int, second_n: int) -> Interval | None:
    """Return Newcombe's hybrid score interval of two rates of different calls; `None` if either has no call.

    Squares of Wilson's limits added up (Newcombe 1998, Statistics in Medicine 17:873-890, method 10).
    """
    if not (first_n and second_n):
        return None
    first, second = first_hits / first_n, second_hits / second_n
    low_1, high_1 = wilson(first_hits, first_n)
    low_2, high_2 = wilson(second_hits, second_n)
    change = second - first
    return change - _added(second - low_2, high_1 - first), change + _added(high_2 - second, first - low_1)


class Estimate(NamedTuple):
    """Describe an estimated difference, its variance, and how many degrees of freedom that has."""

    change: float
    variance: float
    degrees: float

    @property
    def interval(self) -> Interval:
        """Return Student's t interval."""
        half = student_quantile(self.degrees) * math.sqrt(self.variance)
        return self.change - half, self.change + half

    @property
    def p(self) -> float:
        """Return the two-sided p of no difference by Student's t."""
        if not self.variance:
            return 0.0 if self.change else 1.0
        return min(1.0, 2 * student_tail(abs(self.change) / math.sqrt(self.variance), self.degrees))


def of_pairs(differences: Sample) -> Estimate | None:
    """Return the mean of paired differences; `None` below two pairs."""
    if len(differences) < 2:
        return None
    mean, variance = _moments(differences)
    return Estimate(mean, variance / len(differences), len(differences) - 1)


def of_samples(first: Sample, second: Sample) -> Estimate | None:
    """Return the difference of two means of different calls (Welch 1947); `None` if either has below two."""
    if min(len(first), len(second)) < 2:
        return None
    (mean_1, variance_1), (mean_2, variance_2) = _moments(first), _moments(second)
    part_1, part_2 = variance_1 / len(first), variance_2 / len(second)
    if not part_1 + part_2:
        return Estimate(mean_2 - mean_1, 0.0, len(first) + len(second) - 2)
    # As shares of the whole, so that squares of tiny variances do not vanish.
    share_1, share_2 = part_1 / (part_1 + part_2), part_2 / (part_1 + part_2)
    degrees = 1 / (share_1**2 / (len(first) - 1) + share_2**2 / (len(second) - 1))
    return Estimate(mean_2 - mean_1, part_1 + part_2, degrees)


class Tail(NamedTuple):
    """Describe a percentile of values that come several in a call, and its variance, `None` if too few tell."""

    value: float
    calls: int
    values: int
    variance: float | None


def tail_of(by_call: Sequence[Sequence[float]], share: float = 0.95) -> Tail | None:
    """Return a percentile of the values of all calls together; `None` without any.

    Its variance is Woodruff's (1952, Journal of the American Statistical Association 47:635-646): from the limits of
    the share of values below it, whose own variance is that of a ratio over calls, since values of a call have much in
    common. It is not known where the upper limit is beyond the largest value.
    """
    import numpy as np

    counted = [values for values in by_call if values]
    if not counted:
        return None
    ranked = sorted(value for values in counted for value in values)
    value, n = percentile(ranked, share), len(counted)
    wholes = np.array([len(values) for values in counted], dtype=float)
    above = np.array([sum(each > value for each in values) for values in counted], dtype=float)
    if n < 2:
        return Tail(value, n, len(ranked), None)
    moves = np.sort((above - above.sum() / wholes.sum() * wholes) ** 2)
    quantile = student_quantile(n - 1)
    half = quantile * math.sqrt(n / (n - 1) * float(moves.sum())) / float(wholes.sum())
    if share + half >= 1:
        return Tail(value, n, len(ranked), None)
    width = percentile(ranked, share + half) - percentile(ranked, max(0.0, share - half))
    return Tail(value, n, len(ranked), (width / (2 * quantile)) ** 2)


def of_tails(first: Tail, second: Tail) -> Estimate | None:
    """Return the difference of two percentiles of different calls; `None` if the variance of either is not known."""
    if first.variance is None or second.variance is None:
        return None
    variance = first.variance + second.variance
    if not variance:
        return Estimate(second.value - first.value, 0.0, first.calls + second.calls - 2)
    parts = ((tail.variance / variance) ** 2 / (tail.calls - 1) for tail in (first, second) if tail.variance)
    return Estimate(second.value - first.value, variance, 1 / sum(parts))


def _moments(values: Sample) -> tuple[float, float]:
    """Return mean and variance, added up in order of size, so that the order of the values does not matter."""
    import numpy as np

    ranked = np.sort(np.asarray(values, dtype=float))
    # From the least on, so that values which are all alike vary by nothing at all.
    above = ranked - ranked[0]
    mean = float(above.mean())
    return float(ranked[0]) + mean, float(((above - mean) ** 2).sum()) / (len(ranked) - 1)


def _correlation(both: int, only_first: int, only_second: int, neither: int) -> float:
    margins = (both + only_first) * (only_second + neither) * (both + only_second) * (only_first + neither)
    if not margins:
        return 0.0
    product = both * neither - only_first * only_second
    n = both + only_first + only_second + neither
    if product > 0:
        product_corrected = max(product - n / 2, 0.0)
        return product_corrected / math.sqrt(margins)
    return product / math.sqrt(margins)


def _added(one: float, other: float, shared: float = 0.0) -> float:
    return math.sqrt(max(0.0, one * one - 2 * shared * one * other + other * other))
