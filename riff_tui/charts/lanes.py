"""Draw two lanes of sound over time, the caller's and the agent's."""

from __future__ import annotations

from riff_tui.charts.lane_painter import Painter, Piece
from riff_tui.charts.lane_times import LaneTimes
from riff_tui.text.glyphs import glyphs
from riff_tui.text.safe_text import fit


class Lanes(LaneTimes):
    """Draw the times of a voice call as a figure."""

    __slots__ = ()

    def draw(self, *, ascii_only: bool = False, width: int = 78) -> list[str]:
        """Draw an axis in seconds, the turns, both lanes with what is between them, the tools, and a legend."""
        painted = self.painted(ascii_only=ascii_only, width=width)
        return [fit("".join(text for text, _ in line).rstrip(), width, "") for line in painted]

    def painted(self, *, ascii_only: bool = False, width: int = 78, legend_lines: int = 2) -> list[list[Piece]]:
        """Return the same lines in pieces that say what they are of, for displays with colours."""
        return Painter(self, glyphs(ascii_only), width, legend_lines).lines()
