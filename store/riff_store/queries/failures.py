"""Ask what failed: calls of two sides, failed calls by state, and how that shifted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from riff_store import schema as m
from riff_store.database import Store
from riff_store.filters.dimensions import DIMENSIONS, names_of
from riff_store.filters.notes import marks
from riff_store.filters.predicates import Predicate
from riff_store.queries.calls import Example, Examples, told_by, turns_aspect
from riff_store.queries.sides import PairCounts, Side, SideCalls, calls_of_side, paired, side_reader, sides
from riff_store.statistics import pairing, significance
from riff_store.statistics.pairing import Places, failed_pairs, scores_of_calls
from riff_store.vocabulary import FAILURES_OF_STEPS, NONE_FOUND, START

if TYPE_CHECKING:
    from riff_store.arrays.failures import FailureEnds
    from riff_store.statistics import Floats


SUCCESS = 10.0
_CHUNK = 500
_FAILED: dict[tuple[bool, bool], Failed] = {(True, False): "a", (False, True): "b", (True, True): "both"}

Failed: TypeAlias = Literal["a", "b", "both"]


@dataclass(frozen=True, slots=True)
class FailedCall:
    """Describe one side of a pair: the call, its end, and its correctness, or completion if that alone is below 10.

    `score` is `None` if neither is measured; `told_by` is as in `Call`.
    """

    run: str
    conversation: str
    agent: str
    stop_reason: str | None
    final_state: str | None
    score: float | None
    told_by: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FailedPair:
    """Describe two calls of the same task, of which one or both failed; `persona` is `None` if theirs differ."""

    side: Failed
    flow: str
    persona: str | None
    scenario: str | None
    trial: int
    a: FailedCall
    b: FailedCall


@dataclass(frozen=True, slots=True)
class Failures:
    """Describe the pairs that failed: by side, then flow, scenario, persona and trial.

    `counts` are of all pairs that are measured. `alone_a` and `alone_b` count failed calls without a partner,
    `unknown` the pairs of which it is not known of a side whether its call was a success.
    """

    a: Side
    b: Side
    pairs: Sequence[FailedPair]
    counts: PairCounts
    unknown: int
    alone_a: int
    alone_b: int


def failures(store: Store, a: str, b: str, calls: Predicate | None = None, within: Predicate | None = None) -> Failures:
    """Return the pairs of calls of which A's, B's or both failed.

    A call failed if it is known not to be a success. `a`, `b` and `within` are as `sides` takes them; what is counted
    is of the calls within, if it narrows `calls`. Raises `SideError`.
    """
    with store.snapshot():
        reader = side_reader(store)
        first, second = (SideCalls(store, reader, side, calls) for side in sides(store, a, b, within))
        seen = (first, second)
        if within is not None and within != calls:
            seen = SideCalls(store, reader, first.side, within), SideCalls(store, reader, second.side, within)
        succeeded = first.kept("success"), second.kept("success")
        looked_at = first.also_in(seen[0]), second.also_in(seen[1])
        found = failed_pairs(succeeded, paired(first, second), looked_at)
        of_a, of_b = (
            list(zip(*(column[places].tolist() for column in (side.keys, well, _scores(store, side))), strict=True))
            for side, places, well in zip((first, second), found.places, succeeded, strict=True)
        )
        rows = _call_rows(store, [key for pair in zip(of_a, of_b, strict=True) for key, *_ in pair])
    pairs = (
        _pair(rows[key_a], rows[key_b], _FAILED[not well_a, not well_b], score_a, score_b)
        for (key_a, well_a, score_a), (key_b, well_b, score_b) in zip(of_a, of_b, strict=True)
    )
    return Failures(
        a=seen[0].side,
        b=seen[1].side,
        pairs=sorted(pairs, key=_place),
        counts=PairCounts(
            found.only_first,
            found.only_second,
            found.both,
            found.neither,
            significance.mcnemar(found.only_first, found.only_second),
        ),
        unknown=found.unknown,
        alone_a=found.alone[0],
        alone_b=found.alone[1],
    )


def _scores(store: Store, side: SideCalls) -> Floats:
    aspects = {name: key for key, name in store.execute(m.Aspect.select(m.Aspect.id, m.Aspect.name))}
    complete, correct = (side.values(aspects.get(name, 0), m.COMPUTED_JUDGE) for name in ("completion", "correctness"))
    return scores_of_calls(complete, correct, SUCCESS)


def _call_rows(store: Store, keys: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    apart = told_by(store, keys)
    names = {table: dict(store.execute(table.select(table.id, table.name)))
             for table in (m.Run, m.Flow, m.Agent, m.Persona, m.Scenario, m.Label)}  # fmt: skip
    call = m.Conversation
    query = call.select(
        call.id, call.run, call.name, call.flow, call.agent, call.persona, call.scenario, call.trial,
        call.stop_reason, call.final_state,
    )  # fmt: skip
    found: dict[int, tuple[Any, ...]] = {}
    for start in range(0, len(keys), _CHUNK):
        for row in store.execute(query.where(call.id.in_(keys[start : start + _CHUNK]))):
            found[row[0]] = (
                names[m.Run][row[1]], row[2], names[m.Flow][row[3]], names[m.Agent][row[4]],
                names[m.Persona].get(row[5]), names[m.Scenario].get(row[6]), row[7],
                names[m.Label].get(row[8]), names[m.Label].get(row[9]), apart.get(row[0], {}),
            )  # fmt: skip
    return found


def _pair(a: tuple[Any, ...], b: tuple[Any, ...], side: Failed, score_a: float, score_b: float) -> FailedPair:
    return FailedPair(
        side=side,
        flow=a[2], persona=a[4] if a[4] == b[4] else None, scenario=a[5], trial=a[6],
        a=_call(a, score_a), b=_call(b, score_b),
    )  # fmt: skip


def _call(row: tuple[Any, ...], score: float) -> FailedCall:
    return FailedCall(
        run=row[0], conversation=row[1], agent=row[3], stop_reason=row[7], final_state=row[8],
        score=None if isnan(score) else score, told_by=row[9],
    )  # fmt: skip


def _place(pair: FailedPair) -> tuple[Any, ...]:
    side = ("a", "b", "both").index(pair.side)
    task = (pair.flow, pair.scenario or "", pair.persona or "", pair.trial)
    return (side, *task, pair.b.agent, pair.b.run, pair.b.conversation, pair.a.agent, pair.a.run, pair.a.conversation)


Place: TypeAlias = tuple[int, int, int]
"""Flow, last good and first failed state, by their keys; 0 is the start, and none that was found."""


@dataclass(frozen=True, slots=True)
class FailureCell:
    """Count the failed calls of a flow with one last good and one first failed state.

    `share` is of the flow's failed calls. `taken` are the calls, failed or not, that went from the one state to the
    other, `None` if that is not a step. `kinds` shows what went wrong in how many.
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
    """Describe the cells of some flows, the fullest first, and the states of each flow in the order of failed calls.

    `failed` and `calls` count by flow what failed and what was not errored. Without states, how often their steps were
    taken is still to be counted.
    """

    cells: Sequence[FailureCell]
    states: Mapping[str, Sequence[str]]
    failed: Mapping[str, int]
    calls: Mapping[str, int]


