"""Test whether a name is in a group of calls more often than a draw by chance would bring it there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Draw(NamedTuple):
    """Describe a group as a draw: `hits` of its `drawn` calls have a name that `marked` of all `calls` have."""

    hits: int
    drawn: int
    marked: int
    calls: int


def over_represented(draws: Sequence[Draw]) -> list[float]:
    """Return for each draw the chance of at least so many hits (hypergeometric, the one-sided test of Fisher)."""
    if not draws:
        return []
    import numpy as np
    from scipy.stats import hypergeom

    hits, drawn, marked, calls = np.array(draws).T
    return [min(1.0, max(0.0, float(p))) for p in hypergeom.sf(hits - 1, calls, marked, drawn)]
