"""Agreement of two lists of scores for the same calls, and the disputes in a store."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.surface.store import Disputes, FoundDisputes, Pairs, Predicate, Store, pairs_of, scores_of, spearman


def pairs(first: Sequence[float], second: Sequence[float]) -> Pairs:
    """The pairs of scores that occur."""
    return pairs_of(scores_of(np.array(first, float)), scores_of(np.array(second, float)))


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's rank correlation."""
    return spearman(pairs(first, second))


def disputes(
    store: Store,
    calls: Predicate | None = None,
    judges: Predicate | None = None,
    rows: Predicate | None = None,
    limit: int | None = None,
) -> Disputes:
    """What is found, the widest spread first, and how many calls there are that nobody disputes."""
    with store.snapshot():
        found = FoundDisputes(store, calls, judges, rows)
        return Disputes(found.listed(limit), found.total, found.agreed)