def failure_matrix(store: Store, calls: Predicate | None = None, *, whole: bool = True) -> FailureMatrix:
    """Return the cells of every flow in scope, the fullest first (docs/metrics.md, section 15).

    A matrix that is not to be `whole` shows for no step how many calls took it, and of no flow which states it has.
    """
    from riff_store.arrays.failures import CallsInScope

    with store.snapshot():
        scope = CallsInScope(store, calls)
        groups = scope.failed(turns_aspect(store), marks(store)).groups("flow", "last_ok", "state")
        cells = [(keys["flow"], keys["last_ok"], keys["state"]) for keys in groups.keys]
        taken, places = (scope.steps_taken(), scope.places_of_states()) if cells and whole else ({}, {})
        kinds, examples, count = groups.kinds(), Examples(store).shortest_of(groups), scope.by_flow("flow")
        flows, states = (dict(names_of(store, DIMENSIONS[name])) for name in ("flow", "state"))
    # In the order in which failed calls first come to them, on average.
    order = sorted(places, key=lambda state: (places[state] is None, places[state] or 0.0, state))
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
    """Return how many calls took a step, `None` if fewer are known to than failed at its end.

    It is `None` as well where any of these failed by a step of its task, which is on no way from state to state.
    """
    by_task = any(kind in FAILURES_OF_STEPS for kind in kinds)
    return None if by_task or taken < failed else taken


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


