"""Ask how calls come through a flow: to which states in which order, where they fail, and which routes they take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from math import sqrt
from operator import add
from typing import Any, NamedTuple

import msgspec

from riff_store import schema as m
from riff_store.database import Store
from riff_store.facts import Touched
from riff_store.filters.dimensions import Grouping, Names, run_order
from riff_store.filters.predicates import Predicate, all_of, conjuncts, of_calls, terms
from riff_store.measure import UNIT, Measure
from riff_store.queries.calls import first_calls, first_runs
from riff_store.queries.states import by_kind
from riff_store.queries.sums import (
    blame_counts,
    call_counts,
    call_sums,
    in_columns,
    places_of_states,
    rows_of_sums,
    state_counts,
    step_counts,
)
from riff_store.schema.sums import OutcomeSums
from riff_store.vocabulary import route_text


@dataclass(frozen=True, slots=True)
class FunnelRow:
    """Describe a state of a flow or an outcome: how many calls `reached` it, of which `failed` are blamed on it.

    `share` is that of the flow's calls; `position` the mean place of the first visit among the visits of a call, from
    0, `None` if no call came here. `next` counts where calls went from here. `kinds` shows what went wrong.
    """

    state: str
    reached: int
    share: float
    failed: int
    position: float | None
    next: Mapping[str, int] = field(default_factory=dict)
    outcome: str | None = None
    kinds: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Funnel:
    """Describe the rows of a flow, in the order in which calls first come to them, outcomes last.

    Of its `calls` that count `failed` are known to have failed, `nowhere` of these in no state.
    """

    keys: Mapping[str, str | None]
    calls: int
    failed: int
    nowhere: int
    rows: Sequence[FunnelRow]


def funnels(store: Store, calls: Predicate | None = None, by: Sequence[str] = ("flow",)) -> list[Funnel]:
    """Return the funnel of each flow, those of most failed calls first; terms about states choose calls."""
    calls = None if calls is None else of_calls(calls)
    cells, states = Grouping(tuple(by)), Grouping((*by, "state"))
    with store.snapshot():
        totals = call_sums(store, calls, cells)
        visited = places_of_states(store, calls, states)
        ends = _outcome_sums(store, calls, states)
        steps = step_counts(store, calls, states)
        blames = blame_counts(store, calls, states)
        outcomes = outcomes_of_flows(store)
    rows: dict[Names, list[FunnelRow]] = {}
    for names in dict.fromkeys((*visited, *ends, *blames)):
        *place, state = names
        n, placed, at = visited.get(names, (0, 0, 0))
        end = ends.get(names)
        if end is not None:
            n, placed, at = n + end.n, placed + end.n, at + end.position
        whole = totals[tuple(place)].n if tuple(place) in totals else 0
        kinds = by_kind(blames.get(names, {}))
        flow = place[by.index("flow")]
        rows.setdefault(tuple(place), []).append(
            FunnelRow(
                state=state or "",
                reached=n,
                share=n / whole if whole else 0.0,
                failed=sum(kinds.values()),
                position=at / placed if placed else None,
                next=dict(sorted(steps.get(names, {}).items(), key=lambda step: (-step[1], step[0]))),
                outcome=outcomes.get(flow or "", {}).get(state or "") if end or names not in visited else None,
                kinds=kinds,
            )
        )
    found = [
        Funnel(
            keys=dict(zip(by, place, strict=True)),
            calls=sums.n,
            failed=sums.failed,
            nowhere=sums.failed - sum(row.failed for row in rows.get(place, ())),
            rows=sorted(rows.get(place, ()), key=_in_order),
        )
        for place, sums in totals.items()
        if sums.n
    ]
    return sorted(found, key=lambda each: (-each.failed, -each.calls, *(name or "" for name in each.keys.values())))


def count_funnels(store: Store) -> int:
    """Return how many rows the funnels of all flows have together."""
    states = Grouping(("flow", "state"))
    with store.snapshot():
        counted = {flow for (flow,), (n, _) in call_counts(store, None, Grouping(("flow",))).items() if n}
        asked = (ask(store, None, states) for ask in (state_counts, _outcome_sums, blame_counts))
        return len({names for found in asked for names in found if names[0] in counted})


def outcomes_of_flows(store: Store) -> dict[str, dict[str, str]]:
    """Return by flow the states in which it ends, and whether that is a success or an escalation."""
    state = m.State
    query = state.select(m.Flow.name, state.name, state.outcome).join(m.Flow, on=(m.Flow.id == state.flow))
    found: dict[str, dict[str, str]] = {}
    for flow, name, outcome in store.execute(query.where(state.outcome.is_null(False))):
        found.setdefault(flow, {})[name] = outcome
    return found


@dataclass(frozen=True, slots=True)
class Shift:
    """Describe by how much a share of the calls of a flow is larger in B than in A, and whether that may be chance.

    `p` is that of Fisher's exact test, `p_adjusted` is corrected across the states that are compared
    (Benjamini-Hochberg).
    """

    difference: float
    p: float
    p_adjusted: float

    @property
    def is_sure(self) -> bool:
        """Return whether it is beyond chance."""
        from riff_store.statistics.significance import SIGNIFICANT

        return self.p_adjusted <= SIGNIFICANT


@dataclass(frozen=True, slots=True)
class ComparedState:
    """Describe what is known of a state on two sides, `None` for a side without a call of its flow.

    `came` and `failed` show how the shares of the calls that came to it, and that failed there, differ; `None` if a
    side has no call of the flow.
    """

    flow: str | None
    state: str
    sides: tuple[tuple[Funnel, FunnelRow] | None, tuple[Funnel, FunnelRow] | None]
    came: Shift | None = None
    failed: Shift | None = None


def compared_states(found: Sequence[Funnel], key: str, names: tuple[str | None, str | None]) -> list[ComparedState]:
    """Return each state of the flows in the order in which calls of both sides first come to them.

    `names` are those of both sides, which `key` distinguishes. Flows are ordered by the failed calls of both.
    """
    of_flows: dict[str | None, list[Funnel | None]] = {}
    for each in found:
        of_flows.setdefault(each.keys["flow"], [None, None])[names.index(each.keys[key])] = each

    def most_failed(flow: str | None) -> tuple[object, ...]:
        sides = [side for side in of_flows[flow] if side is not None]
        return -sum(side.failed for side in sides), -sum(side.calls for side in sides), flow or ""

    states = [state for flow in sorted(of_flows, key=most_failed) for state in _states_of_both(flow, of_flows[flow])]
    came, failed = _shifts(states, lambda row: row.reached), _shifts(states, lambda row: row.failed)
    return [replace(state, came=came.get(place), failed=failed.get(place)) for place, state in enumerate(states)]


def _states_of_both(flow: str | None, sides: Sequence[Funnel | None]) -> list[ComparedState]:
    """Return the states that calls of either side came to; a side whose calls did not has a row without calls."""
    rows = [{row.state: row for row in side.rows} if side else {} for side in sides]
    both = {state: [of[state] for of in rows if state in of] for state in dict.fromkeys((*rows[0], *rows[1]))}

    def place(state: str) -> tuple[object, ...]:
        placed = [(row.position, row.reached) for row in both[state] if row.position is not None]
        came = sum(n for _, n in placed)
        return _in_order(
            replace(
                both[state][0],
                reached=sum(row.reached for row in both[state]),
                position=sum(at * n for at, n in placed) / came if came else None,
            )
        )

    def of_side(side: Funnel | None, known: Mapping[str, FunnelRow], state: str) -> tuple[Funnel, FunnelRow] | None:
        absent = FunnelRow(state, 0, 0.0, 0, None, outcome=both[state][0].outcome)
        return None if side is None else (side, known.get(state, absent))

    return [
        ComparedState(flow, state, (of_side(sides[0], rows[0], state), of_side(sides[1], rows[1], state)))
        for state in sorted(both, key=place)
    ]


def _shifts(states: Sequence[ComparedState], hits: Callable[[FunnelRow], int]) -> dict[int, Shift]:
    """Return how the share of the calls of its flow differs for each state, by place, where both sides have calls."""
    from riff_store.statistics.significance import benjamini_hochberg, fisher

    found: dict[int, tuple[float, float]] = {}
    for place, state in enumerate(states):
        a, b = state.sides
        if a is not None and b is not None:
            change = hits(b[1]) / b[0].calls - hits(a[1]) / a[0].calls
            found[place] = change, fisher(hits(a[1]), a[0].calls, hits(b[1]), b[0].calls)
    adjusted = benjamini_hochberg([p for _, p in found.values()])
    return {place: Shift(*each, p) for (place, each), p in zip(found.items(), adjusted, strict=True)}


def _in_order(row: FunnelRow) -> tuple[object, ...]:
    """Sort by where calls first come to a state, then the more calls; states that none came to, then outcomes last."""
    placed = row.position is not None
    ends = {None: 0, "escalation": 1, "success": 2}[row.outcome]
    return ends, not placed, row.position if ends == 0 and placed else 0.0, -row.reached, row.state


# Count the routes of calls: in which order each first came to its states and outcomes.
LARGEST, FEW_SHARE = 5, 0.3
"""Where so many routes, the largest ones, hold a smaller share of the calls, there are too many to read."""
COMMON = 0.02
"""A beginning that a smaller share of the calls has in common is left out, and so is that of a single call."""


@dataclass(frozen=True, slots=True)
class Route:
    """Count the calls that took a route, or one that begins with its `states`; none if no order is known.

    `n` of these count and `excluded` were errored; `share` is that of the calls of the flow. `off` of the `n` calls
    took a step that no file of the flow has, `None` if it has no file. It `is_new` where no run before the flow's last
    one had a call of it, `None` if there is no run before. `example` is the key of a call.
    """

    states: tuple[str, ...]
    n: int
    excluded: int
    share: float
    success: Measure
    off: int | None
    is_new: bool | None = None
    example: int | None = None

    @property
    def text(self) -> str | None:
        """Return the route as filters name it, `None` if no order is known."""
        return route_text(self.states)

    @property
    def failed(self) -> int:
        """Return how many calls are known to be no success."""
        return self.success.n - self.success.total // UNIT


@dataclass(frozen=True, slots=True)
class FlowRoutes:
    """Describe the routes of a flow, the largest first, and what calls have in common where these are too many to read.

    `beginnings` follow each other as a tree is read. Of the `calls` that count `failed` are known to have failed, the
    steps of `followed` are known, and `off` of these took one that no file of the flow has, `None` if it has no file.
    `outcomes` are the states in which the flow ends.
    """

    keys: Mapping[str, str | None]
    calls: int
    failed: int
    followed: int
    off: int | None
    routes: Sequence[Route]
    beginnings: Sequence[Route]
    outcomes: Mapping[str, str]

    @property
    def conformance(self) -> float | None:
        """Return the share of calls that stay on the steps of the flow's files, `None` if nothing shows."""
        return None if self.off is None or not self.followed else 1 - self.off / self.followed


