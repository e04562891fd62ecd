"""Reduce the history of a repository to what shows which edits of flows each of its commits contains.

Of a history of thousands of commits few edit a flow. Those are its nodes, and so is each merge of lines that
have different edits; every other commit contains what the node does that it came from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from riff_store.facts import Commit


class Node(NamedTuple):
    """Name a commit that is an edit, `None` for a merge of others, and the places of the nodes before it."""

    commit: str | None
    parents: tuple[int, ...]


class EditGraph(NamedTuple):
    """Describe the nodes, parents before children, and the place of the node of each commit, `None` before any edit."""

    nodes: Sequence[Node]
    place_of: Mapping[str, int | None]


def edit_graph(commits: Iterable[Commit], edited: Collection[str]) -> EditGraph:
    """Return the graph of a history whose commits come parents first; parents that are not among them are unknown."""
    nodes: list[Node] = []
    contained: list[int] = []
    places: dict[Node, int] = {}
    place_of: dict[str, int | None] = {}
    for commit in commits:
        before = {place for parent in commit.parents if (place := place_of.get(parent)) is not None}
        parents = heads(before, contained)
        is_edit = commit.id in edited
        if not is_edit and len(parents) < 2:
            place_of[commit.id] = parents[0] if parents else None
            continue
        node = Node(commit.id if is_edit else None, parents)
        if node not in places:
            places[node] = len(nodes)
            contained.append(_with(len(nodes), parents, contained))
            nodes.append(node)
        place_of[commit.id] = places[node]
    return EditGraph(nodes, place_of)


def contained_by(parents: Iterable[Sequence[int]]) -> list[int]:
    """Return the places that each node contains, itself among them, as the bits of a number."""
    contained: list[int] = []
    for place, before in enumerate(parents):
        contained.append(_with(place, before, contained))
    return contained


def heads(places: Collection[int], contained: Sequence[int]) -> tuple[int, ...]:
    """Return those of some nodes that no other of them contains, the first in the order of history first."""
    if len(places) < 2:
        return tuple(places)
    found, covered = [], 0
    for place in sorted(places, reverse=True):
        if not covered >> place & 1:
            found.append(place)
            covered |= contained[place]
    return tuple(reversed(found))


def _with(place: int, parents: Iterable[int], contained: Sequence[int]) -> int:
    bits = 1 << place
    for parent in parents:
        bits |= contained[parent]
    return bits
