"""The same graph for other programs: Graphviz and Mermaid, with names that stay names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from riff_tui.egograph.graph import EgoGraph
from riff_tui.safe_text import one_line

_NOT_PLAIN = re.compile(r"[^\w .-]")


def to_dot(graph: EgoGraph) -> str:
    """A Graphviz digraph: a node for each state, an edge with its count for each neighbour on each side."""
    lines = ["digraph neighbours {", "  rankdir=LR;", "  node [shape=box];"]
    numbers = _numbered(graph)
    lines += [
        f'  n{number} [label="{_quoted(name)}"{", style=bold" if name == graph.centre else ""}];'
        for name, number in numbers.items()
    ]
    lines += [f'  n{numbers[start]} -> n{numbers[end]} [label="{count}"];' for start, end, count in _edges(graph)]
    return "\n".join([*lines, "}"]) + "\n"


def to_mermaid(graph: EgoGraph) -> str:
    """A Mermaid flow chart with the same nodes and edges."""
    numbers = _numbered(graph)
    lines = ["flowchart LR"]
    lines += [f'  n{number}["{_entities(name)}"]' for name, number in numbers.items()]
    lines += [f"  n{numbers[start]} -->|{count}| n{numbers[end]}" for start, end, count in _edges(graph)]
    return "\n".join(lines) + "\n"


def _numbered(graph: EgoGraph) -> dict[str, int]:
    """A number for each state, the centre first; names never serve as identifiers."""
    names = [graph.centre, *(one.name for one in graph.ranked("in")), *(one.name for one in graph.ranked("out"))]
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def _edges(graph: EgoGraph) -> Iterator[tuple[str, str, int]]:
    for one in graph.ranked("in"):
        yield one.name, graph.centre, one.count
    if graph.loops:
        yield graph.centre, graph.centre, graph.loops
    for one in graph.ranked("out"):
        yield graph.centre, one.name, one.count


def _quoted(name: str) -> str:
    return one_line(name).replace("\\", "\\\\").replace('"', '\\"')


def _entities(name: str) -> str:
    """Mermaid reads `#NN;` as a character and takes every other mark for its own."""
    return _NOT_PLAIN.sub(lambda found: f"#{ord(found[0])};", one_line(name)) or " "