def routes(store: Store, calls: Predicate | None = None, by: Sequence[str] = ("flow",)) -> list[FlowRoutes]:
    """Return the routes of each flow, those of most failed calls first; terms about states choose calls."""
    calls = None if calls is None else of_calls(calls)
    at, read = by.index("flow"), cache(_path)
    with store.snapshot():
        taken = call_sums(store, calls, Grouping((*by, "touched")))
        in_runs = call_counts(store, calls, Grouping(("flow", "run")))
        examples = first_calls(store, calls, Grouping((*by, "route")))
        # All calls of the flow show whether a route is new, whatever else the filter asks for.
        of_flows = [part for part in conjuncts(calls) if all(term.field == "flow" for term in terms(part))]
        first = first_runs(store, all_of(of_flows), Grouping(("flow", "route")))
        order, files, outcomes = run_order(store), _steps_in_files(store), outcomes_of_flows(store)
    last, begun = dict[str | None, int](), dict[str | None, int]()
    for (flow_of, run), (n, _) in in_runs.items():
        if n:
            last[flow_of] = max(last.get(flow_of, 0), order[run or ""])
    for (flow_of, _), place_of_run in first.items():
        begun[flow_of] = min(begun.get(flow_of, place_of_run), place_of_run)
    of_places: dict[Names, dict[str | None, list[Route]]] = {}
    followed: Counter[Names] = Counter()
    for (*names, touched), sums in taken.items():
        path, place, known = read(touched), tuple(names), files.get(names[at] or "")
        off = None if known is None else sums.n * any(step not in known for step in path.steps())
        part = Route(path.states, sums.n, sums.excluded, 0.0, sums.success_measure(), off)
        of_places.setdefault(place, {}).setdefault(route_text(path.states), []).append(part)
        followed[place] += sums.n if path.names else 0

    def of_place(place: Names, found: Mapping[str | None, Sequence[Route]]) -> FlowRoutes:
        whole, flow = _pooled((), [part for parts in found.values() for part in parts], 0), place[at]
        has_earlier = flow in last and begun[flow] < last[flow]
        taken = [
            replace(
                _pooled(parts[0].states, parts, whole.n),
                is_new=first.get((flow, text)) == last[flow] if has_earlier else None,
                example=examples.get((*place, text)),
            )
            for text, parts in found.items()
        ]
        taken = sorted((route for route in taken if route.n), key=_largest_first)
        return FlowRoutes(
            keys=dict(zip(by, place, strict=True)),
            calls=whole.n,
            failed=whole.failed,
            followed=followed[place],
            off=whole.off,
            routes=taken,
            beginnings=list(_tree(taken, whole.n)) if _are_too_many(taken, whole.n) else [],
            outcomes=outcomes.get(flow or "", {}),
        )

    answers = [of_place(place, found) for place, found in of_places.items()]
    return sorted(
        (each for each in answers if each.calls),
        key=lambda each: (-each.failed, -each.calls, *(name or "" for name in each.keys.values())),
    )


