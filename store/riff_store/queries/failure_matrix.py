"""Count failed calls by the last good and the first failed state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import peewee as pw

from riff_store import models as m
from riff_store.answers.failing import FAILURES_OF_STEPS, NONE_FOUND, START, FailureCell, FailureMatrix
from riff_store.database import Store
from riff_store.predicates import Predicate
from riff_store.queries.dimensions import DIMENSIONS, names_of
from riff_store.queries.failing_calls import Examples, FailingCall, failing_calls, flow_calls
from riff_store.queries.scope import Scope

Place: TypeAlias = tuple[int, int | None, int | None]
"""Flow, last good and first failed state, by their keys."""


def failure_matrix(store: Store, calls: Predicate | None = None) -> FailureMatrix:
    """Return the cells of every flow in scope, the fullest first (docs/metrics.md, section 15)."""
    with store.snapshot():
        cells: dict[Place, list[FailingCall]] = {}
        for call in failing_calls(store, calls):
            cells.setdefault((call.flow, call.last_ok, call.first_failed), []).append(call)
        taken = _steps_taken(store, calls) if cells else {}
        examples = Examples(store).shortest(cells)
        order, count = _order(store, calls), flow_calls(store, calls)
        flows, states = (dict(names_of(store, DIMENSIONS[name])) for name in ("flow", "state"))
    failed: Counter[int] = Counter()
    for (flow, _, _), members in cells.items():
        failed[flow] += len(members)
    found = [
        FailureCell(
            flow=flows[place[0]] or "",
            last_ok=START if place[1] is None else states[place[1]] or "",
            first_failed=NONE_FOUND if place[2] is None else states[place[2]] or "",
            n=len(members),
            share=len(members) / failed[place[0]],
            taken=None if place[2] is None else _taken(taken.get(place, 0), members),
            kinds=dict(sorted(Counter(call.kind for call in members).items(), key=lambda kind: (-kind[1], kind[0]))),
            example=examples[place],
        )
        for place, members in cells.items()
    ]
    return FailureMatrix(
        cells=sorted(found, key=lambda cell: (-cell.n, cell.flow, cell.last_ok, cell.first_failed)),
        states=_named(order, sorted(cells, key=lambda place: place[0]), flows, states),
        failed={flows[flow] or "": failed[flow] for flow in count if flow in failed},
        calls={flows[flow] or "": n for flow, n in count.items()},
    )


def _taken(taken: int, members: Sequence[FailingCall]) -> int | None:
    """Return how many calls took a step, `None` where fewer are known to than failed at its end.

    It is `None` as well where any of these failed by a step of its task, which lies on no way from state to state.
    """
    by_task = any(call.kind in FAILURES_OF_STEPS for call in members)
    return None if by_task or taken < len(members) else taken


def _steps_taken(store: Store, calls: Predicate | None) -> dict[Place, int]:
    """Count the calls that took each step, and as steps from the start those that began in a state."""
    call, step, row = m.Conversation, m.Transition, m.StateScore
    scope = (~call.errored) & Scope(store).condition(calls)
    keys = (call.flow, step.from_state, step.to_state)
    steps = step.select(*keys, pw.fn.COUNT(pw.SQL("*"))).join(call, on=(call.id == step.conversation))
    found: dict[Place, int] = {(flow, a, b): n for flow, a, b, n in store.execute(steps.where(scope).group_by(*keys))}
    begun = row.select(call.flow, row.state, pw.fn.COUNT(pw.SQL("*"))).join(call, on=(call.id == row.conversation))
    begun = begun.where(row.position == 0, scope).group_by(call.flow, row.state)
    return found | {(flow, None, state): n for flow, state, n in store.execute(begun)}


def _order(store: Store, calls: Predicate | None) -> list[int]:
    """Return the states in the order in which failed calls first come to them, on average."""
    call, row = m.Conversation, m.StateScore
    query = (
        row.select(row.state, pw.fn.AVG(row.position))
        .join(call, on=(call.id == row.conversation))
        .join(m.CallFailure, on=(m.CallFailure.conversation == call.id))
        .where(~call.errored, Scope(store).condition(calls))
        .group_by(row.state)
    )
    rows = store.execute(query)
    return [state for state, _ in sorted(rows, key=lambda row: (row[1] is None, row[1] or 0.0, row[0]))]


def _named(
    order: Sequence[int], cells: Iterable[Place], flows: Mapping[int, str | None], states: Mapping[int, str | None]
) -> dict[str, list[str]]:
    """Return the states that each flow's cells name, in order."""
    wanted: dict[int, set[int]] = {}
    for flow, *ends in cells:
        wanted.setdefault(flow, set()).update(end for end in ends if end is not None)
    place = {state: index for index, state in enumerate(order)}
    return {
        flows[flow] or "": [
            states[state] or "" for state in sorted(found, key=lambda state: (place.get(state, len(place)), state))
        ]
        for flow, found in wanted.items()
    }
