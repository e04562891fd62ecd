"""Draw a graph in three columns, or as a list where these have no room."""

from __future__ import annotations

from dataclasses import replace

from riff_tui.charts.neighbor_graph.graph import Direction, Drawing, EgoGraph, Spot
from riff_tui.charts.neighbor_graph.plan import LEAST_NAME, Entry, Plan, readable, widest
from riff_tui.text.glyphs import Glyphs
from riff_tui.text.numbers import percent
from riff_tui.text.safe_text import cell_width, fit, padded


class Line:
    """Write a line from left to right and remember where states stand on it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.text = ""
        self.spots: list[Spot] = []

    def add(self, text: str) -> None:
        """Write on."""
        self.text += text

    def add_name(self, text: str, width: int, side: Direction, state: str | None, *, right: bool = False) -> None:
        """Write a state's name in `width` cells, at their left or `right`; without a state it is only text."""
        start = len(self.text) + (max(0, width - cell_width(text)) if right else 0)
        self.text += padded(text, width, right=right)
        if state is not None:
            self.spots.append(Spot(self.number, start, start + len(text), side, state))


def loops_text(graph: EgoGraph) -> str:
    """Return the steps from the state to itself, in words."""
    return f"self {graph.loops}" + (f" ({percent(graph.loops_share)})" if graph.loops_share is not None else "")


def drawn(graph: EgoGraph, left: list[Entry], right: list[Entry], signs: Glyphs, plan: Plan, width: int) -> Drawing:
    """Draw both sides around the centre's line, a neighbour a line, so that counts cannot merge.

    The loops have a line of their own below.
    """
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


def listed(graph: EgoGraph, left: list[Entry], right: list[Entry], signs: Glyphs, width: int) -> Drawing:
    """List states from the first predecessor to the last successor; counts stand first, so they are cut last."""
    counted = widest(entry.count for entry in (*left, *right))
    lines = [_listed_neighbor("in", entry, counted, signs, width) for entry in left]
    centre = Line(0)
    centre.add("[")
    name = fit(readable(graph.centre, signs), width - 2, signs.ellipsis)
    centre.add_name(name, cell_width(name), "centre", graph.centre)
    centre.add("]")
    lines.append(centre)
    if graph.loops:
        lines.append(Line(0))
        lines[-1].add(loops_text(graph))
    lines += [_listed_neighbor("out", entry, counted, signs, width) for entry in right]
    return Drawing(
        tuple(fit(line.text, width, signs.ellipsis) for line in lines),
        tuple(replace(spot, line=number) for number, line in enumerate(lines) for spot in line.spots),
    )


def _listed_neighbor(side: Direction, entry: Entry, counted: int, signs: Glyphs, width: int) -> Line:
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
