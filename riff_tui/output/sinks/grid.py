"""Lay out rows and lists as pieces of text at cells, for formats that set one sign below the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal, NamedTuple, TypeAlias

from riff_tui.output.sinks.parts import Options, lists, place_width, row_severity, shown_columns
from riff_tui.table import Column, Row, Severity, Table
from riff_tui.text.column_fit import ELASTIC_KINDS, NameCut, fitted, name_cut, shared_prefix, shrink
from riff_tui.text.glyphs import ASCII, UNICODE, Glyphs
from riff_tui.text.numbers import cell_text, count_text, is_right
from riff_tui.text.safe_text import cell_width, padded

Tone: TypeAlias = Severity | Literal["thin"]


class Piece(NamedTuple):
    """Keep safe text with the cell of its line that it starts at and how many it fills; plain text has no `tone`."""

    start: int
    width: int
    text: str
    tone: Tone | None = None
    strong: bool = False


class Grid:
    """Lay out columns as wide as their widest cell, or as a terminal lets them, with marks before rows that have any.

    `width` is how many cells a line takes, `fit` shows which columns are shown and what the terminal cost. Rows that
    follow those of a grid `before` are laid out as wide at least, unless a terminal shows how wide.
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
            yield marked + self._line([each.shown(place) for each in self.fit.columns], row)

    def _line(self, cells: Sequence[str], row: Row | None) -> list[Piece]:
        return [
            Piece(
                start,
                each.width,
                fitted(cell, each.width, self._glyphs.ellipsis, right=is_right(each.column)),
                None if row is None else "thin" if row.is_thin(each.column.key) else row.severity.get(each.column.key),
                each.column.strong_title if row is None else each.column.strong and cell != self._glyphs.not_measured,
            )
            for each, cell, start in zip(self.fit.columns, cells, self._starts, strict=True)
        ]

    def _column(self, column: Column, options: Options) -> CellColumn:
        cells = [cell_text(column, row, self._glyphs, counted=False) for row in self._rows]
        cells = _signed(cells, "", [column.thin and row.thin for row in self._rows])
        capped = [row.severity.get(column.key) == "capped" for row in self._rows]
        cells = _signed(cells, self._glyphs.capped, capped)
        is_marked = any(row.severity.get(column.key) in ("bad", "warn") for row in self._rows)
        found = CellColumn(column, options.line(column.title), options.line(column.short), cells, is_marked)
        found.count([count_text(column, row, self._glyphs) for row in self._rows])
        return found


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


GAP = 2
NARROWEST = 10
NARROWEST_FIRST = 24
NARROWEST_NAME = 16
NARROWEST_TEXT = 20
NOT_MEASURED_SIGNS = (UNICODE.not_measured, ASCII.not_measured)
LISTED = 6


@dataclass(slots=True, eq=False)
class CellColumn:
    """Describe a column with its title and the safe texts of its cells, as they are to be shown in `width` cells."""

    column: Column
    title: str
    short: str
    cells: list[str]
    is_marked: bool = False
    width: int = field(init=False)
    cut: NameCut | None = None
    widest: int = field(init=False)
    uncounted: list[str] | None = None

    def __post_init__(self) -> None:
        self.say(self.cells)

    def say(self, cells: list[str]) -> None:
        """Give it other cells, and the width that shows all of them."""
        self.cells = cells
        self.widest = max(map(cell_width, self.cells), default=0)
        self.retitle(self.title)

    def count(self, texts: Sequence[str]) -> None:
        """Put behind cells of how many calls they are, as long as there is room; blanks where it is all of the row."""
        room = max(map(cell_width, texts), default=0)
        if room:
            self.uncounted = self.cells
            self.say([cell + padded(text, room) for cell, text in zip(self.cells, texts, strict=True)])

    def retitle(self, title: str) -> None:
        """Give it another title, and the width that shows all of it."""
        self.title = title
        self.width = max(self.widest, cell_width(title))

    @property
    def is_name(self) -> bool:
        """Return whether its cells are names, which are cut where they are alike."""
        return self.column.kind == "name"

    def without_prefix(self) -> int:
        """Return the width that shows what its names do not share."""
        prefix = shared_prefix(self._names()) if self.is_name else ""
        return max([cell_width(self.title), *(cell_width(name.removeprefix(prefix)) for name in self.cells)])

    def squeeze(self, width: int, ellipsis: str) -> None:
        """Show it in so many cells."""
        self.width = width
        if self.is_name and width < self.widest:
            self.cut = name_cut(self._names(), width, ellipsis)
            self.width = min(width, max(cell_width(self.title), *map(cell_width, map(self.cut.usual, self.cells))))

    def shown(self, place: int) -> str:
        """Return the text of a cell, a name cut if it has no room."""
        return self.cells[place] if self.cut is None else self.cut.text(self.cells[place])

    def _names(self) -> list[str]:
        return [name for name in self.cells if name not in NOT_MEASURED_SIGNS]


