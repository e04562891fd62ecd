"""Test differences: exact two-sided p-values of one at least as large if there were none."""

from __future__ import annotations

from collections.abc import Sequence

SIGNIFICANT = 0.05
"""Above it an adjusted p-value is noise."""
MOST_EXACT = 10_000
"""Comparisons of one value with another up to which ranks are counted out; beyond, the normal curve is as good."""


def mcnemar(only_first: int, only_second: int) -> float:
    """Test the pairs whose two sides came out differently, exactly (McNemar 1947, binomial form)."""
    return sign_test(only_first, only_second)


def sign_test(up: int, down: int) -> float:
    """Test signs exactly; pairs without a difference take no part, and without any other p is 1."""
    from scipy.stats import binomtest

    return _bounded(binomtest(min(up, down), up + down, 0.5).pvalue) if up + down else 1.0


def fisher(first_hits: int, first_n: int, second_hits: int, second_n: int) -> float:
    """Test two rates, given as hits of n, by Fisher's exact test."""
    from scipy.stats import fisher_exact

    table = [[first_hits, first_n - first_hits], [second_hits, second_n - second_hits]]
    return _bounded(fisher_exact(table).pvalue)


def mann_whitney(first: Sequence[float], second: Sequence[float]) -> float:
    """Test two samples, neither empty, by Mann-Whitney's U.

    Exact for few values without ties, otherwise normal with corrections for ties and continuity.
    """
    from scipy.stats import mannwhitneyu

    if min(first) == max(first) == min(second) == max(second):
        return 1.0
    # Left to itself, the exact count takes minutes for three values against a hundred thousand.
    method = "auto" if len(first) * len(second) <= MOST_EXACT else "asymptotic"
    return _bounded(mannwhitneyu(first, second, alternative="two-sided", method=method).pvalue)


def superiority(first: Sequence[float], second: Sequence[float]) -> float:
    """Return how much more often a value of the second sample exceeds one of the first than not, from -1 to 1.

    The direction that the Mann-Whitney test sees (Cliff's delta).
    """
    from scipy.stats import mannwhitneyu

    u = float(mannwhitneyu(second, first, method="asymptotic").statistic)
    return 2 * u / (len(first) * len(second)) - 1


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Adjust p-values to bound the share of false discoveries among all of them (Benjamini & Hochberg 1995)."""
    adjusted = [1.0] * len(ps)
    lowest = 1.0
    ranked = sorted(range(len(ps)), key=ps.__getitem__)
    for place, index in reversed(list(enumerate(ranked, 1))):
        lowest = min(lowest, _bounded(ps[index] * (len(ps) / place)))
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
