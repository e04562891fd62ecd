"""Hold a state with its neighbours, and a drawing of them with the places of the states."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from riff_tui.text.glyphs import Glyphs, readable
from riff_tui.text.numbers import fixed, percent
from riff_tui.text.safe_text import cell_width

if TYPE_CHECKING:
    from riff_store.queries.neighbors import Neighborhood

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
    before, after = (
        tuple(GraphNeighbor(one.state, one.count, one.share, one.stall, one.outcome) for one in side)
        for side in (answer.predecessors, answer.successors)
    )
    return EgoGraph(answer.state, before, after, answer.loops, answer.loops / steps if steps else None)


# Plan the lines of a graph's sides and the widths of their parts.
MOST = 12
BAD_STALL = 0.25
LEAST_NAME = 6


@dataclass(frozen=True, slots=True)
class Entry:
    """Hold one line of one side, as it is written; `state` is None where it stands for several."""

    state: str | None
    name: str
    star: str
    count: str
    badge: str
    share: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Hold the width of each part of a line, the left side first.

    A part that no line has takes nothing, but for the star on the left: a name and its edge would touch.
    """

    names: tuple[int, int, int]
    counts: tuple[int, int]
    badges: tuple[int, int]
    star: int
    share: int


def entries(graph: EgoGraph, side: Direction, signs: Glyphs) -> list[Entry]:
    """Return the lines of one side: the most frequent neighbours, then one for all others."""
    ranked = graph.ranked(side)
    both = graph.both_sides()
    shares = side == "out"
    found = [
        Entry(
            state=one.name,
            name=readable(one.name, signs),
            star=signs.both_sides if one.name in both else "",
            count=str(one.count),
            badge=_badge(one, signs),
            share=percent(one.share) if shares and one.share is not None else "",
        )
        for one in ranked[:MOST]
    ]
    return [*found, _folded(ranked[MOST:], signs, shares=shares)] if len(ranked) > MOST else found


def _folded(rest: Sequence[GraphNeighbor], signs: Glyphs, *, shares: bool) -> Entry:
    """Return the line for all that have none of their own, with the worst stall among them where it is bad."""
    total = sum(one.share or 0.0 for one in rest)
    worst = max(rest, key=lambda one: one.stall or 0.0)
    return Entry(
        state=None,
        name=f"+ {len(rest)} more (n {sum(one.count for one in rest)})",
        star="",
        count="",
        badge=_badge(worst, signs) if (worst.stall or 0.0) >= BAD_STALL else "",
        share=percent(min(1.0, total)) if shares and any(one.share is not None for one in rest) else "",
    )


def _badge(one: GraphNeighbor, signs: Glyphs) -> str:
    if one.stall is not None:
        return f"{signs.bad if one.stall >= BAD_STALL else ''}{fixed(one.stall, 2, trim=True)}"
    if one.outcome == "success":
        return signs.success
    return signs.escalation if one.outcome == "escalation" else signs.not_measured


def plan(graph: EgoGraph, left: list[Entry], right: list[Entry], signs: Glyphs, width: int) -> Plan | None:
    """Return the widths of all parts, names cut where they have to be; None without room for three columns."""
    counts = widest(entry.count for entry in left), widest(entry.count for entry in right)
    badges = widest(entry.badge for entry in left), widest(entry.badge for entry in right)
    star = widest(entry.star for entry in right)
    share = widest(entry.share for entry in right)
    taken = 2
    if left:
        taken += (badges[0] + 1) + counts[0] + 7
    if right:
        taken += (badges[1] + 1) + star + counts[1] + 8 + (share + 1 if share else 0)
    centre = cell_width(readable(graph.centre, signs))
    wanted = [widest(entry.name for entry in left), centre, widest(entry.name for entry in right)]
    least = [min(name, LEAST_NAME) for name in wanted]
    for index, side, count in ((0, left, counts[0]), (2, right, counts[1])):
        # The line for the others has no count, so its words may take the room of one.
        others = widest(entry.name for entry in side if entry.state is None)
        least[index] = max(least[index], others - count - 2)
    names = _shared(wanted, least, width - taken)
    if names is None:
        return None
    return Plan(names, counts, badges, star, share)


def _shared(wanted: Sequence[int], least: Sequence[int], room: int) -> tuple[int, int, int] | None:
    """Share the room among three names: the widest gives way first."""
    if sum(least) > room:
        return None
    widths = list(wanted)
    while sum(widths) > room:
        giving = [index for index in range(3) if widths[index] > least[index]]
        widths[max(giving, key=lambda index: widths[index])] -= 1
    return widths[0], widths[1], widths[2]


def widest(texts: Iterable[str]) -> int:
    """Return the cells that the widest of some texts takes, 0 where there are none."""
    return max(map(cell_width, texts), default=0)