_read = msgspec.json.Decoder(Touched).decode


def _path(touched: str | None) -> Touched:
    return Touched([], 0) if touched is None else _read(touched)


def _steps_in_files(store: Store) -> dict[str, set[tuple[str, str]]]:
    """Return by flow the steps that its files have."""
    start, end = m.State.alias(), m.State.alias()
    query = (
        m.DescribedEdge.select(m.Flow.name, start.name, end.name)
        .join(start, on=(start.id == m.DescribedEdge.from_state))
        .join(end, on=(end.id == m.DescribedEdge.to_state))
        .join(m.Flow, on=(m.Flow.id == start.flow))
    )
    found: dict[str, set[tuple[str, str]]] = {}
    for flow, one, other in store.execute(query):
        found.setdefault(flow, set()).add((one, other))
    return found


# Ask how suspicious each step of a flow is: whether calls that took it fail more often than those that did not.
class Suspicion(NamedTuple):
    """Describe how much failing goes with a step, from 0 to 1 (Ochiai), and how likely that is by chance (Fisher)."""

    ochiai: float
    p: float


def suspicions(store: Store, calls: Predicate | None = None) -> dict[tuple[str, str], Suspicion]:
    """Return that of each step that calls of one flow took, none if no call failed.

    Calls of which nothing shows whether they succeeded are left out.
    """
    from riff_store.statistics.significance import fisher

    known, failed = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    whole = whole_failed = 0
    for (touched,), sums in call_sums(store, calls, Grouping(("touched",))).items():
        whole, whole_failed = whole + sums.success_n, whole_failed + sums.failed
        for step in _path(touched).steps() if sums.success_n else ():
            known[step] += sums.success_n
            failed[step] += sums.failed
    return {
        step: Suspicion(
            failed[step] / sqrt(whole_failed * n), fisher(failed[step], n, whole_failed - failed[step], whole - n)
        )
        for step, n in known.items()
        if whole_failed
    }


