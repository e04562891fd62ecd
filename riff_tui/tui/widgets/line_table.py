"""Show a table of any length and send few bytes: only what changed, in one run of text a row."""

from __future__ import annotations

from collections.abc import Callable, Collection

from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from riff_tui.table import Column, Row, Table
from riff_tui.text.column_fit import fitted, wrap
from riff_tui.text.glyphs import UNICODE, Glyphs
from riff_tui.text.safe_text import cell_width, fit
from riff_tui.tui.data.lists import AS_IT_IS, ColumnChoice, index_of
from riff_tui.tui.render.columns import (
    TREND,
    ColumnLayout,
    ColumnWidths,
    Slot,
    home_of,
    is_trend,
    shown,
    text_of,
    visible_columns,
)
from riff_tui.tui.render.styled_lines import (
    PALETTES,
    Palette,
    Piece,
    StyleRun,
    add_style,
    append_run,
    strip_of,
    strip_of_runs,
)
from riff_tui.tui.terminal.partial_repaint import MAX_SHIFT, QuietFocus, ScrollingLines, Wheel
from riff_tui.tui.widgets.bars import Drawn

_SAMPLE = 100
FIRST = -1
"""Where the cursor is on the sentence to read first, above the rows."""
_SIGN = 2
_TALL = 16
_TALLEST = 3
_NOTHING = Table(view="", title="", columns=(), rows=())


