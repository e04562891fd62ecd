"""Add up columns by the cells that their rows fall into, whole numbers exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riff_store.arrays.blocks import Keys
from riff_store.arrays.encoding import Floats, Places
from riff_store.arrays.grouping import numbered
from riff_store.measure import UNIT

Cell: TypeAlias = tuple[int | None, ...]
"""The keys of a cell, `None` where its rows name none."""
_LIMB = 26
_MOST_EXACT = 2**53
_LARGE = 2**61


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
        """Count the rows of each cell, or those of which a condition holds."""
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
    """Add up in doubles as long as these are exact, else in parts of the numbers that they hold exactly."""
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
            total = _roomy(total)
            if more:
                total = np.concatenate([total, np.zeros(more, total.dtype)])
            total[places] += column
            self._sums.append(total)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return the keys of each cell followed by its sums."""
        columns = [column.tolist() for column in self._sums]
        return [(*cell, *sums) for cell, sums in zip(self._places, zip(*columns, strict=True), strict=True)]


def _roomy(total: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers as ones of any size before they could outgrow theirs."""
    is_whole = total.dtype == np.int64
    return total.astype(object) if is_whole and np.abs(total).max(initial=0) >= _LARGE else total
