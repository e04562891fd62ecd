"""Draw failed calls as a grid: a row for each last good state, a column for each first failed one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from riff_tui.table import NOT_MEASURED
from riff_tui.text.column_fit import name_cut
from riff_tui.text.glyphs import Glyphs, glyphs
from riff_tui.text.safe_text import cell_width, fit, one_line, padded

MOST = 10
"""Rows and columns that are drawn; those with the fewest calls are left to the list."""
_LONGEST_NAME = 20
_NARROWEST = 13
_SHORTEST_NAME = 9
_HEAD = "last good"
_SUM = "calls"


@dataclass(frozen=True, slots=True)
class FailureGrid:
    """Draw the counts of one flow by (last good, first failed) state, both in the order of `states`."""

    counts: Mapping[tuple[str, str], int]
    states: Sequence[str]

    def draw(self, *, ascii_only: bool = False, width: int = 78) -> list[str]:
        """Draw a line for each last good state below one of names; the fullest cell is in brackets.

        Columns that have no room for their names have letters, which further lines explain.
        """
        signs = glyphs(ascii_only)
        rows, columns = (self._fullest(side) for side in (0, 1))
        sums = {name: str(self._sum(1, name)) for name in columns}
        each = max(map(len, (*sums.values(), *(self._cell(row, column) for row in rows for column in columns))))
        end = max(len(_SUM), len(str(sum(self.counts.values()))))
        columns = columns[: max(1, (width - _SHORTEST_NAME - end - 1) // (each + 1))]
        most = min(_LONGEST_NAME, width - end - 1 - len(columns) * (each + 1))
        widest = min(most, max(cell_width(one_line(name)) for name in (_HEAD, *rows)))
        named = (width - widest - end - 1) // len(columns) - 1
        longest = max(cell_width(one_line(name)) for name in columns)
        lettered = named < min(longest, _NARROWEST)
        each = each if lettered else max(each, min(named, longest))
        titles = [chr(ord("a") + at) for at in range(len(columns))] if lettered else _cut(columns, each, signs)
        lines = [_line(fit(_HEAD, widest), titles, _SUM, (widest, each, end))]
        for name, cut in zip(rows, _cut(rows, widest, signs), strict=True):
            found = [self._cell(name, column) for column in columns]
            lines.append(_line(cut, found, str(self._sum(0, name)), (widest, each, end)))
        lines.append(_line(fit(_SUM, widest), [sums[name] for name in columns], "", (widest, each, end)))
        return lines + (_legend(titles, columns, width) if lettered else [])

    @property
    def left_out(self) -> int:
        """Return how many calls are in rows or columns that are not drawn."""
        rows, columns = (set(self._fullest(side)) for side in (0, 1))
        return sum(n for (row, column), n in self.counts.items() if row not in rows or column not in columns)

    def _fullest(self, side: int) -> list[str]:
        sums: Counter[str] = Counter()
        for ends, n in self.counts.items():
            sums[ends[side]] += n
        place = {name: at for at, name in enumerate(self.states)}
        kept = sorted(sums, key=lambda name: (-sums[name], place[name]))[:MOST]
        return sorted(kept, key=place.__getitem__)

    def _sum(self, side: int, name: str) -> int:
        return sum(n for ends, n in self.counts.items() if ends[side] == name)

    def _cell(self, row: str, column: str) -> str:
        n = self.counts.get((row, column), 0)
        if not n:
            return NOT_MEASURED
        return f"[{n}]" if n == max(self.counts.values()) else str(n)


def _cut(names: Sequence[str], width: int, signs: Glyphs) -> list[str]:
    safe = [one_line(name) for name in names]
    cut = name_cut(safe, width, signs.ellipsis)
    return [cut.text(name) for name in safe]


def _line(head: str, cells: Sequence[str], total: str, widths: tuple[int, int, int]) -> str:
    widest, each, end = widths
    aligned = [padded(cell, each, right=True) for cell in cells]
    return " ".join([padded(head, widest), *aligned, padded(total, end, right=True)]).rstrip()


def _legend(letters: Sequence[str], names: Sequence[str], width: int) -> list[str]:
    """Return lines that show which letter represents which first failed state."""
    lines = ["first failed:"]
    for letter, name in zip(letters, names, strict=True):
        said = f" {letter} {one_line(name)}"
        if cell_width(lines[-1] + said) > width:
            lines.append(" ")
        lines[-1] += said
    return [fit(line, width) for line in lines]
