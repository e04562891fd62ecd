"""Group rows of columns by the keys that they share, and calls that repeat each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from riff_store.arrays.blocks import Keys
from riff_store.arrays.encoding import Places
from riff_store.arrays.reading import read_calls
from riff_store.database import Store
from riff_store.filters.predicates import Predicate
from riff_store.interruption import check_interrupted
from riff_store.schema import COMPUTED_JUDGE

FEWEST = 2
"""So many measured calls are repeats of one another."""
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
    """Count calls that repeat each other: `n` are measured, and `passed` so many; a `nameless` task may be several.

    `spread` is between the highest and the lowest score of them, which are of so many `runs`.
    """

    n: int
    passed: int
    spread: float
    runs: int
    nameless: bool


class RepeatRow(NamedTuple):
    """Describe the `groups` of a row that repeat a call, by the `keys` of the row (`None`: it names none).

    `single` counts the other groups, `unmeasured` and `excluded` calls of all of them.
    """

    keys: tuple[int | None, ...]
    single: int
    unmeasured: int
    excluded: int
    groups: list[RepeatGroup]


def repeat_rows(
    store: Store, calls: Predicate | None, group: Sequence[str], by: Sequence[str], aspect: int, passed: float
) -> list[RepeatRow]:
    """Return by some keys the groups of calls that share more; one has passed that was scored so high in an aspect."""
    columns = read_calls(store, calls, errored=True)
    if not columns.n:
        return []
    first, number = numbered([columns.keys(name) for name in group])
    keys = {name: columns.keys(name)[first] for name in group}
    of_row, row = numbered([keys[name] for name in by])
    errored = columns.values("errored") == 1
    scores = columns.scores(aspect, COMPUTED_JUDGE) if aspect else np.full(columns.n, np.nan)
    unknown = np.isnan(scores)
    n = np.bincount(number[~errored & ~unknown], minlength=first.size)
    left_out = row[n < FEWEST], row[number[~errored & unknown]], row[number[errored]]
    names = zip(*([key or None for key in keys[name][of_row].tolist()] for name in by), strict=True)
    single, unmeasured, excluded = (np.bincount(places, minlength=of_row.size).tolist() for places in left_out)
    found = [RepeatRow(*each, []) for each in zip(names, single, unmeasured, excluded, strict=True)]
    # Most groups may be of one call each: what is shown of a group is made of the others alone.
    repeated = np.flatnonzero(n >= FEWEST)
    own = ~errored & ~unknown & (n >= FEWEST)[number]
    number, value = np.searchsorted(repeated, number[own]), scores[own]
    highest, lowest = np.full(repeated.size, -np.inf), np.full(repeated.size, np.inf)
    np.maximum.at(highest, number, value)
    np.minimum.at(lowest, number, value)
    of_runs, _ = numbered([number, columns.keys("run")[own]])
    figures = (
        n[repeated],
        np.bincount(number[value >= passed], minlength=repeated.size),
        highest - lowest,
        np.bincount(number[of_runs], minlength=repeated.size),
        (keys["scenario"][repeated] == 0) & (keys["persona"][repeated] == 0),
    )
    for at, *each in zip(row[repeated].tolist(), *(column.tolist() for column in figures), strict=True):
        found[at].groups.append(RepeatGroup(*each))
    return found


def means_of_draws(hits: Sequence[int], n: Sequence[int], most: int, *, complement: bool = False) -> list[float]:
    """Return the chance that all are hits of one call drawn from a group, of two and so on: its mean over the groups.

    The complement is the chance that not all of them are. Each chance follows from the one before.
    """
    drawn = np.arange(most)
    chances = np.cumprod(np.maximum(0, np.subtract.outer(hits, drawn)) / np.subtract.outer(n, drawn), axis=1)
    ordered = np.sort(1 - chances if complement else chances, axis=0)
    found: list[float] = (np.cumsum(ordered, axis=0)[-1] / len(hits)).tolist() if hits else []
    return found
