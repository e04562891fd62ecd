"""Measure how good calls were run by run, and flow by flow for each agent, in the eyes of each judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import itemgetter
from typing import Literal, NamedTuple, TypeAlias

from riff_store import schema as m
from riff_store.database import Store
from riff_store.filters.dimensions import Grouping, Names, run_order, run_starts
from riff_store.filters.predicates import Predicate
from riff_store.measure import Measure
from riff_store.queries.flows import selected_judges
from riff_store.queries.last_edits import Edits, LastEdit
from riff_store.queries.sums import aspect_sums, call_sums, pooled
from riff_store.schema.sums import CallSums
from riff_store.statistics import significance
from riff_store.statistics.significance import Stratum, rate_change, stratified_fisher
from riff_store.vocabulary import COMPUTED

Cells: TypeAlias = Mapping[Names, CallSums]

ChangeVerdict: TypeAlias = Literal["better", "worse", "noise"]


@dataclass(frozen=True, slots=True)
class SuccessChange:
    """Describe how the success rate of the calls of the same flows and agents changed.

    `effect` is the second rate less the first within each flow and agent, `n_before` and `n_after` count the
    calls that this compares. `p_adjusted` is corrected across all changes that were tested together.
    """

    effect: float
    n_before: int
    n_after: int
    p: float
    p_adjusted: float
    verdict: ChangeVerdict


@dataclass(frozen=True, slots=True)
class FlowChange:
    """Describe the change of one flow, whose rates are over all of its calls."""

    flow: str
    before: Measure
    after: Measure
    change: SuccessChange


def success_change(before: Cells, after: Cells) -> SuccessChange | None:
    """Return the change between calls of the cells that both sides have, `None` if they share none."""
    strata = [
        Stratum(cell.success, cell.success_n, after[names].success, after[names].success_n)
        for names, cell in before.items()
        if names in after and cell.success_n and after[names].success_n
    ]
    effect = rate_change(strata)
    if effect is None:
        return None
    first, second = sum(one.first_n for one in strata), sum(one.second_n for one in strata)
    p = stratified_fisher(strata)
    return SuccessChange(effect, first, second, p, p, _verdict(effect, p))


def corrected(changes: Sequence[SuccessChange | None]) -> list[SuccessChange | None]:
    """Return changes with p corrected across all of them (Benjamini-Hochberg), and its meaning then."""
    adjusted = iter(significance.benjamini_hochberg([change.p for change in changes if change is not None]))
    return [change and _corrected(change, next(adjusted)) for change in changes]


def _corrected(change: SuccessChange, p: float) -> SuccessChange:
    return replace(change, p_adjusted=p, verdict=_verdict(change.effect, p))


def _verdict(effect: float, p: float) -> ChangeVerdict:
    if p > significance.SIGNIFICANT or not effect:
        return "noise"
    return "better" if effect > 0 else "worse"


_NO_SCORE = Measure(0, 0)
Scores: TypeAlias = Mapping[Names, Mapping[str, Measure]]


class RunQuality(NamedTuple):
    """Describe a run on the timeline, its measures over all its calls that count.

    `quality` maps `(computed)` to the quality without humanness, and each judge to its own scores. `change` is that
    against the run before, `moved` the flows whose change is more than chance. `started_at` is microseconds since
    the epoch. `edit` is the latest edit of any of its flows that it contains.
    """

    run: str
    started_at: int | None
    commit: str | None
    flows: int
    n: int
    excluded: int
    success: Measure
    quality: Mapping[str, Measure]
    change: SuccessChange | None = None
    moved: Sequence[FlowChange] = ()
    edit: LastEdit | None = None


@dataclass(frozen=True, slots=True)
class QualityCell:
    """Describe one judge's view of one agent on one flow, or `(computed)`: the quality without humanness.

    The agent is `None` for all of the flow's calls.
    """

    agent: str | None
    judge: str
    quality: Measure


@dataclass(frozen=True, slots=True)
class FlowQuality:
    """Describe a flow in the calibration panel: a cell for each agent that led it and each judge, in this order.

    `pooled` are the cells over all its calls.
    """

    flow: str
    n: int
    excluded: int
    cells: Sequence[QualityCell]
    pooled: Sequence[QualityCell]


class RunChanges(NamedTuple):
    """Describe how a run differs from the one before it: as a whole, and in which flows by more than chance."""

    whole: SuccessChange | None
    moved: Sequence[FlowChange]


_FIRST = RunChanges(None, ())


class Timeline(NamedTuple):
    """Describe the first runs of a timeline, and of all of them what changed, the edits and `judges`.

    All have `n` calls together, which went as `success` shows.
    """

    runs: Sequence[RunQuality]
    changes: Sequence[RunChanges]
    edits: Sequence[LastEdit | None]
    judges: Sequence[str]
    n: int
    success: Measure


def timeline(
    store: Store, calls: Predicate | None = None, judges: Predicate | None = None, first: int | None = None
) -> Timeline:
    """Return the runs that have such calls, so many `first` ones, the earliest first; those without a time come last.

    `judges` chooses the judges besides `(computed)`. Each run is compared with the one before it, as far as both have
    a time.
    """
    with store.snapshot():
        cells = call_sums(store, calls, Grouping(("run", "flow", "agent")))
        runs = _split(_ordered(cells))
        scores = humanness_scores(store, calls, ("run",), judges)
        commits = dict(store.execute(m.Run.select(m.Run.name, m.Run.commit)))
        started, order, edits = run_starts(store), run_order(store), Edits(store)
    ordered = sorted(runs, key=lambda name: order.get(name, 0))
    flows = {run: _split(cells) for run, cells in runs.items()}
    timed = [run for run in ordered if started.get(run) is not None]
    changes = _changes([runs[run] for run in timed], [flows[run] for run in timed])
    changes += [_FIRST] * (len(ordered) - len(changes))
    judged = _judges(scores)
    edited = [edits.latest(flows[run], run) for run in ordered]
    found = [
        RunQuality(
            run=run,
            started_at=started.get(run),
            commit=commits.get(run),
            flows=len(flows[run]),
            n=whole.n,
            excluded=whole.excluded,
            success=whole.success_measure(),
            quality=_quality(whole, scores.get((run,), {}), judged),
            change=change.whole,
            moved=change.moved,
            edit=edit,
        )
        for run, change, edit in zip(ordered[:first], changes, edited, strict=False)
        for whole in [pooled(runs[run].values())]
    ]
    every = pooled(cells.values()) if cells else None
    success = every.success_measure() if every else Measure(0, 0)
    return Timeline(found, changes, edited, judged, every.n if every else 0, success)


def flow_table(store: Store, calls: Predicate | None = None, judges: Predicate | None = None) -> list[FlowQuality]:
    """Return the flows, the least quality of its calls first; `judges` chooses the judges besides `(computed)`."""
    with store.snapshot():
        flows = _split(_ordered(call_sums(store, calls, Grouping(("flow", "agent")))))
        of_flows = humanness_scores(store, calls, ("flow",), judges)
        of_agents = humanness_scores(store, calls, ("flow", "agent"), judges)
    judged = _judges(of_flows)
    return sorted((_flow(flow, flows[flow], of_flows, of_agents, judged) for flow in flows), key=_least_first)


def _ordered(cells: Cells) -> Cells:
    return dict(sorted(cells.items(), key=itemgetter(0)))


def _split(cells: Cells) -> dict[str, dict[Names, CallSums]]:
    """Return sums by the first of their names, then by the others, in the order that they have."""
    found: dict[str, dict[Names, CallSums]] = {}
    for names, sums in cells.items():
        found.setdefault(names[0] or "", {})[names[1:]] = sums
    return found


def humanness_scores(store: Store, calls: Predicate | None, by: tuple[str, ...], judges: Predicate | None) -> Scores:
    """Return the mean of the scores of humanness that each judge gave, by the names of `by`."""
    chosen = selected_judges(store, judges)
    return {
        names: {chosen[judge]: found.measure() for (_, judge), found in sums.items() if judge in chosen}
        for names, sums in aspect_sums(store, calls, Grouping(by), only=("humanness",)).items()
    }


def _judges(scores: Scores) -> list[str]:
    return sorted({judge for found in scores.values() for judge in found})


def _quality(sums: CallSums, scores: Mapping[str, Measure], judges: Iterable[str]) -> dict[str, Measure]:
    return {COMPUTED: sums.computed_quality_measure(), **{judge: scores.get(judge, _NO_SCORE) for judge in judges}}


def _changes(runs: Sequence[Cells], flows: Sequence[Mapping[str, Cells]]) -> list[RunChanges]:
    """Return how each of some runs in time, given as a whole and by flow, differs from the one before it.

    Runs as wholes are one family of tests, their flows another.
    """
    wholes = corrected([success_change(before, after) for before, after in pairwise(runs)])
    tested = [
        (place, flow, before[flow], after[flow], success_change(before[flow], after[flow]))
        for place, (before, after) in enumerate(pairwise(flows))
        for flow in before
        if flow in after
    ]
    moved: list[list[FlowChange]] = [[] for _ in wholes]
    for (place, flow, before, after, _), change in zip(tested, corrected([test[4] for test in tested]), strict=True):
        if change is not None and change.verdict != "noise":
            first, second = pooled(before.values()), pooled(after.values())
            moved[place].append(FlowChange(flow, first.success_measure(), second.success_measure(), change))
    return [
        _FIRST,
        *(
            RunChanges(whole, sorted(found, key=lambda flow: flow.change.p))
            for whole, found in zip(wholes, moved, strict=True)
        ),
    ][: len(runs)]


def _flow(
    flow: str, agents: Mapping[Names, CallSums], of_flows: Scores, of_agents: Scores, judges: Sequence[str]
) -> FlowQuality:
    whole = pooled(agents.values())
    return FlowQuality(
        flow=flow,
        n=whole.n,
        excluded=whole.excluded,
        cells=[
            QualityCell(agent or "", judge, measure)
            for (agent,), sums in agents.items()
            for judge, measure in _quality(sums, of_agents.get((flow, agent), {}), judges).items()
        ],
        pooled=[
            QualityCell(None, judge, measure)
            for judge, measure in _quality(whole, of_flows.get((flow,), {}), judges).items()
        ],
    )


def _least_first(flow: FlowQuality) -> tuple[bool, float, str]:
    mean = flow.pooled[0].quality.mean
    return mean is None, mean or 0.0, flow.flow
