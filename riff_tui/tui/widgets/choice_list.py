"""Show a list to choose from, of which only the lines in view are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from riff_tui.text.column_fit import fitted
from riff_tui.text.glyphs import UNICODE, Glyphs
from riff_tui.text.safe_text import cell_width, fit
from riff_tui.tui.render.columns import shown
from riff_tui.tui.render.matching import FuzzyMatch, emphasised
from riff_tui.tui.render.styled_lines import PALETTES, Palette, Piece, strip_of

_WIDEST_LEAD = 14


@dataclass(frozen=True, slots=True)
class ListItem:
    """Hold an item of the list, all of it raw text.

    `text` is matched letter by letter; `lead` stands before it and `more` after it.
    `also` is matched as it is written, and not shown. `refusal` says why it cannot be chosen.
    """

    text: str
    more: str = ""
    lead: str = ""
    also: str = ""
    refusal: str = ""


class ChoiceList(ScrollView):
    """Show the choices that match, with a cursor that stays on its line."""

    DEFAULT_CSS = """
    ChoiceList { height: 1; overflow: hidden hidden; background: ansi_default; color: ansi_default; }
    """
    ALLOW_SELECT = False
    BINDINGS: ClassVar = []

    cursor: reactive[int] = reactive(0, repaint=False)

    class Clicked(Message):
        """Say that a line was clicked."""

    def __init__(self, *, palette: Palette = PALETTES["ansi"], glyphs: Glyphs = UNICODE) -> None:
        super().__init__()
        self.palette = palette
        self.glyphs = glyphs
        self.choices: Sequence[ListItem] = ()
        self.texts: list[str] = []
        self._leads: list[str] = []
        self._found: Sequence[FuzzyMatch] = ()
        self._lead = self._text = 0

    def offer(self, choices: Sequence[ListItem]) -> None:
        """Take other choices to show; `texts` holds them for matching."""
        self.choices = choices
        self.texts = [shown(choice.text, self.glyphs) for choice in choices]
        self._leads = [shown(choice.lead, self.glyphs) for choice in choices]
        self._lead = min(_WIDEST_LEAD, max(map(cell_width, self._leads), default=0))
        self._text = max(map(cell_width, self.texts), default=0)

    def show(self, found: Sequence[FuzzyMatch], cursor: int = 0) -> None:
        """Show what was found, the cursor on one of it."""
        self._found = found
        self.virtual_size = Size(self.size.width, len(found))
        self.set_reactive(ChoiceList.cursor, max(0, min(cursor, len(found) - 1)))
        self.scroll_to(y=0, animate=False, force=True)
        self._reveal()
        self.refresh()

    @property
    def chosen(self) -> int | None:
        """Return the index, among all choices, of the one under the cursor."""
        return self._found[self.cursor].index if self._found else None

    def move(self, lines: int) -> None:
        """Move the cursor by some lines."""
        self.cursor += lines

    def page(self, pages: int) -> None:
        """Move the cursor by whole pages."""
        self.cursor += pages * max(1, self.size.height)

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, len(self._found) - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        self._reveal()
        for index in (old, new):
            self.refresh(Region(0, index - self.scroll_offset.y, self.size.width, 1))

    def on_resize(self) -> None:
        self._reveal()

    def _reveal(self) -> None:
        top, height = self.scroll_offset.y, self.size.height
        if height and not top <= self.cursor < top + height:
            self.scroll_to(y=self.cursor if self.cursor < top else self.cursor - height + 1, animate=False, force=True)
            self.refresh()

    def render_line(self, y: int) -> Strip:
        index, width = self.scroll_offset.y + y, self.size.width
        if index >= len(self._found):
            return Strip.blank(width)
        at_cursor = index == self.cursor
        line = self._line(self._found[index], width - 1, at_cursor)
        return strip_of(line, width, self.palette.cursor if at_cursor else None)

    def _line(self, found: FuzzyMatch, width: int, at_cursor: bool) -> list[Piece]:
        choice = self.choices[found.index]
        style = self.palette.faint if choice.refusal else None
        lead_style = style or (None if at_cursor else self.palette.accent)
        line: list[Piece] = [(" ", None)]
        if self._lead:
            lead = fitted(self._leads[found.index], self._lead, self.glyphs.ellipsis)
            line.append((f" {lead}  ", lead_style))
        room = width - sum(cell_width(text) for text, _ in line)
        column = min(self._text, room if not choice.more else max(room // 2, room - cell_width(choice.more) - 2))
        text = fit(self.texts[found.index], column, self.glyphs.ellipsis)
        whole = len(text) if text == self.texts[found.index] else len(text) - len(self.glyphs.ellipsis)
        line += emphasised(text, [letter for letter in found.letters if letter < whole], style)
        blanks = " " * (column - cell_width(text) + 2)
        more = fit(shown(choice.more, self.glyphs), room - column - 2, self.glyphs.ellipsis)
        line.append((blanks + more if more else "", self.palette.faint))
        return line

    def on_click(self, event: events.Click) -> None:
        index = self.scroll_offset.y + event.y
        if index < len(self._found):
            self.cursor = index
            self.post_message(self.Clicked())

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.move(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.move(-3)
