"""Ask for a line of text in the lines at the foot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal

from riff_tui.text.glyphs import UNICODE, Glyphs
from riff_tui.text.safe_text import cell_width, fit
from riff_tui.tui.render.columns import shown
from riff_tui.tui.render.styled_lines import PALETTES, Palette
from riff_tui.tui.widgets.bars import Bar, BottomLine
from riff_tui.tui.widgets.overlay import Overlay
from riff_tui.tui.widgets.text_field import TextField

_WIDEST_SIGN = 30


@dataclass(frozen=True, slots=True)
class LineRequest:
    """Hold what stands before the line, the text to begin with, what to say below it, and whom to tell.

    `done` gets what was typed; `left` gets what stood there when it was closed without an answer; `remark` says of a
    text what Enter would do with it, nothing for what `hint` says.
    """

    sign: str
    text: str
    hint: str
    done: Callable[[str], None]
    left: Callable[[str], None] = lambda text: None
    remark: Callable[[str], str] = lambda text: ""


class LinePrompt(Overlay):
    """Ask for one line, which scrolls where it is longer than the screen is wide."""

    DEFAULT_CSS = """
    LinePrompt { dock: bottom; height: auto; layout: vertical; }
    LinePrompt Horizontal { height: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def __init__(self, *, palette: Palette = PALETTES["ansi"], glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(id=id)
        self.palette = palette
        self.glyphs = glyphs
        self._request: LineRequest | None = None

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Bar(palette=self.palette, glyphs=self.glyphs, id="asking")
            yield TextField(glyphs=self.glyphs, id="asking-field")
        yield BottomLine(palette=self.palette, glyphs=self.glyphs, id="asking-foot")

    def on_mount(self) -> None:
        self.sign = self.query_one("#asking", Bar)
        self.field = self.query_one(TextField)
        self.foot = self.query_one(BottomLine)

    def ask(self, request: LineRequest) -> None:
        """Ask for a line; an answer closes the prompt."""
        self._request = request
        sign = fit(f" {shown(request.sign, self.glyphs)}: ", _WIDEST_SIGN, self.glyphs.ellipsis)
        self.sign.styles.width = cell_width(sign)
        self.sign.lines = (((sign, self.palette.accent),),)
        self.foot.palette = self.palette
        self.field.set(request.text)
        self._tell(request.text)
        self.open(self.field)

    def on_text_field_changed(self, event: TextField.Changed) -> None:
        event.stop()
        self._tell(event.text)

    def on_text_field_entered(self, event: TextField.Entered) -> None:
        event.stop()
        request = self._request
        self.close()
        if request is not None:
            request.done(event.text)

    def action_leave(self) -> None:
        """Close without an answer."""
        self.leave()

    def leave(self) -> None:
        self.close()
        if self._request is not None:
            self._request.left(self.field.value)

    def _tell(self, text: str) -> None:
        if self._request is not None:
            self.foot.say(self._request.remark(text) or self._request.hint)
