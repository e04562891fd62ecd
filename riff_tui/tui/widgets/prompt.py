"""The filter prompt: one line to type in, one line that says what it would do."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input

from riff_tui.filtering import FilterError, parse
from riff_tui.glyphs import UNICODE, Glyphs
from riff_tui.safe_text import cell_width, one_line
from riff_tui.tui.columns import shown
from riff_tui.tui.palette import PALETTES, Palette
from riff_tui.tui.widgets.bars import Bar

_SIGN = "/"


class Field(Input, inherit_bindings=False):
    """An input without a blinking cursor and without the keys that terminals own."""

    DEFAULT_CSS = """
    Field, Field:focus { border: none; height: 1; padding: 0; width: 1fr; background: ansi_default; }
    Field > .input--cursor { text-style: reverse; background: ansi_default; color: ansi_default; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "cursor_left", show=False),
        Binding("right", "cursor_right", show=False),
        Binding("ctrl+left", "cursor_left_word", show=False),
        Binding("ctrl+right", "cursor_right_word", show=False),
        Binding("home", "home", show=False),
        Binding("end,ctrl+e", "end", show=False),
        Binding("backspace", "delete_left", show=False),
        Binding("delete,ctrl+d", "delete_right", show=False),
        Binding("ctrl+w", "delete_left_word", show=False),
        Binding("ctrl+u", "delete_left_all", show=False),
        Binding("ctrl+k", "delete_right_all", show=False),
        Binding("enter", "submit", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(select_on_focus=False, id="field")
        self.cursor_blink = False

    def _on_paste(self, event: events.Paste) -> None:
        # What is pasted may hold control characters, which no filter takes and no terminal should get.
        event.prevent_default()
        event.stop()
        text = " ".join(event.text.split())
        self.insert_text_at_cursor("".join(character for character in text if one_line(character) == character))


class Prompt(Vertical):
    """Asks for a filter expression; an error is shown under the place where it lies."""

    DEFAULT_CSS = """
    Prompt { height: 2; display: none; }
    Prompt Horizontal { height: 1; }
    Prompt #sign { width: 1; }
    """

    class Changed(Message):
        """The expression is complete and could be tried; `expression` may be empty."""

        def __init__(self, expression: str) -> None:
            super().__init__()
            self.expression = expression

    class Entered(Message):
        """The expression shall hold."""

        def __init__(self, expression: str) -> None:
            super().__init__()
            self.expression = expression

    def __init__(self, *, palette: Palette = PALETTES["ansi"], glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(id=id)
        self.palette = palette
        self.glyphs = glyphs

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Bar(id="sign")
            yield Field()
        yield Bar(id="verdict")

    @property
    def is_open(self) -> bool:
        """Whether one can type."""
        return bool(self.display)

    def ask(self, expression: str) -> None:
        """Open with an expression to edit."""
        self.display = True
        self.query_one("#sign", Bar).lines = (((_SIGN, self.palette.accent),),)
        field = self.query_one(Field)
        field.value = expression
        field.cursor_position = len(expression)
        field.focus()
        self.tell("words match names · flow:dent stall>0.3 slot_fill_rate=· !x /re/ a | b · Enter applies, Esc leaves")

    def close(self) -> None:
        """Close without a word."""
        self.display = False

    def tell(self, text: str) -> None:
        """Say something under the line; `text` is raw."""
        self.query_one("#verdict", Bar).lines = (((" " + shown(text, self.glyphs), self.palette.faint),),)

    def complain(self, error: FilterError) -> None:
        """Say what is wrong, with a caret under where it is."""
        typed = self.query_one(Field).value
        at = 1 + cell_width(typed[: max(0, error.position)])
        text = f"^ {shown(error.message, self.glyphs)}"
        if at + cell_width(text) > self.size.width:
            # No room at the right of the caret: the words stand before it.
            words = shown(error.message, self.glyphs)
            text = f"{words} ^" if cell_width(words) < at else text
            at = max(0, at - cell_width(words) - 1) if cell_width(words) < at else at
        self.query_one("#verdict", Bar).lines = (((" " * at + text, self.palette.bad),),)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if not self.is_open:
            return
        try:
            parse(event.value)
        except FilterError as error:
            self.complain(error)
        else:
            self.post_message(self.Changed(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        try:
            parse(event.value)
        except FilterError as error:
            self.complain(error)
        else:
            self.post_message(self.Entered(event.value))
