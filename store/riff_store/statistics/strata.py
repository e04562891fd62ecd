"""Test rates of calls that come in strata, each compared only within itself, from counts alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

MOST_EXACT = 100
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

    Of one stratum it is Fisher's exact test. With more than `MOST_EXACT` possible outcomes it is the test of
    Cochran (1954) and of Mantel and Haenszel (1959) with its correction for continuity. 1 without anything to tell.
    """
    shared = _shared(strata)
    if sum(_high(one) - _low(one) for one in shared) <= MOST_EXACT:
        return _exact(shared)
    return _normal(shared)


def _shared(strata: Iterable[Stratum]) -> list[Stratum]:
    return [one for one in strata if one.first_n and one.second_n]


def _low(one: Stratum) -> int:
    return max(0, one.first_hits + one.second_hits - one.first_n)


def _high(one: Stratum) -> int:
    return min(one.second_n, one.first_hits + one.second_hits)


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
