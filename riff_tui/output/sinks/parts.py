"""What the formats for people have in common: the columns that show, the lists of a table, its closing sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from riff_tui.output.sinks.options import Options
from riff_tui.table import Column, Row, Section, Severity, Table

FIGURE_WIDTH = 78
LEAST_PLACE = 25


def shown_columns(table: Table) -> list[Column]:
    """The columns that a person gets to see unasked."""
    return [column for column in table.columns if column.shown]


def figure_lines(table: Table, options: Options, width: int | None = None) -> list[str]:
    """The drawing above the rows, safe line by line."""
    if table.figure is None:
        return []
    lines = table.figure.draw(ascii_only=options.ascii_only, width=width or FIGURE_WIDTH)
    return [options.line(line) for line in lines]


def lists(table: Table) -> Iterator[tuple[Section, list[Row]]]:
    """Each section with those of its rows that the table still holds, in the table's order."""
    for section in table.sections:
        wanted = frozenset(section.row_ids)
        yield section, [row for row in table.rows if row.id in wanted]


def place_width(widths: Sequence[int]) -> int:
    """How wide the places of one list are set, so that the summaries begin below each other."""
    return max([LEAST_PLACE, *widths]) + 2


def row_severity(row: Row) -> Severity | None:
    """The row's own mark, else the gravest of its cells."""
    own = row.severity.get("")
    if own is not None:
        return own
    found = set(row.severity.values())
    return "bad" if "bad" in found else "warn" if "warn" in found else None


def closing(table: Table) -> list[str]:
    """The notes, and how many rows did not make it here."""
    lines = list(table.notes)
    if table.hidden:
        lines.append(f"{table.hidden} hidden by the filter or the limit.")
    return lines
