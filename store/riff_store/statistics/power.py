"""Describe which fall a test could have seen: the smallest that it takes for surely a fall in four of five samples.

`chance` is the two-sided p that counts as sure. Falls are in the unit of what is tested, and `allowed` so much of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from riff_store.statistics.distributions import fair_binomial

POWER = 0.8
_STEPS = 12
"""Halvings of the scale of a share, which leave less of it than anybody is told."""
_TYPICAL = 9
"""Numbers of pairs that differ, each as likely as the others, that stand for all there may be."""


def of_means(error: float, n: int, least: float, chance: float, allowed: float) -> float | None:
    """Return the smallest fall of a mean with such a standard error over n calls or pairs.

    `None` if no fall is sure, since even the `least` p that there can be is not.
    """
    if least > chance or n < 2:
        return None
    z = _normal(1 - chance / 2)
    # Student's quantile by that of the normal curve (Abramowitz & Stegun 26.7.5).
    t = z + (z**3 + z) / (4 * (n - 1)) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * (n - 1) ** 2)
    return allowed + (t + _normal(POWER)) * error


def of_paired_rates(n: int, differ: float, highest: float, chance: float, allowed: float) -> float | None:
    """Return the smallest fall of a share in n pairs that McNemar's test sees.

    Of the pairs so many `differ`, or as many as the fall takes; none is larger than the `highest`, the share before.
    """

    def is_seen(fall: float) -> bool:
        differing = max(differ, fall)
        spread = math.sqrt(n * differing * (1 - differing))
        seen = 0.0
        for place in range(_TYPICAL):
            pairs = min(n, max(0, round(n * differing + spread * _normal((place + 0.5) / _TYPICAL))))
            seen += _at_least(_sure_of(pairs, chance), pairs, (1 + fall / differing) / 2)
        large = fall - _normal(POWER) * math.sqrt(max(0.0, differing - fall * fall) / n) >= allowed
        return large and seen >= POWER * _TYPICAL

    return _smallest(is_seen, highest)


@lru_cache(maxsize=4096)
def _sure_of(pairs: int, chance: float) -> int:
    """Return how many of pairs that differ have to differ the same way, more than there are where all are too few."""
    tosses = fair_binomial(pairs)
    low, high = pairs // 2, pairs + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if 2 * tosses.at_least(middle) <= chance else (middle + 1, high)
    return low


def _at_least(hits: int, n: int, share: float) -> float:
    """Return the chance of so many hits or more in n tries."""
    if hits > n or share >= 1:
        return float(hits <= n)
    term = math.exp(
        math.lgamma(n + 1) - math.lgamma(hits + 1) - math.lgamma(n - hits + 1)
        + hits * math.log(share) + (n - hits) * math.log1p(-share)
    )  # fmt: skip
    found = 0.0
    for count in range(hits, n + 1):
        found += term
        term *= (n - count) / (count + 1) * share / (1 - share)
    return found


def of_unpaired_rates(n: int, m: int, before: float, chance: float, allowed: float) -> float | None:
    """Return the smallest fall of a share between n and m calls that Fisher's test sees, from the share `before`.

    As Casagrande, Pike and Smith (1978) have it, whose correction is for how few outcomes there are.
    """
    z, few = _normal(1 - chance / 2), (1 / n + 1 / m) / 2

    def is_seen(fall: float) -> bool:
        after = before - fall
        common = (before * n + after * m) / (n + m)
        spread = math.sqrt(before * (1 - before) / n + max(0.0, after * (1 - after)) / m)
        sure = z * math.sqrt(max(0.0, common * (1 - common)) * (1 / n + 1 / m)) + few
        return fall - _normal(POWER) * spread >= max(sure, allowed)

    return _smallest(is_seen, before)


def _smallest(is_seen: Callable[[float], bool], highest: float) -> float | None:
    low, high = 0.0, highest
    if not high or not is_seen(high):  # from nothing there is no fall
        return None
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_seen(middle) else (middle, high)
    return high


@lru_cache(maxsize=64)
def _normal(share: float) -> float:
    """Return the value that so large a share of normal ones is below."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(share)
