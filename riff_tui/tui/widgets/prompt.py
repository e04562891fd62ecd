"""Prompt for a filter or a search: one line to type in, one that says what it would do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical

from riff_tui.filters import FilterError, parse
from riff_tui.text.glyphs import UNICODE, Glyphs
from riff_tui.text.safe_text import cell_width
from riff_tui.tui.render.columns import shown
from riff_tui.tui.render.styled_lines import PALETTES, Palette, Piece
from riff_tui.tui.widgets.bars import Bar
from riff_tui.tui.widgets.text_field import TextField

_SIGN = "/"


class PromptHandler(Protocol):
    """Handle what is typed into a prompt."""

    def changed(self, expression: str) -> None:
        """Try an expression that is complete; it may be empty."""
        ...

    def entered(self, expression: str) -> None:
        """Apply the expression."""
        ...

    def recall(self, steps: int) -> None:
        """Bring back what was typed earlier (-1) or later (1)."""
        ...

    def complete(self, steps: int) -> None:
        """Complete what stands before the cursor with the next (1) or the previous (-1) candidate."""
        ...

    def look_back(self) -> None:
        """Show everything typed earlier, to choose from."""
        ...


class Prompt(Vertical):
    """Ask for an expression; an error is shown under its position."""

    DEFAULT_CSS = """
    Prompt { layer: over; dock: bottom; height: 2; display: none; background: ansi_default; }
    Prompt Horizontal { height: 1; }
    Prompt #sign { width: 1; }
    """
    handler: PromptHandler
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,ctrl+p", "recall(-1)", show=False),
        Binding("down,ctrl+n", "recall(1)", show=False),
        Binding("tab", "complete(1)", show=False),
        Binding("shift+tab", "complete(-1)", show=False),
        Binding("ctrl+r", "look_back", show=False),
    ]

    def __init__(self, *, palette: Palette = PALETTES["ansi"], glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(id=id)
        self.palette = palette
        self.glyphs = glyphs

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Bar(id="sign")
            yield TextField(glyphs=self.glyphs)
        yield Bar(id="verdict")

    def on_mount(self) -> None:
        self.field = self.query_one(TextField)
        self.verdict = self.query_one("#verdict", Bar)

    @property
    def is_open(self) -> bool:
        """Return whether it is open."""
        return bool(self.display)

    def ask(self, expression: str, hint: str) -> None:
        """Open with an expression to edit and a hint on what can be typed."""
        self.display = True
        self.query_one("#sign", Bar).lines = (((_SIGN, self.palette.accent),),)
        self.field.set(expression)
        self.screen.set_focus(self.field)
        self.tell(hint)

    def close(self) -> None:
        """Close without applying anything."""
        self.display = False

    def tell(self, text: str) -> None:
        """Show a raw text under the line."""
        self.verdict.lines = (((" " + shown(text, self.glyphs), self.palette.faint),),)

    def offer(self, names: Sequence[str], at: int) -> None:
        """Show the candidates for completion, the present one highlighted; the names are raw."""
        width = self.size.width - 1
        texts = [shown(name, self.glyphs) for name in names]
        count = f" {at + 1} of {len(texts)} "
        first = at
        # As many of those before it as leave half of the line to it and to those after it.
        while first and sum(cell_width(text) + 2 for text in texts[first - 1 : at]) < width // 3:
            first -= 1
        line: list[Piece] = [(count, self.palette.faint)]
        for index, text in enumerate(texts[first:], first):
            line += [(" ", None), (f" {text} ", self.palette.cursor if index == at else None)]
            if sum(cell_width(piece) for piece, _ in line) > width:
                break
        self.verdict.lines = (tuple(line),)

    def complain(self, error: FilterError) -> None:
        """Show what is wrong, with a caret under its position."""
        at = 1 + max(0, self.field.cell_of(max(0, error.position)))
        words = shown(error.message, self.glyphs)
        text = f"^ {words}"
        if at + cell_width(text) > self.size.width:
            # No room at the right of the caret: the words stand before it.
            text = f"{words} ^" if cell_width(words) < at else text
            at = max(0, at - cell_width(words) - 1) if cell_width(words) < at else at
        self.verdict.lines = (((" " * at + text, self.palette.bad),),)

    def on_text_field_changed(self, event: TextField.Changed) -> None:
        event.stop()
        if self.is_open and self._makes_sense(event.text):
            self.handler.changed(event.text)

    def on_text_field_entered(self, event: TextField.Entered) -> None:
        event.stop()
        if self._makes_sense(event.text):
            self.handler.entered(event.text)

    def _makes_sense(self, text: str) -> bool:
        try:
            parse(text)
        except FilterError as error:
            self.complain(error)
            return False
        return True

    def action_recall(self, steps: int) -> None:
        self.handler.recall(steps)

    def action_complete(self, steps: int) -> None:
        self.handler.complete(steps)

    def action_look_back(self) -> None:
        self.handler.look_back()
