"""Find the states before and after a state, and those that starve without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from riff_store import models as m
from riff_store.answers.cells import BlastRadius, Neighbor, Neighborhood
from riff_store.database import Store
from riff_store.predicates import Predicate, Term, both
from riff_store.queries.blast import blast_radius
from riff_store.queries.dimensions import Grouping
from riff_store.queries.states import state_cells
from riff_store.queries.sums import call_counts, step_counts
from riff_store.queries.visits import calls_stepping_to
from riff_store.ranking import mean


def neighborhood(store: Store, flow: str, state: str, calls: Predicate | None = None) -> Neighborhood:
    """Return a state between its predecessors and successors; names that the store does not know have none.

    A neighbour's share is its part of all steps into the state, or out of it, those to itself
    counted. Where no call took any step, the edges of the flow's files stand there with a count of 0.
    `calls` narrows the calls; it says nothing of states.
    """
    with store.snapshot():
        return completed(store, begun(store, flow, state, calls), calls)


def begun(store: Store, flow: str, state: str, calls: Predicate | None = None) -> Neighborhood:
    """Return as much of it as sums tell where they are enough for `calls`: no blast radius, and of outcomes no `n`."""
    scope = both(Term("flow", "=", flow), calls)
    with store.snapshot():
        cells = {cell.keys["state"] or "": cell for cell in state_cells(store, scope)}
        steps = {start or "": ends for (start,), ends in step_counts(store, scope, Grouping(("state",))).items()}
        total = sum(n for n, _ in call_counts(store, scope, Grouping(("flow",))).values())
        outcomes = _outcomes(store, flow)
        if not any(state in ends for ends in steps.values()) and state not in steps:
            before, after = _described(store, flow, state)
        else:
            before = {start: ends[state] for start, ends in steps.items() if state in ends}
            after = dict(steps.get(state, {}))
    loops = after.pop(state, 0)
    before.pop(state, None)
    cell = cells.get(state)

    def side(counts: Mapping[str, int]) -> list[Neighbor]:
        steps_there = sum(counts.values()) + loops
        return [
            Neighbor(
                state=name,
                count=count,
                share=count / steps_there if steps_there else None,
                stall=mean(cells[name].measures, "stall") if name in cells else None,
                n=(cells[name].n or None) if name in cells else None,
                outcome=outcomes.get(name),
            )
            for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        ]

    return Neighborhood(
        flow=flow,
        state=state,
        cell=cell if cell is not None and cell.n else None,
        predecessors=side(before),
        successors=side(after),
        loops=loops,
        blast=BlastRadius("calls", ()),
        calls=total,
        steps=None if cell is None else cell.steps,
        is_whole=False,
    )


def completed(store: Store, around: Neighborhood, calls: Predicate | None = None) -> Neighborhood:
    """Return the whole of what was begun for the same calls, each of which may have to be looked at for it."""

    def counted(neighbors: Sequence[Neighbor]) -> list[Neighbor]:
        return [replace(each, n=by_state.get(each.state, 0)) if each.n is None else each for each in neighbors]

    with store.snapshot():
        uncounted = {each.state for each in (*around.predecessors, *around.successors) if each.n is None}
        by_state = _visits(store, both(Term("flow", "=", around.flow), calls), uncounted) if uncounted else {}
        return replace(
            around,
            predecessors=counted(around.predecessors),
            successors=counted(around.successors),
            blast=blast_radius(store, around.flow, around.state, calls),
            is_whole=True,
        )


def _outcomes(store: Store, flow: str) -> dict[str, str | None]:
    query = m.State.select(m.State.name, m.State.outcome).join(m.Flow, on=(m.Flow.id == m.State.flow))
    return dict(store.execute(query.where(m.Flow.name == flow)))


def _visits(store: Store, scope: Predicate | None, names: Set[str]) -> dict[str, int]:
    """Count the calls that came to states without rows, such as outcomes, by the steps to them."""
    found: dict[str, int] = {}
    rowless = dict(store.execute(m.State.select(m.State.id, m.State.name).where(m.State.name.in_(sorted(names)))))
    for key, n in calls_stepping_to(store, scope, rowless).items():
        found[rowless[key]] = found.get(rowless[key], 0) + n
    return found


def _described(store: Store, flow: str, state: str) -> tuple[dict[str, int], dict[str, int]]:
    """Return the neighbours that flow files describe of a state that no call has been in."""
    start, end = m.State.alias(), m.State.alias()
    query = (
        m.DescribedEdge.select(start.name, end.name)
        .join(start, on=(start.id == m.DescribedEdge.from_state))
        .join(end, on=(end.id == m.DescribedEdge.to_state))
        .join(m.Flow, on=(m.Flow.id == start.flow))
        .where(m.Flow.name == flow, (start.name == state) | (end.name == state))
    )
    edges = store.execute(query)
    return {one: 0 for one, other in edges if other == state}, {other: 0 for one, other in edges if one == state}
