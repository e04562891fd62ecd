"""Find the state to begin with: the one behind most failed calls (docs/metrics.md, section 6)."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import TypeAlias

from riff_store.answers.cells import FirstToMend
from riff_store.answers.steps import StepCounts
from riff_store.database import Store
from riff_store.measure import THIN
from riff_store.predicates import Predicate, Term, both
from riff_store.queries.dimensions import Grouping, Names
from riff_store.queries.expected import derived_flows, expected_steps, flows_with_steps
from riff_store.queries.flows import flow_cells
from riff_store.queries.scope import of_calls
from riff_store.queries.sums import lost_in_states
from riff_store.ranking import is_handover, loss_by_step, mean
from riff_store.scoring import FULL

_STATES = Grouping(("flow", "state"))
_NO_ROWS = 0, 0
_Ranked: TypeAlias = tuple[tuple[float, ...], Names]


def first_to_mend(store: Store, calls: Predicate | None = None) -> FirstToMend | None:
    """Return the state behind most failed calls, `None` where there is none; states of few calls come after all others.

    That is the state that lost most calls or, in a flow whose tasks ask for steps, the step that most failed calls
    missed: the state that a call ended in says nothing there of why it failed.
    """
    calls = None if calls is None else of_calls(calls)
    with store.snapshot():
        asking = flows_with_steps(store)
        states = lost_in_states(store, calls, _STATES)
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
        found = steps.get(names)
        _, lost = states.get(names, _NO_ROWS)
        return _of_losses(store, calls, names, lost) if found is None else _of_step(store, calls, names, lost, found)


def _without_handovers(ranked: Iterable[_Ranked], derived: Set[str]) -> list[_Ranked]:
    """Leave out the states in which derived calls were handed over: this is how they ended, and not why."""
    return [each for each in ranked if not (each[1][0] in derived and is_handover(each[1][1] or ""))]


def _of_losses(store: Store, calls: Predicate | None, names: Names, lost: int) -> FirstToMend:
    flow, state = names[0] or "", names[1] or ""
    in_flow = both(Term("flow", "=", flow), calls)
    (whole,) = flow_cells(store, in_flow, by=("flow",))
    agents = lost_in_states(store, both(Term("state", "=", state), in_flow), Grouping(("agent",)))
    completion = mean(whole.aspects, "completion")
    share = None if completion is None else completion / FULL
    return FirstToMend(
        flow=flow,
        state=state,
        lost=lost,
        n=whole.n,
        completion=share,
        completion_at_most=None if share is None else min(1.0, share + lost / whole.aspects["completion"].n),
        agents=sorted(agent or "" for (agent,) in agents),
        losing=sorted(agent or "" for (agent,), (_, losses) in agents.items() if losses),
    )


def _of_step(store: Store, calls: Predicate | None, names: Names, lost: int, steps: StepCounts) -> FirstToMend:
    """Return the step with what the share of successful calls could be, had no failed call missed it."""
    flow, state = names[0] or "", names[1] or ""
    in_flow = both(Term("flow", "=", flow), calls)
    (whole,) = flow_cells(store, in_flow, by=("flow",))
    by_agent = expected_steps(store, both(Term("state", "=", state), in_flow), Grouping(("agent", "state")))
    completion, success = mean(whole.aspects, "completion"), whole.success.mean
    mended = steps.missed_failed or steps.wrong_failed
    return FirstToMend(
        flow=flow,
        state=state,
        lost=lost,
        n=whole.n,
        completion=None if completion is None else completion / FULL,
        completion_at_most=None,
        agents=sorted(agent or "" for agent, _ in by_agent),
        losing=sorted(
            agent or "" for (agent, _), counts in by_agent.items() if counts.missed_failed or counts.wrong_failed
        ),
        steps=steps,
        success_rate=success,
        success_rate_at_most=None if success is None else min(1.0, success + mended / whole.success.n),
    )
