"""Measure how the calls of flows went before and after each edit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from riff_store.database import Store
from riff_store.filters.dimensions import Grouping, run_starts
from riff_store.filters.predicates import Predicate
from riff_store.measure import Measure
from riff_store.queries.last_edits import Basis, Contained, Edit, Edits
from riff_store.queries.quality import Cells, SuccessChange, corrected, humanness_scores, success_change
from riff_store.queries.sums import call_sums, pooled
from riff_store.schema.sums import CallSums

_BY = ("flow", "run", "agent")
_Runs: TypeAlias = Mapping[str, Cells]
_Judged: TypeAlias = Mapping[str, frozenset[str]]
_Between: TypeAlias = tuple[str, str | None, str | None]


@dataclass(frozen=True, slots=True)
class FlowOutcome:
    """Describe how the calls of a flow in one run went: how many count, their success rate and quality."""

    n: int
    success: Measure
    quality: Measure


@dataclass(frozen=True, slots=True)
class EditEffect:
    """Describe an edit between two runs of its flow: the first that contains it, and one before that does not.

    The one before is the last whose edits the next one has all, so that no other line of work is taken for what was
    there before. `runs` counts the runs whose last edit it is, `together` the edits between the same two runs, this one
    among them. `basis` is `time` where the commit of one of the two does not show it, `None` if there is neither.
    `before` and `after` are how the flow's calls went in those runs, led by the agents that led it in both, `change`
    how far they differ. Unless they were `judged_alike`, by the same judges, their qualities do not compare.
    """

    edit: Edit
    runs: int
    together: int
    previous_run: str | None
    next_run: str | None
    before: FlowOutcome | None
    after: FlowOutcome | None
    change: SuccessChange | None
    judged_alike: bool
    basis: Basis | None


def edit_effects(store: Store, calls: Predicate | None = None) -> list[EditEffect]:
    """Return every edit with how its flow did before and after it; by flow, the latest edit first.

    A change is tested over the calls of the agents that led the flow in both runs, and corrected across all edits.
    """
    with store.snapshot():
        edits, started = Edits(store), run_starts(store)
        sums = call_sums(store, calls, Grouping(_BY)) if edits else {}
        scores = humanness_scores(store, calls, _BY[:2], None) if edits else {}
    flows: dict[str, dict[str, dict[tuple[str | None, ...], CallSums]]] = {}
    for (flow, run, agent), cell in sums.items():
        if started.get(run or "") is not None:
            flows.setdefault(flow or "", {}).setdefault(run or "", {})[agent,] = cell
    judged: dict[str, dict[str, frozenset[str]]] = {}
    for (flow, run), found in scores.items():
        judged.setdefault(flow or "", {})[run or ""] = frozenset(name for name, by in found.items() if by.n)
    order = sorted(started, key=lambda name: (started[name] or 0, name))
    return _corrected(
        _effect(span, flows.get(flow, {}), judged.get(flow, {}))
        for flow in sorted(edits.by_flow)
        for span in reversed(edit_spans(edits, flow, [run for run in order if run in flows.get(flow, {})]))
    )


def _effect(span: EditSpan, runs: _Runs, judged: _Judged) -> EditEffect:
    previous = None if span.previous_run is None else runs[span.previous_run]
    following = None if span.next_run is None else runs[span.next_run]
    change = None
    if previous is not None and following is not None:
        both = previous.keys() & following.keys()
        previous, following = (
            {agent: cell for agent, cell in cells.items() if agent in both} for cells in (previous, following)
        )
        change = success_change(previous, following)
    return EditEffect(
        **span._asdict(),
        before=_outcome(previous),
        after=_outcome(following),
        change=change,
        judged_alike=judged.get(span.previous_run or "") == judged.get(span.next_run or ""),
    )


def _outcome(cells: Cells | None) -> FlowOutcome | None:
    if not cells:
        return None
    whole = pooled(cells.values())
    return FlowOutcome(whole.n, whole.success_measure(), whole.quality_measure())


def _corrected(effects: Iterable[EditEffect]) -> list[EditEffect]:
    """Correct p across the tests behind all edits; those between the same two runs share one."""
    found = list(effects)
    tests: dict[_Between, SuccessChange | None] = {_between(effect): effect.change for effect in found}
    changes = dict(zip(tests, corrected(list(tests.values())), strict=True))
    return [replace(effect, change=changes[_between(effect)]) for effect in found]


def _between(effect: EditEffect) -> _Between:
    return effect.edit.flow, effect.previous_run, effect.next_run


# Find the runs that an edit is between: the first that contains it, and one before that does not.
class EditSpan(NamedTuple):
    """Name the runs around an edit as `EditEffect` describes them."""

    edit: Edit
    runs: int
    together: int
    previous_run: str | None
    next_run: str | None
    basis: Basis | None


def edit_spans(edits: Edits, flow: str, runs: Sequence[str]) -> list[EditSpan]:
    """Return the edits of a flow among its runs, both earliest first.

    Edits that neither a run nor the branch that was checked out contains are left out.
    """
    contained = [edits.contained(flow, run) for run in runs]
    last = Counter(found.edit for run in runs if (found := edits.last(flow, run)))
    seen = edits.merged(flow)
    for each in contained:
        seen |= each.edits
    places = [place for place in range(len(edits.by_flow[flow])) if seen >> place & 1]
    around = {place: _around(place, contained) for place in places}
    together = Counter(around.values())
    return [
        EditSpan(
            edit=(edit := edits.by_flow[flow][place]),
            runs=last[edit],
            together=together[around[place]],
            previous_run=None if before is None else runs[before],
            next_run=None if after is None else runs[after],
            basis=_basis(place, [contained[index] for index in (before, after) if index is not None]),
        )
        for place, (before, after) in around.items()
    ]


def _around(edit: int, runs: Sequence[Contained]) -> tuple[int | None, int | None]:
    """Return the places of the runs before and after an edit."""
    after = next((place for place, run in enumerate(runs) if run.edits >> edit & 1), None)
    known = -1 if after is None else runs[after].edits
    earlier = range(len(runs) if after is None else after)
    before = next((place for place in reversed(earlier) if not runs[place].edits & ~known), None)
    return before, after


def _basis(edit: int, runs: Sequence[Contained]) -> Basis | None:
    if not runs:
        return None
    return "commit" if all(run.by_commit >> edit & 1 for run in runs) else "time"
