"""Group calls that repeat each other, and count how each group came out, on columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from riff_store.columns.grouping import numbered
from riff_store.columns.reading import read_calls
from riff_store.database import Store
from riff_store.models import COMPUTED_JUDGE
from riff_store.predicates import Predicate


class RepeatGroup(NamedTuple):
    """Count calls that share `keys` (`None`: they name none): `n` are measured, `unmeasured` and `excluded` are not.

    `spread` lies between the highest and the lowest score of those that are measured, which are of so many `runs`.
    """

    keys: tuple[int | None, ...]
    n: int
    passed: int
    spread: float
    unmeasured: int
    excluded: int
    runs: int


def repeat_groups(
    store: Store, calls: Predicate | None, by: Sequence[str], aspect: int, passed: float
) -> Iterator[RepeatGroup]:
    """Yield the groups of calls that share these keys; a call has passed that was scored so high in an aspect."""
    columns = read_calls(store, calls, errored=True)
    if not columns.n:
        return
    keys = [columns.keys(name) for name in by]
    first, group = numbered(keys)
    errored = columns.values("errored") == 1
    scores = columns.scores(aspect, COMPUTED_JUDGE) if aspect else np.full(columns.n, np.nan)
    counts = ~errored & ~np.isnan(scores)
    own, value = group[counts], scores[counts]
    highest, lowest = np.full(first.size, -np.inf), np.full(first.size, np.inf)
    np.maximum.at(highest, own, value)
    np.minimum.at(lowest, own, value)
    n = np.bincount(own, minlength=first.size)
    of_runs, _ = numbered([own, columns.keys("run")[counts]])
    found = (
        n,
        np.bincount(own[value >= passed], minlength=first.size),
        np.where(n > 0, highest - lowest, 0.0),
        np.bincount(group[~errored & np.isnan(scores)], minlength=first.size),
        np.bincount(group[errored], minlength=first.size),
        np.bincount(own[of_runs], minlength=first.size),
    )
    named = zip(*([key or None for key in column[first].tolist()] for column in keys), strict=True)
    for each, row in zip(named, zip(*(column.tolist() for column in found), strict=True), strict=True):
        yield RepeatGroup(each, *row)


def means_of_draws(hits: Sequence[int], n: Sequence[int], most: int, *, complement: bool = False) -> list[float]:
    """Return the chance that all are hits of one call drawn from a group, of two and so on: its mean over the groups.

    The complement is the chance that not all of them are. Each chance follows from the one before.
    """
    drawn = np.arange(most)
    chances = np.cumprod(np.maximum(0, np.subtract.outer(hits, drawn)) / np.subtract.outer(n, drawn), axis=1)
    ordered = np.sort(1 - chances if complement else chances, axis=0)
    found: list[float] = (np.cumsum(ordered, axis=0)[-1] / len(hits)).tolist() if hits else []
    return found
