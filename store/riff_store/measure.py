"""Define a mean with the number of values behind it and its interval.

Sums are whole numbers of billionths, so a mean is the same in whatever order rows came in.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

UNIT = 1_000_000_000
Z95 = 1.959963984540054
THIN = 5
"""Below so many calls a mean is shown, but not trusted."""

HIGH = 0.25
HEALTHY_PROGRESS = 0.7
LONG_DWELL = 3.0
SLOW = 8.0
LONG_WAIT = 4.0
"""Seconds; a turn that takes longer is slow."""
TYPING = 10.0
"""Seconds; a median turn that takes longer was typed."""
OFTEN_SLOW = 0.2
"""The share of slow turns from which a state is slow."""
GUARD_ERRORS = 0.5


class Measure(NamedTuple):
    """Describe sums of `n` measured values: `total` in billionths, `squares` in plain units.

    `rate` shows that the values are 0 or `scale`, so that their share is a rate.
    """

    n: int
    total: int
    squares: float = 0.0
    rate: bool = False
    scale: float = 1.0

    @property
    def mean(self) -> float | None:
        """Return the mean, or `None` if nothing was measured."""
        return self.total / (UNIT * self.n) if self.n else None

    def interval(self) -> tuple[float, float] | None:
        """Return the 95 % interval: Wilson for rates, Student's t for means; `None` if it has no meaning."""
        if self.n == 0:
            return None
        if self.rate:
            low, high = wilson(self.total / (UNIT * self.scale), self.n)
            return low * self.scale, high * self.scale
        if self.n < 2:
            return None
        mean = self.total / (UNIT * self.n)
        variance = max(0.0, (self.squares - self.n * mean * mean) / (self.n - 1))
        if variance <= 1e-12 * max(1.0, mean * mean):
            variance = 0.0
        half = student_t(self.n - 1) * math.sqrt(variance / self.n)
        # The sum of squares depends on the order of rows in its last bits; what is shown does not.
        return round(mean - half, 6), round(mean + half, 6)

    def __add__(self, other: "Measure") -> "Measure":  # type: ignore[override]  # sums add up
        squares = self.squares + other.squares
        return Measure(self.n + other.n, self.total + other.total, squares, self.rate, self.scale)


class PooledMeasure(NamedTuple):
    """Describe a figure over the events of `n` calls together: `total` in billionths ÷ `events`.

    `n` counts calls with such events. `spread` adds up the squares of what each call's part is more than the figure
    would have it, in plain units; the figure is at most `high`.
    """

    n: int
    total: int
    events: int
    spread: float = 0.0
    high: float = math.inf
    rate: bool = False
    scale: float = 1.0

    @property
    def mean(self) -> float | None:
        """Return the figure, or `None` without any event."""
        return self.total / UNIT / self.events if self.events else None

    def interval(self) -> tuple[float, float] | None:
        """Return the 95 % interval: Student's t by the delta method, over calls; `None` if calls do not vary."""
        if self.n < 2 or not self.events or not self.spread:
            return None
        figure = self.total / UNIT / self.events
        half = student_t(self.n - 1) * math.sqrt(self.n / (self.n - 1) * self.spread) / self.events
        return max(0.0, figure - half), min(self.high, figure + half)


def wilson(successes: float, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % score interval of a proportion (Wilson 1927), without continuity correction."""
    share = min(1.0, max(0.0, successes / n))
    z2 = Z95 * Z95
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


@lru_cache(maxsize=4096)
def student_t(degrees: int) -> float:
    """Return the 97.5 % quantile of Student's t with whole degrees of freedom.

    Above 1,000 degrees the expansion of Abramowitz & Stegun 26.7.5 is exact to ten digits; below, it is
    where Newton's method starts on the finite series of the distribution (26.7.3 and 26.7.4).
    """
    z, v = Z95, float(degrees)
    t = z + (z**3 + z) / (4 * v) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v * v)
    if degrees > 1000:
        return t
    # The start is below the quantile and the probability is concave, so every step leads up to it.
    step = 1.0
    while step > 1e-12 * t:
        step = (0.95 - _central_probability(t, degrees)) / (2 * _density(t, degrees))
        t += step
    return t


def _density(t: float, degrees: int) -> float:
    half = (degrees + 1) / 2
    scale = math.exp(math.lgamma(half) - math.lgamma(degrees / 2)) / math.sqrt(math.pi * degrees)
    return float(scale * (1 + t * t / degrees) ** -half)


def _central_probability(t: float, degrees: int) -> float:
    theta = math.atan(t / math.sqrt(degrees))
    cos, sin = math.cos(theta), math.sin(theta)
    if degrees % 2:
        term, total = cos, cos if degrees > 1 else 0.0
        for k in range(3, degrees - 1, 2):
            term *= cos * cos * (k - 1) / k
            total += term
        return 2 / math.pi * (theta + sin * total)
    term, total = 1.0, 1.0
    for k in range(2, degrees - 1, 2):
        term *= cos * cos * (k - 1) / k
        total += term
    return sin * total


def slow_share(latencies: Sequence[float]) -> float | None:
    """Return the share of turns that took longer than callers like to wait, of those with a latency in milliseconds."""
    if not latencies:
        return None
    return len([latency for latency in latencies if latency > LONG_WAIT * 1000]) / len(latencies)


def percentile(ranked: Sequence[float], share: float) -> float:
    """Return the value below which a share (0 to 1) of sorted values is, linear between the closest ranks."""
    place = share * (len(ranked) - 1)
    low = int(place)
    if low + 1 == len(ranked):
        return ranked[low]
    below, above = ranked[low], ranked[low + 1]
    between = below + (above - below) * (place - low)
    # What is rounded up must not leave the values behind.
    return between if between < above else above


def mean(measures: Mapping[str, Measure], metric: str) -> float | None:
    """Return a cell's mean, `None` if it was not measured."""
    found = measures.get(metric)
    return None if found is None else found.mean


class OfCalls(Protocol):
    """Describe a cell that `n` calls are behind."""

    @property
    def n(self) -> int: ...


def is_thin(cell: OfCalls) -> bool:
    """Return whether too few calls are behind a cell to trust it."""
    # Calls that should have taken a step are behind a cell as well as those that did.
    steps = getattr(cell, "steps", None)
    return max(cell.n, 0 if steps is None else steps.expected) < THIN


def is_mean(
    compared: Callable[[float, float], bool], bound: float, measures: Mapping[str, Measure], metric: str
) -> bool:
    """Return whether a mean is there and compares to a bound like that."""
    value = mean(measures, metric)
    return value is not None and compared(value, bound)


def rising(value: float | None) -> tuple[bool, float]:
    return value is None, value or 0.0


def falling(value: float | None) -> tuple[bool, float]:
    return value is None, -(value or 0.0)
