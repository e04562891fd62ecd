"""Text for people: aligned columns, marks for what is bad or thin, cut to the terminal where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from riff_tui.numbers import cell_text, is_right
from riff_tui.safe_text import cell_width, fit, padded
from riff_tui.sinks.layout import GAP, layout, wrapped
from riff_tui.sinks.options import Options
from riff_tui.sinks.parts import closing, figure_lines, lists, place_width, shown_columns
from riff_tui.table import Column, Row, Severity, Table

_COLORS: dict[Severity, int] = {"bad": 31, "warn": 33}
_FAINT = 90


def write(table: Table, out: TextIO, options: Options) -> None:
    """Print title, drawing, rows and notes; the last line says what a narrow terminal cost."""
    parts: list[list[str]] = []
    if table.title:
        parts.append(wrapped(options.line(table.title), options.width))
    shortened = 0
    if figure := figure_lines(table, options, options.width):
        parts.append(_cut(figure, options))
        shortened += _longer(figure, options)
    left_out: list[Column] = []
    if table.sections:
        for lines in _lists(table, options):
            parts.append(_cut(lines, options))
            shortened += _longer(lines, options)
    elif columns := shown_columns(table):
        grid = _Grid(columns, table.rows, options)
        parts.append(grid.lines())
        left_out = grid.left_out
        shortened += grid.shortened
    said = closing(table) + _cost(left_out, shortened, options)
    if said:
        parts.append([part for line in said for part in wrapped(options.line(line), options.width)])
    out.write("\n\n".join("\n".join(line.rstrip() for line in part) for part in parts) + "\n")


class _Grid:
    """The rows as aligned lines."""

    def __init__(self, columns: Sequence[Column], rows: Sequence[Row], options: Options) -> None:
        self._columns = columns
        self._rows = rows
        self._options = options
        self._glyphs = options.glyphs
        self._marks = [self._glyphs.mark(_row_severity(row), thin=row.thin) for row in rows]
        self._lead = 2 if any(mark != " " for mark in self._marks) else 0
        self._titles = [options.line(column.title) for column in columns]
        self._cells = [[cell_text(column, row, self._glyphs) for column in columns] for row in rows]
        self._align_thin_counts()
        natural = [max(map(cell_width, cells)) for cells in zip(self._titles, *self._cells, strict=True)]
        room = None if options.width is None else max(1, options.width - self._lead)
        self._widths = layout(columns, natural, room)
        self.shortened = sum(
            cell_width(cell) > width for cells in self._cells for cell, width in zip(cells, self._widths, strict=False)
        )

    @property
    def left_out(self) -> list[Column]:
        """The columns for which there was no room."""
        return list(self._columns[len(self._widths) :])

    def lines(self) -> list[str]:
        """The header, then a line for each row."""
        found = [" " * self._lead + self._joined(self._titles, None)]
        for row, mark, cells in zip(self._rows, self._marks, self._cells, strict=True):
            lead = f"{self._colored(mark, row, '')} " if self._lead else ""
            found.append(lead + self._joined(cells, row))
        return found if self._rows else [*found, fit("No rows.", self._options.width or 8, "")]

    def _joined(self, cells: Sequence[str], row: Row | None) -> str:
        shown = []
        for column, cell, width in zip(self._columns, cells, self._widths):  # noqa: B905
            text = padded(fit(cell, width, self._glyphs.ellipsis), width, right=is_right(column))
            shown.append(text if row is None else self._colored(text, row, column.key))
        return (" " * GAP).join(shown)

    def _colored(self, text: str, row: Row, key: str) -> str:
        if not self._options.color or text.isspace():
            return text
        severity = row.severity.get(key) if key else _row_severity(row)
        code = _FAINT if row.thin else _COLORS.get(severity) if severity else None
        return text if code is None else f"\x1b[{code}m{text}\x1b[39m"

    def _align_thin_counts(self) -> None:
        """Digits stand below each other although some counts carry a mark behind them."""
        for index, column in enumerate(self._columns):
            marked = [cells[index].endswith(self._glyphs.thin) for cells in self._cells]
            if column.thin and any(marked):
                for cells, has_mark in zip(self._cells, marked, strict=True):
                    cells[index] += "" if has_mark else " "


def _row_severity(row: Row) -> Severity | None:
    """The row's own mark, else the gravest of its cells."""
    own = row.severity.get("")
    if own is not None:
        return own
    found = set(row.severity.values())
    return "bad" if "bad" in found else "warn" if "warn" in found else None


def _lists(table: Table, options: Options) -> list[list[str]]:
    found = []
    for section, rows in lists(table):
        marker = options.line(section.marker)
        places = [options.line(row.display.get("place", row.id)) for row in rows]
        width = place_width([cell_width(place) for place in places])
        lines = [
            f"  {marker} {padded(place, width)}{options.line(row.display.get('summary', ''))}".rstrip()
            for place, row in zip(places, rows, strict=True)
        ]
        found.append([options.line(section.title), *(lines or ["  (none)"])])
    return found


def _longer(lines: Sequence[str], options: Options) -> int:
    return 0 if options.width is None else sum(cell_width(line) > options.width for line in lines)


def _cut(lines: Sequence[str], options: Options) -> list[str]:
    if options.width is None:
        return list(lines)
    return [fit(line, options.width, options.glyphs.ellipsis) for line in lines]


def _cost(left_out: Sequence[Column], shortened: int, options: Options) -> list[str]:
    said = []
    if left_out:
        named = ", ".join(column.title for column in left_out)
        said.append(f"{len(left_out)} {'column' if len(left_out) == 1 else 'columns'} left out ({named})")
    if shortened:
        said.append(f"{shortened} {'text' if shortened == 1 else 'texts'} shortened")
    return [f"Cut to {options.width} cells: {', '.join(said)}. Into a file or a pipe nothing is cut."] if said else []
