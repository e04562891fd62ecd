"""Test differences: exact two-sided p-values of one at least as large if there were none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from riff_store.statistics.distributions import fair_binomial, hypergeometric, normal_tail, rank_sums

if TYPE_CHECKING:
    from riff_store.statistics import Sample


SIGNIFICANT = 0.05
"""Above it an adjusted p-value is noise."""
MOST_EXACT = 10_000
"""Comparisons of one value with another up to which ranks are counted out; beyond, the normal curve is as good."""
_FEW = 8
"""Values of the smaller sample up to which ranks are counted out."""


def mcnemar(only_first: int, only_second: int) -> float:
    """Test the pairs whose two sides came out differently, exactly (McNemar 1947, binomial form)."""
    return sign_test(only_first, only_second)


def sign_test(up: int, down: int) -> float:
    """Test signs exactly; pairs without a difference take no part, and without any other p is 1."""
    return _bounded(2 * fair_binomial(up + down).at_most(min(up, down)))


def fisher(first_hits: int, first_n: int, second_hits: int, second_n: int) -> float:
    """Test two rates, given as hits of n, by Fisher's exact test."""
    return _bounded(hypergeometric(second_n, first_hits + second_hits, first_n + second_n).as_unlikely_as(second_hits))


class RankTest(NamedTuple):
    """Hold the p of Mann-Whitney's U, and how much more often a value of the second sample exceeds one of the first
    than not, from -1 to 1: the direction that the test sees (Cliff's delta).
    """

    p: float
    superiority: float


def mann_whitney(first: Sample, second: Sample) -> RankTest:
    """Test two samples, neither empty, by Mann-Whitney's U.

    Exact for few values without ties, otherwise normal with corrections for ties and continuity.
    """
    import numpy as np

    sorted_first, sorted_second = np.sort(np.asarray(first, dtype=float)), np.sort(np.asarray(second, dtype=float))
    every = np.sort(np.concatenate((sorted_first, sorted_second)))
    distinct = every[np.concatenate(([True], every[1:] != every[:-1]))]
    if len(distinct) == 1:
        return RankTest(1.0, 0.0)
    n, m = len(sorted_first), len(sorted_second)
    below_first, up_to_first = (np.searchsorted(sorted_first, distinct, side) for side in ("left", "right"))
    below_second, up_to_second = (np.searchsorted(sorted_second, distinct, side) for side in ("left", "right"))
    won = int((up_to_second - below_second) @ below_first)
    lost = int((up_to_first - below_first) @ below_second)
    superiority = (won - lost) / (n * m)
    if min(n, m) <= _FEW and n * m <= MOST_EXACT and len(distinct) == n + m:
        ways = rank_sums(n, m)
        return RankTest(_bounded(2 * sum(ways[max(won, lost) :]) / sum(ways)), superiority)
    tied = (up_to_first - below_first + up_to_second - below_second).astype(float)
    ties = float((tied**3 - tied).sum()) / ((n + m) * (n + m - 1))
    deviation = math.sqrt(n * m / 12 * (n + m + 1 - ties))
    return RankTest(_bounded(2 * normal_tail((abs(won - lost) / 2 - 0.5) / deviation)), superiority)


def benjamini_hochberg(ps: Sequence[float], ones: int = 0) -> list[float]:
    """Adjust p-values to bound the share of false discoveries among all of them (Benjamini & Hochberg 1995).

    `ones` counts further p-values, which are 1.
    """
    adjusted = [1.0] * len(ps)
    lowest, tests = 1.0, len(ps) + ones
    ranked = sorted([index for index, p in enumerate(ps) if p < 1], key=ps.__getitem__)
    for place in range(len(ranked), 0, -1):
        index = ranked[place - 1]
        lowest = min(lowest, _bounded(ps[index] * (tests / place)))
        adjusted[index] = lowest
    return adjusted


def simes(ps: Sequence[float]) -> float:
    """Combine p-values that belong together: how likely they would be, were there no difference behind any.

    Holds for tests that tend to err together, as those of one flow do (Simes 1986).
    """
    return _bounded(min((len(ps) * p / place for place, p in enumerate(sorted(ps), 1)), default=1.0))


def holm(ps: Sequence[float]) -> list[float]:
    """Adjust p-values to bound the chance of a single false discovery among all of them (Holm 1979)."""
    adjusted = [1.0] * len(ps)
    highest = 0.0
    for place, index in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        highest = max(highest, _bounded((len(ps) - place) * ps[index]))
        adjusted[index] = highest
    return adjusted


