"""Draw a state among its neighbours and, below it, what its blast radius is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from riff_tui.charts.neighbor_graph.canvas import drawn, listed
from riff_tui.charts.neighbor_graph.formats import to_dot, to_mermaid
from riff_tui.charts.neighbor_graph.graph import Drawing, EgoGraph
from riff_tui.charts.neighbor_graph.plan import MOST, entries, plan, readable
from riff_tui.text.column_fit import fitted
from riff_tui.text.glyphs import glyphs
from riff_tui.text.numbers import percent
from riff_tui.text.safe_text import cell_width, fit

WIDTH = 78
LEAST_WIDTH = 16
LEGEND = (
    "beside each state its stall (! from 0.25), ✓ success, ↗ escalation, · not measured;"
    " * stands on both sides; percent of the steps out."
)


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


def blast(reach: Mapping[str, float], *, ascii_only: bool = False, width: int = WIDTH) -> list[str]:
    """List each state that can be reached from a state, with the share of calls that do: what starves where it breaks.

    Sorted by share, then name; beyond twelve the rest is one line with the largest share among them.
    """
    width = min(width, WIDTH)
    signs = glyphs(ascii_only)
    ranked = sorted(reach.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = [(readable(name, signs), share) for name, share in ranked[:MOST]]
    named = max((cell_width(name) for name, _ in shown), default=0)
    named = max(1, min(named, (width - 8) // 2))
    bar = max(0, min(40, width - named - 8))
    lines = [
        f"Blast radius: {len(ranked)} {'state starves' if len(ranked) == 1 else 'states starve'} if this one breaks"
    ]
    lines += [
        f"  {fitted(name, named, signs.ellipsis)} {percent(share):>4} {signs.bar(share, bar)}".rstrip()
        for name, share in shown
    ]
    if len(ranked) > MOST:
        lines.append(f"  + {len(ranked) - MOST} more, each {percent(ranked[MOST][1])} or less")
    return [fit(line, width, signs.ellipsis) for line in lines]
