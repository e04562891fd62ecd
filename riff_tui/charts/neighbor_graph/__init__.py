"""Draw a state between its predecessors and successors: where calls come from, where they go, and where they stall.

The drawing is the same whatever order the neighbours came in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from riff_tui.charts.neighbor_graph.blast import WIDTH, blast
from riff_tui.charts.neighbor_graph.columns import drawn
from riff_tui.charts.neighbor_graph.formats import to_dot, to_mermaid
from riff_tui.charts.neighbor_graph.graph import Direction, Drawing, EgoGraph, Neighbor, Spot, of_neighborhood
from riff_tui.charts.neighbor_graph.listing import listed
from riff_tui.charts.neighbor_graph.plan import entries, plan
from riff_tui.text.glyphs import glyphs

LEAST_WIDTH = 16
LEGEND = (
    "beside each state its stall (! from 0.25), ✓ success, ↗ escalation, · not measured;"
    " * stands on both sides; percent of the steps out."
)

__all__ = [
    "LEGEND",
    "WIDTH",
    "Direction",
    "Drawing",
    "EgoFigure",
    "EgoGraph",
    "Neighbor",
    "Spot",
    "blast",
    "draw",
    "drawing",
    "of_neighborhood",
    "to_dot",
    "to_mermaid",
]


@dataclass(frozen=True, slots=True)
class EgoFigure:
    """Draw the graph and, below it, the blast radius, above a table."""

    graph: EgoGraph
    reach: Mapping[str, float] = field(default_factory=dict)

    def draw(self, *, ascii_only: bool = False, width: int = WIDTH) -> list[str]:
        """Draw both in lines none wider than `width` cells or 78."""
        lines = draw(self.graph, ascii_only=ascii_only, width=width)
        return [*lines, "", *blast(self.reach, ascii_only=ascii_only, width=width)] if self.reach else lines

    def to_dot(self, *, ascii_only: bool = False) -> str:
        """Return the graph alone for Graphviz."""
        return to_dot(self.graph, ascii_only=ascii_only)

    def to_mermaid(self, *, ascii_only: bool = False) -> str:
        """Return the graph alone for Mermaid."""
        return to_mermaid(self.graph, ascii_only=ascii_only)


def draw(graph: EgoGraph, *, ascii_only: bool = False, width: int = WIDTH) -> list[str]:
    """Draw the graph in lines of at most `width` cells, but 16 at least and 78 at most."""
    return list(drawing(graph, ascii_only=ascii_only, width=width).lines)


def drawing(graph: EgoGraph, *, ascii_only: bool = False, width: int = WIDTH) -> Drawing:
    """Draw as `draw` does, with the spots of the states; where three columns have no room it is a list."""
    width = max(LEAST_WIDTH, min(width, WIDTH))
    signs = glyphs(ascii_only)
    left, right = (entries(graph, side, signs) for side in ("in", "out"))
    widths = plan(graph, left, right, signs, width)
    if widths is None:
        return listed(graph, left, right, signs, width)
    return drawn(graph, left, right, signs, widths, width)
