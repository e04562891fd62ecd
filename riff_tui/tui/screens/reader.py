"""Show lines to read on a screen of their own: help, or what went wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from riff_tui.tui.render.styled_lines import Line
from riff_tui.tui.widgets.pages import Pages

_FAR = 100_000


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

    def action_turn(self, lines: int) -> None:
        """Scroll by some lines."""
        self.query_one(Pages).turn(lines)

    def action_page(self, pages: int) -> None:
        """Scroll by whole pages but for a line."""
        self.query_one(Pages).turn(pages * (self.app.size.height - 1))
