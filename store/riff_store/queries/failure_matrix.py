"""Count failed calls by the last good and the first failed state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from riff_store.database import Store
from riff_store.filters.dimensions import DIMENSIONS, names_of
from riff_store.filters.notes import marks
from riff_store.filters.predicates import Predicate
from riff_store.queries.examples import Example, Examples, turns_aspect
from riff_store.vocabulary import FAILURES_OF_STEPS, NONE_FOUND, START

Place: TypeAlias = tuple[int, int, int]
"""Flow, last good and first failed state, by their keys; 0 is the start, and none that was found."""


@dataclass(frozen=True, slots=True)
class FailureCell:
    """Count the failed calls of a flow with one last good and one first failed state.

    `share` is of the flow's failed calls. `taken` are the calls, failed or not, that went from the one state to the
    other, `None` where that is no step. `kinds` says what went wrong in how many.
    """

    flow: str
    last_ok: str
    first_failed: str
    n: int
    share: float
    taken: int | None
    kinds: Mapping[str, int]
    example: Example


@dataclass(frozen=True, slots=True)
class FailureMatrix:
    """Hold the cells of some flows, the fullest first, and the states of each flow in the order of failed calls.

    `failed` and `calls` count by flow what failed and what was not errored. Without states, how often their steps were
    taken is still to be counted.
    """

    cells: Sequence[FailureCell]
    states: Mapping[str, Sequence[str]]
    failed: Mapping[str, int]
    calls: Mapping[str, int]


def failure_matrix(store: Store, calls: Predicate | None = None, *, whole: bool = True) -> FailureMatrix:
    """Return the cells of every flow in scope, the fullest first (docs/metrics.md, section 15).

    A matrix that is not to be `whole` says of no step how many calls took it, and of no flow which states it has.
    """
    from riff_store.arrays.failures import CallsInScope

    with store.snapshot():
        scope = CallsInScope(store, calls)
        groups = scope.failed(turns_aspect(store), marks(store)).groups("flow", "last_ok", "first_failed")
        cells = [(keys["flow"], keys["last_ok"], keys["first_failed"]) for keys in groups.keys]
        taken, order = (scope.steps_taken(), _in_order(scope.places_of_states())) if cells and whole else ({}, [])
        kinds, examples, count = groups.kinds(), Examples(store).shortest_of(groups), scope.by_flow("flow")
        flows, states = (dict(names_of(store, DIMENSIONS[name])) for name in ("flow", "state"))
    failed: Counter[int] = Counter()
    for (flow, _, _), n in zip(cells, groups.sizes, strict=True):
        failed[flow] += n
    found = [
        FailureCell(
            flow=flows[place[0]] or "",
            last_ok=states[place[1]] or "" if place[1] else START,
            first_failed=states[place[2]] or "" if place[2] else NONE_FOUND,
            n=n,
            share=n / failed[place[0]],
            taken=_taken(taken.get(place, 0), n, of_kinds) if place[2] else None,
            kinds=of_kinds,
            example=example,
        )
        for place, n, of_kinds, example in zip(cells, groups.sizes, kinds, examples, strict=True)
    ]
    return FailureMatrix(
        cells=sorted(found, key=lambda cell: (-cell.n, cell.flow, cell.last_ok, cell.first_failed)),
        states=_named(order, cells, flows, states) if whole else {},
        failed=dict(sorted((flows[flow] or "", n) for flow, n in failed.items())),
        calls=dict(sorted((flows[flow] or "", n) for (flow, _), n in count.items())),
    )


def _taken(taken: int, failed: int, kinds: Mapping[str, int]) -> int | None:
    """Return how many calls took a step, `None` where fewer are known to than failed at its end.

    It is `None` as well where any of these failed by a step of its task, which lies on no way from state to state.
    """
    by_task = any(kind in FAILURES_OF_STEPS for kind in kinds)
    return None if by_task or taken < failed else taken


def _in_order(places: Mapping[int, float | None]) -> list[int]:
    """Return the states in the order in which failed calls first come to them, on average."""
    return [state for state, _ in sorted(places.items(), key=lambda each: (each[1] is None, each[1] or 0.0, each[0]))]


def _named(
    order: Sequence[int], cells: Iterable[Place], flows: Mapping[int, str | None], states: Mapping[int, str | None]
) -> dict[str, list[str]]:
    """Return the states that the cells of each flow name, in order, the flows by their names."""
    wanted: dict[int, set[int]] = {}
    for flow, *ends in cells:
        wanted.setdefault(flow, set()).update(end for end in ends if end)
    place = {state: index for index, state in enumerate(order)}
    named = {
        flows[flow] or "": [
            states[state] or "" for state in sorted(found, key=lambda state: (place.get(state, len(place)), state))
        ]
        for flow, found in wanted.items()
    }
    return dict(sorted(named.items()))
