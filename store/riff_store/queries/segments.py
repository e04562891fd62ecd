"""How do calls fare in each phase, and which state drags a phase down?"""

from __future__ import annotations

from collections.abc import Sequence

from riff_store.answers.cells import SegmentCell, StateCell
from riff_store.database import Store
from riff_store.predicates import Predicate, both
from riff_store.queries.dimensions import Grouping, Names
from riff_store.queries.sums import NO_ROWS, StateSums, add, state_sums
from riff_store.ranking import worst_first


def segment_cells(
    store: Store,
    calls: Predicate | None = None,
    facts: Predicate | None = None,
    by: Sequence[str] = ("flow", "segment"),
) -> list[SegmentCell]:
    """The cells of the segment matrix, the worst first; each pools the rows of its states.

    Terms about states narrow the rows. The worst member is judged by its rows in this segment.
    """
    apart = tuple(name for name in by if name != "segment")
    keys = tuple(dict.fromkeys((*(("flow", *apart) if "flow" not in apart else apart), "state")))
    with store.snapshot():
        sums = state_sums(store, both(calls, facts), Grouping(keys))
    members: dict[Names, list[tuple[StateCell, StateSums]]] = {}
    for names, segments in sums.items():
        member = dict(zip(keys, names, strict=True))
        for segment, found in segments.items():
            cell = tuple(segment if name == "segment" else member[name] for name in by)
            members.setdefault(cell, []).append((_member(member, segment, found), found))
    cells = [_cell(dict(zip(by, names, strict=True)), found) for names, found in members.items()]
    return sorted(cells, key=worst_first)


def _member(keys: dict[str, str | None], segment: str, sums: StateSums) -> StateCell:
    return StateCell(keys=keys, segment=segment, n=sums.n, measures=sums.measures(), to_states={})


def _cell(keys: dict[str, str | None], members: Sequence[tuple[StateCell, StateSums]]) -> SegmentCell:
    total = NO_ROWS
    for _, sums in members:
        total = add(total, sums)
    worst = min((member for member, _ in members), key=worst_first)
    return SegmentCell(keys=keys, n=total.n, measures=total.measures(), worst=worst)
