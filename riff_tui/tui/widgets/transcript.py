"""Draw the transcript of one conversation, with a cursor that goes from moment to moment."""

from __future__ import annotations

import re
from collections.abc import Sequence

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from riff_tui.table import Row, Table
from riff_tui.text.glyphs import UNICODE, Glyphs
from riff_tui.tui.render.styled_lines import PALETTES, Palette, TranscriptLine, marked, strip_of, transcript_lines
from riff_tui.tui.terminal.partial_repaint import QuietFocus, ScrollingLines, Wheel
from riff_tui.tui.widgets.bars import Drawn

_NOTHING = Table(view="conversation", title="", columns=(), rows=())


class Transcript(Drawn, QuietFocus, Wheel, ScrollingLines, can_focus=True):
    """Draw the moments of a `conversation` table, long words wrapped; a cursor move repaints two moments."""

    DEFAULT_CSS = """
    Transcript { height: 1fr; overflow: hidden hidden; }
    """
    WHEEL_LINES = 1

    cursor: reactive[int] = reactive(0, repaint=False)

    class Moved(Message):
        """Report that the cursor is on another moment."""

    def __init__(self, *, palette: Palette = PALETTES["ansi"], glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(palette=palette, glyphs=glyphs, id=id)
        self.table = _NOTHING
        self._told: list[TranscriptLine] = []
        self._spans: list[tuple[int, int]] = []
        self._patterns: Sequence[re.Pattern[str]] = ()
        self.pointed = False
        """Whether the cursor was put where it is, and does not stand where the call opened."""

    def load(self, table: Table, *, row: str = "", begin: str = "", again: bool = False) -> None:
        """Show a conversation with the cursor on the row of that id, else where it is to `begin`, else at the top.

        Shown `again`, it stays where it was.
        """
        self.pointed = self.pointed if again else bool(row)
        line = self._spans[self.cursor][0] - self.scroll_offset.y if again and self._spans else None
        self.table = table
        found = next((index for index, each in enumerate(table.rows) if each.id == (row or begin)), 0)
        self.set_reactive(Transcript.cursor, found)
        if line is None:
            self.scroll_to(y=0, animate=False, force=True)
        self._tell()
        if line is not None and self._spans:
            self.scroll_to(y=self._spans[self.cursor][0] - line, animate=False, force=True)

    @property
    def row(self) -> Row | None:
        """Return the row under the cursor."""
        return self.table.rows[self.cursor] if len(self.table.rows) else None

    def mark(self, patterns: Sequence[re.Pattern[str]]) -> None:
        """Let everything that a pattern finds stand out, and nothing else."""
        if list(patterns) != list(self._patterns):
            self._patterns = patterns
            self.refresh()

    def restyle(self, palette: Palette) -> None:
        """Take other colours."""
        self.palette = palette
        self._tell()

    def move(self, rows: int) -> None:
        """Move by some moments; behind the last one the notes come into view."""
        if self.cursor + rows >= len(self.table.rows):
            self.scroll_to(y=len(self._told), animate=False, force=True)
        self.cursor += rows

    def page(self, pages: int) -> None:
        """Move the window by whole pages, and the cursor with it."""
        top = self.scroll_offset.y + pages * self.size.height
        self.scroll_to(y=top, animate=False, force=True)
        edge = self.scroll_offset.y if pages > 0 else self.scroll_offset.y + self.size.height - 1
        at_edge = self._told[max(0, min(edge, len(self._told) - 1))].row if self._told else 0
        self.cursor = len(self.table.rows) - 1 if at_edge is None else at_edge

    def to_end(self, end: int) -> None:
        """Move to the first (-1) or the last (1) moment."""
        self.move(end * len(self.table.rows))

    def is_bad(self, row: Row) -> bool:
        """Return whether a moment is one of trouble: what is blamed, what failed, what came late or interrupted."""
        return not {"bad", "warn"}.isdisjoint(row.severity.values())

    def to_bad(self, direction: int, *, whole: bool = False) -> bool:
        """Move to a bad cell of this moment: it has none, for it is one line."""
        return False

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, len(self.table.rows) - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        self.pointed = True
        self._reveal()
        self._refresh_row(old)
        self._refresh_row(new)
        self.post_message(self.Moved())

    def on_resize(self) -> None:
        self._tell()

    def render_line(self, y: int) -> Strip:
        index = self.scroll_offset.y + y
        if index >= len(self._told):
            return Strip.blank(self.size.width)
        told = self._told[index]
        # A long moment is read, not looked at: its first line is enough to show where the cursor is.
        at_cursor = told.row == self.cursor and index == self._spans[self.cursor][0]
        line = marked(told.line, self._patterns)
        return strip_of(line, self.size.width, self.palette.cursor if at_cursor else None)

    def on_click(self, event: events.Click) -> None:
        index = self.scroll_offset.y + event.y
        row = self._told[index].row if index < len(self._told) else None
        if row is not None:
            self.cursor, self.pointed = row, True

    def _tell(self) -> None:
        width = self.size.width
        if not width:
            return
        self._told = transcript_lines(self.table.rows, self.table.notes, width, self.glyphs, self.palette)
        spans: dict[int, tuple[int, int]] = {}
        for line, told in enumerate(self._told):
            if told.row is not None:
                spans[told.row] = (spans.get(told.row, (line, 0))[0], line)
        self._spans = [spans[row] for row in sorted(spans)]
        self.virtual_size = Size(width, len(self._told))
        self._reveal()
        self.refresh()

    def _reveal(self) -> None:
        if not self._spans:
            return
        first, last = self._spans[self.cursor]
        top, height = self.scroll_offset.y, self.size.height
        if first < top or last - first >= height:
            self.scroll_to(y=first, animate=False, force=True)
        elif last >= top + height:
            self.scroll_to(y=last - height + 1, animate=False, force=True)

    def _refresh_row(self, row: int) -> None:
        if row < len(self._spans):
            self.refresh_line(self._spans[row][0])
