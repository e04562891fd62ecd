"""Test differences: two-sided p-values of one at least as large if there were none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from riff_store.statistics import intervals
from riff_store.statistics.distributions import fair_binomial, hypergeometric, signed_sums, sums_of_subsets

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from riff_store.statistics import Floats, Sample


SIGNIFICANT = 0.05
"""Above it an adjusted p-value is noise."""
MOST_EXACT = 2**16
"""Arrangements of a sample up to which all are counted out; beyond, `_SIDE` times `_SIDE` of them are drawn."""
MOST_DRAWN = 2_000
"""Pairs, or calls of both samples together, beyond which Student's t is as good as arrangements."""
_SIDE = 100
_BLOCK = 26


def mcnemar(only_first: int, only_second: int) -> float:
    """Test the pairs whose two sides came out differently, exactly (McNemar 1947, binomial form)."""
    return _bounded(2 * fair_binomial(only_first + only_second).at_most(min(only_first, only_second)))


def fisher(first_hits: int, first_n: int, second_hits: int, second_n: int) -> float:
    """Test two rates, given as hits of n, by Fisher's exact test."""
    return _bounded(hypergeometric(second_n, first_hits + second_hits, first_n + second_n).as_unlikely_as(second_hits))


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

    Valid for tests that tend to err together, as those of one flow do (Simes 1986).
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


# Test means by what they would be if values were arranged otherwise.
_LEAST = 1e-9
"""Values are known to so much, so that a difference below it is one of rounding."""
_TIED = 1e-7


def paired_means(changes: Sample, margin: float = 0.0) -> float:
    """Test whether the mean of paired differences, of which there are some, is a margin, by flipping their signs.

    As every flip leaves the sum of squares as it is, the studentised mean orders them as their sum does (Fisher 1935).
    p is the larger of this and Student's t, so that no interval of a mean that surely differs contains the margin.
    """
    import numpy as np

    moved = np.sort(_exact_to_the_least(np.asarray(changes, dtype=float) - margin))
    by_t = intervals.of_pairs(moved)
    if len(moved) > MOST_DRAWN and by_t is not None:
        return by_t.p
    sizes = np.sort(np.abs(moved[moved != 0]))
    seen = abs(float(moved.sum()))
    if len(sizes) <= math.log2(MOST_EXACT):
        found = _share(np.abs(signed_sums(sizes)), seen)
    else:
        signs = np.where(_random(len(sizes)) & np.uint64(1), 1.0, -1.0)
        # Each of some flips after each of others: any two of the products are as independent as two that are drawn.
        found = _share(np.abs(_products(sizes * signs[:_SIDE], signs[_SIDE:])), seen, by_t, 0.5 ** (len(sizes) - 1))
    return max(found, by_t.p) if by_t is not None else found


def unpaired_means(first: Sample, second: Sample, margin: float = 0.0) -> float:
    """Test whether a second mean exceeds the first by a margin, by dealing all values out again (Janssen 1997).

    Neither sample is empty. The difference is studentised as Welch has it, for samples that vary differently. p is the
    larger of this and Welch's t, so that no interval of a difference that is sure contains the margin.
    """
    import numpy as np

    before, after = np.asarray(first, dtype=float), np.asarray(second, dtype=float) - margin
    by_t = intervals.of_samples(before, after)
    n, size = len(before) + len(after), min(len(before), len(after))
    if n > MOST_DRAWN and by_t is not None:
        return by_t.p
    every = np.sort(np.concatenate((before, after)))
    middle = float(every.mean())
    dealt = _exact_to_the_least(every - middle)
    fewer = np.sort(_exact_to_the_least((before if len(before) == size else after) - middle))
    whole = float(dealt.sum()), float((dealt**2).sum())
    seen = float(_studentised(fewer.sum(keepdims=True), (fewer**2).sum(keepdims=True), whole, (size, n - size))[0])
    if math.comb(n, size) <= MOST_EXACT:
        sums, squares = (sums_of_subsets(values.tolist(), size) for values in (dealt, dealt**2))
        found = _share(_studentised(sums, squares, whole, (size, n - size)), seen)
    else:
        orders = _shuffled(n)
        chosen = np.zeros((_SIDE, n))
        np.put_along_axis(chosen, orders[_SIDE:, :size].astype(np.intp), 1.0, axis=1)
        shuffled = dealt[orders[:_SIDE]]
        sums, squares = (_products(values, chosen) for values in (shuffled, shuffled**2))
        found = _share(_studentised(sums, squares, whole, (size, n - size)), seen, by_t, 1 / math.comb(n, size))
    return max(found, by_t.p) if by_t is not None else found


