"""Measure each agent on each flow, and families of flows."""

from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

from riff_store import schema as m
from riff_store.database import Store
from riff_store.filters.dimensions import Grouping, Names, judge_names, judges_shown, run_order, run_starts
from riff_store.filters.matching import matches
from riff_store.filters.predicates import Or, Predicate, Term, both
from riff_store.interaction import SUMS, TIMED, Interaction
from riff_store.measure import UNIT, Measure, is_thin, mean, rising
from riff_store.queries.last_edits import Edits, LastEdit
from riff_store.queries.sums import aspect_sums, call_counts, call_sums, has_interaction, rows_of_sums, typed_flows
from riff_store.schema import COMPUTED_JUDGE
from riff_store.schema.sums import AspectSums, CallSums
from riff_store.scoring import PARTS, operability_of

TREND = 10


class FlowCell(NamedTuple):
    """Describe a cell of the flow matrix: its names in `keys` (flow, agent and any `by`), and its means.

    `aspects` maps a computed aspect to its measure, `humanness` a judge to its own; latencies are seconds. `success` is
    the rate of calls that were correct and complete, `quality` the mean quality of calls, `computed_quality` that
    without judges, `lost` counts the failed calls that ended unserved. `blend` is operability before its caps. `trend`
    has success rates. `last_edit` is the flow's last before the latest run of the cell. Of the excluded calls
    `caller_failed` are those whose caller failed; `overall` is the success with these counted as they ended, `None` if
    there are none. `interaction` sums how the sides of the calls in `n` shared the line, `interaction_all` adds the
    excluded ones; both are `None` if no such call has a record of it. Where turns were `typed`, `slow` is not measured
    and latencies are no flaw.
    """

    keys: Mapping[str, str | None]
    n: int
    excluded: int
    aspects: Mapping[str, Measure]
    humanness: Mapping[str, Measure]
    success: Measure
    quality: Measure
    computed_quality: Measure
    lost: int | None
    operability: float | None
    blend: float | None
    trend: Sequence[float | None] = ()
    last_edit: LastEdit | None = None
    caller_failed: int = 0
    overall: Measure | None = None
    interaction: Interaction | None = None
    interaction_all: Interaction | None = None
    typed: bool = False

    @property
    def failed(self) -> int:
        """Return how many calls are known to be no success."""
        return 0 if self.success.mean is None else self.success.n - round(self.success.mean * self.success.n)


