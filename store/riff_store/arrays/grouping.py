"""Group rows of columns by the keys that they share, and calls that repeat each other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riff_store.arrays.blocks import Keys
from riff_store.arrays.encoding import Floats, Places
from riff_store.arrays.reading import read_calls
from riff_store.database import Store
from riff_store.filters.predicates import Predicate
from riff_store.interruption import check_interrupted
from riff_store.measure import UNIT
from riff_store.schema import COMPUTED_JUDGE

Cell: TypeAlias = tuple[int | None, ...]
"""The keys of a cell, `None` where its rows name none."""
_LIMB = 26
_MOST_EXACT = 2**53
_LARGE = 2**61

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


# Add up the values of rows that share their keys.
class Cells:
    """Number the cells of rows by their keys; `keys` of each cell, `index` of each row."""

    def __init__(self, columns: Sequence[Keys], n: int) -> None:
        self.index: Places
        rows, self.index = numbered(columns) if columns else (np.zeros(min(n, 1), np.intp), np.zeros(n, np.intp))
        self.size = rows.size
        self.keys: list[Cell] = (
            list(zip(*(_named(column[rows]) for column in columns), strict=True)) or [()] * self.size
        )

    def count(self, which: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Count the rows of each cell, or those of which a condition is true."""
        index = self.index if which is None else self.index[which]
        return np.bincount(index, minlength=self.size).astype(np.int64)

    def add(self, values: Floats) -> Floats:
        """Add up the values that were measured."""
        index, measured = self._measured(values)
        return np.bincount(index, measured, self.size).astype(np.float64)

    def add_whole(self, values: Floats) -> NDArray[np.int64]:
        """Add up whole numbers that were measured, to the last digit."""
        index, measured = self._measured(values)
        return _exactly(index, measured.astype(np.int64), self.size)

    def add_billionths(self, values: Floats) -> NDArray[np.int64]:
        """Add up values that were measured as whole billionths, rounded as the rollups do."""
        index, measured = self._measured(values)
        return _exactly(index, (measured * float(UNIT) + 0.5).astype(np.int64), self.size)

    def _measured(self, values: Floats) -> tuple[NDArray[np.intp], Floats]:
        known = ~np.isnan(values)
        return (self.index, values) if known.all() else (self.index[known], values[known])


def _exactly(index: NDArray[np.intp], values: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Add up in doubles as long as these are exact, else in parts of the numbers that they have exactly."""
    if values.size and max(int(values.max()), -int(values.min())) * values.size < _MOST_EXACT:
        return np.bincount(index, values, size).astype(np.int64)
    found = np.zeros(size, np.int64)
    for place in range(3):
        part = values >> (_LIMB * place)
        if place < 2:
            part &= 2**_LIMB - 1
        found += np.bincount(index, part, size).astype(np.int64) << (_LIMB * place)
    return found


def _named(keys: Keys) -> list[int | None]:
    """Return keys, `None` for 0."""
    found: list[int | None] = keys.tolist()
    return found if keys.all() else [key or None for key in found]


class Tally:
    """Add up the sums of cells over blocks."""

    def __init__(self) -> None:
        self._places: dict[Cell, int] = {}
        self._sums: list[NDArray[Any]] = []

    def add(self, keys: Sequence[Cell], sums: Iterable[NDArray[Any]]) -> None:
        """Add the sums of a block: an array for each, with a value for each cell."""
        columns, known = list(sums), len(self._places)
        # A cell has one place in a block, so that each is added to once.
        places = np.array([self._places.setdefault(cell, len(self._places)) for cell in keys], np.intp)
        more = len(self._places) - known
        totals = self._sums or [np.zeros(0, column.dtype) for column in columns]
        self._sums = []
        for total, column in zip(totals, columns, strict=True):
            if total.dtype == np.int64 and np.abs(total).max(initial=0) >= _LARGE:
                # Whole numbers become ones of any size before they could outgrow theirs.
                total = total.astype(object)
            if more:
                total = np.concatenate([total, np.zeros(more, total.dtype)])
            total[places] += column
            self._sums.append(total)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return the keys of each cell followed by its sums."""
        columns = [column.tolist() for column in self._sums]
        return [(*cell, *sums) for cell, sums in zip(self._places, zip(*columns, strict=True), strict=True)]


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
