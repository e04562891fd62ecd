"""Compute tails of the distributions that tests need, each to about ten digits however small it is.

scipy has them all, and takes longer to load than a comparison takes to make.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from riff_store.measure import Z95

if TYPE_CHECKING:
    from riff_store.statistics import Floats, Sample

_LARGE = 500
_EXACT = 1e-15
_LEAST = 1e-300
_NEGLIGIBLE = 1e-20
"""What is so much less likely than another outcome adds nothing to its chance that a double could hold."""
_TIED = 1 + 1e-7
_FIRST_TERMS = 64
_ROUNDED = 1.001
"""By how much more than their error logarithms of factorials can be off, of as many calls as a store can hold."""


class Discrete(NamedTuple):
    """Describe how likely each outcome from `first` on is, as weights that add up to `whole`; others are next to 0."""

    first: int
    weights: list[float]
    whole: float

    def at_most(self, outcome: int) -> float:
        """Return the chance of an outcome or less."""
        return _sum(self.weights[: max(0, outcome - self.first + 1)]) / self.whole

    def at_least(self, outcome: int) -> float:
        """Return the chance of an outcome or more."""
        return _sum(self.weights[max(0, outcome - self.first) :]) / self.whole

    def as_unlikely_as(self, outcome: int) -> float:
        """Return the chance of all outcomes that are no more likely than this one."""
        place = outcome - self.first
        bound = self.weights[place] * _TIED if 0 <= place < len(self.weights) else 0.0
        return _sum([weight for weight in self.weights if weight <= bound]) / self.whole


def fair_binomial(n: int) -> Discrete:
    """Return how often a fair coin falls on its head in n tosses."""
    # Each weight follows from its neighbour, from the middle outwards: logarithms of factorials have too few digits.
    mode = n // 2
    below, above = [1.0], [1.0]
    for k in range(mode, 0, -1):
        below.append(below[-1] * k / (n - k + 1))
        if below[-1] < _LEAST:
            break
    for k in range(mode, n):
        above.append(above[-1] * (n - k) / (k + 1))
        if above[-1] < _LEAST:
            break
    return _joined(mode, below, above)


def hypergeometric(drawn: int, marked: int, calls: int, hits: int | None = None) -> Discrete:
    """Return how many of the calls that are drawn are marked ones.

    With `hits` outcomes are left out that matter only to other chances than that of so many or more.
    """
    low, high, rest = max(0, drawn + marked - calls), min(drawn, marked), calls - drawn - marked
    mode = min(high, max(low, (drawn + 1) * (marked + 1) // (calls + 2)))
    below, above = [1.0], [1.0]
    weight, least = 1.0, _LEAST if hits is None else _NEGLIGIBLE
    for k in range(mode, low, -1):
        weight = weight * (k * (rest + k)) / ((drawn - k + 1) * (marked - k + 1))
        below.append(weight)
        if weight < least:
            break
    weight, least = 1.0, _LEAST if hits is None or hits > mode else _NEGLIGIBLE
    for k in range(mode, high):
        weight = weight * ((drawn - k) * (marked - k)) / ((k + 1) * (rest + k + 1))
        above.append(weight)
        if k + 1 == hits:
            least = max(_LEAST, weight * _NEGLIGIBLE)
        if weight < least:
            break
    return _joined(mode, below, above)


def surely_likelier(draws: Sequence[tuple[int, int, int, int]], level: float) -> list[bool]:
    """Return of which draws the chance of so many hits or more is surely above a level.

    Each has its hits, and the `drawn`, `marked` and `calls` of `hypergeometric`. The first terms of the tail are added
    up, of all draws at once; if these are not above the level yet, the whole tail may be.
    """
    import numpy as np

    if not draws:
        return []
    hits, drawn, marked, calls = np.array(draws, np.int64).T
    logs = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, int(calls.max()) + 1)))))
    rest = calls - drawn - marked
    ways = logs[marked] + logs[calls - marked] + logs[drawn] + logs[calls - drawn] - logs[calls]
    weight = np.exp(ways - logs[hits] - logs[marked - hits] - logs[drawn - hits] - logs[rest + hits])
    tail, at = weight.copy(), hits.astype(np.float64)
    for _ in range(_FIRST_TERMS):
        weight = weight * ((drawn - at) * (marked - at)) / ((at + 1) * (rest + at + 1))
        tail += weight
        at += 1
    return [bool(each) for each in tail > level * _ROUNDED]


def _joined(mode: int, below: list[float], above: list[float]) -> Discrete:
    weights = [*reversed(below), *above[1:]]
    return Discrete(mode - len(below) + 1, weights, _sum(weights))


def _sum(weights: Sequence[float]) -> float:
    """Return what `math.fsum` does of weights, sooner: most are too small to change the last digit of the sum.

    As these cannot lower it, and together not raise it by more than a bound, the sum is known where both ends agree.
    """
    least = max(weights, default=0.0) * _NEGLIGIBLE**2
    large = [weight for weight in weights if weight > least]
    found = math.fsum(large)
    if found == math.fsum([*large, 2 * least * len(weights)]):
        return found
    return math.fsum(weights)


def signed_sums(values: Sample) -> Floats:
    """Return what values add up to with each choice of their signs."""
    import numpy as np

    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate((sums - value, sums + value))
    return sums


def sums_of_subsets(values: Sequence[float], size: int) -> Floats:
    """Return what each choice of so many values adds up to, in an order that depends on their places alone."""
    import numpy as np

    sums = [np.zeros(1), *(np.zeros(0) for _ in range(size))]
    for value in values:
        for taken in range(size, 0, -1):
            sums[taken] = np.concatenate((sums[taken], sums[taken - 1] + value))
    return sums[size]


def student_tail(t: float, degrees: float) -> float:
    """Return the chance that Student's t exceeds a value, with any degrees of freedom above 0."""
    if t < 0:
        return 1 - student_tail(-t, degrees)
    square = t * t
    if math.isinf(square):
        return 0.0
    half, x = degrees / 2, degrees / (degrees + square)
    beta = math.sqrt(math.pi) / _gamma_ratio(half)
    # The integral converges fast on one side of its mean alone.
    if square > 3 * degrees / (degrees + 2):
        return _incomplete_beta(half, 0.5, x, square / (degrees + square)) / beta / 2
    return (1 - _incomplete_beta(0.5, half, square / (degrees + square), x) / beta) / 2