@dataclass(frozen=True, slots=True)
class Fit:
    """Describe the columns that are shown, and what the terminal cost.

    `empty` columns have nothing measured, `constant` ones the same text in every row, `left_out` ones no room.
    """

    columns: Sequence[CellColumn] = ()
    empty: Sequence[CellColumn] = ()
    constant: Sequence[CellColumn] = ()
    left_out: Sequence[CellColumn] = ()

    def sentences(self) -> list[str]:
        """Return a sentence on each kind of column that a sentence replaces."""
        said = []
        if self.empty:
            said.append(f"Not measured: {_listed([each.column.title for each in self.empty])}.")
        if self.constant:
            same = [f"{each.column.title} {each.cells[0]}" for each in self.constant]
            said.append(f"The same in every row: {_listed(same)}.")
        return said

    def costs(self, others: int = 0) -> list[str]:
        """Return what was left out or cut, a few words each; `others` are texts beside the columns that were."""
        said = []
        if self.left_out:
            count = len(self.left_out)
            named = _listed([each.column.title for each in self.left_out])
            said.append(f"{count} {'column' if count == 1 else 'columns'} left out ({named})")
        prefixes = [(each.column.title, each.cut.prefix) for each in self.columns if each.cut and each.cut.prefix]
        said += [f"{prefix} dropped from each {title}" for title, prefix in prefixes]
        shortened = others + sum(
            cell_width(cell.removeprefix(each.cut.prefix if each.cut else "")) > each.width
            for each in self.columns
            for cell in each.cells
        )
        if shortened:
            said.append(f"{shortened:,} {'text' if shortened == 1 else 'texts'} shortened")
        return said


def fit_columns(table: Table, columns: Sequence[CellColumn], room: int | None, glyphs: Glyphs) -> Fit:
    """Return how to show columns in `room` cells; without one all of them as they are.

    First go columns in which nothing is measured. If that is not enough titles become short, the number of calls of a
    mean is left out, and columns with the same in every row go. Then those that decide least go, and names and texts
    give way.
    """
    if room is None or not columns:
        return Fit(columns)
    if not table.rows:
        return Fit(_kept(columns, room))
    empty = [each for each in columns if all(cell.strip() == glyphs.not_measured for cell in each.cells)]
    shown = [each for each in columns if each not in empty] or list(columns[:1])
    empty = [each for each in empty if each not in shown]
    if _total([each.width for each in shown]) <= room:
        return Fit(shown, empty)
    for each in shown:
        each.retitle(each.short or each.title)
    for each in shown:
        if each.uncounted is not None and _total([each.width for each in shown]) > room:
            each.say(each.uncounted)
    constant: list[CellColumn] = []
    if _total([each.width for each in shown]) > room:
        telling = ("number", "count")
        constant = [each for each in shown if len(each.cells) > 1 and each.column.kind not in telling]
        constant = [each for each in constant if len(set(each.cells)) == 1]
        shown = [each for each in shown if each not in constant] or list(columns[:1])
        constant = [each for each in constant if each not in shown]
    ranked = sorted(shown, key=lambda each: _rank(table, each))
    kept = _kept(ranked, room)
    left_out = [each for each in shown if each not in kept]
    _squeeze(kept if left_out else shown, room, glyphs.ellipsis)
    return Fit(kept if left_out else shown, empty, constant, left_out)


def _rank(table: Table, each: CellColumn) -> tuple[int, int]:
    """Return how early a column comes: names, what the view puts first or n, the figure of the order, what is marked.

    After that comes the rest.
    """
    column = each.column
    if column.key in table.identity if table.identity else each.is_name and column.key not in table.last:
        return 0, 0
    if column.key in table.first:
        return 1, table.first.index(column.key)
    if column.thin:
        return 1, 0
    if column.strong or column.key == table.sort.removeprefix("-"):
        return 2, 0
    if column.key in table.last:
        return 5, table.last.index(column.key)
    return (3, 0) if each.is_marked and not column.path else (4, int(each.is_name))


def _kept(ranked: Sequence[CellColumn], room: int) -> list[CellColumn]:
    """Return the columns that have room, in their order; the first one stays, and n before any other."""
    kept: list[CellColumn] = []
    used = -GAP
    for each in sorted(ranked, key=lambda each: (each is not ranked[0], not each.column.thin)):
        least = _least(each, room, first=not kept)
        if not kept or used + GAP + least <= room:
            kept.append(each)
            used += GAP + least
    return [each for each in ranked if each in kept]


def _least(each: CellColumn, room: int, *, first: bool) -> int:
    """Return the narrowest that a column may be; a number that is cut is another number."""
    if each.column.kind not in ELASTIC_KINDS:
        return each.width
    wanted = NARROWEST_FIRST if first else NARROWEST_NAME if each.is_name else NARROWEST_TEXT
    return min(each.width, max(NARROWEST, min(each.without_prefix(), wanted, room * 3 // 10)))


def _squeeze(columns: Sequence[CellColumn], room: int, ellipsis: str) -> None:
    """Give columns their widths: names give up what they share before anything is cut."""
    least = [_least(each, room, first=place == 0) for place, each in enumerate(columns)]
    natural = [each.width for each in columns]
    excess = _total(natural) - room
    for place, each in enumerate(columns):
        if excess > 0 and shrink(natural, least, excess)[place] < natural[place]:
            told_apart = max(least[place], each.without_prefix())
            excess -= natural[place] - told_apart
            natural[place] = told_apart
    widths = shrink(natural, least, max(0, excess))
    for place, each in enumerate(columns):
        spare = max(0, room - _total(widths))
        widths[place] += min(spare, each.width - widths[place])
    widths[0] = max(1, min(widths[0], widths[0] + room - _total(widths)))
    for each, width in zip(columns, widths, strict=True):
        each.squeeze(width, ellipsis)


def _listed(texts: Sequence[str]) -> str:
    more = len(texts) - LISTED
    return ", ".join([*texts[:LISTED], *([f"{more} more"] if more > 0 else [])])


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)
