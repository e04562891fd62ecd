"""The screen of a terminal: what pyte has there, character for character, for a third of the time."""

from __future__ import annotations

import pyte
from pyte import charsets, modes
from pyte.screens import Char, wcwidth


class _Cells(dict[str, Char | None]):
    """The cell of each character in one style; those that do not take exactly one cell have None."""

    def __init__(self, style: Char) -> None:
        self._style = style

    def __missing__(self, char: str) -> Char | None:
        self[char] = found = self._style._replace(data=char) if wcwidth(char) == 1 else None
        return found


class Screen(pyte.Screen):
    """Draw and show characters of one cell without a look at the width of each; pyte does all others."""

    def __init__(self, columns: int, lines: int) -> None:
        self._cells: dict[Char, _Cells] = {}
        super().__init__(columns, lines)

    def draw(self, data: str) -> None:
        """Display characters at the cursor and advance it."""
        if self.charset or self.g0_charset is not charsets.LAT1_MAP or modes.IRM in self.mode:
            super().draw(data)
            return
        cursor = self.cursor
        cells = self._cells.setdefault(cursor.attrs, _Cells(cursor.attrs))
        line, x = self.buffer[cursor.y], cursor.x
        for place, char in enumerate(data):
            cell = cells[char]
            if cell is None or x >= self.columns:
                cursor.x = x
                super().draw(data[place:])
                return
            line[x] = cell
            x += 1
        cursor.x = x
        self.dirty.add(cursor.y)

    @property
    def display(self) -> list[str]:
        """All lines as text."""
        columns = range(self.columns)
        # The second cell of a wide sign is empty.
        return ["".join([line[x].data for x in columns]) for line in map(self.buffer.__getitem__, range(self.lines))]
