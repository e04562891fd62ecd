"""Sum calls that repeat each other, as the statement of `queries.repeats` does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from riff_store import models as m
from riff_store.agreement import PASSED
from riff_store.columns.reading import read_calls
from riff_store.columns.tallies import Cells
from riff_store.database import Store
from riff_store.predicates import Predicate


def repeated_rows(store: Store, calls: Predicate | None, by: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return the keys of each group, then how many calls are measured and passed, how far their correctness spreads.

    Then come the calls that are not measured, the errored ones and the runs of those that are measured.
    """
    found = read_calls(store, calls, errored=True)
    errored = found.values("errored") != 0
    aspects = store.execute(m.Aspect.select(m.Aspect.id).where(m.Aspect.name == "correctness"))
    scores = np.where(errored, np.nan, found.scores(aspects[0][0] if aspects else 0, m.COMPUTED_JUDGE))
    cells = Cells([found.keys(key) for key in by], found.n)
    known = ~np.isnan(scores)
    order = np.flatnonzero(known)[np.argsort(cells.index[known], kind="stable")]
    measured, starts = np.unique(cells.index[order], return_index=True)
    spread = np.zeros(cells.size)
    if order.size:
        highest = np.maximum.reduceat(scores[order], starts)
        spread[measured] = highest - np.minimum.reduceat(scores[order], starts)
    runs = Cells([cells.index[order].astype(np.int64), found.keys("run")[order]], order.size)
    runs_of = np.bincount(np.array([cell or 0 for cell, _ in runs.keys], np.int64), minlength=cells.size)
    sums = (
        cells.count(known), cells.count(scores >= PASSED), spread, cells.count(~known & ~errored),
        cells.count(errored), runs_of,
    )  # fmt: skip
    rows = zip(*(column.tolist() for column in sums), strict=True)
    return [(*keys, *row) for keys, row in zip(cells.keys, rows, strict=True)]