def _exact_to_the_least(values: Floats) -> Floats:
    import numpy as np

    return np.where(np.abs(values) < _LEAST, 0.0, values)


def _studentised(sums: Floats, squares: Floats, whole: tuple[float, float], sizes: tuple[int, int]) -> Floats:
    """Return the squares of differences of two means over their variances, by what the first sample adds up to."""
    import numpy as np

    (n, m), (total, all_squares) = sizes, whole
    rest = total - sums
    variance = (squares - sums**2 / n) / (n * max(1, n - 1))
    variance += (all_squares - squares - rest**2 / m) / (m * max(1, m - 1))
    change = (sums / n - rest / m) ** 2
    least = _LEAST * all_squares / (n + m) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(variance > least, change / variance, np.where(change > least, np.inf, 0.0))


def _products(rows: Floats, others: Floats) -> Floats:
    """Return the product of each row with each of the others."""
    import numpy as np

    found = np.zeros((len(rows), len(others)))
    # In blocks so small that no threads are started, which cost more than they bring where a machine is busy.
    for start in range(0, rows.shape[1], _BLOCK):
        some = slice(start, start + _BLOCK)
        found += rows[:, some] @ others[:, some].T
    return found


def _share(found: Floats, seen: float, by_t: intervals.Estimate | None = None, least: float | None = None) -> float:
    """Return the share of arrangements that are as far from 0 as the one that was seen.

    `least` is that of one arrangement among all where these are only drawn: none of them as far gives no share, so that
    it is Student's then.
    """
    import numpy as np

    bound = seen * (1 - _TIED) if math.isfinite(seen) else seen
    hits = int(np.count_nonzero(found >= bound))
    if least is None:
        return hits / found.size
    drawn = (1 + hits) / (1 + found.size)
    return drawn if hits or by_t is None else min(drawn, max(by_t.p, least))


def _random(n: int) -> NDArray[np.uint64]:
    """Return random numbers for two sets of arrangements of so many values, the same for the same number of values."""
    import numpy as np

    return np.random.PCG64(n).random_raw((2 * _SIDE) * n).reshape(2 * _SIDE, n)


@lru_cache(maxsize=32)
def _shuffled(n: int) -> NDArray[np.int32]:
    """Return two sets of random orders of so many values."""
    import numpy as np

    return np.argsort(_random(n), axis=1, kind="stable").astype(np.int32)


# Test rates of calls that come in strata, each compared only within itself, from counts alone.
MOST_OUTCOMES = 100
"""Outcomes up to which all are counted out; beyond, the normal curve is as good."""
_MANY = 200
"""More products than these are added up sooner in arrays, fewer as numbers."""


class Stratum(NamedTuple):
    """Count the hits of two samples of one kind of calls."""

    first_hits: int
    first_n: int
    second_hits: int
    second_n: int


def rate_change(strata: Iterable[Stratum]) -> float | None:
    """Return by how much the second rate is higher within strata, `None` if none has calls of both samples.

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

    Of one stratum it is Fisher's exact test. With more than `MOST_OUTCOMES` possible outcomes it is the test of Cochran
    (1954) and of Mantel and Haenszel (1959) with its correction for continuity. 1 if nothing can be shown.
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
    bound = chances[seen] * (1 + _TIED)
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
