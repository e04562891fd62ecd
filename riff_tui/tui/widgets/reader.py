"""Show lines to read on a screen of their own: help, or what went wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.scroll_view import ScrollView
from textual.strip import Strip

from riff_tui.tui.render.styled_lines import Line, strip_of

_FAR = 100_000


class Pages(ScrollView, can_focus=True):
    """Show the lines that `make` gives for a width."""

    DEFAULT_CSS = """
    Pages { height: 1fr; overflow: hidden hidden; background: ansi_default; }
    """
    ALLOW_SELECT = False
    BINDINGS: ClassVar = []

    def __init__(self, make: Callable[[int], list[Line]]) -> None:
        super().__init__()
        self._make = make
        self._lines: list[Line] = []

    def on_resize(self) -> None:
        self._take(self._make(self.size.width))

    def renew(self) -> None:
        """Show the lines as they are made by now, from the first one where they say something else."""
        lines = self._make(self.size.width)
        if lines != self._lines:
            self._take(lines)
            self.turn(-_FAR)

    def _take(self, lines: list[Line]) -> None:
        self._lines = lines
        self.virtual_size = Size(self.size.width, len(lines))
        self.refresh()

    def turn(self, lines: int) -> None:
        """Scroll by some lines."""
        self.scroll_to(y=self.scroll_offset.y + lines, animate=False, force=True)

    def render_line(self, y: int) -> Strip:
        index = self.scroll_offset.y + y
        return strip_of(self._lines[index] if index < len(self._lines) else (), self.size.width)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.turn(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.turn(-3)


class Reader(ModalScreen[None], inherit_bindings=False):
    """Show the lines that `make` gives for a width; any of its closing keys goes back."""

    DEFAULT_CSS = """
    Reader { background: ansi_default; color: ansi_default; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,exclamation_mark,backspace,enter", "dismiss", show=False),
        Binding("j,down", "turn(1)", show=False),
        Binding("k,up", "turn(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("g,home", f"turn({-_FAR})", show=False),
        Binding("G,end", f"turn({_FAR})", show=False),
        Binding("Q", "app.quit", show=False),
    ]

    def __init__(self, make: Callable[[int], list[Line]]) -> None:
        super().__init__()
        self._make = make

    def compose(self) -> ComposeResult:
        yield Pages(self._make)

    def renew(self) -> None:
        """Show the lines as they are made by now."""
        self.query_one(Pages).renew()

    def action_turn(self, lines: int) -> None:
        """Scroll by some lines."""
        self.query_one(Pages).turn(lines)

    def action_page(self, pages: int) -> None:
        """Scroll by whole pages but for a line."""
        self.query_one(Pages).turn(pages * (self.app.size.height - 1))
