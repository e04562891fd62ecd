"""Find the state to begin with: the one behind most failed calls (docs/metrics.md, section 6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TypeAlias

from riff_store.database import Store
from riff_store.filters.dimensions import Grouping, Names
from riff_store.filters.predicates import Predicate, Term, both, of_calls
from riff_store.measure import THIN, Measure
from riff_store.queries.expected import (
    StepCounts,
    derived_flows,
    expected_steps,
    flows_with_steps,
    is_handover,
    loss_by_step,
)
from riff_store.queries.sums import aspect_sums, call_counts, call_sums, lost_in_states
from riff_store.schema import COMPUTED_JUDGE
from riff_store.scoring import FULL

_FLOW = Grouping(("flow",))
_STATES = Grouping(("flow", "state"))
_BY_AGENT = Grouping(("flow", "state", "agent"))
_NO_ROWS = 0, 0
_Ranked: TypeAlias = tuple[tuple[float, ...], Names]
_Losses: TypeAlias = Mapping[str, tuple[int, int]]
"""By agent, its calls in a state and those that the state lost."""


@dataclass(frozen=True, slots=True)
class FirstToMend:
    """Name the state behind most failed calls, and what mending it could bring.

    It lost `lost` of the `n` calls of its flow; `completion` is the share of these that were complete, and
    `completion_at_most` what it could be without the loss. Of the `agents` that led calls through the state
    `losing` lost some.

    With `steps` it is a step that tasks ask for: `agents` led calls that had to take it, failed ones of those that are
    `losing` missed it. Mended, `success_rate` could rise to `success_rate_at_most`; of completion nothing is known.
    """

    flow: str
    state: str
    lost: int
    n: int
    completion: float | None
    completion_at_most: float | None
    agents: Sequence[str]
    losing: Sequence[str]
    steps: StepCounts | None = None
    success_rate: float | None = None
    success_rate_at_most: float | None = None


def first_to_mend(store: Store, calls: Predicate | None = None) -> FirstToMend | None:
    """Return the state behind most failed calls, `None` where there is none; states of few calls come after all others.

    That is the state that lost most calls or, in a flow whose tasks ask for steps, the step that most failed calls
    missed: the state that a call ended in says nothing there of why it failed.
    """
    calls = None if calls is None else of_calls(calls)
    with store.snapshot():
        asking = flows_with_steps(store)
        by_agent: dict[Names, dict[str, tuple[int, int]]] = {}
        for (flow, state, agent), counted in lost_in_states(store, calls, _BY_AGENT).items():
            by_agent.setdefault((flow, state), {})[agent or ""] = counted
        states = {names: _all_agents(losses) for names, losses in by_agent.items()}
        steps = expected_steps(store, calls, _STATES) if asking else {}
        ranked: list[_Ranked] = [
            ((n < THIN, -float(lost)), names) for names, (n, lost) in states.items() if lost and names[0] not in asking
        ]
        ranked += [
            ((max(states.get(names, _NO_ROWS)[0], counts.expected) < THIN, *loss_by_step(counts)), names)
            for names, counts in steps.items()
            if (counts.missed_failed or counts.wrong_failed) and not is_handover(names[1] or "")
        ]
        if any(is_handover(names[1] or "") for _, names in ranked):
            ranked = _without_handovers(ranked, derived_flows(store))
        if not ranked:
            return None
        _, names = min(ranked)
        found, losses = steps.get(names), by_agent.get(names, {})
        return (
            _of_losses(store, calls, names, losses) if found is None else _of_step(store, calls, names, losses, found)
        )


def _all_agents(losses: _Losses) -> tuple[int, int]:
    return sum(n for n, _ in losses.values()), sum(lost for _, lost in losses.values())


def _without_handovers(ranked: Iterable[_Ranked], derived: Set[str]) -> list[_Ranked]:
    """Leave out the states in which derived calls were handed over: this is how they ended, and not why."""
    return [each for each in ranked if not (each[1][0] in derived and is_handover(each[1][1] or ""))]


def _of_losses(store: Store, calls: Predicate | None, names: Names, losses: _Losses) -> FirstToMend:
    flow, state = names[0] or "", names[1] or ""
    in_flow = both(Term("flow", "=", flow), calls)
    _, lost = _all_agents(losses)
    completion = _completion(store, in_flow)
    share = None if completion is None or completion.mean is None else completion.mean / FULL
    return FirstToMend(
        flow=flow,
        state=state,
        lost=lost,
        n=sum(n for n, _ in call_counts(store, in_flow, _FLOW).values()),
        completion=share,
        completion_at_most=None if share is None or completion is None else min(1.0, share + lost / completion.n),
        agents=sorted(losses),
        losing=sorted(agent for agent, (_, losses_there) in losses.items() if losses_there),
    )


def _of_step(store: Store, calls: Predicate | None, names: Names, losses: _Losses, steps: StepCounts) -> FirstToMend:
    """Return the step with what the share of successful calls could be, had no failed call missed it."""
    flow, state = names[0] or "", names[1] or ""
    in_flow = both(Term("flow", "=", flow), calls)
    (whole,) = call_sums(store, in_flow, _FLOW).values()
    by_agent = expected_steps(store, both(Term("state", "=", state), in_flow), Grouping(("agent", "state")))
    completion, success = _completion(store, in_flow), whole.success_measure()
    mended = steps.missed_failed or steps.wrong_failed
    return FirstToMend(
        flow=flow,
        state=state,
        lost=_all_agents(losses)[1],
        n=whole.n,
        completion=None if completion is None or completion.mean is None else completion.mean / FULL,
        completion_at_most=None,
        agents=sorted(agent or "" for agent, _ in by_agent),
        losing=sorted(
            agent or "" for (agent, _), counts in by_agent.items() if counts.missed_failed or counts.wrong_failed
        ),
        steps=steps,
        success_rate=success.mean,
        success_rate_at_most=None if success.mean is None else min(1.0, success.mean + mended / success.n),
    )


def _completion(store: Store, calls: Predicate | None) -> Measure | None:
    """Return how complete calls of a flow are, `None` where none was scored for it."""
    for sums in aspect_sums(store, calls, _FLOW, ("completion",)).values():
        for (_, judge), found in sums.items():
            if judge == COMPUTED_JUDGE:
                return found.measure()
    return None