def _bounded(p: float) -> float:
    return min(1.0, max(0.0, float(p)))


# Test rates of calls that come in strata, each compared only within itself, from counts alone.
MOST_OUTCOMES = 100
"""Outcomes up to which all are counted out; beyond, the normal curve is as good."""
_TIED = 1 + 1e-7
_MANY = 200
"""More products than these are added up sooner in arrays, fewer as numbers."""


class Stratum(NamedTuple):
    """Count the hits of two samples of one kind of calls."""

    first_hits: int
    first_n: int
    second_hits: int
    second_n: int


def rate_change(strata: Iterable[Stratum]) -> float | None:
    """Return by how much the second rate is higher within strata, `None` where none has calls of both samples.

    Differences are weighted as Mantel and Haenszel do, so that their sign is that of the test.
    """
    shared = _shared(strata)
    weight = sum(one.first_n * one.second_n / (one.first_n + one.second_n) for one in shared)
    if not weight:
        return None
    surplus = sum(
        (one.second_hits * one.first_n - one.first_hits * one.second_n) / (one.first_n + one.second_n) for one in shared
    )
    return surplus / weight


def stratified_fisher(strata: Iterable[Stratum]) -> float:
    """Return the two-sided p of a difference between rates within strata, given the margins of each.

    Of one stratum it is Fisher's exact test. With more than `MOST_OUTCOMES` possible outcomes it is the test of
    Cochran (1954) and of Mantel and Haenszel (1959) with its correction for continuity. 1 without anything to tell.
    """
    shared = _shared(strata)
    outcomes = sum(min(one.second_n, one.first_hits + one.second_hits) - _low(one) for one in shared)
    return _exact(shared) if outcomes <= MOST_OUTCOMES else _normal(shared)


def _shared(strata: Iterable[Stratum]) -> list[Stratum]:
    return [one for one in strata if one.first_n and one.second_n]


def _low(one: Stratum) -> int:
    return max(0, one.first_hits + one.second_hits - one.first_n)


def _exact(strata: Sequence[Stratum]) -> float:
    chances: Sequence[float] = [1.0]
    seen = 0
    for one in strata:
        chances = _convolved(chances, _hypergeometric(one.first_hits + one.second_hits, one.first_n, one.second_n))
        seen += one.second_hits - _low(one)
    bound = chances[seen] * _TIED
    return min(1.0, math.fsum(chance for chance in chances if chance <= bound))


@lru_cache(maxsize=4096)
def _hypergeometric(hits: int, first_n: int, second_n: int) -> Sequence[float]:
    """Return how likely each number of hits of the second sample is, from the fewest to the most."""
    rest = first_n - hits
    # Each from the one before, as logarithms: the numbers of ways have too many digits.
    logs = [0.0]
    for found in range(max(0, -rest), min(second_n, hits)):
        step = (hits - found) * (second_n - found) / ((found + 1) * (rest + found + 1))
        logs.append(logs[-1] + math.log(step))
    highest = max(logs)
    weights = [math.exp(log - highest) for log in logs]
    whole = math.fsum(weights)
    return [weight / whole for weight in weights]


def _convolved(first: Sequence[float], second: Sequence[float]) -> Sequence[float]:
    if len(first) * len(second) > _MANY:
        return _convolved_in_arrays(first, second)
    found = [0.0] * (len(first) + len(second) - 1)
    for place, one in enumerate(first):
        for step, other in enumerate(second):
            found[place + step] += one * other
    return found


def _convolved_in_arrays(first: Sequence[float], second: Sequence[float]) -> Sequence[float]:
    """Return what adding up the products one after the other gives, to the last digit."""
    import numpy as np

    products = np.zeros((len(first), len(first) + len(second)))
    products[:, : len(second)] = np.multiply.outer(first, second)
    # Read in rows that are one shorter, each is one further to the right than the row above: columns are the outcomes.
    found: list[float] = products.ravel()[: -len(first)].reshape(len(first), -1).sum(axis=0).tolist()
    return found


def _normal(strata: Sequence[Stratum]) -> float:
    surplus = variance = 0.0
    for one in strata:
        hits, n = one.first_hits + one.second_hits, one.first_n + one.second_n
        surplus += one.second_hits - hits * one.second_n / n
        variance += hits * (n - hits) / n * one.first_n / n * one.second_n / (n - 1)
    return math.erfc(max(0.0, abs(surplus) - 0.5) / math.sqrt(2 * variance))