@dataclass(frozen=True, slots=True)
class FailureShift:
    """Compare two sides in one cell: `n_a` of `calls_a` calls of the flow first went wrong there, `n_b` of `calls_b`.

    With `pairs` the calls are those of so many pairs, and None means that all calls are compared as they are.
    `difference` is B's share less A's, `p_adjusted` is corrected over all cells.
    """

    flow: str
    last_ok: str
    first_failed: str
    n_a: int
    calls_a: int
    n_b: int
    calls_b: int
    pairs: int | None
    difference: float
    test: str
    p: float
    p_adjusted: float


@dataclass(frozen=True, slots=True)
class FailureShifts:
    """Describe both sides and the cells of the flows that both called, the surest differences first."""

    a: Side
    b: Side
    cells: Sequence[FailureShift]


def failure_shifts(store: Store, a: str, b: str, calls: Predicate | None = None) -> FailureShifts:
    """Return every cell of the flows that both sides called, with its test (docs/metrics.md, section 15).

    Calls of the same task are compared in pairs where these are half of the smaller side's calls or more. Raises
    `SideError`.
    """
    from riff_store.arrays.failures import CallsInScope, FailureEnds

    with store.snapshot():
        reader = side_reader(store)
        both = [SideCalls(store, reader, side, calls) for side in sides(store, a, b)]
        turns, marked = turns_aspect(store), marks(store)
        failed = [CallsInScope(store, calls_of_side(side.side, calls)).failed(turns, marked) for side in both]
        ends = FailureEnds([(side.keys, calls) for side, calls in zip(both, failed, strict=True)])
        pairs = pairing.pairs_by_key(both[0].flows(), paired(*both))
        calls_a, calls_b = (side.by_flow() for side in both)
        flows, states = (names_of(store, DIMENSIONS[name]) for name in ("flow", "state"))
    cells = [
        cell
        for flow in sorted(calls_a.keys() & calls_b.keys())
        for cell in _cells(flows[flow] or "", Places(calls_a[flow], calls_b[flow]), pairs.get(flow), ends, states)
    ]
    adjusted = significance.benjamini_hochberg([cell.p for cell in cells])
    found = [replace(cell, p_adjusted=p) for cell, p in zip(cells, adjusted, strict=True)]
    found.sort(key=lambda cell: (cell.p_adjusted, -abs(cell.difference), cell.flow, cell.last_ok, cell.first_failed))
    return FailureShifts(both[0].side, both[1].side, found)


def _cells(
    flow: str, calls: Places, pairs: Places | None, ends: FailureEnds, states: Mapping[int, str | None]
) -> Iterator[FailureShift]:
    on_pairs = pairs is not None and 2 * len(pairs.first) >= min(len(calls.first), len(calls.second))
    if pairs is not None and on_pairs:
        calls = pairs
    all_a, all_b = len(calls.first), len(calls.second)
    in_a, in_b = ends.counted(0, calls.first), ends.counted(1, calls.second)
    shared = ends.shared(calls) if on_pairs else [0] * len(ends.ends)
    for (last_ok, first_failed), n_a, n_b, both in zip(ends.ends, in_a, in_b, shared, strict=True):
        if n_a or n_b:
            p = (
                significance.mcnemar(n_a - both, n_b - both)
                if on_pairs
                else significance.fisher(n_a, all_a, n_b, all_b)
            )
            yield FailureShift(
                flow=flow,
                last_ok=states[last_ok] or "" if last_ok else START,
                first_failed=states[first_failed] or "" if first_failed else NONE_FOUND,
                n_a=n_a, calls_a=all_a, n_b=n_b, calls_b=all_b, pairs=all_a if on_pairs else None,
                difference=n_b / all_b - n_a / all_a,
                test="McNemar" if on_pairs else "Fisher", p=p, p_adjusted=p,
            )  # fmt: skip
