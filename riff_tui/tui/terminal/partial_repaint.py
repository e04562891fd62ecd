"""Repaint only what changed: scroll by letting the terminal move its lines, and ignore changes of focus."""

from __future__ import annotations

from typing import ClassVar, Self

from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from riff_tui.tui.terminal.textual_internals import forget_styled_lines, write_sequence

MAX_SHIFT = 4
_INDEX = "\x1bD"
_REVERSE_INDEX = "\x1bM"


class QuietFocus(Widget):
    """Look the same with and without focus, so that nothing is repainted when it goes elsewhere.

    A click takes no focus from what lies over it and is typed into.
    """

    FOCUS_ON_CLICK = False

    def on_focus(self, event: events.Focus) -> None:
        event.prevent_default()
        self.set_reactive(Widget.has_focus, True)

    def on_blur(self, event: events.Blur) -> None:
        event.prevent_default()
        self.set_reactive(Widget.has_focus, False)


class Wheel(Widget):
    """Move by some lines where the wheel of the mouse is turned."""

    WHEEL_LINES: ClassVar[int] = 3

    def move(self, lines: int) -> None:
        """Move by some lines."""
        raise NotImplementedError

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.move(self.WHEEL_LINES)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.move(-self.WHEEL_LINES)


class Companion(Widget):
    """Accompany scrolling lines; `displaced` says that the terminal moved these lines along."""

    displaced: bool = False


class ScrollingLines(ScrollView):
    """Scroll lines by moving them on the terminal, so that only those that came into view are sent.

    The first `header_lines` lines stay. Moves of more than `MAX_SHIFT` lines (half of the view where that is None)
    repaint everything. The lines of the `companion` are moved along and repainted later.
    """

    header_lines: int = 0
    MAX_SHIFT: ClassVar[int | None] = None
    companion: Companion | None = None
    _dirty: set[int] | None = None

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        by, height = round(new_value) - round(old_value), max(1, self.size.height - self.header_lines)
        dirty = self._dirty
        if dirty is None or not can_shift(self, by, self.companion, at_most=self.MAX_SHIFT or height // 2):
            self.refresh()
            return
        forget_styled_lines(self)
        write_sequence(self.app, shift_sequence(self.region.y + self.header_lines, height, by))
        if self.companion is not None:
            self.companion.displaced = True
        top = self.scroll_offset.y
        appeared = range(height - by, height) if by > 0 else range(-by)
        for line in {*(top + y for y in appeared), *dirty}:
            self.refresh_line(line)

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        if repaint and not regions:
            self._dirty = None
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def render_lines(self, crop: Region) -> list[Strip]:
        self._dirty = set()
        return super().render_lines(crop)

    def refresh_line(self, line: int) -> None:
        """Repaint a scrolling line, counted from the first one of all, if it is in view."""
        if self._dirty is not None:
            self._dirty.add(line)
        y = line - self.scroll_offset.y + self.header_lines
        if self.header_lines <= y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))


def overwrite(widget: Widget, x: int, text: str, style: Style | None) -> None:
    """Write text over a few cells of a widget's first line, which draws itself the same from then on."""
    app, region = widget.app, widget.region
    forget_styled_lines(widget)
    if not widget.screen.is_active:
        return
    if app.is_headless or widget.screen.get_widget_at(region.x + x, region.y)[0] is not widget:
        widget.refresh()
    else:
        write_sequence(app, f"\x1b[{region.y + 1};{region.x + x + 1}H{style.render(text) if style else text}")


def can_shift(widget: Widget, by: int, companion: Widget | None = None, *, at_most: int = MAX_SHIFT) -> bool:
    """Return whether a widget, with its companion, has whole lines of the terminal and nothing is drawn over them."""
    app = widget.app
    width = widget.region.width
    if companion is not None and (companion.region.y, companion.region.height) == (
        widget.region.y,
        widget.region.height,
    ):
        width += companion.region.width
    return (
        0 < abs(by) <= at_most
        and not app.is_headless
        and widget.screen.is_active
        and widget.screen.get_widget_at(0, widget.region.bottom - 1)[0] is widget
        and widget.region.x == 0
        and width == app.size.width
    )


def shift_sequence(first: int, height: int, by: int) -> str:
    """Return what makes a terminal move `height` lines from line `first` up by some, down where negative.

    It is a scrolling region of these lines and line feeds at its edge; lines that appear are blank.
    """
    edge, feed = (first + height, _INDEX * by) if by > 0 else (first + 1, _REVERSE_INDEX * -by)
    return f"\x1b[{first + 1};{first + height}r\x1b[{edge};1H{feed}\x1b[r"
