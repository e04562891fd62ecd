"""Write a graph for Graphviz and Mermaid, with names that stay names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from riff_tui.charts.neighbor_graph.graph import EgoGraph, GraphNeighbor
from riff_tui.charts.neighbor_graph.plan import BAD_STALL, readable
from riff_tui.text.glyphs import glyphs
from riff_tui.text.numbers import fixed, percent

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
