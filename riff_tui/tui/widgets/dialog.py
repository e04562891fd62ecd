"""Lie over the screen while something is asked, and take the keys meanwhile."""

from __future__ import annotations

from textual.widget import Widget

from riff_tui.text.glyphs import UNICODE, Glyphs
from riff_tui.tui.render.styled_lines import PALETTES, Palette
from riff_tui.tui.terminal.partial_repaint import QuietFocus


class Dialog(QuietFocus):
    """Take the focus while open, and give it back."""

    DEFAULT_CSS = """
    Dialog { layer: top; display: none; background: ansi_default; color: ansi_default; }
    """

    _before: Widget | None = None

    def __init__(self, *, palette: Palette = PALETTES["ansi"], glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(id=id)
        self.palette = palette
        self.glyphs = glyphs

    @property
    def is_open(self) -> bool:
        """Return whether it is open."""
        return bool(self.display)

    def open(self, focused: Widget | None = None) -> None:
        """Open; `focused` gets the keys, this widget itself unless one is named."""
        self._before = self.screen.focused
        self.display = True
        self.screen.set_focus(focused or self)

    def close(self) -> None:
        """Close; whatever had the focus gets it back."""
        self.display = False
        self.screen.set_focus(self._before)

    def leave(self) -> None:
        """Close without an answer, or stop what is under way."""
        self.close()

    def action_leave(self) -> None:
        self.leave()
