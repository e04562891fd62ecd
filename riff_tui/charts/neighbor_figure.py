"""Draw a state among its neighbours and, below it, what its blast radius is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from riff_tui.charts.ego_graph import (
    BAD_STALL,
    LEAST_NAME,
    MOST,
    Direction,
    Drawing,
    EgoGraph,
    Entry,
    GraphNeighbor,
    Plan,
    Spot,
    entries,
    plan,
    widest,
)
from riff_tui.text.column_fit import fitted
from riff_tui.text.glyphs import Glyphs, glyphs, readable
from riff_tui.text.numbers import fixed, percent
from riff_tui.text.safe_text import cell_width, fit, padded

if TYPE_CHECKING:
    from riff_store.queries.neighbors import BlastRadius, Victim


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
    starved, n = (None if value is None else fixed(value, 0) for value in (victim.starved, victim.n))
    through, reached = (None if share is None else percent(share) for share in (victim.through, victim.reached))
    return "".join(f"{text or signs.not_measured:>{FIGURE}}" for text in (starved, through, reached, n))


# Draw a graph in three columns, or as a list where these have no room.
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
        # The steps from the state to itself stand below its middle as far as there is room.
        text, loops = lines[middle].text, loops_text(graph)
        below = cell_width(text[: centre.start]) + cell_width(text[centre.start : centre.end]) // 2
        indent = " " * max(0, min(below - len(loops) // 2, width - len(loops)))
        texts.append(fit(indent + loops, width, signs.ellipsis))
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


# Write a graph for Graphviz and Mermaid, with names that stay names.
_NOT_PLAIN = re.compile(r"[^\w .-]")
_BAD = "#cf222e"


def to_dot(graph: EgoGraph, *, ascii_only: bool = False) -> str:
    """Write a Graphviz digraph: a node for each state with its stall, an edge with its count for each neighbour.

    The centre is bold, ends of the flow are rounded, a bad stall is red.
    """
    lines = ["digraph neighbours {", "  rankdir=LR;", "  node [shape=box];"]
    states = _states(graph)
    numbers = {name: number for number, name in enumerate(states)}
    for name, state in states.items():
        label = "\\n".join(_quoted(line) for line in _labels(state, ascii_only))
        lines.append(f'  n{numbers[name]} [label="{label}"{_looks(graph, state)}];')
    lines += [f'  n{numbers[start]} -> n{numbers[end]} [label="{said}"];' for start, end, said in _edges(graph)]
    return "\n".join([*lines, "}"]) + "\n"


def to_mermaid(graph: EgoGraph, *, ascii_only: bool = False) -> str:
    """Write a Mermaid flow chart with the same nodes and edges."""
    lines = ["flowchart LR"]
    states = _states(graph)
    numbers = {name: number for number, name in enumerate(states)}
    for name, state in states.items():
        label = "<br>".join(_entities(line) for line in _labels(state, ascii_only))
        opening, closing = ("([", "])") if state.outcome else ("[", "]")
        lines.append(f'  n{numbers[name]}{opening}"{label}"{closing}')
    lines += [f'  n{numbers[start]} -->|"{_entities(said)}"| n{numbers[end]}' for start, end, said in _edges(graph)]
    lines.append(f"  style n{numbers[graph.centre]} stroke-width:3px")
    lines += [f"  style n{numbers[name]} stroke:{_BAD}" for name, state in states.items() if _is_bad(state)]
    return "\n".join(lines) + "\n"


def _states(graph: EgoGraph) -> dict[str, GraphNeighbor]:
    """Return each state once, the centre first; its place in that order stands for it, names never do."""
    found = {graph.centre: GraphNeighbor(graph.centre, 0)}
    for one in (*graph.ranked("in"), *graph.ranked("out")):
        found.setdefault(one.name, one)
    return found


def _edges(graph: EgoGraph) -> Iterator[tuple[str, str, str]]:
    """Yield from, to, and the count with the share of the steps out."""
    for one in graph.ranked("in"):
        yield one.name, graph.centre, str(one.count)
    if graph.loops:
        yield graph.centre, graph.centre, _counted(graph.loops, graph.loops_share)
    for one in graph.ranked("out"):
        yield graph.centre, one.name, _counted(one.count, one.share)


def _counted(count: int, share: float | None) -> str:
    return str(count) if share is None else f"{count} ({percent(share)})"


def _labels(state: GraphNeighbor, ascii_only: bool) -> list[str]:
    signs = glyphs(ascii_only)
    mark = signs.bad if _is_bad(state) else ""
    stall = [] if state.stall is None else [f"stall {mark}{fixed(state.stall, 2, trim=True)}"]
    return [readable(state.name, signs), *stall]


def _looks(graph: EgoGraph, state: GraphNeighbor) -> str:
    style = "bold" if state.name == graph.centre else "rounded" if state.outcome else ""
    bad = f', color="{_BAD}", fontcolor="{_BAD}"' if _is_bad(state) else ""
    return (f", style={style}" if style else "") + bad


def _is_bad(state: GraphNeighbor) -> bool:
    return (state.stall or 0.0) >= BAD_STALL


def _quoted(text: str) -> str:
    """Escape text for Graphviz, which reads `\\N` and the like as escapes and `&NN;` as a character."""
    return text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')


def _entities(text: str) -> str:
    """Escape text for Mermaid, which reads `#NN;` as a character, other marks as its own, and `$$` as mathematics."""
    return _NOT_PLAIN.sub(lambda found: f"#{ord(found[0])};", text).replace("#36;", "#36;#8203;") or " "
