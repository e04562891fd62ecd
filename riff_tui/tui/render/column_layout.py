"""Which columns of a table fit on a line, and where: names stay, numbers are never cut, the rest scrolls by column.

A line begins with the row's mark in one cell; the first column stands right behind it. Then a
number, a flag or a text has two cells before it, a blank and its severity mark, a name one, which is both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from riff_tui.table import Column
from riff_tui.text.column_fit import ELASTIC_KINDS, shrink
from riff_tui.text.numbers import is_right

NARROWEST = 10
NARROWEST_NAME = 12
NARROWEST_FIRST = 18
NARROWEST_TEXT = 20


@dataclass(frozen=True, slots=True)
class Slot:
    """A column on the line: `start` is the cell where its text begins, `gap` the cells before that."""

    index: int
    start: int
    gap: int
    width: int
    right: bool


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """The slots of a line and whether columns lie beyond its ends."""

    slots: tuple[Slot, ...]
    pinned: int
    first: int
    more_left: bool
    more_right: bool

    def shows(self, index: int) -> bool:
        """Whether a column is on the line."""
        return any(slot.index == index for slot in self.slots)

    def at(self, x: int) -> int | None:
        """The column that covers a cell of the line."""
        covering = (slot for slot in self.slots if slot.start - slot.gap <= x < slot.start + slot.width)
        return next((slot.index for slot in covering), None)


def pinned_count(columns: Sequence[Column], widths: Sequence[int], total: int) -> int:
    """How many leading name columns stay while the rest scrolls: at least one, at most half of the line."""
    used = count = 0
    for column, width in zip(columns, widths, strict=True):
        used += width + 1
        if column.kind != "name" or (count and used > total // 2):
            break
        count += 1
    return min(max(1, count), len(columns))


def squeezed(columns: Sequence[Column], widths: Sequence[int], total: int) -> list[int]:
    """Widths where the widest names and texts gave way, down to a minimum, until the line holds them all."""
    least = [
        _narrowest(columns, index) if column.kind in ELASTIC_KINDS else widths[index]
        for index, column in enumerate(columns)
    ]
    excess = 1 + sum(widths) + sum(_gap(column) for column in columns[1:]) - total
    return shrink(widths, least, excess)


def arrange(
    columns: Sequence[Column], widths: Sequence[int], total: int, first: int = 0, *, wide: bool = False
) -> ColumnLayout:
    """Put columns on a line of `total` cells; `first` is how many columns after the pinned ones scrolled away.

    If `wide`, no width gives way but that of a pinned name that would leave less than half of the line.
    """
    wanted, widths = widths, list(widths) if wide else squeezed(columns, widths, total)
    pinned = pinned_count(columns, widths, total)
    if wide and pinned < len(columns):
        widths[:1] = [min(width, max(total // 2, NARROWEST_FIRST)) for width in widths[:1]]
    if pinned == len(columns):
        first = 0
    slots: list[Slot] = []
    x = 1
    for index, column in enumerate(columns):
        if pinned <= index < pinned + first:
            continue
        gap = _gap(column) if slots else 0
        room = total - x - gap
        width = min(widths[index], room) if column.kind in ELASTIC_KINDS else widths[index]
        if width > room or width < 1 or (width < widths[index] and width < NARROWEST // 2):
            break
        slots.append(Slot(index, x + gap, gap, width, is_right(column)))
        x += gap + width
    last = slots[-1].index if slots else -1
    more = last < len(columns) - 1 or (wide and bool(slots) and slots[-1].width < widths[last])
    return ColumnLayout(tuple(_eased(slots, wanted, total)), pinned, first, first > 0, more)


def _eased(slots: Sequence[Slot], wanted: Sequence[int], total: int) -> list[Slot]:
    """Give cells that are left over back to the names and texts that gave way, from the left."""
    found: list[Slot] = []
    spare = total - 1 - (slots[-1].start + slots[-1].width) if slots else 0
    shift = 0
    for slot in slots:
        more = max(0, min(spare, wanted[slot.index] - slot.width))
        found.append(replace(slot, start=slot.start + shift, width=slot.width + more))
        spare -= more
        shift += more
    return found


def scrolled_to(
    columns: Sequence[Column], widths: Sequence[int], total: int, first: int, wanted: int, *, wide: bool = False
) -> ColumnLayout:
    """The arrangement nearest to `first` that shows the wanted column; if `wide`, whole where it can be."""
    found = arrange(columns, widths, total, first, wide=wide)
    if not columns or wanted < found.pinned or _is_shown(found, wanted, widths, wide):
        return found
    if wanted < found.pinned + first:
        return arrange(columns, widths, total, wanted - found.pinned, wide=wide)
    while not _is_shown(found, wanted, widths, wide) and first < min(wanted, len(columns) - 1) - found.pinned:
        first += 1
        found = arrange(columns, widths, total, first, wide=wide)
    return found


def _is_shown(found: ColumnLayout, index: int, widths: Sequence[int], whole: bool) -> bool:
    return found.shows(index) and (not whole or any(s.index == index and s.width >= widths[index] for s in found.slots))


def _gap(column: Column) -> int:
    return 2 if is_right(column) or column.kind in ("flag", "text") else 1


def _narrowest(columns: Sequence[Column], index: int) -> int:
    if columns[index].kind != "name":
        return NARROWEST_TEXT if columns[index].kind == "text" else NARROWEST
    return NARROWEST_FIRST if index == 0 else NARROWEST_NAME
