"""Draw a state among its neighbours and, below it, what its blast radius is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    reasons_text,
    shown_names,
    widest,
)
from riff_tui.text.column_fit import told_apart
from riff_tui.text.glyphs import Glyphs, glyphs, readable
from riff_tui.text.numbers import fixed, percent
from riff_tui.text.safe_text import cell_width, fit, padded

if TYPE_CHECKING:
    from riff_store.queries.neighbors import BlastRadius, Victim


WIDEST = 200
"""The cells that a drawing takes at most where nothing says how many there are."""
FIGURE = 10
FIGURES = 4 * FIGURE
LEAST_WIDTH = 16


def legend(graph: EgoGraph, times: str) -> str:
    """Return what the signs of a graph mean, of those that are in it; `times` are what shares are of."""
    around = [*graph.predecessors, *graph.successors]
    outcomes = {one.outcome for one in around}
    said = {
        "! share of its calls that stall there (from 25%)": any(one.is_state and _is_bad(one) for one in around),
        "✓ success": "success" in outcomes,
        "↗ escalation": "escalation" in outcomes,
        "✕ not all who end here were served or handed over": any(one.stall for one in around if not one.is_state),
        "* is on both sides": bool(graph.both_sides()),
        "┄ 0 ┄ only the flow's files have this step": any(not one.count for one in around),
        f"percent of the {times}": any(one.share is not None for one in graph.successors),
    }
    return "; ".join(text for text, is_drawn in said.items() if is_drawn)


@dataclass(frozen=True, slots=True)
class EgoFigure:
    """Draw the graph and, below it, the blast radius, above a table."""

    graph: EgoGraph
    blast: BlastRadius | None = None

    def draw(self, *, ascii_only: bool = False, width: int | None = None) -> list[str]:
        """Draw both in lines none wider than `width` cells, as wide as they are if there is no limit."""
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


def draw(graph: EgoGraph, *, ascii_only: bool = False, width: int | None = None) -> list[str]:
    """Draw the graph in lines of at most `width` cells, but 16 at least."""
    return list(drawing(graph, ascii_only=ascii_only, width=width).lines)


def drawing(
    graph: EgoGraph, *, ascii_only: bool = False, width: int | None = None, height: int | None = None
) -> Drawing:
    """Draw as `draw` does, with the spots of the states and steps; where three columns have no room it is a list.

    In a `height` that does not contain all neighbours more of them are folded into one line.
    """
    room = WIDEST if width is None else max(LEAST_WIDTH, width)
    signs = glyphs(ascii_only)
    names = shown_names(graph, signs)
    for most in range(MOST, 0, -1):
        left, right = (entries(graph, side, signs, names, most) for side in ("in", "out"))
        widths = plan(names[graph.centre], left, right, room)
        if widths is None:
            found = listed(graph, left, right, signs, names, room)
        else:
            found = drawn(graph, left, right, signs, names, widths, room)
        if height is None or len(found.lines) <= height:
            break
    return found


def blast(radius: BlastRadius, *, ascii_only: bool = False, width: int | None = None) -> list[str]:
    """List the states that are never reached if a state breaks, in their order; beyond twelve the rest is one line.

    Beside each are the calls that it would have seen more, how many of its calls came this way, and how many of those
    that went on came there.
    """
    width = WIDEST if width is None else width
    signs = glyphs(ascii_only)
    shown = [(readable(victim.state, signs), _figures(victim, signs)) for victim in radius.victims[:MOST]]
    named = max(1, min(widest(name for name, _ in shown), width - FIGURES - 4))
    names = told_apart([(name, named) for name, _ in shown], signs.ellipsis)
    count = len(radius.victims)
    title = f"Blast radius: {count} {'state' if count == 1 else 'states'} never reached by calls lost here"
    heads = "".join(f"{head:>{FIGURE}}" for head in ("unreached", "through", "reached", "n"))
    lines = [title, f"  {' ' * named}{heads}"]
    lines += [f"  {padded(name, named)}{figures}" for name, (_, figures) in zip(names, shown, strict=True)]
    if count > MOST:
        more = radius.victims[MOST].starved
        lines.append(
            f"  + {count - MOST} more" + (f", each never reached by {fixed(more, 0)} calls or fewer" if more else "")
        )
    return [fit(line, width, signs.ellipsis) for line in lines]


def _figures(victim: Victim, signs: Glyphs) -> str:
    starved, n = (None if value is None else fixed(value, 0) for value in (victim.starved, victim.n))
    through, reached = (None if share is None else percent(share) for share in (victim.through, victim.reached))
    return "".join(f"{text or signs.not_measured:>{FIGURE}}" for text in (starved, through, reached, n))


# Draw a graph in three columns, or as a list if these have no room.
class Line:
    """Write a line from left to right and remember where states and steps are on it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.text = ""
        self.spots: list[Spot] = []
        self.arrows: list[Spot] = []

    def add(self, text: str) -> None:
        """Write on."""
        self.text += text

    def add_name(self, text: str, width: int, side: Direction, one: GraphNeighbor, *, right: bool = False) -> None:
        """Write a neighbour's name in `width` cells, at their left or `right`."""
        start = len(self.text) + (max(0, width - cell_width(text)) if right else 0)
        self.text += padded(text, width, right=right)
        self.spots.append(Spot(self.number, start, start + len(text), side, one.name, _no_state(one)))

    def add_arrow(self, text: str, side: Direction, one: GraphNeighbor) -> None:
        """Write the step from a neighbour, or to it."""
        start = len(self.text)
        self.text += text
        self.arrows.append(Spot(self.number, start, len(self.text), side, one.name, _no_state(one)))


