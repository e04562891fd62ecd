"""Group rows of columns by the keys that they share."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from riff_store.columns.blocks import Keys
from riff_store.columns.encoding import Places
from riff_store.interruption import check_interrupted

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
