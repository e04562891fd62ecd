"""Edit one line with the keys of a shell, without blinking, and show nothing that could act on the terminal."""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from riff_tui.text.glyphs import UNICODE, Glyphs
from riff_tui.text.safe_text import cell_width
from riff_tui.tui.find.line_editor import EditedLine, printable
from riff_tui.tui.render.columns import shown
from riff_tui.tui.render.styled_lines import Piece, strip_of

_CURSOR = Style(reverse=True)


class TextField(Widget, can_focus=True):
    """Hold what is being typed, and post every change."""

    DEFAULT_CSS = """
    TextField { height: 1; width: 1fr; background: ansi_default; color: ansi_default; }
    """
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move(-1)", show=False),
        Binding("right", "move(1)", show=False),
        Binding("ctrl+left,alt+b", "word(-1)", show=False),
        Binding("ctrl+right,alt+f", "word(1)", show=False),
        Binding("home", f"move({-(10**6)})", show=False),
        Binding("end,ctrl+e", f"move({10**6})", show=False),
        Binding("backspace", "delete(-1)", show=False),
        Binding("delete,ctrl+d", "delete(1)", show=False),
        Binding("ctrl+w,alt+backspace", "delete_word", show=False),
        Binding("ctrl+u", "delete_to(-1)", show=False),
        Binding("ctrl+k", "delete_to(1)", show=False),
        Binding("enter", "enter", show=False),
    ]
    typed: reactive[EditedLine] = reactive(EditedLine(), layout=False)

    class Changed(Message):
        """Say that the text changed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Entered(Message):
        """Say that Enter was pressed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, *, glyphs: Glyphs = UNICODE, id: str | None = "field") -> None:
        super().__init__(id=id)
        self.glyphs = glyphs
        self._first = 0

    @property
    def value(self) -> str:
        """Return the text."""
        return self.typed.text

    def set(self, text: str) -> None:
        """Hold another text, the cursor at its end, without posting it."""
        self._first = 0
        self.set_reactive(TextField.typed, EditedLine.of(text))
        self._look()
        self.refresh()

    def edit(self, typed: EditedLine) -> None:
        """Hold the result of an edit, and post it if the text changed."""
        before = self.typed.text
        self.typed = typed
        self._look()
        if typed.text != before:
            self.post_message(self.Changed(typed.text))

    def type(self, letter: str) -> None:
        """Put a letter where the cursor is."""
        self.edit(self.typed.insert(letter if letter == " " else printable(letter)))

    def cell_of(self, place: int) -> int:
        """Return the cell of this line in which a letter of the text begins."""
        return cell_width(shown(self.typed.text[:place], self.glyphs)) - self._first

    # Keys

    def on_paste(self, event: events.Paste) -> None:
        # What is pasted may hold control characters, which no filter takes and no terminal should get.
        event.stop()
        event.prevent_default()
        self.edit(self.typed.insert(printable(event.text)))

    def action_move(self, letters: int) -> None:
        self.edit(self.typed.move(letters))

    def action_word(self, direction: int) -> None:
        self.edit(self.typed.to_word(direction))

    def action_delete(self, letters: int) -> None:
        self.edit(self.typed.delete(letters))

    def action_delete_word(self) -> None:
        self.edit(self.typed.delete_word())

    def action_delete_to(self, end: int) -> None:
        self.edit(self.typed.delete_to(end))

    def action_enter(self) -> None:
        self.post_message(self.Entered(self.typed.text))

    def on_click(self, event: events.Click) -> None:
        places = range(len(self.typed.text) + 1)
        self.edit(self.typed.move(max((at for at in places if self.cell_of(at) <= event.x), default=0) - self.typed.at))

    # Line

    def render_line(self, y: int) -> Strip:
        text, at = self.typed.text, self.typed.at
        before, under, after = (
            shown(part, self.glyphs) for part in (text[:at], text[at : at + 1] or " ", text[at + 1 :])
        )
        line: list[Piece] = [(before, None), (under, _CURSOR if self.has_focus else None), (after, None)]
        width = self.size.width
        whole = sum(cell_width(piece) for piece, _ in line)
        return strip_of(line, max(whole, self._first + width)).crop(self._first, self._first + width)

    def on_resize(self) -> None:
        self._look()
        # It was drawn at its new width before it was told of it.
        self.refresh()

    def on_focus(self) -> None:
        self._look()

    def _look(self) -> None:
        """Scroll as far as it takes to see the cursor, and put the terminal's cursor there."""
        width = self.size.width
        if not width:
            return
        at = self.cell_of(self.typed.at) + self._first
        under = cell_width(shown(self.typed.text[self.typed.at : self.typed.at + 1], self.glyphs)) or 1
        # A line that has room for all of what stands before its end begins as far left as it can.
        whole = self.cell_of(len(self.typed.text)) + self._first + 1
        self._first = max(min(self._first, at, max(0, whole - width)), at + under - width, 0)
        if self.has_focus:
            # An input method draws what it composes there.
            self.app.cursor_position = Offset(self.region.x + at - self._first, self.region.y)