def _no_state(one: GraphNeighbor) -> str | None:
    return None if one.is_state else one.outcome


def loops_text(graph: EgoGraph) -> str:
    """Return the steps from the state to itself, in words."""
    return f"self {graph.loops}" + (f" ({percent(graph.loops_share)})" if graph.loops_share is not None else "")


def drawn(
    graph: EgoGraph,
    left: list[Entry],
    right: list[Entry],
    signs: Glyphs,
    names: Mapping[str, str],
    plan: Plan,
    width: int,
) -> Drawing:
    """Draw both sides around the centre's line, a neighbour a line, so that counts cannot merge.

    The loops have a line of their own below.
    """
    sides = _Side(left, plan.names[0]), _Side(right, plan.names[2])
    cut = [(entry.name, side.width) for side in sides for entry in side.neighbors]
    *texts, centre = told_apart([*cut, (names[graph.centre], plan.names[1])], signs.ellipsis)
    for side in sides:
        side.cut, texts = texts[: len(side.neighbors)], texts[len(side.neighbors) :]
    middle = max(side.middle for side in sides)
    rows = max(1, *(middle - side.middle + len(side.entries) for side in sides))
    lines = []
    for row in range(rows):
        line = Line(row)
        at = [row - middle + side.middle for side in sides]
        if left:
            _add_left(line, sides[0], at[0], signs, plan)
        if row == middle:
            line.add((signs.arrow if left else "") + "[")
            line.add_name(centre, cell_width(centre), "centre", GraphNeighbor(graph.centre, 0))
            line.add(" " * (plan.names[1] - cell_width(centre)) + "]" + (signs.box["ew"] if right else ""))
        else:
            line.add(" " * (plan.names[1] + 2 + bool(left) + bool(right)))
        if right:
            _add_right(line, sides[1], at[1], signs, plan, width)
        lines.append(line)
    if graph.loops:
        # The steps from the state to itself are below its middle as far as there is room.
        spot = next(spot for spot in lines[middle].spots if spot.side == "centre")
        text, loops = lines[middle].text, loops_text(graph)
        below = cell_width(text[: spot.start]) + cell_width(text[spot.start : spot.end]) // 2
        lines.append(Line(rows))
        lines[-1].add(" " * max(0, min(below - len(loops) // 2, width - len(loops))))
        lines[-1].add_arrow(fit(loops, width, signs.ellipsis), "self", GraphNeighbor(graph.centre, graph.loops))
    return _drawing(lines)


def _drawing(lines: Sequence[Line]) -> Drawing:
    return Drawing(
        tuple(line.text.rstrip() for line in lines),
        tuple(spot for line in lines for spot in line.spots),
        tuple(arrow for line in lines for arrow in line.arrows),
    )


class _Side:
    """Keep the lines of one side, and in which of them its line to the centre is."""

    def __init__(self, entries: list[Entry], width: int) -> None:
        self.entries = entries
        self.width = width
        self.cut: Sequence[str] = ()
        self.neighbors = [entry for entry in entries if entry.of is not None]
        joined = [index for index, entry in enumerate(entries) if not entry.below]
        self.middle = joined[len(joined) // 2] if joined else 0
        self.last = joined[-1] if joined else 0

    def name(self, entry: Entry) -> str:
        """Return a name as it is drawn."""
        return self.cut[self.neighbors.index(entry)]

    def joint(self, index: int, outside: str, signs: Glyphs) -> str:
        """Return the sign at which a neighbour's line meets those of the others and that of the centre."""
        inside = "w" if outside == "e" else "e"
        met = {
            "n": 0 < index <= self.last,
            outside: not self.entries[index].below,
            "s": index < self.last,
            inside: index == self.middle,
        }
        return signs.box["".join(way for way in "nesw" if met.get(way))] if any(met.values()) else " "


def _add_left(line: Line, side: _Side, index: int, signs: Glyphs, plan: Plan) -> None:
    if not 0 <= index < len(side.entries):
        line.add(" " * (plan.badges[0] + bool(plan.badges[0]) + plan.names[0] + plan.counts[0] + 6))
        return
    entry = side.entries[index]
    dash = signs.box["ew"] if entry.taken else signs.untaken
    line.add(entry.badge.rjust(plan.badges[0]) + " " * bool(plan.badges[0]))
    if entry.of is None:
        edge = dash * (plan.counts[0] + 4 - max(0, cell_width(entry.name) - plan.names[0]))
        line.add(f"{padded(entry.name, plan.names[0], right=True)} {edge}")
    else:
        line.add_name(side.name(entry), plan.names[0], "in", entry.of, right=True)
        line.add(f"{entry.star:1}")
        line.add_arrow(f"{dash} {entry.count.rjust(plan.counts[0])} {dash}", "in", entry.of)
    line.add(side.joint(index, "w", signs))


def _add_right(line: Line, side: _Side, index: int, signs: Glyphs, plan: Plan, width: int) -> None:
    if not 0 <= index < len(side.entries):
        return
    entry = side.entries[index]
    line.add(side.joint(index, "e", signs))
    dash = signs.box["ew"] if entry.taken else signs.untaken
    if entry.below:
        # As far below the name as there is room, else further left if nothing else is on the line.
        assert entry.reasons is not None
        under = cell_width(line.text) + plan.counts[1] + 6
        line.text = line.text.rstrip()
        start = max(
            cell_width(line.text) + 2 * bool(line.text),
            min(under, width - cell_width(reasons_text(entry.reasons, signs))),
        )
        line.add(" " * (start - cell_width(line.text)) + reasons_text(entry.reasons, signs, width - start))
        return
    if entry.of is None:
        edge = dash * (plan.counts[1] + 4 - max(0, cell_width(entry.name) - plan.names[2]))
        line.add(f"{edge}{signs.arrow} {padded(entry.name, plan.names[2])}")
    else:
        line.add_arrow(f"{dash} {entry.count.rjust(plan.counts[1])} {dash}{signs.arrow}", "out", entry.of)
        line.add(" ")
        line.add_name(side.name(entry), plan.names[2], "out", entry.of)
    line.add(entry.star.ljust(plan.star))
    if plan.badges[1]:
        line.add(" " + entry.badge.rjust(plan.badges[1]))
    if plan.share:
        line.add(" " + entry.share.rjust(plan.share))
    if plan.bar and entry.filled:
        line.add(" " + signs.bar(entry.filled, plan.bar))


def listed(
    graph: EgoGraph, left: list[Entry], right: list[Entry], signs: Glyphs, names: Mapping[str, str], width: int
) -> Drawing:
    """List states from the first predecessor to the last successor; counts are first, so they are cut last."""
    shown = [*left, *right]
    counted = widest(entry.count for entry in shown)
    indent = counted + 5
    tails = [entry.star + "".join(f" {part}" for part in (entry.badge, entry.share) if part) for entry in shown]
    rooms = [width - indent - cell_width(tail) for tail in tails]
    # Beside names that would say nothing any more figures are left out; those that are cut are cut alike.
    whole = [cell_width(entry.name) <= room for entry, room in zip(shown, rooms, strict=True)]
    least = min((room for room, fits in zip(rooms, whole, strict=True) if not fits), default=0)
    least = width - indent if least < LEAST_NAME else least
    rooms = [room if fits else least for room, fits in zip(rooms, whole, strict=True)]
    cut = [(entry.name, room) for entry, room in zip(shown, rooms, strict=True)]
    *texts, centre = told_apart([*cut, (names[graph.centre], width - 2)], signs.ellipsis)
    lines: list[Line] = []

    def add(side: Direction, entry: Entry, text: str, tail: str) -> None:
        line = Line(len(lines))
        lines.append(line)
        if entry.reasons is not None:
            line.add(" " * indent + reasons_text(entry.reasons, signs, width - indent))
            return
        step = f"{side:<3} {entry.count.rjust(counted)}"
        if entry.of is None:
            line.add(f"{step} {text}")
        else:
            line.add_arrow(step, side, entry.of)
            line.add(" ")
            line.add_name(text, cell_width(text), side, entry.of)
        if cell_width(line.text) + cell_width(tail) <= width:
            line.add(tail)

    named = list(zip(shown, texts, tails, strict=True))
    for entry, text, tail in named[: len(left)]:
        add("in", entry, text, tail)
    lines.append(Line(len(lines)))
    lines[-1].add("[")
    lines[-1].add_name(centre, cell_width(centre), "centre", GraphNeighbor(graph.centre, 0))
    lines[-1].add("]")
    if graph.loops:
        lines.append(Line(len(lines)))
        text = fit(loops_text(graph), width, signs.ellipsis)
        lines[-1].add_arrow(text, "self", GraphNeighbor(graph.centre, graph.loops))
    for entry, text, tail in named[len(left) :]:
        add("out", entry, text, tail)
    return _drawing(lines)


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
    lines += [
        f'  n{numbers[start]} -> n{numbers[end]} [label="{said}"{"" if taken else ", style=dashed"}];'
        for start, end, said, taken in _edges(graph)
    ]
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
    lines += [
        f'  n{numbers[start]} {"-->" if taken else "-.->"}|"{_entities(said)}"| n{numbers[end]}'
        for start, end, said, taken in _edges(graph)
    ]
    lines.append("  style n0 stroke-width:3px")
    lines += [f"  style n{numbers[name]} stroke:{_BAD}" for name, state in states.items() if _is_bad(state)]
    return "\n".join(lines) + "\n"


def _states(graph: EgoGraph) -> dict[tuple[str, str | None], GraphNeighbor]:
    """Return each state once, the centre first, and where calls begin and end.

    Its place in that order represents it, names never do.
    """
    found: dict[tuple[str, str | None], GraphNeighbor] = {(graph.centre, None): GraphNeighbor(graph.centre, 0)}
    for one in (*graph.ranked("in"), *graph.ranked("out")):
        found.setdefault(_key(one), one)
    return found


def _key(one: GraphNeighbor) -> tuple[str, str | None]:
    return one.name, None if one.is_state else one.outcome


def _edges(graph: EgoGraph) -> Iterator[tuple[tuple[str, str | None], tuple[str, str | None], str, bool]]:
    """Yield from, to, the count with the share of its side, and whether any call took the step."""
    centre = (graph.centre, None)
    for one in graph.ranked("in"):
        yield _key(one), centre, str(one.count), one.count > 0
    if graph.loops:
        yield centre, centre, _counted(graph.loops, graph.loops_share), True
    for one in graph.ranked("out"):
        yield centre, _key(one), _counted(one.count, one.share), one.count > 0


def _counted(count: int, share: float | None) -> str:
    return str(count) if share is None else f"{count} ({percent(share)})"


def _labels(state: GraphNeighbor, ascii_only: bool) -> list[str]:
    signs = glyphs(ascii_only)
    mark = signs.bad if _is_bad(state) else ""
    said = [reasons_text(state.stop_reasons, signs)] if state.stop_reasons else []
    said += [f"stall {mark}{percent(state.stall)}"] if state.is_state and state.stall is not None else []
    return [state.label(signs), *said]


def _looks(graph: EgoGraph, state: GraphNeighbor) -> str:
    style = "bold" if _key(state) == (graph.centre, None) else "rounded" if state.outcome else ""
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
