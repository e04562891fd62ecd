"""Agreement of two lists of scores for the same calls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.surface.store import Pairs, pairs_of, scores_of, spearman


def pairs(first: Sequence[float], second: Sequence[float]) -> Pairs:
    """The pairs of scores that occur."""
    return pairs_of(scores_of(np.array(first, float)), scores_of(np.array(second, float)))


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's rank correlation."""
    return spearman(pairs(first, second))
