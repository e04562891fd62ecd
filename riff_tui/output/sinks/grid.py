"""Lay out rows and lists as pieces of text at cells, for formats that set one sign below the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Literal, NamedTuple, TypeAlias

from riff_tui.output.sinks.fitting import GAP, CellColumn, fit_columns
from riff_tui.output.sinks.options import Options
from riff_tui.output.sinks.parts import lists, place_width, row_severity, shown_columns
from riff_tui.table import Column, Row, Severity, Table
from riff_tui.text.column_fit import fitted
from riff_tui.text.numbers import cell_text, is_right
from riff_tui.text.safe_text import cell_width, padded

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

    `width` is how many cells a line takes, `fit` says which columns are shown and what the terminal cost. Rows that
    follow those of a grid `before` are laid out as wide at least, unless a terminal says how wide.
    """

    def __init__(self, table: Table, options: Options, before: Grid | None = None) -> None:
        self._rows = list(table.rows)  # once: rows that are read as they are wanted would be for every column
        self._glyphs = options.glyphs
        self._marks = [self._glyphs.mark(row_severity(row), thin=row.thin) for row in self._rows]
        lead = 2 if any(mark != " " for mark in self._marks) or (before is not None and before.layout[0][1]) else 0
        columns = [self._column(column, options) for column in shown_columns(table)]
        room = None if options.width is None else max(1, options.width - lead)
        self.fit = fit_columns(table, columns, room, self._glyphs)
        if before is not None and options.width is None:
            for each, (_, _, width) in zip(self.fit.columns, before.layout, strict=True):
                each.width = max(each.width, width)
        *self._starts, end = accumulate((each.width + GAP for each in self.fit.columns), initial=lead)
        self.width = end - GAP

    @property
    def layout(self) -> list[tuple[str, int, int]]:
        """Return the columns that are shown, the cells that they start at and how many they fill."""
        return [
            (each.column.key, start, each.width) for each, start in zip(self.fit.columns, self._starts, strict=True)
        ]

    def titles(self) -> list[Piece]:
        """Return the header."""
        return self._line([each.title for each in self.fit.columns], None)

    def lines(self) -> Iterator[list[Piece]]:
        """Yield a line for each row."""
        for place, (row, mark) in enumerate(zip(self._rows, self._marks, strict=True)):
            marked = [Piece(0, 1, mark, "thin" if row.thin else row_severity(row))] if self._starts[0] else []
            yield marked + self._line([each.shown(place, self._glyphs.ellipsis) for each in self.fit.columns], row)

    def _line(self, cells: Sequence[str], row: Row | None) -> list[Piece]:
        return [
            Piece(
                start,
                each.width,
                fitted(cell, each.width, self._glyphs.ellipsis, right=is_right(each.column)),
                None if row is None else "thin" if row.thin else row.severity.get(each.column.key),
                each.column.strong_title if row is None else each.column.strong and cell != self._glyphs.not_measured,
            )
            for each, cell, start in zip(self.fit.columns, cells, self._starts, strict=True)
        ]

    def _column(self, column: Column, options: Options) -> CellColumn:
        cells = [cell_text(column, row, self._glyphs) for row in self._rows]
        cells = _signed(cells, "", [column.thin and row.thin for row in self._rows])
        capped = [row.severity.get(column.key) == "capped" for row in self._rows]
        cells = _signed(cells, self._glyphs.capped, capped)
        is_marked = any(row.severity.get(column.key) in ("bad", "warn") for row in self._rows)
        return CellColumn(column, options.line(column.title), options.line(column.short), cells, is_marked)


def _signed(cells: list[str], sign: str, has: Sequence[bool]) -> list[str]:
    """Put a sign behind some cells of a column, and a blank behind the others; an empty sign is there already."""
    return [cell + (sign if signed else " ") for cell, signed in zip(cells, has, strict=True)] if any(has) else cells


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
