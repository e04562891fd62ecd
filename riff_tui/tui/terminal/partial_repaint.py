"""Repaint only what changed: scroll by letting the terminal move its lines, and ignore changes of focus."""

from __future__ import annotations

from typing import ClassVar, Self

from textual import events
from textual.geometry import Region
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from riff_tui.tui.terminal.textual_internals import QuietApp, shift_lines

MAX_SHIFT = 4


class QuietFocus(Widget):
    """Look the same with and without focus, so that nothing is repainted when it goes elsewhere.

    A click takes no focus from what is over it and is typed into.
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


class ScrollingLines(ScrollView):
    """Scroll lines by moving them on the terminal, so that only those that came into view are sent.

    The first `header_lines` lines stay. Moves of more than `MAX_SHIFT` lines (half of the view if that is None) repaint
    everything. The lines of the `companion` are moved along and repainted later.
    """

    header_lines: int = 0
    MAX_SHIFT: ClassVar[int | None] = None
    companion: Widget | None = None
    _dirty: set[int] | None = None

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        by, height = round(new_value) - round(old_value), max(1, self.size.height - self.header_lines)
        dirty = self._dirty
        app = self.app
        is_near = 0 < abs(by) <= (self.MAX_SHIFT or height // 2)
        if dirty is None or not is_near or not isinstance(app, QuietApp) or not self._has_whole_lines(app):
            self.refresh()
            return
        shift_lines(app, self, self.header_lines, by)
        top = self.scroll_offset.y
        appeared = range(height - by, height) if by > 0 else range(-by)
        for line in {*(top + y for y in appeared), *dirty}:
            self.refresh_line(line)

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        if repaint and not regions:
            self._dirty = None
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def _has_whole_lines(self, app: QuietApp) -> bool:
        """Return whether this, with its companion, has whole lines of the terminal and nothing is drawn over them."""
        region, beside = self.region, self.companion
        width = region.width
        if beside is not None and (beside.region.y, beside.region.height) == (region.y, region.height):
            width += beside.region.width
        return (
            not app.is_headless
            and self.screen.is_active
            and self.screen.get_widget_at(0, region.bottom - 1)[0] is self
            and region.x == 0
            and width == app.size.width
        )

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
