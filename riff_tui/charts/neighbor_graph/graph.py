"""Hold a state with its neighbours, and a drawing of them with the places of the states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from riff_store.answers.cells import Neighbor, Neighborhood

Direction = Literal["in", "centre", "out"]


@dataclass(frozen=True, slots=True)
class GraphNeighbor:
    """Hold a state next to the centre: count of the step, share of its side (0 to 1), and its own stall.

    `outcome` is `success` or `escalation` for an end of the flow, which has no stall of its own.
    """

    name: str
    count: int
    share: float | None = None
    stall: float | None = None
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class EgoGraph:
    """Hold a state and its direct neighbours; `loops` counts the steps from it to itself."""

    centre: str
    predecessors: Sequence[GraphNeighbor] = ()
    successors: Sequence[GraphNeighbor] = ()
    loops: int = 0
    loops_share: float | None = None

    def ranked(self, side: Direction) -> list[GraphNeighbor]:
        """Return the neighbours of one side, the most frequent first."""
        found = self.predecessors if side == "in" else self.successors
        return sorted(found, key=lambda neighbor: (-neighbor.count, neighbor.name))

    def both_sides(self) -> frozenset[str]:
        """Return the states that lead here and that this one leads to."""
        return frozenset(one.name for one in self.predecessors) & frozenset(one.name for one in self.successors)


@dataclass(frozen=True, slots=True)
class Spot:
    """Place a state in a drawing: the line, and the characters of that line from `start` up to `end`."""

    line: int
    start: int
    end: int
    side: Direction
    state: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """Hold the lines of a graph, and the spots that one can walk to, from top to bottom.

    Neighbours that were folded into one line have no spot.
    """

    lines: tuple[str, ...]
    spots: tuple[Spot, ...]


def of_neighborhood(answer: Neighborhood) -> EgoGraph:
    """Return the graph of what the store answered; the share of the loops is that of all steps out of the state."""
    steps = answer.loops + sum(neighbor.count for neighbor in answer.successors)
    return EgoGraph(
        centre=answer.state,
        predecessors=_neighbors(answer.predecessors),
        successors=_neighbors(answer.successors),
        loops=answer.loops,
        loops_share=answer.loops / steps if steps else None,
    )


def _neighbors(found: Sequence[Neighbor]) -> tuple[GraphNeighbor, ...]:
    return tuple(GraphNeighbor(one.state, one.count, one.share, one.stall, one.outcome) for one in found)
