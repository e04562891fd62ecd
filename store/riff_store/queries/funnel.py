"""Ask in which order calls come to the states of a flow, how many do, and where they fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from riff_store import schema as m
from riff_store.database import Store
from riff_store.filters.dimensions import Grouping, Names
from riff_store.filters.predicates import Predicate, of_calls
from riff_store.queries.states import by_kind
from riff_store.queries.sums import blame_counts, call_sums, outcome_sums, state_sums, step_counts


@dataclass(frozen=True, slots=True)
class FunnelRow:
    """Describe a state of a flow or an outcome: how many calls `reached` it, of which `failed` are blamed on it.

    `share` is that of the flow's calls; `position` the mean place of the first visit among the visits of a call, from
    0, `None` where no call came here. `next` counts where calls went from here. `kinds` says what went wrong.
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
    """Hold the rows of a flow, in the order in which calls first come to them, outcomes last.

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
        visited = state_sums(store, calls, states)
        ends = outcome_sums(store, calls, states)
        steps = step_counts(store, calls, states)
        blames = blame_counts(store, calls, states)
        flow_names = dict(store.execute(m.Flow.select(m.Flow.id, m.Flow.name)))
        known = store.execute(
            m.State.select(m.State.flow, m.State.name, m.State.outcome).where(m.State.outcome.is_null(False))
        )
        outcomes = {(flow_names[flow], name): outcome for flow, name, outcome in known}
    rows: dict[Names, list[FunnelRow]] = {}
    for names in dict.fromkeys((*visited, *ends, *blames)):
        *place, state = names
        sums = list(visited.get(names, {}).values())
        end = ends.get(names)
        n = sum(each.n for each in sums) + (end.n if end else 0)
        placed = sum(each.position_n for each in sums) + (end.n if end else 0)
        at = sum(each.position for each in sums) + (end.position if end else 0)
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
                outcome=outcomes.get((flow or "", state or "")) if end or not sums else None,
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


def _in_order(row: FunnelRow) -> tuple[object, ...]:
    """Sort by where calls first come to a state, then the more calls; states that none came to, then outcomes last."""
    placed = row.position is not None
    ends = {None: 0, "escalation": 1, "success": 2}[row.outcome]
    return ends, not placed, row.position if ends == 0 and placed else 0.0, -row.reached, row.state
