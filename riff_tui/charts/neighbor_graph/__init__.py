"""Draw a state between its predecessors and successors: where calls come from, where they go, and where they stall.

The drawing is the same whatever order the neighbours came in.
"""

from __future__ import annotations

from riff_tui.charts.neighbor_graph.figure import LEGEND, WIDTH, EgoFigure, blast, draw, drawing, to_dot, to_mermaid
from riff_tui.charts.neighbor_graph.graph import Direction, Drawing, EgoGraph, GraphNeighbor, Spot, of_neighborhood

__all__ = [
    "LEGEND",
    "WIDTH",
    "Direction",
    "Drawing",
    "EgoFigure",
    "EgoGraph",
    "GraphNeighbor",
    "Spot",
    "blast",
    "draw",
    "drawing",
    "of_neighborhood",
    "to_dot",
    "to_mermaid",
]
