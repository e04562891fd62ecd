"""Bound what one statement on a store in a file may take, for a file can be made so that a statement never ends.

The pages of a table may lead back to each other. Honest statements take more in a larger store: those of the doctor,
which read most of it, take 0.7 steps of SQLite's machine for each byte of the file.
"""

from __future__ import annotations

import os
from pathlib import Path

STEPS_PER_BYTE = 100
"""How many steps a statement may take for each byte of the store, unless it is set otherwise."""
STEPS_AT_ONCE = 1_000_000
"""After how many steps it is looked at again."""
_BYTES_OF_A_ROW = 4
"""No row of a table is kept in less."""
FEW_ROWS = 100_000
"""How many rows a statement may return on any store."""

TOO_MANY = "more rows than the store can contain"
"""What the error of the engine says where a statement returned too many."""

_steps_per_byte = STEPS_PER_BYTE


def set_steps_per_byte(steps: int) -> None:
    """Set how many steps a statement of this process may take for each byte of the store."""
    global _steps_per_byte
    _steps_per_byte = steps


class StatementLimit:
    """Count what the statement that runs takes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._steps = 0

    def begin(self) -> None:
        """Count from here on."""
        self._steps = 0

    def step(self) -> bool:
        """Count another so many steps; report whether these are too many."""
        self._steps += STEPS_AT_ONCE
        # The file grows while it is written.
        return self._steps > STEPS_AT_ONCE + _steps_per_byte * self._size()

    def most_rows(self) -> int:
        """Return how many rows a statement may return."""
        return FEW_ROWS + self._size() // _BYTES_OF_A_ROW

    def _size(self) -> int:
        try:
            return os.stat(self._path).st_size
        except OSError:
            # It was deleted while it was open.
            return 0
