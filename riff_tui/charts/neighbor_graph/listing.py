"""List a graph where three columns have no room."""

from __future__ import annotations

from dataclasses import replace

from riff_tui.charts.neighbor_graph.graph import Direction, Drawing, EgoGraph
from riff_tui.charts.neighbor_graph.line import Line, loops_text
from riff_tui.charts.neighbor_graph.plan import LEAST_NAME, Entry, readable, widest
from riff_tui.text.glyphs import Glyphs
from riff_tui.text.safe_text import cell_width, fit


def listed(graph: EgoGraph, left: list[Entry], right: list[Entry], signs: Glyphs, width: int) -> Drawing:
    """List states from the first predecessor to the last successor; counts stand first, so they are cut last."""
    counted = widest(entry.count for entry in (*left, *right))
    lines = [_neighbor("in", entry, counted, signs, width) for entry in left]
    centre = Line(0)
    centre.add("[")
    name = fit(readable(graph.centre, signs), width - 2, signs.ellipsis)
    centre.add_name(name, cell_width(name), "centre", graph.centre)
    centre.add("]")
    lines.append(centre)
    if graph.loops:
        lines.append(Line(0))
        lines[-1].add(loops_text(graph))
    lines += [_neighbor("out", entry, counted, signs, width) for entry in right]
    return Drawing(
        tuple(fit(line.text, width, signs.ellipsis) for line in lines),
        tuple(replace(spot, line=number) for number, line in enumerate(lines) for spot in line.spots),
    )


def _neighbor(side: Direction, entry: Entry, counted: int, signs: Glyphs, width: int) -> Line:
    line = Line(0)
    line.add(f"{side:<3} {entry.count.rjust(counted)} ")
    tail = entry.star + "".join(f" {part}" for part in (entry.badge, entry.share) if part)
    room = width - len(line.text) - cell_width(tail)
    if room < LEAST_NAME:
        tail, room = "", width - len(line.text)
    name = fit(entry.name, room, signs.ellipsis)
    line.add_name(name, cell_width(name), side, entry.state)
    line.add(tail)
    return line
