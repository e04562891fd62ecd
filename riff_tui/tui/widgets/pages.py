"""Show lines to read and scroll."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from riff_tui.tui.render.styled_lines import Line, strip_of


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
        self._lines = self._make(self.size.width)
        self.virtual_size = Size(self.size.width, len(self._lines))
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
