"""Group rows of columns by the keys that they share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riff_store.columns.blocks import Keys

_MOST_CELLS = 2**22
_LARGEST = 2**62


def combined(columns: Sequence[Keys]) -> Keys:
    """Return one number for each combination of keys, which come in the order of the keys."""
    found, size = np.zeros_like(columns[0]), 1
    for column in columns:
        width = int(column.max(initial=0)) + 1
        if size * width >= _LARGEST:
            _, found = np.unique(found, return_inverse=True)
            size = int(found.max(initial=0)) + 1
        found, size = found * width + column, size * width
    return found


def numbered(columns: Sequence[Keys]) -> tuple[Keys, Keys]:
    """Return of each combination of keys that occurs one row that has it, and of each row the number of its own."""
    cells = combined(columns)
    if cells.size and int(cells.max()) < _MOST_CELLS:
        place = np.full(int(cells.max()) + 1, -1)
        place[cells] = np.arange(cells.size)
        rows = place[place >= 0]
        place[place >= 0] = np.arange(rows.size)
        return rows, place[cells]
    _, rows, number = np.unique(cells, return_index=True, return_inverse=True)
    return rows, number


def count(counts: dict[tuple[int, ...], int], *columns: Keys) -> None:
    """Add to counts how often each combination of keys occurs."""
    rows, number = numbered(columns)
    sizes = np.bincount(number, minlength=rows.size)
    for keys, n in zip(zip(*(column[rows].tolist() for column in columns), strict=True), sizes.tolist(), strict=True):
        counts[keys] = counts.get(keys, 0) + n
