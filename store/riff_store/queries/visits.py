"""Count the calls that came to states and to the ends of calls, and in which order."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import peewee as pw

from riff_store import models as m
from riff_store.database import Store
from riff_store.predicates import Predicate
from riff_store.queries.conditions import one_of
from riff_store.queries.scope import Scope
from riff_store.queries.sums import reads_columns


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
        from riff_store.columns.visits import read_visits

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
        from riff_store.columns.visits import read_calls_stepping_to

        return read_calls_stepping_to(store, calls, states)
    step = m.Transition
    query = (
        step.select(step.to_state, pw.fn.COUNT(step.conversation.distinct()))
        .join(m.Conversation, on=(m.Conversation.id == step.conversation))
        .where(~m.Conversation.errored, one_of(step.to_state, states), Scope(store).condition(calls))
        .group_by(step.to_state)
    )
    return dict(store.execute(query))
