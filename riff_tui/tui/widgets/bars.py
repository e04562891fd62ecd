"""Show where one is in the top line, what one can do there in the bottom line, and are over the screen while asking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from riff_tui.table import Severity
from riff_tui.text.column_fit import fitted, wrap
from riff_tui.text.glyphs import UNICODE, Glyphs
from riff_tui.text.safe_text import cell_width, fit
from riff_tui.tui.render.columns import shown
from riff_tui.tui.render.styled_lines import PALETTES, Line, Palette, Piece, cut, strip_of, width_of
from riff_tui.tui.terminal.partial_repaint import QuietFocus

_TALLEST = 4
_FEWEST_HINTS = 4
_BOLD = Style(bold=True)
_WHOLE = 10**6
TOO_SMALL = "-too-small"
"""The class of a screen on which nothing has room."""
CRUMB = " › "
"""What stands between names in a part of the breadcrumb."""


class Drawn(Widget):
    """Draw with the signs and in the colours of the application."""

    def __init__(self, *, palette: Palette = PALETTES["ansi"], glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(id=id)
        self.palette = palette
        self.glyphs = glyphs


class Bar(Drawn):
    """Show lines that are repainted only when they change."""

    DEFAULT_CSS = """
    Bar { height: 1; }
    """
    IS_TINTED: ClassVar[bool] = False
    lines: reactive[tuple[Line, ...]] = reactive((), layout=False)

    def render_line(self, y: int) -> Strip:
        line = self.lines[y] if y < len(self.lines) else ()
        if width_of(line) > self.size.width:
            line = cut(line, self.size.width, self.glyphs)
        return strip_of(line, self.size.width, self.palette.bar if self.IS_TINTED else None)

    def on_resize(self) -> None:
        self.draw()

    def draw(self) -> None:
        """Make the lines again for the present width and colours."""


class TopLine(Bar):
    """Show the breadcrumb at the left; at the right the position of the cursor, and counts.

    The position is a row of how many, or nothing.
    """

    IS_TINTED = True
    crumbs: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    position: tuple[int, int] | None = None

    def show(self, crumbs: Sequence[str], position: tuple[int, int] | None, told: Sequence[str]) -> None:
        """Show the breadcrumb, the position, and what follows it, what matters least last; all of it is raw.

        The last of it is left out first where the breadcrumb has no room.
        """
        self.crumbs, self.position, self.told = tuple(crumbs), position, tuple(told)
        self.draw()

    def move_to(self, number: int) -> None:
        """Show that the cursor is on another row."""
        if self.position is None or self.position[0] == number:
            return
        self.position = (number, self.position[1])
        self.draw()

    def draw(self) -> None:
        if self.size.width:
            self.lines = self._lines()

    def _lines(self) -> tuple[Line, ...]:
        width = self.size.width
        whole = cell_width(self._path(_WHOLE)) + len(self.glyphs.crumb)
        count = "" if self.position is None else f"{self._number} of {self.position[1]:,}"
        told = list(self.told)
        while len(told) > 1 and cell_width(self._right(count, told)) > width - whole - 3:
            told.pop()
        right = fit(self._right(count, told), max(width // 2, width - whole - 3), self.glyphs.ellipsis)
        room = width - cell_width(right) - 3
        left = fitted(self._path(room), room, self.glyphs.ellipsis)
        at = len(count) if right.startswith(count) else 0
        return (((" ", None), (left, _BOLD), (" ", None), (right[:at], _BOLD), (f"{right[at:]} ", None)),)

    def _right(self, count: str, told: Sequence[str]) -> str:
        parts = [count, *told] if count else list(told)
        if count and told and told[0].startswith((" ", ",")):
            # What belongs to the number stays at it.
            parts[:2] = [count + told[0]]
        return shown(" · ".join(parts), self.glyphs)

    @property
    def _number(self) -> str:
        return "" if self.position is None else f"{self.position[0]:>{len(f'{self.position[1]:,}')},}"

    def _path(self, room: int) -> str:
        crumbs = [shown(part, self.glyphs) for crumb in self.crumbs for part in crumb.split(CRUMB)]
        path = self.glyphs.crumb.join(crumbs)
        while cell_width(path) > room and len(crumbs) > 1:
            crumbs = crumbs[1:]
            path = self.glyphs.crumb.join([self.glyphs.ellipsis, *crumbs])
        return path


class BottomLine(Bar):
    """Show the key hints of the location, or a message; a click on a hint is reported as its key."""

    class Pressed(Message):
        """Report that a hint was clicked; `key` is spelled as people read it."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    IS_TINTED = True
    hints: tuple[tuple[str, str], ...] = ()
    _ends: tuple[int, ...] = ()
    legend: str = ""
    said: str = ""
    before: str = ""
    severity: Severity | None = None

    def hint(self, hints: Sequence[tuple[str, str]], legend: str = "") -> None:
        """Show (key, word) pairs, and at the right when rows have their marks, if there is room."""
        self.hints, self.legend = tuple(hints), legend
        self.draw()

    def say(self, text: str, severity: Severity | None = None) -> None:
        """Show a raw text instead of the hints, which an empty one brings back."""
        self.before = self.said
        if (text, severity) != (self.said, self.severity):
            self.said, self.severity = text, severity
            self.draw()

    def draw(self) -> None:
        if self.size.width:
            lines = self._message() if self.said else (self._hints(),)
            if self.styles.height is None or self.styles.height.value != len(lines):
                self.styles.height = len(lines)
            self.lines = lines

    def _message(self) -> tuple[Line, ...]:
        # No hue of a failure is legible on every tint: the sign shows it, and weight.
        style = _BOLD if self.severity == "bad" else None
        sign = self.glyphs.mark(self.severity)
        pieces = wrap(shown(self.said, self.glyphs), self.size.width - 3)[:_TALLEST]
        return tuple(((f"{' ' if number else sign} {piece}".rstrip(), style),) for number, piece in enumerate(pieces))

    def _hints(self) -> Line:
        line: list[Piece] = []
        used, ends = 0, []
        for key, word in self.hints:
            text = f" {shown(word, self.glyphs)} "
            key = " ⏎" if key == "Enter" and not self.glyphs.ascii_only else f" {key}"
            used += cell_width(key) + cell_width(text)
            if used > self.size.width:
                break
            line += [(key, _BOLD), (text, None)]
            ends.append(used)
        legend = f"  {shown(self.legend, self.glyphs)} " if self.legend else ""
        # Help has every key; when rows are marked is here alone.
        while legend and len(ends) > _FEWEST_HINTS and ends[-1] + cell_width(legend) > self.size.width:
            ends.pop()
            del line[-2:]
        self._ends = tuple(ends)
        room = self.size.width - width_of(line)
        line += [(legend.rjust(room), None)] if legend and cell_width(legend) <= room else []
        return tuple(line)

    def on_click(self, event: events.Click) -> None:
        clicked = (key for (key, _), end in zip(self.hints, self._ends, strict=False) if event.x < end)
        key = next(clicked, "") if not self.said else ""
        if key:
            self.post_message(self.Pressed(key))


class Dialog(Drawn, QuietFocus):
    """Take the focus while open, and give it back."""

    DEFAULT_CSS = """
    Dialog { layer: top; display: none; background: ansi_default; color: ansi_default; }
    """

    _before: Widget | None = None
    _focused: Widget | None = None

    @property
    def is_open(self) -> bool:
        """Return whether it is open."""
        return bool(self.display)

    def open(self, focused: Widget | None = None) -> None:
        """Open; `focused` gets the keys, this widget itself unless one is named."""
        self._before, self._focused = self.screen.focused, focused
        self.display = True
        self.take_keys()

    def take_keys(self) -> None:
        """Have the keys while it is open and can be seen."""
        if self.is_open and not self.screen.has_class(TOO_SMALL):
            self.screen.set_focus(self._focused or self)

    def close(self) -> None:
        """Close; whatever had the focus gets it back."""
        self.display = False
        self.screen.set_focus(self._before)

    def leave(self) -> None:
        """Close without an answer, or stop what is under way."""
        self.close()

    def action_leave(self) -> None:
        self.leave()
