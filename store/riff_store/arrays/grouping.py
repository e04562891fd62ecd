"""Group rows of columns by the keys that they share, and calls that repeat each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from riff_store.arrays.blocks import Keys
from riff_store.arrays.encoding import Places
from riff_store.arrays.reading import read_calls
from riff_store.database import Store
from riff_store.filters.predicates import Predicate
from riff_store.interruption import check_interrupted
from riff_store.schema import COMPUTED_JUDGE

_MANY_CODES = 2**17
"""So many numbers more than there are rows are counted without sorting the rows."""


def numbered(columns: Sequence[Keys]) -> tuple[Places, Places]:
    """Return of each combination of keys that occurs one row that has it, and of each row the number of its own.

    They are numbered in the order of the keys.
    """
    check_interrupted()
    n = columns[0].size
    codes, size = np.zeros(n, np.int64), 1
    for column in columns:
        width = int(column.max(initial=0)) + 1
        if size * width > n + _MANY_CODES:
            codes, size = _renumbered(codes, size)
        codes, size = codes * width + column, size * width
    number, size = _renumbered(codes, size)
    rows = np.zeros(size, np.intp)
    rows[number] = np.arange(n)
    return rows, number


def _renumbered(codes: Keys, size: int) -> tuple[Places, int]:
    """Number the codes that there are, of those from 0 to before `size`, in their order."""
    if size <= codes.size + _MANY_CODES:
        there = np.bincount(codes, minlength=size) > 0
        return (np.cumsum(there) - 1)[codes], int(np.count_nonzero(there))
    known, number = np.unique(codes, return_inverse=True)
    return number, known.size


def counted(columns: Sequence[Keys]) -> tuple[Sequence[Keys], Keys]:
    """Return the combinations of keys that occur, column by column and in their order, and how often each does."""
    check_interrupted()
    widths = [int(column.max(initial=0)) + 1 for column in columns]
    if math.prod(widths) > columns[0].size + _MANY_CODES:
        rows, number = numbered(columns)
        return [column[rows] for column in columns], np.bincount(number, minlength=rows.size)
    codes = columns[0]
    for column, width in zip(columns[1:], widths[1:], strict=True):
        codes = codes * width + column
    sizes = np.bincount(codes)
    there = np.flatnonzero(sizes)
    return np.unravel_index(there, widths), sizes[there]


def count(counts: dict[tuple[int, ...], int], *columns: Keys) -> None:
    """Add to counts how often each combination of keys occurs."""
    combinations, sizes = counted(columns)
    for keys, n in zip(zip(*(column.tolist() for column in combinations), strict=True), sizes.tolist(), strict=True):
        counts[keys] = counts.get(keys, 0) + n


# Group calls that repeat each other, and count how each group came out, on columns.
class RepeatGroup(NamedTuple):
    """Count calls that share `keys` (`None`: they name none): `n` are measured, `unmeasured` and `excluded` are not.

    `spread` is between the highest and the lowest score of those that are measured, which are of so many `runs`.
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
