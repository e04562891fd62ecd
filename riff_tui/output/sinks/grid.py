"""Lay out rows and lists as pieces of text at cells, for formats that set one sign below the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Literal, NamedTuple, TypeAlias

from riff_tui.output.sinks.options import Options
from riff_tui.output.sinks.parts import lists, place_width, row_severity
from riff_tui.table import Column, Row, Severity, Table
from riff_tui.text.column_fit import ELASTIC_KINDS, fitted, shrink
from riff_tui.text.numbers import cell_text, is_right
from riff_tui.text.safe_text import cell_width, padded

GAP = 2
NARROWEST = 10
Tone: TypeAlias = Severity | Literal["thin"]


class Piece(NamedTuple):
    """Hold safe text with the cell of its line that it starts at and how many it fills; plain text has no `tone`."""

    start: int
    width: int
    text: str
    tone: Tone | None = None
    strong: bool = False


class Grid:
    """Lay out columns as wide as their widest cell, or as a terminal lets them, with marks before rows that have any.

    `width` is how many cells a line takes, `left_out` the columns without room, `shortened` counts the cells that
    were cut.
    """

    def __init__(self, columns: Sequence[Column], rows: Sequence[Row], options: Options) -> None:
        self._columns = columns
        self._rows = rows
        self._glyphs = options.glyphs
        self._marks = [self._glyphs.mark(row_severity(row), thin=row.thin) for row in rows]
        self._titles = [options.line(column.title) for column in columns]
        self._cells = [[cell_text(column, row, self._glyphs) for column in columns] for row in rows]
        self._sign(self._glyphs.thin, lambda column, row: column.thin and row.thin, already=True)
        self._sign(self._glyphs.capped, lambda column, row: row.severity.get(column.key) == "capped")
        lead = 2 if any(mark != " " for mark in self._marks) else 0
        natural = [max(map(cell_width, cells)) for cells in zip(self._titles, *self._cells, strict=True)]
        self._widths = fitting_widths(columns, natural, None if options.width is None else max(1, options.width - lead))
        *self._starts, end = accumulate((width + GAP for width in self._widths), initial=lead)
        self.width = end - GAP
        self.left_out = list(columns[len(self._widths) :])
        self.shortened = sum(
            cell_width(cell) > width for cells in self._cells for cell, width in zip(cells, self._widths, strict=False)
        )

    def titles(self) -> list[Piece]:
        """Return the header."""
        return self._line(self._titles, None)

    def lines(self) -> Iterator[list[Piece]]:
        """Yield a line for each row."""
        for row, mark, cells in zip(self._rows, self._marks, self._cells, strict=True):
            marked = [Piece(0, 1, mark, "thin" if row.thin else row_severity(row))] if self._starts[0] else []
            yield marked + self._line(cells, row)

    def _line(self, cells: Sequence[str], row: Row | None) -> list[Piece]:
        return [
            Piece(
                start,
                width,
                fitted(cell, width, self._glyphs.ellipsis, right=is_right(column)),
                None if row is None else "thin" if row.thin else row.severity.get(column.key),
                column.strong_title if row is None else column.strong and cell != self._glyphs.not_measured,
            )
            for column, cell, start, width in zip(self._columns, cells, self._starts, self._widths, strict=False)
        ]

    def _sign(self, sign: str, has: Callable[[Column, Row], bool], *, already: bool = False) -> None:
        """Put a sign behind some cells of a column, unless it is there, and a blank behind the others."""
        for index, column in enumerate(self._columns):
            signed = [has(column, row) for row in self._rows]
            if any(signed):
                for cells, is_signed in zip(self._cells, signed, strict=True):
                    cells[index] += " " if not is_signed else "" if already else sign


def listed(table: Table, options: Options) -> Iterator[tuple[str, list[list[Piece]]]]:
    """Yield the heading of each section with its lines: a marker in the row's tone, then place and summary."""
    for section, rows in lists(table):
        marker = options.line(section.marker)
        places = [options.line(row.display.get("place", row.id)) for row in rows]
        width = place_width([cell_width(place) for place in places])
        lines = [
            [
                Piece(2, cell_width(marker), marker, row_severity(row)),
                _piece(3 + cell_width(marker), padded(place, width) + options.line(row.display.get("summary", ""))),
            ]
            for place, row in zip(places, rows, strict=True)
        ]
        yield options.line(section.title), lines or [[_piece(2, "(none)")]]


def _piece(start: int, text: str) -> Piece:
    return Piece(start, cell_width(text), text)


def fitting_widths(columns: Sequence[Column], natural: Sequence[int], room: int | None) -> list[int]:
    """Return the widths of the leading columns that fit; those beyond are left out.

    Names and texts give way first, down to ten cells; then columns go, the last first, but never the first one.
    """
    if room is None or not natural:
        return list(natural)
    elastic = [column.kind in ELASTIC_KINDS for column in columns]
    least = [min(width, NARROWEST) if gives else width for width, gives in zip(natural, elastic, strict=True)]
    kept = len(least)
    while kept > 1 and _total(least[:kept]) > room:
        kept -= 1
    widths = shrink(natural[:kept], least[:kept], _total(natural[:kept]) - room)
    widths[0] = max(1, min(widths[0], widths[0] + room - _total(widths)))
    return widths


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)