def student_quantile(degrees: float) -> float:
    """Return the 97.5 % quantile of Student's t, with any degrees of freedom from 1 on.

    Above 500 degrees the expansion of Abramowitz & Stegun 26.7.5 is exact to twelve digits; below, it is where
    Newton's method starts.
    """
    z, v = Z95, degrees
    t = z + (z**3 + z) / (4 * v) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
    if v > _LARGE:
        t += (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
        return t + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * v**4)
    # The start is below the quantile and the probability is concave, so every step leads up to it.
    step = 1.0
    while step > 1e-13 * t:
        step = (student_tail(t, degrees) - 0.025) / _student_density(t, degrees)
        t += step
    return t


def _student_density(t: float, degrees: float) -> float:
    power = -(degrees + 1) / 2 * math.log1p(t * t / degrees)
    return _gamma_ratio(degrees / 2) / math.sqrt(math.pi * degrees) * math.exp(power)


def _incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """Return the incomplete beta integral from 0 to x, where `rest` is 1 − x.

    Its continued fraction (DLMF 8.17.22) is evaluated as Lentz has it (Thompson & Barnett 1986).
    """
    if not x:
        return 0.0
    front = math.exp(a * _log(x, rest) + b * _log(rest, x)) / a
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d, c = 1 / (1 + even * d), 1 + even / c
        found *= c * d
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d, c = 1 / (1 + odd * d), 1 + odd / c
        found *= c * d
        if abs(c * d - 1) < _EXACT:
            break
    return front * found


def _log(x: float, rest: float) -> float:
    return math.log1p(-rest) if rest < 0.5 else math.log(x)


def _gamma_ratio(a: float) -> float:
    """Return Γ(a + 1/2) ÷ Γ(a)."""
    if a < 100:
        return math.exp(math.lgamma(a + 0.5) - math.lgamma(a))
    # The difference of two large logarithms has few digits; the expansion has all (DLMF 5.11.13).
    return math.sqrt(a) * (1 - 1 / (8 * a) + 1 / (128 * a**2) + 5 / (1024 * a**3) - 21 / (32768 * a**4))
