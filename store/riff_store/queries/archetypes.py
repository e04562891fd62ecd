"""How do the families of flows do, and which member would a mean hide?"""

from __future__ import annotations

from typing import Any

from riff_store.answers.cells import FlowCell
from riff_store.answers.lists import ArchetypeCell
from riff_store.database import Store
from riff_store.measure import Measure
from riff_store.predicates import Predicate
from riff_store.queries.flows import flow_cells
from riff_store.ranking import least_operable_first, mean

_NOTHING = Measure(0, 0)


def archetypes(store: Store, calls: Predicate | None = None) -> list[ArchetypeCell]:
    """Families of flows, the least operable first; each pools its calls. Flows that name none are one, of no name."""
    with store.snapshot():
        families = flow_cells(store, calls, by=("archetype",))
        cells = flow_cells(store, calls, by=("archetype", "flow", "agent"))
    members: dict[str | None, list[FlowCell]] = {}
    for cell in cells:
        members.setdefault(cell.keys["archetype"], []).append(cell)
    return [_family(family, members[family.keys["archetype"]]) for family in families]


def _family(family: FlowCell, members: list[FlowCell]) -> ArchetypeCell:
    worst = min(members, key=_worst_member)
    return ArchetypeCell(
        archetype=family.keys["archetype"],
        flows=len({cell.keys["flow"] for cell in members}),
        n=family.n,
        excluded=family.excluded,
        operability=family.operability,
        correctness=family.aspects.get("correctness", _NOTHING),
        completion=family.aspects.get("completion", _NOTHING),
        worst_flow=worst.keys["flow"] or "",
        worst_operability=worst.operability,
    )


def _worst_member(cell: FlowCell) -> tuple[Any, ...]:
    """Operability up; where the caps make members equal, the one that is least often correct."""
    operability, names = least_operable_first(cell)[:-1], least_operable_first(cell)[-1:]
    correctness = mean(cell.aspects, "correctness")
    return *operability, correctness is None, correctness or 0.0, *names
