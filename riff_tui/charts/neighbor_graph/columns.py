"""Draw a graph in three columns: each neighbour on one line with one edge, so counts cannot merge."""

from __future__ import annotations

from riff_tui.charts.neighbor_graph.graph import Drawing, EgoGraph, Spot
from riff_tui.charts.neighbor_graph.line import Line, loops_text
from riff_tui.charts.neighbor_graph.plan import Entry, Plan, readable
from riff_tui.text.glyphs import Glyphs
from riff_tui.text.safe_text import cell_width, fit, padded


def drawn(graph: EgoGraph, left: list[Entry], right: list[Entry], signs: Glyphs, plan: Plan, width: int) -> Drawing:
    """Draw both sides around the centre's line, each centred on it; the loops have a line of their own below."""
    rows = max(len(left), len(right), 1)
    middle = rows // 2
    starts = middle - len(left) // 2, middle - len(right) // 2
    lines = []
    for row in range(rows):
        line = Line(row)
        if left:
            _add_left(line, left, row - starts[0], signs, plan, centred=row == middle)
        if row == middle:
            _add_centre(line, graph, signs, plan, arrow=bool(left), exit=bool(right))
        else:
            line.add(" " * (plan.names[1] + 2 + bool(left) + bool(right)))
        if right:
            _add_right(line, right, row - starts[1], signs, plan, centred=row == middle)
        lines.append(line)
    texts = [line.text.rstrip() for line in lines]
    if graph.loops:
        centre = next(spot for line in lines for spot in line.spots if spot.side == "centre")
        texts.append(fit(_loops(graph, lines[middle].text, centre, width), width, signs.ellipsis))
    return Drawing(tuple(texts), tuple(spot for line in lines for spot in line.spots))


def _add_left(line: Line, entries: list[Entry], index: int, signs: Glyphs, plan: Plan, *, centred: bool) -> None:
    if not 0 <= index < len(entries):
        line.add(" " * (plan.badges[0] + 1 + plan.names[0] + plan.counts[0] + 6))
        return
    entry = entries[index]
    dash = signs.box["ew"]
    line.add(entry.badge.rjust(plan.badges[0]) + " ")
    if entry.state is None:
        edge = dash * (plan.counts[0] + 4 - max(0, cell_width(entry.name) - plan.names[0]))
        line.add(f"{padded(entry.name, plan.names[0], right=True)} {edge}")
    else:
        name = fit(entry.name, plan.names[0], signs.ellipsis)
        line.add_name(name, plan.names[0], "in", entry.state, right=True)
        line.add(f"{entry.star:1}{dash} {entry.count.rjust(plan.counts[0])} {dash}")
    line.add(signs.box[_sides(n=index > 0, e=centred, s=index < len(entries) - 1, w=True)])


def _add_centre(line: Line, graph: EgoGraph, signs: Glyphs, plan: Plan, *, arrow: bool, exit: bool) -> None:
    line.add((signs.arrow if arrow else "") + "[")
    name = fit(readable(graph.centre, signs), plan.names[1], signs.ellipsis)
    line.add_name(name, cell_width(name), "centre", graph.centre)
    line.add("]" + (signs.box["ew"] if exit else ""))


def _add_right(line: Line, entries: list[Entry], index: int, signs: Glyphs, plan: Plan, *, centred: bool) -> None:
    if not 0 <= index < len(entries):
        return
    entry = entries[index]
    line.add(signs.box[_sides(n=index > 0, e=True, s=index < len(entries) - 1, w=centred)])
    dash = signs.box["ew"]
    if entry.state is None:
        edge = dash * (plan.counts[1] + 4 - max(0, cell_width(entry.name) - plan.names[2]))
        line.add(f"{edge}{signs.arrow} {padded(entry.name, plan.names[2])}")
    else:
        line.add(f"{dash} {entry.count.rjust(plan.counts[1])} {dash}{signs.arrow} ")
        line.add_name(fit(entry.name, plan.names[2], signs.ellipsis), plan.names[2], "out", entry.state)
    line.add(entry.star.ljust(plan.star) + " " + entry.badge.rjust(plan.badges[1]))
    if plan.share:
        line.add(" " + entry.share.rjust(plan.share))


def _sides(*, n: bool, e: bool, s: bool, w: bool) -> str:
    return "n" * n + "e" * e + "s" * s + "w" * w


def _loops(graph: EgoGraph, line: str, centre: Spot, width: int) -> str:
    """Return the steps from the state to itself, below its middle as far as there is room."""
    text = loops_text(graph)
    middle = cell_width(line[: centre.start]) + cell_width(line[centre.start : centre.end]) // 2
    return " " * max(0, min(middle - len(text) // 2, width - len(text))) + text
