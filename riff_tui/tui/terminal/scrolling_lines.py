"""Lines that the terminal itself moves when they scroll, so that what came into view is all that is sent."""

from __future__ import annotations

from typing import ClassVar, Self

from textual.geometry import Region
from textual.scroll_view import ScrollView
from textual.strip import Strip

from riff_tui.tui.panes.pane import Pane
from riff_tui.tui.terminal.scroll_region import can_shift, shift


class ScrollingLines(ScrollView):
    """A view of lines; `companion` is a pane beside it whose lines are moved along and put right later.

    The first `HEAD` lines of the view stay when the others scroll. They are moved by no more than `FARTHEST` lines,
    by half of the view where that is not said.
    """

    HEAD: ClassVar[int] = 0
    FARTHEST: ClassVar[int | None] = None
    companion: Pane | None = None
    _stale: set[int] | None = None

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        by, height = round(new_value) - round(old_value), max(1, self.size.height - self.HEAD)
        stale = self._stale
        if stale is None or not can_shift(self, by, self.companion, farthest=self.FARTHEST or height // 2):
            self.refresh()
            return
        self._styles_cache.clear()
        shift(self, self.region.y + self.HEAD, height, by)
        if self.companion is not None:
            self.companion.displaced = True
        top = self.scroll_offset.y
        appeared = range(height - by, height) if by > 0 else range(-by)
        for line in {*(top + y for y in appeared), *stale}:
            self.refresh_line(line)

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        if repaint and not regions:
            self._stale = None
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def render_lines(self, crop: Region) -> list[Strip]:
        self._stale = set()
        return super().render_lines(crop)

    def refresh_line(self, line: int) -> None:
        """Repaint a line that scrolls, counted from the first one that there is, if it can be seen."""
        if self._stale is not None:
            self._stale.add(line)
        y = line - self.scroll_offset.y + self.HEAD
        if self.HEAD <= y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))
