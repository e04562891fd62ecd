"""Find what starves if a state breaks, from the order in which calls came to states (docs/metrics.md, section 7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import peewee as pw

from riff_store import models as m
from riff_store.answers.cells import BlastRadius, Victim
from riff_store.database import Store
from riff_store.predicates import Predicate, Term, all_of, both, conjuncts, terms
from riff_store.queries.dimensions import Grouping
from riff_store.queries.scope import Scope
from riff_store.queries.sums import state_sums


class _Calls(NamedTuple):
    """Count calls in a state: how many it lost, how many left it forward, and how many came to each state behind it.

    `behind` maps a state to the calls that came there after it, and to those among them that had left it forward.
    """

    lost: int | None
    left: int
    behind: Mapping[str, tuple[int, int]]
    is_ordered: bool
    n: int


def blast_radius(store: Store, flow: str, state: str, calls: Predicate | None) -> BlastRadius:
    """Return the states behind a state, those first that would have seen most more calls had it lost none.

    Where no call left the state forward, the flow's other agents say what lies behind it if there is a call at all,
    else its files do, then without figures. `calls` narrows the calls; it says nothing of states.
    """
    scope = both(Term("flow", "=", flow), calls)
    with store.snapshot():
        own = _calls(store, scope, flow, state)
        others = all_of([part for part in conjuncts(calls) if not _is_about_agents(part)])
        if not own.left and own.is_ordered and others != calls and (own.n or _any_call(store, scope)):
            wider = both(Term("flow", "=", flow), others)
            found = _calls(store, wider, flow, state)
            if found.left:
                return BlastRadius("agents", _victims(found, own.lost, _reached(store, wider)))
        if own.left or not own.is_ordered:
            return BlastRadius("calls", _victims(own, own.lost, _reached(store, scope)), is_ordered=own.is_ordered)
        return BlastRadius("files", [Victim(name, None, None, None, None) for name in _described(store, flow, state)])


def _victims(calls: _Calls, lost: int | None, reached: Mapping[str, int]) -> list[Victim]:
    found = []
    for name, (behind, forward) in calls.behind.items():
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


def _is_about_agents(predicate: Predicate) -> bool:
    return all(term.field == "agent" for term in terms(predicate))


def _calls(store: Store, scope: Predicate | None, flow: str, state: str) -> _Calls:
    here, call = m.StateScore, m.Conversation
    key = _key(store, flow, state)
    in_state = (here.state == key) & ~call.errored & Scope(store).condition(scope)
    totals = call.select(
        pw.fn.COUNT(here.lost), pw.fn.SUM(here.lost), pw.fn.SUM(here.progress), pw.fn.COUNT(here.position),
        pw.fn.COUNT(pw.SQL("*")),
    ).join(here, on=(here.conversation == call.id)).where(in_state)  # fmt: skip
    ((known, lost, left, ordered, n),) = store.execute(totals)
    names = dict(store.execute(m.State.select(m.State.id, m.State.name)))
    behind: dict[str, tuple[int, int]] = {}
    for table, only in ((m.StateScore.alias(), None), (m.OutcomeVisit.alias(), "success")):
        query = (
            call.select(table.state, pw.fn.COUNT(pw.SQL("*")), pw.fn.SUM(here.progress))
            .join(here, on=(here.conversation == call.id))
            .join(table, on=((table.conversation == call.id) & (table.position > here.position)))
            .where(in_state, table.state != key)
            .group_by(table.state)
        )
        if only is not None:
            query = query.where(table.state.in_(_outcomes(store, flow, only)))
        for found, count, forward in store.execute(query):
            # A terminal of one contract may be a working state of another.
            before = behind.get(names[found], (0, 0))
            behind[names[found]] = (before[0] + int(count), before[1] + int(forward or 0))
    return _Calls(int(lost) if known else None, int(left or 0), behind, ordered == n, n)


def _any_call(store: Store, scope: Predicate | None) -> bool:
    query = m.Conversation.select(m.Conversation.id).where(Scope(store).condition(scope)).limit(1)
    return bool(list(store.execute(query)))


def _reached(store: Store, scope: Predicate | None) -> dict[str, int]:
    """Count the calls that came to each state, terminals that end the work among them."""
    sums = state_sums(store, scope, Grouping(("state",)))
    found = {name or "": sum(segment.n for segment in segments.values()) for (name,), segments in sums.items()}
    call, ends = m.Conversation, m.OutcomeVisit
    query = (
        call.select(m.State.name, pw.fn.COUNT(pw.SQL("*")))
        .join(ends, on=(ends.conversation == call.id))
        .join(m.State, on=(m.State.id == ends.state))
        .where(~call.errored, Scope(store).condition(scope))
        .group_by(m.State.id)
    )
    for name, count in store.execute(query):
        found[name] = found.get(name, 0) + int(count)
    return found


def _key(store: Store, flow: str, state: str) -> int:
    """Return the key of a state, 0 for one that the store does not know."""
    query = m.State.select(m.State.id).join(m.Flow, on=(m.Flow.id == m.State.flow))
    rows = store.execute(query.where(m.Flow.name == flow, m.State.name == state))
    return int(rows[0][0]) if rows else 0


def _outcomes(store: Store, flow: str, outcome: str) -> list[int]:
    query = m.State.select(m.State.id).join(m.Flow, on=(m.Flow.id == m.State.flow))
    rows = store.execute(query.where(m.Flow.name == flow, m.State.outcome == outcome))
    return [key for (key,) in rows]


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
