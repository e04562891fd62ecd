"""Choose what to fix, by the failed calls that are blamed on it (docs/metrics.md, section 6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from math import exp, lgamma, log, log1p
from typing import NamedTuple, TypeVar

from riff_store.database import Store
from riff_store.filters.dimensions import Grouping, Names
from riff_store.filters.predicates import Or, Predicate, Term, both, of_calls
from riff_store.measure import LONG_DWELL, OFTEN_SLOW, THIN, UNIT, wilson
from riff_store.queries.flows import FlowCell, flow_cells
from riff_store.queries.states import SegmentCell, StateCell, segment_cells, state_cells
from riff_store.queries.steps import StepCounts, derived_flows, expected_steps, flows_with_steps, is_handover
from riff_store.queries.sums import (
    Blames,
    blame_counts,
    call_counts,
    call_sums,
    ranking_sums,
    state_counts,
    typed_flows,
)
from riff_store.schema.sums import CallSums

LIMIT = 10
FEW_FAIL = 0.02
"""Where a smaller share of calls fail, nothing is named as what to fix first."""
MOST_PAIRS = 40
"""In a store of more pairs of a flow and an agent flows are ranked as a whole."""
_CHANCE = 0.025
_FLOW, _AGENT, _BY_PAIR = Grouping(("flow",)), Grouping(("agent",)), Grouping(("flow", "agent"))
_STATES, _BY_AGENT = Grouping(("flow", "state")), Grouping(("flow", "state", "agent"))


class FirstToFix(NamedTuple):
    """Name the state on which most failed calls are blamed, and what fixing it could bring.

    `failed` of the `n` calls of its flow failed there, and of the `agents` that led these `failing` failed some.
    `success` is the share of the flow's calls that were a success, `success_at_most` what it could be without these
    failures. With `steps` it is a step that tasks ask for and `failed` calls missed or took wrongly.
    """

    flow: str
    state: str
    failed: int
    n: int
    success: float
    success_at_most: float
    agents: Sequence[str] = ()
    failing: Sequence[str] = ()
    steps: StepCounts | None = None


class Totals(NamedTuple):
    """Count calls: those of which success is known, the failed ones among them, their flows, and those not counted."""

    measured: int = 0
    failed: int = 0
    flows: int = 0
    calls: int = 0
    excluded: int = 0
    caller_failed: int = 0


class Worklist(NamedTuple):
    """Describe the cells behind each list of the worklist, ranked and cut, and the state to begin with.

    `blamed` counts by flow, and by agent too where flows are ranked by pairs, the failed calls of each state, the most
    first; `measured` counts the calls of each flow of which success is known, `nowhere` are the failed ones among them
    that nothing is blamed for. `by_steps` are the flows whose states are ranked by the steps that their tasks ask for;
    `handovers` those steps of failed calls that hand over to a human and were missed, which are on no list. `listed`
    counts the flows, segments and states that there are to list, `None` if they all are.
    """

    flows: Sequence[FlowCell]
    segments: Sequence[SegmentCell]
    states: Sequence[StateCell]
    totals: Totals
    blamed: Mapping[Names, Mapping[str, int]]
    nowhere: Mapping[str, int]
    measured: Mapping[str, int] = {}
    first: FirstToFix | None = None
    by_steps: Sequence[str] = ()
    handovers: Sequence[StateCell] = ()
    listed: tuple[int, int, int] | None = None


def worklist(
    store: Store, calls: Predicate | None = None, limit: int | None = LIMIT, *, whole: bool = True
) -> Worklist:
    """Return the state to begin with, and the flows, segments and states behind most failed calls; thin ones last.

    There are `limit` of each at most, of as many as `listed` counts; cells are made for these alone. One that is not to
    be `whole` has the flows alone.
    """
    with store.snapshot():
        # In a store of many agents a flow would be on the list once for each of them.
        of_flows = call_sums(store, calls, _FLOW)
        # Pairs are at least as many as agents, which are counted sooner.
        is_many = len(of_flows) > MOST_PAIRS or any(
            len(call_counts(store, calls, group)) > MOST_PAIRS for group in (_AGENT, _BY_PAIR)
        )
        by = ("flow",) if is_many else ("flow", "agent")
        of_cells = call_sums(store, calls, Grouping(by))
        blames = blame_counts(store, calls, _STATES)
        failing = sorted(
            (names for names, sums in of_cells.items() if sums.failed),
            key=lambda names: _by_failed(of_cells[names].n, of_cells[names].failed, names),
        )
        ranked = _ranked_states(store, calls, blames) if whole else _NO_STATES
        segments = _ranked_segments(store, calls, blames) if whole else []
        first = first_to_fix(store, calls) if whole else None
        weakest, phases, named = failing[:limit], segments[:limit], [*ranked.listed[:limit], *ranked.handovers]
        # All lists ask of the same calls, so that their sums are asked for once.
        within = _within(calls, [*weakest, *phases, *named], of_flows)
        blamed = _by_place(blame_counts(store, within, Grouping((*by, "state"))))
        states = state_cells(store, within, only=set(named)) if named else []
        handovers = _of(states, ranked.handovers)
        return Worklist(
            flows=_of(flow_cells(store, within, by) if failing[:limit] else (), failing[:limit]),
            segments=_of(
                segment_cells(store, within, only=segments[:limit]) if segments[:limit] else (), segments[:limit]
            ),
            states=_of(states, ranked.listed[:limit]),
            totals=_totals(of_flows),
            blamed=blamed,
            nowhere=_nowhere(of_flows, blames),
            measured={flow or "": sums.success_n for (flow,), sums in of_flows.items()},
            first=first,
            by_steps=ranked.by_steps,
            handovers=sorted((cell for cell in handovers if cell.steps and cell.steps.missed_failed), key=_by_weight),
            listed=(len(failing), len(segments), len(ranked.listed)),
        )


class _RankedStates(NamedTuple):
    """Describe the names of the states on the list in their order, and what else their sums show."""

    listed: Sequence[Names]
    handovers: Sequence[Names]
    by_steps: Sequence[str]


_NO_STATES = _RankedStates((), (), ())


def _ranked_states(store: Store, calls: Predicate | None, blames: Mapping[Names, Blames]) -> _RankedStates:
    """Rank states by their sums, as `_by_weight` does cells."""
    sums, steps = ranking_sums(store, calls, _STATES), expected_steps(store, calls, _STATES)
    typed, asking, derived = typed_flows(store), flows_with_steps(store), derived_flows(store)
    order: dict[Names, tuple[object, ...]] = {}
    handovers = []
    for names in dict.fromkeys([*sums, *steps, *blames]):
        segments, asked = [*sums.get(names, _NO_SUMS).values()], steps.get(names)
        n, *turns = segments[0] if len(segments) == 1 else map(sum, zip(_NO_TURNS, *segments, strict=True))
        counted = sum(blames[names].values()) if names in blames else 0
        if asked:
            counted = max(counted, lacking(asked))
        if names[0] in derived and is_handover(names[1] or ""):
            handovers.append(names)
        elif counted or _is_long(n, *turns, is_typed=names[0] in typed):
            order[names] = _weighed(n, counted, asked, names)
    by_steps = sorted({names[0] or "" for names in (*sums, *steps, *blames) if names[0] in asking})
    return _RankedStates(sorted(order, key=order.__getitem__), handovers, by_steps)


_NO_TURNS = (0, 0, 0, 0)
_NO_SUMS: Mapping[str, Sequence[int]] = {}


def _is_long(n: int, dwell: int, slow_n: int, slow: int, *, is_typed: bool) -> bool:
    """Return whether a state is on the list though nobody fails there: its turns are slow, or too many."""
    return (n > 0 and dwell / (UNIT * n) > LONG_DWELL) or (
        not is_typed and slow_n > 0 and slow / (UNIT * slow_n) >= OFTEN_SLOW
    )


def _ranked_segments(store: Store, calls: Predicate | None, blames: Mapping[Names, Blames]) -> list[Names]:
    """Rank segments by their sums, as `_by_failed` does."""
    failed, n = Counter[Names](), Counter[Names]()
    for (flow, _), of_state in blames.items():
        for (segment, _), counted in of_state.items():
            failed[flow, segment] += counted
    for (flow, _), of_segments in ranking_sums(store, calls, _STATES).items():
        for segment, (rows, *_) in of_segments.items():
            n[flow, segment] += rows
    found = (names for names, counted in failed.items() if counted)
    return sorted(found, key=lambda names: _by_failed(n[names], failed[names], names))


def _within(calls: Predicate | None, chosen: Sequence[Names], flows: Collection[Names]) -> Predicate | None:
    """Return the filter of the calls of the flows of some cells; of many flows, which cost no more, that of all."""
    wanted = dict.fromkeys(flow for flow, *_ in chosen if flow is not None)
    if not wanted or 2 * len(wanted) >= len(flows):
        return calls
    return both(Or(tuple(Term("flow", "=", flow) for flow in wanted)), calls)


_Cell = TypeVar("_Cell", FlowCell, SegmentCell, StateCell)


def _of(cells: Iterable[_Cell], chosen: Sequence[Names]) -> list[_Cell]:
    """Return those cells that are called so, in that order."""
    found = {tuple(cell.keys.values()): cell for cell in cells}
    return [found[names] for names in chosen]


def totals(store: Store, calls: Predicate | None = None) -> Totals:
    """Return how many calls there are, and how many failed."""
    return _totals(call_sums(store, calls, _FLOW))


def _totals(of_flows: Mapping[Names, CallSums]) -> Totals:
    sums = of_flows.values()
    return Totals(
        measured=sum(each.success_n for each in sums),
        failed=sum(each.failed for each in sums),
        flows=len(of_flows),
        calls=sum(each.n for each in sums),
        excluded=sum(each.excluded for each in sums),
        caller_failed=sum(each.caller_failed for each in sums),
    )


def _by_place(blames: Mapping[Names, Blames]) -> dict[Names, dict[str, int]]:
    """Return the failed calls of each state, the most first, by what is before the state in the names."""
    found: dict[Names, dict[str, int]] = {}
    for (*place, state), counts in blames.items():
        found.setdefault(tuple(place), {})[state or ""] = sum(counts.values())
    return {
        place: dict(sorted(counts.items(), key=lambda each: (-each[1], each[0]))) for place, counts in found.items()
    }


def _nowhere(of_flows: Mapping[Names, CallSums], blames: Mapping[Names, Blames]) -> dict[str, int]:
    """Return the failed calls of each flow that no state is blamed for."""
    blamed: dict[str | None, int] = {}
    for names, counts in blames.items():
        blamed[names[0]] = blamed.get(names[0], 0) + sum(counts.values())
    left = {flow: sums.failed - blamed.get(flow, 0) for (flow,), sums in of_flows.items()}
    return dict(sorted((flow or "", n) for flow, n in left.items() if n > 0))


def weight(cell: StateCell) -> int:
    """Return by how many failed calls a state is ranked: those blamed on it or, of a step, those that lacked it."""
    return max(cell.failed, 0 if cell.steps is None else lacking(cell.steps))


def lacking(steps: StepCounts) -> int:
    """Return how many failed calls lacked a step: those that missed it, else those that took it wrongly."""
    return steps.missed_failed or steps.wrong_failed


def _by_failed(n: int, failed: int, names: Names) -> tuple[object, ...]:
    return n < THIN, -failed, -failed / max(n, 1), tuple(name or "" for name in names)


def _by_weight(cell: StateCell) -> tuple[object, ...]:
    return _weighed(cell.n, weight(cell), cell.steps, tuple(cell.keys.values()))


def _weighed(n: int, counted: int, steps: StepCounts | None, names: Names) -> tuple[object, ...]:
    thin = max(n, counted, 0 if steps is None else steps.expected) < THIN
    return thin, -counted, -counted / max(n, 1), tuple(name or "" for name in names)


def first_to_fix(store: Store, calls: Predicate | None = None) -> FirstToFix | None:
    """Return the state on which most failed calls are blamed, `None` if none stands out.

    None does where less than 2 % of calls fail, and if none of five calls or more fails more of them than chance would
    have it, which is as many as a state does on average. The only state of all, and states of a flow of which surely
    more than half of the calls fail, need not: there is nothing better to compare them with. In a flow whose tasks ask
    for steps the failed calls that lacked the step count: the state that a call ended in shows nothing there of why it
    failed.
    """
    calls = None if calls is None else of_calls(calls)
    with store.snapshot():
        of_flows = {flow or "": sums for (flow,), sums in call_sums(store, calls, _FLOW).items()}
        measured, failed = (sum(getattr(each, key) for each in of_flows.values()) for key in ("success_n", "failed"))
        if not failed or failed < FEW_FAIL * measured:
            return None
        blames, asking = blame_counts(store, calls, _STATES), flows_with_steps(store)
        steps = expected_steps(store, calls, _STATES) if asking else {}
        visits = state_counts(store, calls, _STATES)
        derived = derived_flows(store) if any(is_handover(state or "") for _, state in (*blames, *steps)) else ()
        counted = {names: sum(blames.get(names, {}).values()) for names in dict.fromkeys((*visits, *blames))}
        for names, of_step in steps.items():
            counted[names] = max(counted.get(names, 0), lacking(of_step))
        # How many calls could have failed in a state: one that was never taken has those of its flow.
        among = {
            names: n if (n := max(visits.get(names, 0), steps[names].expected if names in steps else 0)) >= there
            else of_flows[names[0] or ""].success_n
            for names, there in counted.items()
        }  # fmt: skip
        mean = sum(there / among[names] for names, there in counted.items()) / max(len(counted), 1)
        possible = [
            names
            for names, there in counted.items()
            if there and among[names] >= THIN and not (names[0] in derived and is_handover(names[1] or ""))
        ]
        possible.sort(key=lambda names: (-counted[names], -counted[names] / among[names], names))
        # Of many states many are alike.
        chance = cache(lambda hits, n: chance_of(hits, n, mean))
        likely = (names for names in possible if chance(counted[names], among[names]) * len(counted) <= _CHANCE)
        others = (names for names in possible if len(counted) == 1 or _mostly_fails(of_flows[names[0] or ""]))
        chosen = next(likely, None) or next(others, None)
        if chosen is None:
            return None
        return _first(store, calls, chosen, counted[chosen], of_flows[chosen[0] or ""], steps.get(chosen))


def _mostly_fails(flow: CallSums) -> bool:
    """Return whether surely more than half of the calls of a flow fail."""
    return flow.success_n > 0 and wilson(flow.failed, flow.success_n)[0] > 0.5


def chance_of(hits: int, n: int, share: float) -> float:
    """Return the chance that of `n` calls at least so many are hit, each with the chance `share` (binomial)."""
    if hits <= n * share:
        return 1.0
    if share <= 0.0:
        return 0.0
    term = exp(lgamma(n + 1) - lgamma(hits + 1) - lgamma(n - hits + 1) + hits * log(share) + (n - hits) * log1p(-share))
    whole, odds = term, share / (1 - share)
    for k in range(hits, n):
        term *= odds * (n - k) / (k + 1)
        whole += term
        if term < whole * 1e-16:
            break
    return min(1.0, whole)


def _first(
    store: Store, calls: Predicate | None, names: Names, failed: int, flow: CallSums, steps: StepCounts | None
) -> FirstToFix:
    calls = both(Term("flow", "=", names[0] or ""), calls)
    by_agent = {
        agent or "": n for (*place, agent), n in state_counts(store, calls, _BY_AGENT).items() if tuple(place) == names
    }
    blamed: Iterable[str] = (
        agent or ""
        for (*place, agent), counts in blame_counts(store, calls, _BY_AGENT).items()
        if tuple(place) == names and counts
    )
    of_step = {
        agent or "": counts
        for (*place, agent), counts in (expected_steps(store, calls, _BY_AGENT) if steps else {}).items()
        if tuple(place) == names
    }
    failing = {*blamed, *(agent for agent, counts in of_step.items() if lacking(counts))}
    success = flow.success / flow.success_n
    return FirstToFix(
        flow=names[0] or "",
        state=names[1] or "",
        failed=failed,
        n=flow.success_n,
        success=success,
        success_at_most=min(1.0, success + failed / flow.success_n),
        agents=sorted({*by_agent, *of_step, *failing}),
        failing=sorted(failing),
        steps=steps if steps is not None and lacking(steps) == failed else None,
    )
