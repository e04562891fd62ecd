"""Find the state to begin with: the one that lost most calls (docs/metrics.md, section 6)."""

from __future__ import annotations

from riff_store.answers.cells import FirstToMend
from riff_store.database import Store
from riff_store.measure import THIN
from riff_store.predicates import Predicate, Term, both
from riff_store.queries.dimensions import Grouping, Names
from riff_store.queries.expected import flows_with_steps
from riff_store.queries.flows import flow_cells
from riff_store.queries.scope import of_calls
from riff_store.queries.sums import NO_ROWS, StateSums, add, state_sums
from riff_store.ranking import mean
from riff_store.scoring import FULL

_STATES = Grouping(("flow", "state"))


def first_to_mend(store: Store, calls: Predicate | None = None) -> FirstToMend | None:
    """Return the state that lost most calls, `None` where none did; states of few calls come after all others."""
    calls = None if calls is None else of_calls(calls)
    with store.snapshot():
        # Where tasks name the steps, the state that a call ended in says nothing of why it failed.
        with_steps = flows_with_steps(store)
        found = _pooled(store, calls, _STATES)
        losing = {names: sums for names, sums in found.items() if sums.lost and names[0] not in with_steps}
        if not losing:
            return None
        names, worst = min(losing.items(), key=lambda item: (item[1].n < THIN, -item[1].lost, item[0]))
        flow, state = names[0] or "", names[1] or ""
        in_flow = both(Term("flow", "=", flow), calls)
        (whole,) = flow_cells(store, in_flow, by=("flow",))
        agents = _pooled(store, both(Term("state", "=", state), in_flow), Grouping(("agent",)))
    completion = mean(whole.aspects, "completion")
    share = None if completion is None else completion / FULL
    return FirstToMend(
        flow=flow,
        state=state,
        lost=worst.lost,
        n=whole.n,
        completion=share,
        completion_at_most=None if share is None else min(1.0, share + worst.lost / whole.aspects["completion"].n),
        agents=sorted(agent or "" for (agent,) in agents),
        losing=sorted(agent or "" for (agent,), sums in agents.items() if sums.lost),
    )


def _pooled(store: Store, rows: Predicate | None, group: Grouping) -> dict[Names, StateSums]:
    """Return the sums of state rows by the names of the group, over all segments."""
    found = {}
    for names, segments in state_sums(store, rows, group).items():
        total = NO_ROWS
        for sums in segments.values():
            total = add(total, sums)
        found[names] = total
    return found
