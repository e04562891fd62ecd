"""A box of things that one can tick, over whatever is shown."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from textual import events
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from riff_tui.glyphs import Glyphs
from riff_tui.safe_text import cell_width, fit, padded
from riff_tui.tui.lines import Line, strip_of
from riff_tui.tui.palette import Palette

_FRAME = 2


@dataclass(frozen=True, slots=True)
class Check:
    """Something to tick: its key, and safe words about it; a `faint` one makes no difference now."""

    key: str
    title: str
    about: str
    faint: bool = False


class Checks(Widget, can_focus=True):
    """Ticks by key; a toggle is `[x]` or `[ ]`, and the lines scroll where they do not fit."""

    DEFAULT_CSS = """
    Checks { background: ansi_default; color: ansi_default; }
    """
    ALLOW_SELECT = False
    cursor: reactive[int] = reactive(0)

    def __init__(
        self, title: str, checks: Sequence[Check], ticked: Collection[str], glyphs: Glyphs, palette: Palette
    ) -> None:
        super().__init__()
        self.ticked = set(ticked)
        self._title, self._checks = title, checks
        self._glyphs, self._palette = glyphs, palette
        self._room = max((cell_width(check.title) for check in checks), default=0)

    @property
    def height(self) -> int:
        """The lines that it would like to have."""
        return len(self._checks) + _FRAME

    def move(self, rows: int) -> None:
        """Move the cursor."""
        self.cursor += rows

    def toggle(self) -> None:
        """Tick what is under the cursor, or do not any more."""
        self.ticked ^= {self._checks[self.cursor].key}
        self.refresh()

    def take(self, ticked: Collection[str]) -> None:
        """Tick these and no others."""
        self.ticked = set(ticked)
        self.refresh()

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, len(self._checks) - 1))

    def render_line(self, y: int) -> Strip:
        width, box = self.size.width, self._glyphs.box
        if y == 0:
            head = fit(f" {self._title} ", width - 4, self._glyphs.ellipsis)
            rule = box["ew"] * (width - 3 - cell_width(head))
            return self._strip(
                ((f"{box['es']}{box['ew']}", None), (head, self._palette.head), (rule + box["sw"], None))
            )
        if y == self.size.height - 1:
            return self._strip(((box["ne"] + box["ew"] * (width - 2) + box["nw"], None),))
        index = self._top + y - 1
        if index >= len(self._checks):
            return self._strip(((box["ns"] + " " * (width - 2) + box["ns"], None),))
        text = padded(fit(self._said(self._checks[index]), width - 4, self._glyphs.ellipsis), width - 4)
        style = self._palette.faint if self._checks[index].faint else None
        style = self._palette.cursor if index == self.cursor else style
        return self._strip(((box["ns"], None), (f" {text} ", style), (box["ns"], None)))

    def on_click(self, event: events.Click) -> None:
        index = self._top + event.y - 1
        if 0 < event.y < self.size.height - 1 and index < len(self._checks):
            self.cursor = index
            self.toggle()

    @property
    def _top(self) -> int:
        """The first line in view: the cursor is kept in the middle where it can be."""
        inside = max(1, self.size.height - _FRAME)
        return max(0, min(self.cursor - inside // 2, len(self._checks) - inside))

    def _said(self, check: Check) -> str:
        tick = "[x]" if check.key in self.ticked else "[ ]"
        return f"{tick} {padded(check.title, self._room)}  {check.about}"

    def _strip(self, line: Line) -> Strip:
        return strip_of(line, self.size.width)
