"""Show a table of any length and send few bytes: only what changed, in one run of text a row."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from riff_tui.table import Column, Row, Table
from riff_tui.text.column_fit import fitted, wrap
from riff_tui.text.glyphs import UNICODE, Glyphs
from riff_tui.tui.data.lists import AS_IT_IS, ColumnChoice, index_of
from riff_tui.tui.render.columns import TREND, ColumnLayout, ColumnWidths, Slot, shown, text_of, visible_columns
from riff_tui.tui.render.styled_lines import PALETTES, Palette, StyleRun, add_style, append_run, strip_of_runs
from riff_tui.tui.terminal.partial_repaint import MAX_SHIFT, QuietFocus, ScrollingLines, Wheel

_SAMPLE = 100
_NOTHING = Table(view="", title="", columns=(), rows=())


class LineTable(QuietFocus, Wheel, ScrollingLines, can_focus=True):
    """Show a `Table` with a row cursor and a column cursor; header and names stay while the rest scrolls.

    Rows are only touched when they come into view, so `rows` may be a window of a long query.
    A cursor move repaints two lines. Every text goes through `one_line` and is never markup.
    """

    DEFAULT_CSS = """
    LineTable { height: 1fr; overflow: hidden hidden; }
    """
    ALLOW_SELECT = False
    BINDINGS: ClassVar = []
    HEADER_LINES = 1
    MAX_SHIFT = MAX_SHIFT

    cursor: reactive[int] = reactive(0, repaint=False)
    column: reactive[int] = reactive(0, repaint=False)

    class Opened(Message):
        """Report that the row under the cursor was clicked."""

    class Moved(Message):
        """Report that the cursor is on another row, or that its row was loaded."""

    def __init__(self, *, palette: Palette = PALETTES["ansi"], glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(id=id)
        self.palette = palette
        self.glyphs = glyphs
        self.table = _NOTHING
        self._empty = ""
        self._active = True
        self._marked: frozenset[str] = frozenset()
        self._lit: frozenset[str] = frozenset()
        self.columns: list[Column] = []
        self._widths = ColumnWidths((), glyphs, None)
        self._first = 0
        self._layout = ColumnLayout()

    # What is shown

    def load(
        self,
        table: Table,
        *,
        hide: frozenset[str] = frozenset(),
        sort: str | None = None,
        row: str = "",
        index: int = 0,
        column: str = "",
        empty: str = "",
        marked: Collection[str] = (),
        choice: ColumnChoice = AS_IT_IS,
        leading: str = "",
        again: bool = False,
    ) -> None:
        """Show a table with the cursor on the row and column of these names, or as near to them as it was.

        `index` is where the row was. `hide` names columns to leave out, `sort` the key that the rows
        are ordered by, with `-` for descending. `empty` is said in place of rows where there are none.
        `marked` are ids of rows that carry a mark, `choice` the columns that one chose, `leading` the key of the one
        that matters most here. The same rows shown `again`
        stay on the lines where they were.
        """
        line, first = (self.cursor - self._top, self._first) if again else (-1, 0)
        same = table.view == self.table.view
        old_column = self.columns[self.column].key if same and self.columns else ""
        self.table, self._empty, self._marked = table, empty, frozenset(marked)
        self.columns = visible_columns(table, hide, choice, leading)
        keys = [each.key for each in self.columns]
        wanted = column or old_column
        home = next((index for index, each in enumerate(self.columns) if each.kind not in ("name", "text")), 0)
        self.set_reactive(LineTable.column, keys.index(wanted) if wanted in keys else home)
        self._first = first
        self._widths = ColumnWidths(self.columns, self.glyphs, sort, wide=choice.wide, whole=len(table.rows) <= _SAMPLE)
        self._widths.measure(table.rows[:_SAMPLE])
        self.set_reactive(LineTable.cursor, index_of(table.rows, row, index))
        self.virtual_size = Size(self.size.width, len(table.rows) + 1)
        self._lay_out()
        if again:
            self._scroll(self.cursor - line)
            self._widen()
        self._reveal(center=True)
        self.refresh()

    @property
    def row(self) -> Row | None:
        """Return the row under the cursor."""
        return self.table.rows[self.cursor] if len(self.table.rows) else None

    @property
    def under(self) -> Column | None:
        """Return the column under the cursor."""
        return self.columns[self.column] if self.columns else None

    def activate(self, active: bool) -> None:
        """Show whether keys move this cursor or another one."""
        if active != self._active:
            self._active = active
            self.refresh_line(self.cursor)
            self._refresh_head()

    def refreshed(self) -> None:
        """Draw rows that were loaded."""
        self._widen()
        self.refresh()
        self.post_message(self.Moved())

    def restyle(self, palette: Palette) -> None:
        """Take other colours."""
        self.palette = palette
        self.refresh()

    def mark(self, marked: Collection[str]) -> None:
        """Mark the rows of these ids and no others."""
        changed, self._marked = self._marked ^ frozenset(marked), frozenset(marked)
        self._refresh_rows(changed)

    def highlight(self, ids: Collection[str]) -> None:
        """Highlight the rows of these ids and no others."""
        changed, self._lit = self._lit ^ frozenset(ids), frozenset(ids)
        self._refresh_rows(changed)

    # Moving

    def move(self, rows: int) -> None:
        """Move the cursor by some rows."""
        self.cursor += rows

    def page(self, pages: int) -> None:
        """Move the cursor and the window by whole pages."""
        height = self._height
        top = self._top + pages * height
        self.cursor += pages * height
        self._scroll(top)

    def to_end(self, end: int) -> None:
        """Move to the first (-1) or the last (1) row."""
        self.cursor = 0 if end < 0 else len(self.table.rows) - 1

    def sideways(self, columns: int) -> None:
        """Move the column cursor."""
        self.column += columns

    def is_bad(self, row: Row) -> bool:
        """Return whether a cell of a row, in any of the columns, is marked bad."""
        return any(row.severity.get(column.key) == "bad" for column in self.columns)

    def to_bad(self, direction: int, *, whole: bool = False) -> bool:
        """Move to the next (1) or the previous (-1) bad cell of this row; of the `whole` row, the first that way."""
        row = self.row
        cells = [index for index, column in enumerate(self.columns) if row and row.severity.get(column.key) == "bad"]
        bad = [index for index in cells if whole or (index - self.column) * direction > 0]
        if bad:
            self.column = bad[0] if direction > 0 else bad[-1]
        return bool(bad)

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, len(self.table.rows) - 1))

    def validate_column(self, column: int) -> int:
        return max(0, min(column, len(self.columns) - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        self._reveal()
        self.refresh_line(old)
        self.refresh_line(new)
        self.post_message(self.Moved())

    def watch_column(self) -> None:
        before = self._layout
        self._lay_out()
        if before == self._layout:
            self._refresh_head()
            self.refresh_line(self.cursor)
        else:
            self.refresh()

    # Window

    @property
    def _height(self) -> int:
        return max(1, self.size.height - 1)

    @property
    def _top(self) -> int:
        return self.scroll_offset.y

    def _scroll(self, top: int) -> bool:
        before = self._top
        self.scroll_to(y=top, animate=False, force=True)
        if self._top == before:
            return False
        self._widen()
        return True

    def _reveal(self, *, center: bool = False) -> bool:
        """Scroll as far as it takes to see the cursor; return whether that repaints everything."""
        top, height = self._top, self._height
        if top <= self.cursor < top + height:
            return False
        if center:
            return self._scroll(self.cursor - height // 2)
        return self._scroll(self.cursor if self.cursor < top else self.cursor - height + 1)

    def _refresh_rows(self, ids: Collection[str]) -> None:
        for index, row in enumerate(self._window() if ids else (), self._top):
            if row.id in ids:
                self.refresh_line(index)

    def _refresh_head(self) -> None:
        self.refresh(Region(0, 0, self.size.width, 1))

    def on_resize(self) -> None:
        self._lay_out()
        self._reveal()
        self.refresh()

    # Columns

    def _window(self) -> Sequence[Row]:
        return [
            self.table.rows[index] for index in range(self._top, min(self._top + self._height, len(self.table.rows)))
        ]

    def _lay_out(self) -> None:
        width = self.size.width
        self._layout = self._widths.layout(width, self._first, self.column) if width else ColumnLayout()
        self._first = self._layout.first

    def _widen(self) -> None:
        """Widen columns as rows that came into view need it."""
        if self._widths.measure(self._window()):
            self._lay_out()
            self.refresh()

    # Lines

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y == 0:
            return self._header(width)
        index = self._top + y - 1
        if index < len(self.table.rows):
            return self._row(self.table.rows[index], index == self.cursor, width)
        return self._note(index - len(self.table.rows), width)

    def _header(self, width: int) -> Strip:
        base = self.palette.head
        more_left, more_right = ("<", ">") if self.glyphs.ascii_only else ("‹", "›")
        runs = [StyleRun(more_left if self._layout.more_left else " ", base)]
        for slot in self._layout.slots:
            text = self._widths.head(slot)
            lit = slot.index == self.column and self.has_rows and self._active
            append_run(runs, " " * slot.gap, text, base + Style(reverse=True) if lit else base, lit=lit)
        if self._layout.more_right:
            append_run(runs, " " * (width - 1 - self._layout.end), more_right, base)
        return strip_of_runs(runs, width, base)

    @property
    def has_rows(self) -> bool:
        """Return whether there are any rows."""
        return len(self.table.rows) > 0

    def _row(self, row: Row, at_cursor: bool, width: int) -> Strip:
        at_cursor = at_cursor and self._active
        lit = self.palette.head if row.id in self._lit else None
        base = self.palette.cursor if at_cursor else lit or (self.palette.quiet if row.thin else None)
        mark = row.severity.get("")
        sign, style = self.glyphs.mark(mark), add_style(base, self.palette.of(mark))
        if row.id in self._marked:
            sign, style = self.glyphs.marked, style or self.palette.place
        runs = [StyleRun(sign, style)]
        for slot in self._layout.slots:
            self._cell(runs, slot, row, base, at_cursor)
        return strip_of_runs(runs, width, base)

    def _cell(self, runs: list[StyleRun], slot: Slot, row: Row, base: Style | None, at_cursor: bool) -> None:
        column = self.columns[slot.index]
        is_thin = row.is_thin(column.key)
        severity = None if is_thin and not row.thin else row.severity.get(column.key)
        text = text_of(column, row, self.glyphs)
        # Of a trend the latest matters, so it is cut at its left.
        text = text[-slot.width :] if column is TREND else text
        text = self._widths.cell(slot, text)
        style = add_style(base, self.palette.quiet if is_thin and not row.thin else self.palette.of(severity))
        lit = at_cursor and slot.index == self.column
        if lit:
            style = (style or Style.null()) + Style(underline=True, bold=True)
        gap = " " * slot.gap
        sign = self.glyphs.mark(severity)
        if sign != " ":
            # The mark stands right before the number, inside the blanks that right-align it.
            blanks = len(text) - len(text.lstrip()) if slot.right else 0
            gap, text = gap[1:] + " " * blanks, sign + text[blanks:]
        if at_cursor:
            # In reverse a blank shows its colour, so it takes the row's own.
            append_run(runs, "", gap, base)
            gap = ""
        append_run(runs, gap, text, style, lit=lit)

    def _note(self, line: int, width: int) -> Strip:
        empty = "" if self.has_rows else self._empty
        notes = [note for note in self.table.notes if note != empty]
        said = [*([empty, ""] if empty else []), *notes]
        notes = [piece for note in said for piece in wrap(shown(note, self.glyphs), width - 2)]
        text = f" {notes[line - 1]}" if 1 <= line <= len(notes) else ""
        return strip_of_runs([StyleRun(fitted(text, width, self.glyphs.ellipsis), self.palette.quiet)], width, None)

    # Pointer

    def on_click(self, event: events.Click) -> None:
        index = self._top + event.y - 1
        column = self._layout.column_at(event.x)
        if column is not None:
            self.column = column
        if event.y == 0 or index >= len(self.table.rows):
            return
        if index == self.cursor:
            self.post_message(self.Opened())
        self.cursor = index