class LineTable(Drawn, QuietFocus, Wheel, ScrollingLines, can_focus=True):
    """Show a `Table` with a row cursor and a column cursor; header and names stay while the rest scrolls.

    Rows are only touched when they come into view, so `rows` may be a window of a long query.
    A cursor move repaints two lines. Every text goes through `one_line` and is never markup.
    """

    DEFAULT_CSS = """
    LineTable { height: 1fr; overflow: hidden hidden; }
    """
    header_lines = 1
    MAX_SHIFT = MAX_SHIFT

    cursor: reactive[int] = reactive(0, repaint=False)
    column: reactive[int] = reactive(0, repaint=False)

    class Opened(Message):
        """Report that the row under the cursor was clicked."""

    class Headed(Message):
        """Report that the heading of the column under the cursor was clicked."""

    class Moved(Message):
        """Report that the cursor is on another row, or that its row was loaded."""

    def __init__(self, *, palette: Palette = PALETTES["ansi"], glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(palette=palette, glyphs=glyphs, id=id)
        self.table = _NOTHING
        self._empty = ""
        self._is_told: Callable[[str], bool] = lambda note: False
        self._active = True
        self._marked: frozenset[str] = frozenset()
        self._lit: frozenset[str] = frozenset()
        self.columns: list[Column] = []
        self._widths = ColumnWidths((), glyphs, None)
        self._first = 0
        self._layout = ColumnLayout()
        self._lead: tuple[str, ...] = ()

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
        is_told: Callable[[str], bool] = lambda note: False,
        again: bool = False,
    ) -> None:
        """Show a table with the cursor on the row and column of these names, or as near to them as it was.

        `index` is where the row was. `hide` names columns to leave out, `sort` the key that the rows are ordered by,
        with `-` for descending. `empty` is shown in place of rows if there are none. `marked` are ids of rows that
        carry a mark, `choice` the columns that one chose, `leading` the key of the one that matters most here. Notes
        that are elsewhere on the screen are left out. The same rows shown `again` stay on the lines where they were.
        """
        line, first = (self.cursor - self._top, self._first) if again else (-1, 0)
        same = table.view == self.table.view
        old_column = self.columns[self.column].key if same and self.columns else ""
        self.table, self._empty, self._marked, self._is_told = table, empty, frozenset(marked), is_told
        self._head()
        self.columns = visible_columns(table, hide, choice, leading)
        keys = [each.key for each in self.columns]
        wanted = column or old_column
        home = home_of(self.columns, table.view, sort or "")
        self.set_reactive(LineTable.column, keys.index(wanted) if wanted in keys else home)
        self._first = first
        self._widths = ColumnWidths(self.columns, self.glyphs, sort, wide=choice.wide, whole=len(table.rows) <= _SAMPLE)
        self._widths.measure(table.rows[:_SAMPLE])
        is_first = table.first_row is not None and (row == table.first_row.id or not len(table.rows))
        self.set_reactive(LineTable.cursor, FIRST if is_first else index_of(table.rows, row, index))
        self.virtual_size = Size(self.size.width, len(table.rows) + self.header_lines)
        self._lay_out()
        if self._layout.first and wanted not in keys:
            # What distinguishes rows goes before what they are sorted by.
            self.set_reactive(LineTable.column, home_of(self.columns, table.view, ""))
            self._first = 0
            self._lay_out()
        if again:
            self._scroll(self.cursor - line)
            self._widen()
        self._reveal(center=True)
        self.refresh()

    @property
    def row(self) -> Row | None:
        """Return the row under the cursor, or what the sentence to read first represents."""
        if self.cursor == FIRST:
            return self.table.first_row
        return self.table.rows[self.cursor] if len(self.table.rows) else None

    @property
    def under(self) -> Column | None:
        """Return the column under the cursor."""
        return self.columns[self.column] if self.columns else None

    def activate(self, active: bool) -> None:
        """Show whether keys move this cursor or another one."""
        if active != self._active:
            self._active = active
            self._refresh_row(self.cursor)
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
        changed, before, self._marked = self._marked ^ frozenset(marked), self._gutter, frozenset(marked)
        if before != self._gutter:
            self._lay_out()
            self.refresh()
        else:
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
        self.cursor = FIRST if end < 0 else len(self.table.rows) - 1

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
        return max(0 if self.table.first_row is None else FIRST, min(cursor, len(self.table.rows) - 1))

    def validate_column(self, column: int) -> int:
        return max(0, min(column, len(self.columns) - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        self._reveal()
        self._refresh_row(old)
        self._refresh_row(new)
        self.post_message(self.Moved())

    def watch_column(self) -> None:
        before = self._layout
        self._lay_out()
        if before == self._layout:
            self._refresh_head()
            self._refresh_row(self.cursor)
        else:
            self.refresh()

    # Window

    @property
    def _height(self) -> int:
        return max(1, self.size.height - self.header_lines)

    @property
    def _top(self) -> int:
        return self.scroll_offset.y

    def _scroll(self, top: int) -> bool:
        before = self._top
        self.scroll_to(y=top, animate=False, force=True)
        if self._top == before:
            return False
        self._widen(range(before, before + self._height))
        return True

    def _reveal(self, *, center: bool = False) -> bool:
        """Scroll as far as it takes to see the cursor; return whether that repaints everything."""
        top, height = self._top, self._height
        if self.cursor == FIRST:
            return self._scroll(0)
        if top <= self.cursor < top + height:
            return False
        if center:
            return self._scroll(self.cursor - height // 2)
        return self._scroll(self.cursor if self.cursor < top else self.cursor - height + 1)

    def _refresh_rows(self, ids: Collection[str]) -> None:
        for index in self._in_view if ids else ():
            if self.table.rows[index].id in ids:
                self.refresh_line(index)

    def _refresh_row(self, index: int) -> None:
        if index == FIRST:
            self.refresh(Region(0, 0, self.size.width, 1))
        else:
            self.refresh_line(index)

    def _refresh_head(self) -> None:
        self.refresh(Region(0, self.header_lines - 1, self.size.width, 1))

    def on_resize(self) -> None:
        self._head()
        self._lay_out()
        self._reveal()
        self.refresh()

    # The sentence to read first

    def _head(self) -> None:
        """Break the sentence to read first into the lines that are above the titles; one where the screen is short."""
        table, room = self.table, self.size.width - 2 - _SIGN
        said = shown(table.headline, self.glyphs)
        more = table.first_row.display.get("rise", "") if table.first_row is not None else ""
        lines = [said, *(wrap(shown(more, self.glyphs), room) if more else ())] if said and room > 0 else []
        most = _TALLEST if self.size.height >= _TALL else 1
        self._lead = tuple(fit(each, room, self.glyphs.ellipsis) for each in lines[:most])
        self.header_lines = 1 + len(self._lead)

    def _lead_line(self, y: int, width: int) -> Strip:
        """Return a line of it: the first has the cursor or shows how to come to it, and a row to be on begins it."""
        palette, row = self.palette, self.table.first_row
        if row is None:
            return strip_of(((" ", None), (self._lead[y], palette.quiet)), width)
        if y:
            return strip_of(((" " * (1 + _SIGN), None), (self._lead[y], palette.quiet)), width)
        is_here = self.cursor == FIRST and self._active
        words = self._lead[0]
        key = "Enter" if self.glyphs.ascii_only else "⏎"
        hint = f"{key} open" if is_here else f"g {key} open"
        left = width - 1 - _SIGN - cell_width(words)
        end = f"{hint} ".rjust(left) if left > len(hint) + 2 else ""
        base = palette.cursor if is_here else None
        begin: list[Piece] = [(f" {self.glyphs.arrow} ", base if is_here else palette.place)]
        place = shown(row.display.get("place", ""), self.glyphs)
        before, found, after = words.partition(place)
        said: list[Piece] = [(before, None), (found, palette.head), (after, None)]
        return strip_of((*begin, *said, (end, None if is_here else palette.quiet)), width, base)

    # Columns

    @property
    def _in_view(self) -> range:
        return range(self._top, min(self._top + self._height, len(self.table.rows)))

    @property
    def _gutter(self) -> int:
        """Return the cells before each row that marks take, none if no row has any."""
        return 1 if self._marked else 0

    def _lay_out(self) -> None:
        width = max(0, self.size.width - self._gutter)
        self._layout = self._widths.layout(width, self._first, self.column) if width else ColumnLayout()
        self._first = self._layout.first

    def _widen(self, seen: range = range(0)) -> None:
        """Widen columns as rows in view need it, but for those that were `seen` there before."""
        if self._widths.measure(self.table.rows[index] for index in self._in_view if index not in seen):
            self._lay_out()
            self.refresh()

    # Lines

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y < self.header_lines - 1:
            return self._lead_line(y, width)
        if y == self.header_lines - 1:
            return self._header(width)
        index = self._top + y - self.header_lines
        if index < len(self.table.rows):
            return self._row(self.table.rows[index], index == self.cursor, width)
        return self._note(index - len(self.table.rows), width)

    def _header(self, width: int) -> Strip:
        base = self.palette.head
        more_left, more_right = ("<", ">") if self.glyphs.ascii_only else ("‹", "›")
        runs = [StyleRun(" " * self._gutter + (more_left if self._layout.more_left else " "), base)]
        for slot in self._layout.slots:
            text = self._widths.head(slot)
            lit = slot.index == self.column and self.has_rows and self._active
            append_run(runs, " " * slot.gap, text, base + Style(reverse=True) if lit else base, lit=lit)
        if self._layout.more_right:
            append_run(runs, " " * (width - 1 - self._gutter - self._layout.end), more_right, base)
        return strip_of_runs(runs, width, base)

    @property
    def has_rows(self) -> bool:
        """Return whether there are any rows."""
        return len(self.table.rows) > 0

    def _row(self, row: Row, at_cursor: bool, width: int) -> Strip:
        at_cursor = at_cursor and self._active
        is_marked = row.id in self._marked
        lit = self.palette.head if is_marked or row.id in self._lit else None
        base = self.palette.cursor if at_cursor else lit or (self.palette.quiet if row.thin else None)
        mark = row.severity.get("")
        sign, style = self.glyphs.mark(mark), add_style(base, self.palette.of(mark))
        runs = [StyleRun(sign, style)]
        if self._gutter:
            runs = [StyleRun(self.glyphs.marked if is_marked else " ", add_style(base, self.palette.place)), *runs]
        for slot in self._layout.slots:
            self._cell(runs, slot, row, base, at_cursor)
        return strip_of_runs(runs, width, base)

    def _cell(self, runs: list[StyleRun], slot: Slot, row: Row, base: Style | None, at_cursor: bool) -> None:
        column = self.columns[slot.index]
        is_thin = row.is_thin(column.key)
        # The height of the last run shows by itself what the mark of a trend shows.
        is_unmarked = (is_thin and not row.thin) or is_trend(column)
        severity = None if is_unmarked else row.severity.get(column.key)
        text = text_of(column, row, self.glyphs)
        lit = at_cursor and slot.index == self.column
        if is_trend(column) and text and not lit:
            self._trend(runs, slot, row, text, base, at_cursor)
            return
        # What is only counted is dimmed, but for the row under the cursor, which is in one piece.
        is_quiet = (is_thin and not row.thin) or (column.kind == "count" and not severity and not at_cursor)
        style = add_style(base, self.palette.quiet if is_quiet else self.palette.of(severity))
        if column.graded:
            share, gap = column.value(row.record), " " * slot.gap
            sign = self.glyphs.mark(severity).strip()
            drawn = self._widths.graded(slot, share, sign + text)
            if at_cursor:
                filled = len(drawn) - len(drawn.lstrip(self.glyphs.bars[1:]))
                append_run(runs, "", gap, base)
                append_run(runs, "", drawn[:filled], self.palette.drawn_at_cursor(self.palette.of(severity)))
                blanks = len(drawn[filled:]) - len(drawn[filled:].lstrip())
                append_run(runs, "", drawn[filled : filled + blanks], base)
                gap, drawn = "", drawn[filled + blanks :]
            append_run(runs, gap, drawn, style, lit=lit)
            return
        # Of a trend the latest matters, so it is cut at its left.
        text = self._widths.cell(slot, text[-slot.width :] if is_trend(column) else text)
        if lit:
            style = (style or Style.null()) + Style(underline=True, bold=True)
        gap = " " * slot.gap
        sign = self.glyphs.mark(severity)
        if sign != " ":
            # The mark is right before the number, inside the blanks that right-align it.
            blanks = len(text) - len(text.lstrip()) if slot.right else 0
            before = gap + " " * blanks
            if before:
                gap, text = before[1:], sign + text[blanks:]
            elif runs[-1].text == " ":
                # A first column has nothing before it but the place of the row's own mark.
                runs[-1] = StyleRun(sign, style)
        if at_cursor:
            # In reverse a blank shows its colour, so it takes the row's own.
            append_run(runs, "", gap, base)
            gap = ""
        append_run(runs, gap, text, style, lit=lit)

    def _trend(
        self, runs: list[StyleRun], slot: Slot, row: Row, text: str, base: Style | None, at_cursor: bool
    ) -> None:
        """Draw how it went run by run, the last of them in the colour of its value."""
        text = text[-slot.width :]
        is_known = text[-1] != self.glyphs.not_measured
        style = self.palette.of(row.severity.get(TREND.key)) if is_known else self.palette.quiet
        before, last = (
            self.palette.drawn_at_cursor(each) if at_cursor else add_style(base, each)
            for each in (self.palette.quiet, style)
        )
        gap = " " * slot.gap
        if at_cursor:
            append_run(runs, "", gap, base)
            gap = ""
        append_run(runs, gap, text[:-1], before)
        append_run(runs, "", text[-1], last)
        append_run(runs, "", " " * (slot.width - cell_width(text)), base)

    def _note(self, line: int, width: int) -> Strip:
        empty = "" if self.has_rows else self._empty
        notes = [note for note in self.table.notes if note not in empty and not self._is_told(note)]
        said = [*([empty, ""] if empty else []), *notes]
        notes = [piece for note in said for piece in wrap(shown(note, self.glyphs), width - 2)]
        text = f" {notes[line - 1]}" if 1 <= line <= len(notes) else ""
        return strip_of_runs([StyleRun(fitted(text, width, self.glyphs.ellipsis), self.palette.quiet)], width, None)

    # Pointer

    def on_click(self, event: events.Click) -> None:
        index = self._top + event.y - self.header_lines
        if event.y < self.header_lines - 1:
            index = FIRST
        column = self._layout.column_at(event.x - self._gutter)
        is_title = event.y == self.header_lines - 1
        if column is not None and (is_title or index != FIRST):
            self.column = column
        if is_title and column is not None:
            self.post_message(self.Headed())
        if is_title or index >= len(self.table.rows) or (index == FIRST and self.table.first_row is None):
            return
        if index == self.cursor:
            self.post_message(self.Opened())
        self.cursor = index
