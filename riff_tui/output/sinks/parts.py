"""Share what sinks have: their options, and the parts that a table is printed in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple, Protocol, TextIO

from riff_tui.table import Batch, Column, Row, Section, Severity, Table
from riff_tui.text.column_fit import wrap
from riff_tui.text.glyphs import Glyphs, glyphs, in_ascii
from riff_tui.text.safe_text import cell_width, one_line

FIGURE_WIDTH = 78
LEAST_PLACE = 25


def data_columns(table: Table) -> list[Column]:
    """Return the columns that programs read: what bars draw other columns have."""
    return [column for column in table.columns if column.kind != "bar"]


def shown_columns(table: Table) -> list[Column]:
    """Return the columns that show by default."""
    return [column for column in table.columns if column.shown]


def figure_lines(table: Table, options: Options, width: int | None = None) -> list[str]:
    """Return the drawing above the rows, safe line by line."""
    if table.figure is None:
        return []
    # If there is no width each drawing has its own.
    room = {} if width is None else {"width": width}
    lines = table.figure.draw(ascii_only=options.ascii_only, **room)
    return [options.line(line) for line in lines]


def lists(table: Table) -> Iterator[tuple[Section, list[Row]]]:
    """Yield each section with those of its rows that the table still has, in the table's order."""
    for section in table.sections:
        wanted = frozenset(section.row_ids)
        yield section, [row for row in table.rows if row.id in wanted]


def place_width(widths: Sequence[int]) -> int:
    """Return the width of the places of one list, so that the summaries begin below each other."""
    return max([LEAST_PLACE, *widths]) + 2


def row_severity(row: Row) -> Severity | None:
    """Return the row's own mark, else the gravest of its cells."""
    own = row.severity.get("")
    if own is not None:
        return own
    found = set(row.severity.values())
    return "bad" if "bad" in found else "warn" if "warn" in found else None


def closing(table: Table) -> list[str]:
    """Return the notes, and how many rows a filter or a limit took away."""
    return [*table.notes, *_taken_away(table)]


def _taken_away(table: Table) -> list[str]:
    shown, matched, total = table.counts
    gone = total - matched
    listed = "" if table.limit is None else f" (--limit {table.limit}{' a list' if table.sections else ''})"
    others = f"; {gone:,} {'does' if gone == 1 else 'do'} not"
    if shown < matched:
        return [f"Shown: {shown:,} of {matched:,}{' match' if gone else ''}{listed}{others if gone else ''}."]
    return [f"{matched:,} of {total:,} match{others}."] if gone else []


def wrapped(text: str, room: int | None) -> list[str]:
    """Break safe text into lines of at most `room` cells; what fits, or has room without end, stays as it is."""
    return [text] if room is None or cell_width(text) <= room else wrap(text, room)


class Options(NamedTuple):
    """Describe how to print; a format ignores what means nothing to it."""

    width: int | None = None
    ascii_only: bool = False
    color: bool = False
    csv_raw: bool = False

    @property
    def glyphs(self) -> Glyphs:
        """Return the signs to print with."""
        return glyphs(self.ascii_only)

    def line(self, text: str) -> str:
        """Return any text as safe text on one line, in ASCII where wanted."""
        safe = one_line(text)
        return in_ascii(safe) if self.ascii_only else safe


class Sink(Protocol):
    """Write one format."""

    def __call__(self, table: Table, out: TextIO, options: Options) -> None:
        """Print the table to `out`."""
        ...


def lines_of(
    batch: Batch, columns: Sequence[Column], text: Callable[[Column, Any], str], separator: str
) -> Iterator[str]:
    """Yield the line of each row: the text of a value in each column, and a separator between them."""
    parts: list[Iterable[str]] = []
    for is_shared, some in groupby(columns, key=lambda column: column.key in batch.shared):
        held = batch.shared if is_shared else batch.single
        cells = [_texts(column, held[column.key], text) for column in some]
        joined = map(separator.join, zip(*cells, strict=True))
        parts.append(batch.spread(joined) if is_shared else joined)
    return map(separator.join, zip(*parts, strict=True))


def _texts(column: Column, values: Sequence[Any], text: Callable[[Column, Any], str]) -> Iterable[str]:
    texts = {value: text(column, value) for value in set(values)}
    if column.kind == "number" and 0.0 in texts:
        texts[0.0] = text(column, 0.0)  # and not that of -0.0, which is equal
    return map(texts.__getitem__, values)
