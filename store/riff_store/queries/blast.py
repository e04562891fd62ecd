"""Find what starves if a state breaks, from the order in which calls came to states (docs/metrics.md, section 7)."""

from __future__ import annotations

from collections.abc import Mapping

from riff_store import models as m
from riff_store.answers.cells import BlastRadius, Victim
from riff_store.database import Store
from riff_store.predicates import Predicate, Term, all_of, both, conjuncts, terms
from riff_store.queries.dimensions import Grouping
from riff_store.queries.scope import Scope
from riff_store.queries.sums import lost_in_states
from riff_store.queries.visits import Visits, visits


def blast_radius(store: Store, flow: str, state: str, calls: Predicate | None) -> BlastRadius:
    """Return the states behind a state, those first that would have seen most more calls had it lost none.

    Where no call left the state forward, the flow's other agents say what lies behind it if there is a call at all,
    else its files do, then without figures. `calls` narrows the calls; it says nothing of states.
    """
    scope = both(Term("flow", "=", flow), calls)
    with store.snapshot():
        states = _States(store, flow, state)
        own = states.visits(scope)
        lost, is_ordered = own.lost if own.known else None, own.ordered == own.n
        others = all_of([part for part in conjuncts(calls) if not _is_about_agents(part)])
        if not own.left and is_ordered and others != calls and (own.n or _any_call(store, scope)):
            wider = both(Term("flow", "=", flow), others)
            found = states.visits(wider)
            if found.left:
                return BlastRadius("agents", states.victims(found, lost, wider))
        if own.left or not is_ordered:
            return BlastRadius("calls", states.victims(own, lost, scope), is_ordered=is_ordered)
        return BlastRadius("files", [Victim(name, None, None, None, None) for name in _described(store, flow, state)])


class _States:
    """Hold the states of a flow, by their keys, of which one breaks."""

    def __init__(self, store: Store, flow: str, state: str) -> None:
        self._store = store
        query = m.State.select(m.State.id, m.State.name, m.State.outcome).join(m.Flow, on=(m.Flow.id == m.State.flow))
        known = store.execute(query.where(m.Flow.name == flow))
        self._names = {key: name for key, name, _ in known}
        self._ends = [key for key, _, outcome in known if outcome == "success"]
        self._broken = next((key for key, name, _ in known if name == state), 0)

    def visits(self, scope: Predicate | None) -> Visits:
        """Return where calls came, after the state that breaks and otherwise."""
        return visits(self._store, scope, self._broken, self._names, self._ends)

    def victims(self, calls: Visits, lost: int | None, scope: Predicate | None) -> list[Victim]:
        """Return the states behind the one that breaks, which lost so many calls."""
        reached = self._reached(calls, scope)
        found = []
        for key, (behind, forward) in calls.behind.items():
            name = self._names[key]
            share = forward / calls.left if calls.left else None
            found.append(
                Victim(
                    state=name,
                    through=behind / reached[name],
                    reached=share,
                    starved=None if lost is None or share is None else lost * share,
                    n=reached[name],
                )
            )
        return sorted(found, key=lambda victim: (-(victim.starved or 0.0), -(victim.through or 0.0), victim.state))

    def _reached(self, calls: Visits, scope: Predicate | None) -> Mapping[str, int]:
        """Count the calls that came to each state, terminals that end the work among them."""
        sums = lost_in_states(self._store, scope, Grouping(("state",)))
        found = {name or "": n for (name,), (n, _) in sums.items()}
        for key, n in calls.ended.items():
            found[self._names[key]] = found.get(self._names[key], 0) + n
        return found


def _is_about_agents(predicate: Predicate) -> bool:
    return all(term.field == "agent" for term in terms(predicate))


def _any_call(store: Store, scope: Predicate | None) -> bool:
    query = m.Conversation.select(m.Conversation.id).where(Scope(store).condition(scope)).limit(1)
    return bool(list(store.execute(query)))


def _described(store: Store, flow: str, state: str) -> list[str]:
    """Return the states that the edges of the flow's files lead to from a state, escalations left out, by name."""
    start, end = m.State.alias(), m.State.alias()
    query = (
        m.DescribedEdge.select(start.name, end.name, end.outcome)
        .join(start, on=(start.id == m.DescribedEdge.from_state))
        .join(end, on=(end.id == m.DescribedEdge.to_state))
        .join(m.Flow, on=(m.Flow.id == start.flow))
        .where(m.Flow.name == flow)
    )
    edges: dict[str, set[str]] = {}
    for one, other, outcome in store.execute(query):
        if outcome != "escalation":
            edges.setdefault(one, set()).add(other)
    ahead: set[str] = set()
    pending = [state]
    while pending:
        found = edges.get(pending.pop(), set()) - ahead
        ahead |= found
        pending += found
    return sorted(ahead - {state})
