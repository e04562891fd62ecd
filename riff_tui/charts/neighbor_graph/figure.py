"""Draw a state among its neighbours and, below it, what its blast radius is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from riff_tui.charts.neighbor_graph.canvas import drawn, listed
from riff_tui.charts.neighbor_graph.formats import to_dot, to_mermaid
from riff_tui.charts.neighbor_graph.graph import Drawing, EgoGraph
from riff_tui.charts.neighbor_graph.plan import MOST, entries, plan, readable
from riff_tui.text.column_fit import fitted
from riff_tui.text.glyphs import Glyphs, glyphs
from riff_tui.text.numbers import fixed, percent
from riff_tui.text.safe_text import cell_width, fit

if TYPE_CHECKING:
    from riff_store.answers.cells import BlastRadius, Victim

WIDTH = 78
FIGURE = 9
FIGURES = 4 * FIGURE
LEAST_WIDTH = 16
LEGEND = (
    "beside each state its stall (! from 0.25), ✓ success, ↗ escalation, · not measured;"
    " * stands on both sides; percent of the steps out."
)


@dataclass(frozen=True, slots=True)
class EgoFigure:
    """Draw the graph and, below it, the blast radius, above a table."""

    graph: EgoGraph
    blast: BlastRadius | None = None

    def draw(self, *, ascii_only: bool = False, width: int = WIDTH) -> list[str]:
        """Draw both in lines none wider than `width` cells or 78."""
        lines = draw(self.graph, ascii_only=ascii_only, width=width)
        if self.blast is None or not self.blast.victims:
            return lines
        return [*lines, "", *blast(self.blast, ascii_only=ascii_only, width=width)]

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


def blast(radius: BlastRadius, *, ascii_only: bool = False, width: int = WIDTH) -> list[str]:
    """List the states that starve where a state breaks, in their order; beyond twelve the rest is one line.

    With each stand the calls that it would have seen more, how many of its calls came this way, and how many of those
    that went on came there.
    """
    width = min(width, WIDTH)
    signs = glyphs(ascii_only)
    shown = [(readable(victim.state, signs), _figures(victim, signs)) for victim in radius.victims[:MOST]]
    named = max((cell_width(name) for name, _ in shown), default=0)
    named = max(1, min(named, width - FIGURES - 4, 40))
    count = len(radius.victims)
    title = f"Blast radius: {count} {'state starves' if count == 1 else 'states starve'} if this one breaks"
    heads = "".join(f"{head:>{FIGURE}}" for head in ("starved", "through", "reached", "n"))
    lines = [title, f"  {' ' * named}{heads}"]
    lines += [f"  {fitted(name, named, signs.ellipsis)}{figures}" for name, figures in shown]
    if count > MOST:
        more = radius.victims[MOST].starved
        lines.append(f"  + {count - MOST} more" + (f", each starved by {fixed(more, 0)} or less" if more else ""))
    return [fit(line, width, signs.ellipsis) for line in lines]


def _figures(victim: Victim, signs: Glyphs) -> str:
    starved = signs.not_measured if victim.starved is None else fixed(victim.starved, 0)
    shares = (signs.not_measured if share is None else percent(share) for share in (victim.through, victim.reached))
    calls = signs.not_measured if victim.n is None else str(victim.n)
    return "".join(f"{text:>{FIGURE}}" for text in (starved, *shares, calls))
