"""Measure how far two columns of scores for the same calls agree (docs/metrics.md, section 12).

Everything is `None` where it is not defined: below `FEWEST` pairs, and without the variance it needs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Literal, TypeAlias

Weights: TypeAlias = Literal["none", "quadratic"]

FEWEST = 3
HUMAN = 5.0
"""From this humanness on a judge is taken to say that the call passes."""
PASSED = 10.0
"""The correctness of a call that passes."""
PERSON = "human:"
"""What the name of a judge begins with that is a person; the author follows."""


def rounded(score: float) -> int:
    """Round a score to a whole number, halves up."""
    return math.floor(score + 0.5)


def equal_share(first: Sequence[int], second: Sequence[int]) -> float | None:
    """Return the share of pairs whose members are equal."""
    if len(first) < FEWEST:
        return None
    return sum(one == other for one, other in zip(first, second, strict=True)) / len(first)


def kappa(first: Sequence[int], second: Sequence[int], weights: Weights = "quadratic") -> float | None:
    """Return Cohen's kappa of paired categories, with quadratic weights (Cohen 1968) or unweighted (Cohen 1960).

    1 − observed ÷ expected disagreement, where expected is that of all values of the one against all of the
    other. `None` where nothing else than agreement was to be expected: both always said the same.
    """
    if len(first) < FEWEST:
        return None
    pairs = Counter(zip(first, second, strict=True))
    rows, columns = Counter(first), Counter(second)
    observed = sum(count * _apart(one, other, weights) for (one, other), count in pairs.items())
    expected = sum(
        count * times * _apart(one, other, weights) for one, count in rows.items() for other, times in columns.items()
    )
    return 1 - observed * len(first) / expected if expected else None


def _apart(one: int, other: int, weights: Weights) -> int:
    return (one - other) ** 2 if weights == "quadratic" else int(one != other)


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return the rank correlation of paired values, ties ties alike; `None` below three pairs and without variance."""
    if len(first) < FEWEST:
        return None
    return _correlation(ranks(first), ranks(second))


def ranks(values: Sequence[float]) -> list[float]:
    """Rank each value from 1 on; equal values share the mean of their ranks."""
    found = [0.0] * len(values)
    place = 0
    for _, tied in groupby(sorted(range(len(values)), key=values.__getitem__), key=values.__getitem__):
        group = list(tied)
        for index in group:
            found[index] = place + (len(group) + 1) / 2
        place += len(group)
    return found


def _correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    middle = (len(first) + 1) / 2
    shared = sum((a - middle) * (b - middle) for a, b in zip(first, second, strict=True))
    spread = sum((a - middle) ** 2 for a in first) * sum((b - middle) ** 2 for b in second)
    return max(-1.0, min(1.0, shared / spread**0.5)) if spread else None
