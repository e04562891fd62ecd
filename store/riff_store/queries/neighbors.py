"""Find the states before and after a state, and those that are never reached without it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import peewee as pw

from riff_store import schema as m
from riff_store.database import Store
from riff_store.filters.conditions import one_of
from riff_store.filters.dimensions import Grouping
from riff_store.filters.predicates import Predicate, Term, all_of, both, conjuncts, terms
from riff_store.filters.sql import Scope, steps_of
from riff_store.measure import UNIT, mean
from riff_store.queries.funnel import Suspicion, suspicions
from riff_store.queries.states import StateCell, state_cells
from riff_store.queries.steps import StepCounts
from riff_store.queries.sums import call_counts, lost_in_states, reads_columns, step_counts

NO_REASON = "(not known)"
"""How calls stopped of which nothing says it."""


@dataclass(frozen=True, slots=True)
class Neighbor:
    """Describe a state before or after another: how often the step was taken, its share of the side, and its stall.

    `n` calls came to it, None if they were not counted. A step of a flow's files that no call took has a count of 0.
    `suspicion` is how much failing goes with the step, `None` if no call took it, none failed, or that was not looked
    for.
    """

    state: str
    count: int
    share: float | None
    stall: float | None
    n: int | None
    outcome: str | None = None
    suspicion: Suspicion | None = None


@dataclass(frozen=True, slots=True)
class Terminus:
    """Describe the calls that begin in a state or end there: how often, and the share of the times calls were in it.

    They are `n` calls, None if they were not looked at; of these the share `stall` was neither completed nor handed
    over, and `stop_reasons` shows how they stopped, the most first.
    """

    count: int
    share: float | None
    stall: float | None = None
    n: int | None = None
    stop_reasons: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Victim:
    """Describe a state that is behind another one: what it would lose if that one broke.

    Of its `n` calls the share `through` had been in the other state before; of the calls that left the other one
    forward the share `reached` came here. It would have seen `starved` more calls, had the other one lost none.
    """

    state: str
    through: float | None
    reached: float | None
    starved: float | None
    n: int | None


@dataclass(frozen=True, slots=True)
class BlastRadius:
    """Describe the states behind a state, in the order in which they would be lost.

    The figures are from the `calls` themselves, or from those of the flow's other `agents`; what the flow's `files`
    say has none. It is not `is_ordered` where the store has calls of which it does not know the order of visits.
    """

    basis: Literal["calls", "agents", "files"]
    victims: Sequence[Victim]
    is_ordered: bool = True


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """Describe a state between its predecessors and successors, and what is never reached if it breaks.

    `cell` is None where no call saw the state; `steps` counts the calls whose tasks ask for it, seen or not. `starts`
    and `ends` are the calls that begin and end in it, None if there are none. `blast`, suspicions (`loop` is that of a
    step to itself), some `n` of neighbours and how calls ended are looked for only where it `is_whole`. `elsewhere` are
    the turns a visit takes in the flow's other states, None if these are not known.
    """

    flow: str
    state: str
    cell: StateCell | None
    predecessors: Sequence[Neighbor]
    successors: Sequence[Neighbor]
    loops: int
    blast: BlastRadius
    calls: int
    steps: StepCounts | None = None
    is_whole: bool = True
    starts: Terminus | None = None
    ends: Terminus | None = None
    elsewhere: float | None = None
    loop: Suspicion | None = None


def begun(store: Store, flow: str, state: str, calls: Predicate | None = None) -> Neighborhood:
    """Return a state between its neighbours; of names that the store does not know there are none.

    A neighbour's share is its part of the times that calls came to the state, those from itself and those that begin
    there counted; so is it of the times that they left it, those that end there counted. The edges of the flow's files
    that no call took have a count of 0. `calls` narrows the calls; it shows nothing of states. Where sums are enough
    for them there is no blast radius yet, and of outcomes no `n`.
    """
    scope = both(Term("flow", "=", flow), calls)
    with store.snapshot():
        cells = {cell.keys["state"] or "": cell for cell in state_cells(store, scope)}
        steps = {start or "": ends for (start,), ends in step_counts(store, scope, Grouping(("state",))).items()}
        total = sum(n for n, _ in call_counts(store, scope, Grouping(("flow",))).values())
        outcomes = _outcomes(store, flow)
        before, after = _described(store, flow, state)
    before |= {start: ends[state] for start, ends in steps.items() if state in ends}
    after |= steps.get(state, {})
    loops = after.pop(state, 0)
    before.pop(state, None)
    cell = cells.get(state)
    entries = _entries(cell)
    # Every time that a call is in the state it came by a step or began there, and left by one or ended there.
    came, left = (loops + sum(counts.values()) for counts in (before, after))
    started, ended = max(0, entries - came), max(0, entries - left)

    def terminus(count: int, steps: int) -> Terminus | None:
        return Terminus(count, count / (count + steps)) if count else None

    def side(counts: Mapping[str, int], times: int) -> list[Neighbor]:
        return [
            Neighbor(
                state=name,
                count=count,
                share=count / times if times else None,
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
        predecessors=side(before, came + started),
        successors=side(after, left + ended),
        loops=loops,
        blast=BlastRadius("calls", ()),
        calls=total,
        steps=None if cell is None else cell.steps,
        is_whole=False,
        starts=terminus(started, came),
        ends=terminus(ended, left),
        elsewhere=_dwell([other for name, other in cells.items() if name != state]),
    )


def _entries(cell: StateCell | None) -> int:
    """Return how often calls came to a state: once each, and whenever they came back."""
    return cell.n + cell.measures["revisit"].total // UNIT if cell is not None and cell.n else 0


def _dwell(cells: Iterable[StateCell]) -> float | None:
    """Return how many turns a visit takes, over the calls in some states."""
    measured = [cell.measures["dwell_turns"] for cell in cells]
    return mean({"dwell_turns": sum(measured[1:], measured[0])}, "dwell_turns") if measured else None


def completed(store: Store, around: Neighborhood, calls: Predicate | None = None) -> Neighborhood:
    """Return the whole of what was begun for the same calls, each of which may have to be looked at for it."""

    def told(each: Neighbor, step: tuple[str, str]) -> Neighbor:
        n = by_state.get(each.state, 0) if each.n is None else each.n
        return replace(each, n=n, suspicion=suspected.get(step))

    here = around.state
    with store.snapshot():
        suspected = suspicions(store, both(Term("flow", "=", around.flow), calls))
        uncounted = {each.state for each in (*around.predecessors, *around.successors) if each.n is None}
        by_state = _visits(store, both(Term("flow", "=", around.flow), calls), uncounted) if uncounted else {}
        return replace(
            around,
            predecessors=[told(each, (each.state, here)) for each in around.predecessors],
            successors=[told(each, (here, each.state)) for each in around.successors],
            starts=around.starts and _looked_at(store, around, "came_from", around.starts, calls),
            ends=around.ends and _looked_at(store, around, "went_to", around.ends, calls),
            loop=suspected.get((here, here)),
            blast=blast_radius(store, around.flow, around.state, calls),
            is_whole=True,
        )


def _looked_at(store: Store, around: Neighborhood, way: str, terminus: Terminus, calls: Predicate | None) -> Terminus:
    """Return what there is to know of the calls that begin or end in a state."""
    query = m.State.select(m.State.id).join(m.Flow, on=(m.Flow.id == m.State.flow))
    found = store.execute(query.where(m.Flow.name == around.flow, m.State.name == around.state))
    labels = dict(store.execute(m.Label.select(m.Label.id, m.Label.name)))
    stopped = calls_at_end(store, both(Term("flow", "=", around.flow), calls), way, next((key for (key,) in found), 0))
    n, known, stalled = (sum(counts[place] for counts in stopped.values()) for place in range(3))
    reasons = {labels.get(key) or NO_REASON: counts[0] for key, counts in stopped.items()}
    return replace(
        terminus,
        n=n,
        stall=stalled / known if known and way == "went_to" else None,
        stop_reasons=dict(sorted(reasons.items(), key=lambda each: (-each[1], each[0]))),
    )


def calls_at_end(
    store: Store, calls: Predicate | None, way: str, state: int
) -> Mapping[int | None, tuple[int, int, int]]:
    """Count the calls that are not errored and end in a state, or begin there, by the key of how they stopped.

    Of each kind also those of which it is known whether they stalled there, and those that did.
    """
    if reads_columns(store, calls):
        from riff_store.arrays.sums import read_calls_at_end

        return read_calls_at_end(store, calls, way, state)
    row, call = m.StateScore, m.Conversation
    query = (
        call.select(call.stop_reason, pw.fn.COUNT(pw.SQL("*")), pw.fn.COUNT(row.stall), pw.fn.SUM(row.stall))
        .join(row, on=(row.conversation == call.id))
        .where(~call.errored, row.state == state, row.revisit + 1 > steps_of(way, row), Scope(store).condition(calls))
        .group_by(call.stop_reason)
    )
    return {key: (n, known, int(stalled or 0)) for key, n, known, stalled in store.execute(query)}


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
    """Return the neighbours that flow files describe of a state, each with a count of 0."""
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


# Find what is never reached if a state breaks, from the order in which calls came to states (docs/metrics.md, section
# 7).
def blast_radius(store: Store, flow: str, state: str, calls: Predicate | None) -> BlastRadius:
    """Return the states behind a state, those first that would have seen most more calls had it lost none.

    If no call left the state forward, the flow's other agents say what is behind it if there is a call at all, else its
    files do, then without figures. `calls` narrows the calls; it shows nothing of states.
    """
    scope = both(Term("flow", "=", flow), calls)
    with store.snapshot():
        states = _States(store, flow, state)
        own = states.visits(scope)
        lost, is_ordered = own.lost if own.known else None, own.ordered == own.n
        others = all_of([part for part in conjuncts(calls) if not all(term.field == "agent" for term in terms(part))])
        if not own.left and is_ordered and others != calls and (own.n or _any_call(store, scope)):
            wider = both(Term("flow", "=", flow), others)
            found = states.visits(wider)
            if found.left:
                return BlastRadius("agents", states.victims(found, lost, wider))
        if own.left or not is_ordered:
            return BlastRadius("calls", states.victims(own, lost, scope), is_ordered=is_ordered)
        return BlastRadius(
            "files", [Victim(name, None, None, None, None) for name in _states_in_files(store, flow, state)]
        )


class _States:
    """Keep the states of a flow, by their keys, of which one breaks."""

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
        sums = lost_in_states(self._store, scope, Grouping(("state",)))
        reached = {name or "": n for (name,), (n, _) in sums.items()}
        # Terminals that end the work are among the states that calls come to.
        for key, n in calls.ended.items():
            reached[self._names[key]] = reached.get(self._names[key], 0) + n
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


def _any_call(store: Store, scope: Predicate | None) -> bool:
    query = m.Conversation.select(m.Conversation.id).where(Scope(store).condition(scope)).limit(1)
    return bool(list(store.execute(query)))


def _states_in_files(store: Store, flow: str, state: str) -> list[str]:
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


class Visits(NamedTuple):
    """Count calls that came to a state, and by key those that came to others.

    Of the calls in the state: how many there are, have a place in order, are known to have been lost or not, were lost,
    and left it forward. `behind` has of each state the calls that came there after it, and those of them that had left
    it forward; `ended` has the calls that came to each state in which calls end, in the state before or not.
    """

    n: int
    ordered: int
    known: int
    lost: int
    left: int
    behind: Mapping[int, tuple[int, int]]
    ended: Mapping[int, int]


def visits(store: Store, calls: Predicate | None, state: int, ends: Collection[int], behind: Collection[int]) -> Visits:
    """Return where calls that are not errored came after a state.

    `ends` are the keys of the states in which calls may end, of which those in `behind` count as behind it.
    """
    if reads_columns(store, calls):
        from riff_store.arrays.sums import read_visits

        return Visits(*read_visits(store, calls, state, ends, behind))
    here, call, end = m.StateScore, m.Conversation, m.OutcomeVisit
    in_scope = ~call.errored & Scope(store).condition(calls)
    in_state = (here.state == state) & in_scope
    totals = call.select(
        pw.fn.COUNT(pw.SQL("*")), pw.fn.COUNT(here.position), pw.fn.COUNT(here.lost), pw.fn.SUM(here.lost),
        pw.fn.SUM(here.progress),
    ).join(here, on=(here.conversation == call.id)).where(in_state)  # fmt: skip
    ((n, ordered, known, lost, left),) = store.execute(totals)
    found: dict[int, tuple[int, int]] = {}
    for table, wanted in ((m.StateScore.alias(), None), (m.OutcomeVisit.alias(), behind)):
        query = (
            call.select(table.state, pw.fn.COUNT(pw.SQL("*")), pw.fn.SUM(here.progress))
            .join(here, on=(here.conversation == call.id))
            .join(table, on=((table.conversation == call.id) & (table.position > here.position)))
            .where(in_state, table.state != state)
            .group_by(table.state)
        )
        if wanted is not None:
            query = query.where(table.state.in_(wanted))
        for key, count, forward in store.execute(query):
            # A terminal of one contract may be a working state of another.
            before = found.get(key, (0, 0))
            found[key] = before[0] + int(count), before[1] + int(forward or 0)
    ended = (
        call.select(end.state, pw.fn.COUNT(pw.SQL("*")))
        .join(end, on=(end.conversation == call.id))
        .where(in_scope, one_of(end.state, ends))
        .group_by(end.state)
    )
    return Visits(n, ordered, known, int(lost or 0), int(left or 0), found, dict(store.execute(ended)))


def calls_stepping_to(store: Store, calls: Predicate | None, states: Collection[int]) -> Mapping[int, int]:
    """Count the calls that are not errored by the states that they took a step to, of some states by key."""
    if not states:
        return {}
    if reads_columns(store, calls):
        from riff_store.arrays.sums import read_calls_stepping_to

        return read_calls_stepping_to(store, calls, states)
    step = m.Transition
    query = (
        step.select(step.to_state, pw.fn.COUNT(step.conversation.distinct()))
        .join(m.Conversation, on=(m.Conversation.id == step.conversation))
        .where(~m.Conversation.errored, one_of(step.to_state, states), Scope(store).condition(calls))
        .group_by(step.to_state)
    )
    return dict(store.execute(query))
