"""Measure each agent on each flow, and families of flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from riff_store.answers.cells import ArchetypeCell, FlowCell
from riff_store.database import Store
from riff_store.measure import Measure
from riff_store.models import COMPUTED_JUDGE
from riff_store.predicate_eval import matches
from riff_store.predicates import Or, Predicate, Term, both
from riff_store.queries.dimensions import Grouping, Names, judge_names, judges_shown, run_order, run_starts
from riff_store.queries.last_edits import Edits
from riff_store.queries.sums import AspectSums, aspect_sums, call_counts
from riff_store.ranking import least_operable_first, mean
from riff_store.scoring import operability

TREND = 10


def flow_cells(
    store: Store,
    calls: Predicate | None = None,
    by: Sequence[str] = ("flow", "agent"),
    judges: Predicate | None = None,
    *,
    trend: bool = False,
    edits: bool = False,
) -> list[FlowCell]:
    """Return the cells of the flow matrix, the least operable first.

    `judges` chooses the judges that have a mean and count in operability. With `trend` each cell
    carries its operability in each of the last runs, oldest first, `None` where a run had no such call, with
    `edits` the last edit of its flow before its latest run.
    """
    with store.snapshot():
        cells = _cells(store, calls, by, judges)
        if trend:
            history = _history(store, calls, by, judges)
            cells = [replace(cell, trend=history.get(tuple(cell.keys.values()), ())) for cell in cells]
        if edits and (known := Edits(store)):
            latest = _latest_runs(store, calls, by)
            cells = [
                replace(cell, last_edit=known.last(cell.keys.get("flow"), latest.get(tuple(cell.keys.values()))))
                for cell in cells
            ]
    return sorted(cells, key=least_operable_first)


def _cells(store: Store, calls: Predicate | None, by: Sequence[str], judges: Predicate | None) -> list[FlowCell]:
    group = Grouping(tuple(by))
    counts = call_counts(store, calls, group)
    sums = aspect_sums(store, calls, group)
    shown = selected_judges(store, judges)
    return [_cell(dict(zip(by, names, strict=True)), n, excluded, sums.get(names, {}), shown)
            for names, (n, excluded) in counts.items()]  # fmt: skip


def selected_judges(store: Store, judges: Predicate | None) -> dict[int, str]:
    """Return the displayed names of the judges that a filter leaves, by key."""
    shown, names = judges_shown(store), judge_names(store)
    return {
        key: shown[key]
        for key, name in names.items()
        if judges is None or matches(judges, {"judge": [name, shown[key]]}, ("judge",))
    }


def _cell(
    keys: Mapping[str, str | None],
    n: int,
    excluded: int,
    sums: Mapping[tuple[str, int], AspectSums],
    judges: Mapping[int, str],
) -> FlowCell:
    aspects = {aspect: found.measure(aspect) for (aspect, judge), found in sums.items() if judge == COMPUTED_JUDGE}
    humanness = {
        judges[judge]: found.measure()
        for (aspect, judge), found in sums.items()
        if aspect == "humanness" and judge in judges
    }
    correctness = sums.get(("correctness", COMPUTED_JUDGE))
    return FlowCell(
        keys=keys,
        n=n,
        excluded=excluded,
        aspects=dict(sorted(aspects.items())),
        humanness=dict(sorted(humanness.items())),
        successes=correctness.successes() if correctness else None,
        operability=_operability(sums, judges),
    )


def _operability(sums: Mapping[tuple[str, int], AspectSums], judges: Mapping[int, str]) -> float | None:
    def mean(aspect: str) -> float | None:
        found = sums.get((aspect, COMPUTED_JUDGE))
        return found.mean if found else None

    humanness = {
        judges[judge]: found.mean
        for (aspect, judge), found in sums.items()
        if aspect == "humanness" and judge in judges
    }
    return operability(mean("correctness"), mean("completion"), mean("errors"), mean("latency_p95"), humanness)


def _latest_runs(store: Store, calls: Predicate | None, by: Sequence[str]) -> dict[Names, int]:
    """Return the start of the latest run of each cell, where that is known."""
    started = run_starts(store)
    group = Grouping(tuple(dict.fromkeys((*by, "run"))))
    found: dict[Names, int] = {}
    for names in call_counts(store, calls, group):
        moment = started.get(names[group.by.index("run")] or "")
        if moment is not None:
            found[names[: len(by)]] = max(moment, found.get(names[: len(by)], moment))
    return found


def _history(
    store: Store, calls: Predicate | None, by: Sequence[str], judges: Predicate | None
) -> dict[Names, list[float | None]]:
    """Return the operability of each cell in each of the last runs that the filter leaves."""
    order = run_order(store)
    if calls is not None:
        left = {run for (run,), (n, _) in call_counts(store, calls, Grouping(("run",))).items() if n}
        order = {run: place for run, place in order.items() if run in left}
    last = sorted(order, key=order.__getitem__)[-TREND:]
    if not last:
        return {}
    place = {run: index for index, run in enumerate(last)}
    lately = both(Or(tuple(Term("run", "=", run) for run in last)), calls)
    group = Grouping(tuple(dict.fromkeys((*by, "run"))))
    sums, shown = aspect_sums(store, lately, group), selected_judges(store, judges)
    found: dict[Names, list[float | None]] = {}
    for names in call_counts(store, lately, group):
        steps = found.setdefault(names[: len(by)], [None] * len(last))
        steps[place[names[group.by.index("run")] or ""]] = _operability(sums.get(names, {}), shown)
    return found


_NOTHING = Measure(0, 0)


def archetypes(store: Store, calls: Predicate | None = None) -> list[ArchetypeCell]:
    """Pool flows by archetype, the least operable first; flows that name none are one family without a name."""
    with store.snapshot():
        families = flow_cells(store, calls, by=("archetype",))
        cells = flow_cells(store, calls, by=("archetype", "flow", "agent"))
    members: dict[str | None, list[FlowCell]] = {}
    for cell in cells:
        members.setdefault(cell.keys["archetype"], []).append(cell)
    return [_family(family, members[family.keys["archetype"]]) for family in families]


def _family(family: FlowCell, members: list[FlowCell]) -> ArchetypeCell:
    worst = min(members, key=_worst_member)
    return ArchetypeCell(
        archetype=family.keys["archetype"],
        flows=len({cell.keys["flow"] for cell in members}),
        n=family.n,
        excluded=family.excluded,
        operability=family.operability,
        correctness=family.aspects.get("correctness", _NOTHING),
        completion=family.aspects.get("completion", _NOTHING),
        worst_flow=worst.keys["flow"] or "",
        worst_operability=worst.operability,
    )


def _worst_member(cell: FlowCell) -> tuple[Any, ...]:
    """Sort by operability; where the caps make members equal, the one that is least often correct comes first."""
    operability, names = least_operable_first(cell)[:-1], least_operable_first(cell)[-1:]
    correctness = mean(cell.aspects, "correctness")
    return *operability, correctness is None, correctness or 0.0, *names
