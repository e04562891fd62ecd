"""The lanes above a voice call: which part of it they show, and the turn under the cursor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, TypeAlias

from rich.style import Style

from riff_tui.charts.lanes import Lanes, Tone
from riff_tui.table import Row
from riff_tui.text.glyphs import Glyphs
from riff_tui.tui.render.palette import Palette
from riff_tui.tui.render.styled_lines import Line

Nearness: TypeAlias = Literal["all", "part", "nearest"]

STEP = 2
SHORTEST_S = 2.0


class LanesHeader:
    """Shows `lanes` whole, or a part of them that stays around the turn under the cursor."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self._times = 1
        self._centre = sum(lanes.extent) / 2

    @property
    def nearness(self) -> Nearness:
        """How near one is."""
        if self._times == 1 and not self._can_near:
            return "nearest"
        return "all" if self._times == 1 else "part" if self._can_near else "nearest"

    def take(self, lanes: Lanes) -> None:
        """The same call as it is by now; what is shown of it stays."""
        self.lanes = replace(lanes, window=self.lanes.window, at=self.lanes.at)

    def follow(self, row: Row | None) -> None:
        """The cursor is on another row: its turn stands out, and comes into what is shown."""
        turn = row.record.get("turn") if row is not None else None
        if turn == self.lanes.at:
            return
        focus = self.lanes.focus(turn) if isinstance(turn, int) else None
        start, end = self.lanes.shown
        if focus is not None and not start <= focus <= end:
            self._centre = focus
        self._show(turn if isinstance(turn, int) else None)

    def zoom(self, nearer: bool) -> None:
        """Go nearer to where the agent answers in the turn under the cursor, or further away."""
        focus = self.lanes.focus(self.lanes.at) if self.lanes.at is not None else None
        start, end = self.lanes.shown
        if focus is not None and start <= focus <= end:
            self._centre = focus
        self._times = self._times * STEP if nearer else max(1, self._times // STEP)
        self._show(self.lanes.at)

    def pan(self, direction: int) -> None:
        """Show what is before (-1) or behind (1), half of it new."""
        start, end = self.lanes.shown
        self._centre = (start + end) / 2 + direction * (end - start) / 2
        self._show(self.lanes.at)

    def lines(self, width: int, glyphs: Glyphs, palette: Palette) -> list[Line]:
        """The lanes in lines of at most `width` cells."""
        styles = _styles(palette)
        drawn = self.lanes.painted(ascii_only=glyphs.ascii_only, width=width - 2)
        return [((" ", None), *((text, styles.get(tone) if tone else None) for text, tone in line)) for line in drawn]

    @property
    def _can_near(self) -> bool:
        first, last = self.lanes.extent
        return (last - first) / (self._times * STEP) >= SHORTEST_S

    def _show(self, at: int | None) -> None:
        first, last = self.lanes.extent
        half = (last - first) / self._times / 2
        self._centre = max(first + half, min(last - half, self._centre))
        window = (self._centre - half, self._centre + half) if self._times > 1 else None
        self.lanes = replace(self.lanes, window=window, at=at)


def _styles(palette: Palette) -> Mapping[Tone, Style | None]:
    return {
        "faint": palette.faint,
        "caller": palette.accent,
        "agent": palette.good,
        "both": palette.bad,
        "bad": palette.bad,
        "warn": palette.warn,
        "tool": palette.head,
        "here": palette.cursor,
    }
