"""Write all that is known of one row in lines for the detail pane."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.style import Style

from riff_tui.table import Column, Row, Severity, Table, label
from riff_tui.text.column_fit import fitted, wrap
from riff_tui.text.glyphs import Glyphs
from riff_tui.text.numbers import fixed, interval_text, percent, ranked, value_text
from riff_tui.text.safe_text import cell_width, padded
from riff_tui.tui.render.columns import TREND, shown, text_of
from riff_tui.tui.render.palette import Palette
from riff_tui.tui.render.styled_lines import Line, Piece
from riff_tui.tui.render.transcript_lines import transcript_lines
from riff_tui.tui.session.column_choice import INTERVAL
from riff_tui.views.parts.mark_reasons import reasons, thinness

FINEST = 3
_WIDEST_TITLE = 16
_FIGURE = 8
_UNIT = 7
_MOST_ITEMS = 40
_UNTOLD = frozenset({"intervals", "list"})


def detail_lines(
    table: Table, row: Row, width: int, glyphs: Glyphs, palette: Palette, conversation: Table | None = None
) -> list[Line]:
    """Return the row's whole record: why it is marked, each value with its unit and interval, what no column shows.

    `conversation` is the conversation that the row is about, of which what was said follows.
    """
    writer = _DetailWriter(width, glyphs, palette)
    writer.marks(table, row)
    writer.record(table, row)
    if conversation is not None:
        writer.lines.append(())
        writer.rule("transcript")
        writer.lines += [each.line for each in transcript_lines(conversation.rows, (), width, glyphs, palette)]
    return writer.lines


def heading(table: Table, row: Row, glyphs: Glyphs) -> str:
    """Return what the row is called, as safe text."""
    return shown(row.display.get("place") or label(table, row), glyphs)


class _DetailWriter:
    def __init__(self, width: int, glyphs: Glyphs, palette: Palette) -> None:
        self.lines: list[Line] = []
        self._width = width
        self._glyphs = glyphs
        self._palette = palette
        self._room = 0

    def marks(self, table: Table, row: Row) -> None:
        """Write why cells are marked, the gravest first."""
        found: dict[tuple[Severity, str], list[str]] = {}
        for severity, title, why in reasons(table, row):
            found.setdefault((severity, why), []).append(shown(title, self._glyphs))
        for (severity, why), titles in found.items():
            self._text(f"{self._glyphs.mark(severity)} {', '.join(titles)}: {why}", self._palette.of(severity))
        if thinness(row):
            self._text(f"{self._glyphs.thin} thin: {thinness(row)}", self._palette.faint)
        if self.lines:
            self.lines.append(())

    def record(self, table: Table, row: Row) -> None:
        """Write every value of the record under its column's title, then what belongs to no column.

        An interval stands beside its value, and so has no line of its own.
        """
        columns = [column for column in table.columns if not column.key.startswith(INTERVAL)]
        columns += _further(table, row)
        titles = [cell_width(shown(column.title, self._glyphs)) for column in columns]
        self._room = min(_WIDEST_TITLE, max(titles, default=0))
        intervals = row.record.get("intervals") or {}
        for column in columns:
            self._value(column, row, intervals.get(column.key))

    def rule(self, word: str) -> None:
        """Write a rule with a word in it."""
        rule = self._glyphs.box["ew"]
        self.lines.append(((f"{rule * 2} {word} {rule * (self._width - len(word) - 4)}", self._palette.faint),))

    def _value(self, column: Column, row: Row, interval: Sequence[float] | None) -> None:
        value = column.value(row.record)
        if column is TREND:
            shares = " ".join(percent(share) for share in value)
            self._words(column, [f"{text_of(column, row, self._glyphs)} {shares}"], None)
        elif column.kind in ("number", "count", "flag") and not isinstance(value, str):
            self._number(column, row, value, interval)
        elif isinstance(value, Mapping):
            self._items(column, value)
        elif value not in (None, "", []):
            self._words(column, [value_text(column, value)], row.severity.get(column.key))

    def _number(self, column: Column, row: Row, value: Any, interval: Sequence[float] | None) -> None:
        severity = row.severity.get(column.key)
        said = self._mark(severity) + self._figure(column, row, value)
        line: list[Piece] = [
            (f" {self._title(column)} ", self._palette.faint),
            (padded(said, _FIGURE, right=True), self._palette.of(severity)),
        ]
        if value is not None and (column.unit or interval):
            line.append((f" {padded(shown(column.unit, self._glyphs), _UNIT)}", self._palette.faint))
        if interval:
            ends = shown(interval_text(interval, max(2, column.decimals), trim=True), self._glyphs)
            line.append((f" {ends}", self._palette.faint))
        self.lines.append(tuple(line))

    def _figure(self, column: Column, row: Row, value: Any) -> str:
        if isinstance(value, int | float) and column.kind == "number":
            return fixed(value, max(FINEST, column.decimals) if column.decimals else 0, trim=True)
        return text_of(column, row, self._glyphs)

    def _items(self, column: Column, items: Mapping[Any, Any]) -> None:
        said = [f"{key} {value_text(column, value) if value is not None else '·'}" for key, value in ranked(items)]
        more = len(said) - _MOST_ITEMS
        self._words(column, [*said[:_MOST_ITEMS], *([f"{more} more"] if more > 0 else [])], None)

    def _words(self, column: Column, texts: Sequence[str], severity: Severity | None) -> None:
        """Write raw texts at the right of a title, each from a new line."""
        title: Piece = (f" {self._title(column)}  ", self._palette.faint)
        indent = cell_width(title[0])
        pieces = [piece for text in texts for piece in wrap(shown(text, self._glyphs), self._width - indent - 1)]
        for number, piece in enumerate(pieces):
            said = f"{self._mark(severity) if not number else ''}{piece}"
            self.lines.append((title if not number else (" " * indent, None), (said, self._palette.of(severity))))

    def _text(self, text: str, style: Style | None) -> None:
        first, *more = wrap(text, self._width - 3)
        self.lines += [((f" {first}", style),), *(((f"   {piece}", style),) for piece in more)]

    def _title(self, column: Column) -> str:
        return fitted(shown(column.title, self._glyphs), self._room, self._glyphs.ellipsis)

    def _mark(self, severity: Severity | None) -> str:
        return self._glyphs.mark(severity).strip()


def _further(table: Table, row: Row) -> Iterator[Column]:
    """Return a column for each value of the record that has none in the table."""
    covered = {step for column in table.columns for step in (column.key, *(column.path or ())[:1])}
    for key, value in row.record.items():
        if key == TREND.key and value:
            yield TREND
        elif key not in covered and key not in _UNTOLD and not key.startswith(INTERVAL):
            number = isinstance(value, int | float) and not isinstance(value, bool)
            yield Column(key, key, kind="number" if number else "object")