def _pooled(states: tuple[str, ...], parts: Sequence[Route], whole: int) -> Route:
    n, off = sum(part.n for part in parts), [part.off for part in parts if part.off is not None]
    return Route(
        states=states,
        n=n,
        excluded=sum(part.excluded for part in parts),
        share=n / whole if whole else 0.0,
        success=reduce(add, (part.success for part in parts)),
        off=sum(off) if off else None,
        example=next((part.example for part in parts if part.failed), parts[0].example),
    )


def _largest_first(route: Route) -> tuple[object, ...]:
    return -route.n, -route.failed, not route.states, route.states


def _are_too_many(found: Sequence[Route], calls: int) -> bool:
    return sum(route.n for route in found[:LARGEST]) < FEW_SHARE * calls


def _tree(found: Sequence[Route], calls: int, depth: int = 0) -> Iterator[Route]:
    """Yield what routes have in common after so many states, each beginning before those that go on from it.

    One that all calls go on from in the same way is left to what they have in common then.
    """
    branches: dict[str, list[Route]] = {}
    for route in found:
        if len(route.states) > depth:
            branches.setdefault(route.states[depth], []).append(route)
    common = [
        _pooled(parts[0].states[: depth + 1], parts, calls)
        for parts in branches.values()
        if (n := sum(part.n for part in parts)) > 1 and n >= COMMON * calls
    ]
    for each in sorted(common, key=_largest_first):
        further = list(_tree(branches[each.states[depth]], calls, depth + 1))
        if not (further and further[0].n == each.n):
            yield each
        yield from further


def _outcome_sums(store: Store, calls: Predicate | None, group: Grouping) -> dict[Names, OutcomeSums]:
    """Sum how many calls came to each outcome of their flows, and where in their course, by the names of the group."""
    names = group.namer(store)
    found: dict[Names, OutcomeSums] = {}
    for *keys, n, position in _sums_of_outcomes(store, calls, group):
        before = found.get(cell := names(tuple(keys)), OutcomeSums(0, 0))
        found[cell] = OutcomeSums(before.n + n, before.position + position)
    return found


def _sums_of_outcomes(store: Store, calls: Predicate | None, group: Grouping) -> Sequence[tuple[Any, ...]]:
    if in_columns(store, m.OUTCOMES, calls, group.by):
        from riff_store.arrays.sums import outcome_rows

        known = store.execute(m.State.select(m.State.id).where(m.State.outcome.is_null(False)))
        return outcome_rows(store, calls, group.keys, [state for (state,) in known])
    return rows_of_sums(store, m.OUTCOMES, m.OUTCOMES.sums, calls, group)