class ArchetypeCell(NamedTuple):
    """Describe a family of flows: its pooled cell, and the (flow, agent) with the least and the most success.

    `archetype` is None for the flows that name no family. Thin members represent a family only if there is no other;
    without any success rate there is none.
    """

    archetype: str | None
    flows: int
    family: FlowCell
    least: FlowCell | None
    most: FlowCell | None


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

    `judges` chooses the judges that have a mean and count in operability; quality counts all of them. With `trend` each
    cell carries its success rate in each of the last runs, oldest first, `None` if a run had no such call, with `edits`
    the last edit of its flow that its latest run contains.
    """
    with store.snapshot():
        cells = _cells(store, calls, by, judges)
        if trend:
            history = _history(store, calls, by)
            cells = [cell._replace(trend=history.get(tuple(cell.keys.values()), ())) for cell in cells]
        if edits and (known := Edits(store)):
            latest = _latest_runs(store, calls, by)
            cells = [
                cell._replace(last_edit=known.last(cell.keys.get("flow"), latest[tuple(cell.keys.values())]))
                for cell in cells
            ]
    return sorted(cells, key=least_operable_first)


def _cells(store: Store, calls: Predicate | None, by: Sequence[str], judges: Predicate | None) -> list[FlowCell]:
    group = Grouping(tuple(by))
    counts = call_sums(store, calls, group)
    sums = aspect_sums(store, calls, group)
    shown = selected_judges(store, judges)
    shared_line = _interaction_sums(store, calls, group)
    typed = typed_flows(store)
    return [
        _cell(
            dict(zip(by, names, strict=True)), found, sums.get(names, {}), shown,
            shared_line.get(names, _InteractionSums()), typed,
        )
        for names, found in counts.items()
    ]  # fmt: skip


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
    calls: CallSums,
    sums: Mapping[tuple[str, int], AspectSums],
    judges: Mapping[int, str],
    interaction: "_InteractionSums",
    typed_flows: Set[str],
) -> FlowCell:
    aspects = {aspect: found.measure(aspect) for (aspect, judge), found in sums.items() if judge == COMPUTED_JUDGE}
    humanness = {
        judges[judge]: found.measure()
        for (aspect, judge), found in sums.items()
        if aspect == "humanness" and judge in judges
    }
    typed = keys["flow"] in typed_flows if "flow" in keys else calls.typed > 0
    if typed:
        aspects.pop("slow", None)
    parts = {aspect: mean(aspects, aspect) for aspect in PARTS}
    if not calls.is_half_known:
        parts["correctness"] = None
    judged = {judge: measure.mean for judge, measure in humanness.items()}
    return FlowCell(
        keys=keys,
        n=calls.n,
        excluded=calls.excluded,
        aspects=dict(sorted(aspects.items())),
        humanness=dict(sorted(humanness.items())),
        success=calls.success_measure(),
        quality=calls.quality_measure(),
        computed_quality=calls.computed_quality_measure(),
        lost=calls.lost if calls.lost_n else None,
        operability=operability_of(parts, judged),
        blend=operability_of(parts, judged, capped=False),
        caller_failed=calls.caller_failed,
        overall=calls.overall_measure(),
        interaction=interaction.counted,
        interaction_all=interaction.every,
        typed=typed,
    )


def _latest_runs(store: Store, calls: Predicate | None, by: Sequence[str]) -> dict[Names, str]:
    """Return the latest run of each cell; one without a time only if it has no other."""
    started = run_starts(store)
    group = Grouping(tuple(dict.fromkeys((*by, "run"))))
    found: dict[Names, str] = {}
    for names in call_counts(store, calls, group):
        cell, run = names[: len(by)], names[group.by.index("run")] or ""
        found[cell] = max(run, found.get(cell, run), key=lambda name: (started.get(name) or 0, name))
    return found


def _history(store: Store, calls: Predicate | None, by: Sequence[str]) -> dict[Names, list[float | None]]:
    """Return the success rate of each cell in each of the last runs that the filter leaves."""
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
    found: dict[Names, list[float | None]] = {}
    for names, sums in call_sums(store, lately, group).items():
        steps = found.setdefault(names[: len(by)], [None] * len(last))
        steps[place[names[group.by.index("run")] or ""]] = sums.success_measure().mean
    return found


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
    measured = [cell for cell in members if cell.success.mean is not None]
    # A thin member shows little of how far members differ, but is better than none.
    compared = [cell for cell in measured if not is_thin(cell)] or measured
    return ArchetypeCell(
        archetype=family.keys["archetype"],
        flows=len({cell.keys["flow"] for cell in members}),
        family=family,
        least=min(compared, key=_by_success, default=None),
        most=max(compared, key=_by_success, default=None),
    )


def _by_success(cell: FlowCell) -> tuple[float, tuple[str, ...]]:
    return cell.success.mean or 0.0, tuple(name or "" for name in cell.keys.values())


def least_operable_first(cell: FlowCell) -> tuple[Any, ...]:
    """Sort by operability up, then blend up, then names; not measured comes last, and thin cells after all others."""
    return (
        is_thin(cell),
        *rising(cell.operability),
        *rising(cell.blend),
        tuple(name or "" for name in cell.keys.values()),
    )


# Sum how the sides of voice calls shared the line, from the rollup or from the calls, equal wherever it comes from.
class _InteractionSums(NamedTuple):
    """Describe the sums of the calls that count, and of all; `None` if no such call has a record of both sides."""

    counted: Interaction | None = None
    every: Interaction | None = None


def _interaction_sums(store: Store, calls: Predicate | None, group: Grouping) -> dict[Names, _InteractionSums]:
    """Return the sums by the names of the group."""
    if not has_interaction(store):
        return {}
    rows = rows_of_sums(store, m.INTERACTION, m.INTERACTION.sums, calls, group, m.INTERACTION.keys)
    names = group.namer(store)
    found: dict[Names, dict[bool, list[int]]] = {}
    for row in rows:
        *keys, errored = row[: -len(SUMS)]
        cell = found.setdefault(names(tuple(keys)), {})
        before = cell.get(bool(errored), [0] * len(SUMS))
        cell[bool(errored)] = [a + b for a, b in zip(before, row[-len(SUMS) :], strict=True)]
    return {cell: _summed(sums) for cell, sums in found.items()}


def _summed(cell: dict[bool, list[int]]) -> _InteractionSums:
    every = [sum(column) for column in zip(*cell.values(), strict=True)]
    return _InteractionSums(_interaction(cell[False]) if False in cell else None, _interaction(every))


def _interaction(sums: list[int]) -> Interaction:
    by_name: dict[str, Any] = dict(zip(SUMS, sums, strict=True))
    return Interaction(**by_name | {name: by_name[name] / UNIT for name in TIMED})
