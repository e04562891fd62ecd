"""Define a state with its neighbours, and a drawing of them with the places of the states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from riff_tui.text.glyphs import Glyphs, readable
from riff_tui.text.numbers import percent
from riff_tui.text.safe_text import cell_width

if TYPE_CHECKING:
    from riff_store.queries.neighbors import Neighbor, Neighborhood, Terminus

Direction = Literal["in", "self", "centre", "out"]
ENDED, START = "ended", "start"
"""What calls come to that end in the centre, and where those come from that begin there: neither is a state."""


@dataclass(frozen=True, slots=True)
class GraphNeighbor:
    """Describe a state next to the centre: count of the step, share of its side (0 to 1), and its own stall.

    `outcome` is `success` or `escalation` for an end of the flow, which has no stall of its own. It is `ended` for the
    calls that end in the centre and `start` for those that begin there, which have no `name`; `stop_reasons` shows how
    they stopped.
    """

    name: str
    count: int
    share: float | None = None
    stall: float | None = None
    outcome: str | None = None
    stop_reasons: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_state(self) -> bool:
        """Return whether it is a state, and not the beginning or the end of calls."""
        return self.outcome not in (ENDED, START)

    def label(self, signs: Glyphs) -> str:
        """Return what it is called, as safe text."""
        if self.is_state:
            return readable(self.name, signs)
        if self.outcome == START:
            return "(start)"
        return f"{signs.ended} ends here" if self.stall else "ends here"


class EgoGraph(NamedTuple):
    """Describe a state and its direct neighbours; `loops` counts the steps from it to itself."""

    centre: str
    predecessors: Sequence[GraphNeighbor] = ()
    successors: Sequence[GraphNeighbor] = ()
    loops: int = 0
    loops_share: float | None = None

    def ranked(self, side: Direction) -> list[GraphNeighbor]:
        """Return the neighbours of one side, the most frequent first."""
        found = self.predecessors if side == "in" else self.successors
        return sorted(found, key=lambda neighbor: (-neighbor.count, not neighbor.is_state, neighbor.name))

    def both_sides(self) -> frozenset[str]:
        """Return the states that lead here and that this one leads to."""
        before, after = (frozenset(one.name for one in self.ranked(side) if one.is_state) for side in ("in", "out"))
        return before & after


class Spot(NamedTuple):
    """Place a neighbour in a drawing: the line, and the characters of that line from `start` up to `end`.

    `state` is empty if calls begin or end, and `outcome` shows that then.
    """

    line: int
    start: int
    end: int
    side: Direction
    state: str
    outcome: str | None = None


class Drawing(NamedTuple):
    """Keep the lines of a graph, and the spots that one can walk to, from top to bottom: states, and steps as `arrows`.

    Neighbours that were folded into one line have no spot. `untaken` are the pieces of lines that no call went along.
    """

    lines: tuple[str, ...]
    spots: tuple[Spot, ...]
    arrows: tuple[Spot, ...] = ()


def of_neighborhood(answer: Neighborhood) -> EgoGraph:
    """Return the graph of what the store answered; the share of the loops is that of all times out of the state."""
    left = answer.loops + sum(one.count for one in answer.successors) + (answer.ends.count if answer.ends else 0)
    return EgoGraph(
        answer.state,
        _side(answer.predecessors, answer.starts, START),
        _side(answer.successors, answer.ends, ENDED),
        answer.loops,
        answer.loops / left if left else None,
    )


def _side(neighbors: Sequence[Neighbor], terminus: Terminus | None, kind: str) -> tuple[GraphNeighbor, ...]:
    found = [GraphNeighbor(one.state, one.count, one.share, one.stall, one.outcome) for one in neighbors]
    if terminus is not None:
        reasons = terminus.stop_reasons if kind == ENDED else {}
        found.append(GraphNeighbor("", terminus.count, terminus.share, terminus.stall, kind, reasons))
    return tuple(found)


# Plan the lines of a graph's sides and the widths of their parts.
MOST = 12
BAD_STALL = 0.25
LEAST_NAME = 10
BAR = 8
_BAR_ROOM = BAR + 1


@dataclass(frozen=True, slots=True)
class Entry:
    """Describe one line of one side, as it is written; it belongs to no neighbour if it is for several.

    With `reasons` a line below another one shows how calls stopped. Along what is not `taken` no call went.
    """

    of: GraphNeighbor | None
    name: str
    star: str = ""
    count: str = ""
    badge: str = ""
    share: str = ""
    filled: float | None = None
    reasons: Mapping[str, int] | None = None

    @property
    def below(self) -> bool:
        """Return whether it shows more of the line above it."""
        return self.reasons is not None

    @property
    def taken(self) -> bool:
        """Return whether any call went along."""
        return self.of is None or self.of.count > 0


class Plan(NamedTuple):
    """Describe the width of each part of a line, the left side first.

    A part that no line has takes nothing, but for the star on the left: a name and its edge would touch.
    """

    names: tuple[int, int, int]
    counts: tuple[int, int]
    badges: tuple[int, int]
    star: int
    share: int
    bar: int


def entries(graph: EgoGraph, side: Direction, signs: Glyphs, names: Mapping[str, str], most: int = MOST) -> list[Entry]:
    """Return the lines of one side: the most frequent neighbours, then one for all others.

    Where calls begin and end is always among them, and how they ended is below it. `names` are as they are shown.
    """
    ranked, both, shares = graph.ranked(side), graph.both_sides(), side == "out"
    listed = ranked if len(ranked) <= most else ranked[: max(0, most - 1)]
    listed += [one for one in ranked[len(listed) :] if not one.is_state]
    rest = [one for one in ranked if one not in listed]
    found = []
    for one in listed:
        found.append(
            Entry(
                of=one,
                name=names[one.name] if one.is_state else one.label(signs),
                star=signs.both_sides if one.is_state and one.name in both else "",
                count=str(one.count),
                badge=_badge(one, signs),
                share=percent(one.share) if shares and one.share is not None else "",
                filled=one.share if shares else None,
            )
        )
        if one.stop_reasons:
            found.append(Entry(None, "", reasons=one.stop_reasons))
    return [*found, *([_folded(rest, signs, shares=shares)] if rest else [])]


def reasons_text(reasons: Mapping[str, int], signs: Glyphs, room: int | None = None) -> str:
    """Return how calls stopped, with counts, in so much room: as many ways as it has, and how many more there are."""
    said = [f"{readable(reason, signs)} {n}" for reason, n in reasons.items()]
    between = ", " if signs.ascii_only else " · "
    for shown in range(len(said), -1, -1):
        more = [f"{len(said) - shown} more"] if shown < len(said) else []
        text = between.join([*said[:shown], *more])
        if room is None or cell_width(text) <= room:
            return text
    return ""


def _folded(rest: Sequence[GraphNeighbor], signs: Glyphs, *, shares: bool) -> Entry:
    """Return the line for all that have none of their own, with the worst stall among them if it is bad."""
    total = sum(one.share or 0.0 for one in rest)
    worst = max(rest, key=lambda one: one.stall or 0.0)
    shown = shares and any(one.share is not None for one in rest)
    return Entry(
        None,
        f"+ {len(rest)} more (n {sum(one.count for one in rest)})",
        badge=_badge(worst, signs),
        share=percent(min(1.0, total)) if shown else "",
        filled=min(1.0, total) if shown else None,
    )


def _badge(one: GraphNeighbor, signs: Glyphs) -> str:
    """Return the sign of an outcome, and of another state its stall if that is bad."""
    if one.is_state and one.stall is not None and one.stall >= BAD_STALL:
        return f"{signs.bad}{percent(one.stall)}"
    return {"success": signs.success, "escalation": signs.escalation}.get(one.outcome or "", "")


def plan(centre: str, left: list[Entry], right: list[Entry], width: int) -> Plan | None:
    """Return the widths of all parts around the name of the `centre`; None without room for three columns.

    Bars give way before any name is cut.
    """
    counts = widest(entry.count for entry in left), widest(entry.count for entry in right)
    badges = widest(entry.badge for entry in left), widest(entry.badge for entry in right)
    star = widest(entry.star for entry in right)
    share = widest(entry.share for entry in right)
    taken = 2
    if left:
        taken += (badges[0] + 1 if badges[0] else 0) + counts[0] + 7
    if right:
        taken += (badges[1] + 1 if badges[1] else 0) + star + counts[1] + 8 + (share + 1 if share else 0)
    names = [[entry.name for entry in side if not entry.below] for side in (left, right)]
    wanted = [widest(names[0]), cell_width(centre), widest(names[1])]
    least = [min(name, LEAST_NAME) for name in wanted]
    for index, side, count in ((0, left, counts[0]), (2, right, counts[1])):
        # The line for the others has no count, so its words may take the room of one; what is not a name is never cut.
        others = widest(entry.name for entry in side if entry.of is None and not entry.below)
        ends = widest(entry.name for entry in side if entry.of is not None and not entry.of.is_state)
        least[index] = max(least[index], others - count - 2, ends)
    shared = _shared(wanted, least, width - taken)
    if shared is None:
        return None
    bar = BAR if share and sum(shared) + taken + _BAR_ROOM <= width else 0
    return Plan(shared, counts, badges, star, share, bar)


def _shared(wanted: Sequence[int], least: Sequence[int], room: int) -> tuple[int, int, int] | None:
    """Share the room among three names: the widest gives way first."""
    if sum(least) > room:
        return None
    widths = list(wanted)
    while sum(widths) > room:
        giving = [index for index in range(3) if widths[index] > least[index]]
        widths[max(giving, key=lambda index: widths[index])] -= 1
    return widths[0], widths[1], widths[2]


def shown_names(graph: EgoGraph, signs: Glyphs) -> dict[str, str]:
    """Return the names of all states as safe text; of two that would look the same the later one carries a number."""
    around = (*graph.ranked("in"), *graph.ranked("out"))
    used = {one.label(signs) for one in around if not one.is_state}
    found: dict[str, str] = {}
    for name in (graph.centre, *(one.name for one in around if one.is_state)):
        safe, number = readable(name, signs), 1
        text = found.get(name, safe)
        while name not in found and text in used:
            number += 1
            text = f"{safe}{signs.ellipsis}{number}"
        found[name] = text
        used.add(text)
    return found


def widest(texts: Iterable[str]) -> int:
    """Return the cells that the widest of some texts takes, 0 if there are none."""
    return max(map(cell_width, texts), default=0)
