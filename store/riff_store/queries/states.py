"""Measure how calls fare in each state and in each segment of states, and how tools fare there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from functools import reduce
from typing import Any, NamedTuple, overload

from riff_store import schema as m
from riff_store.database import Store
from riff_store.filters.dimensions import Grouping, Names
from riff_store.filters.matching import matches
from riff_store.filters.predicates import Predicate, both, terms
from riff_store.filters.sql import needs
from riff_store.measure import Measure, falling, is_thin, mean, rising
from riff_store.queries.steps import StepCounts, expected_steps, flows_with_steps
from riff_store.queries.sums import (
    NO_ROWS,
    Blames,
    add,
    blame_counts,
    ordering_sums,
    ranking_sums,
    state_counts,
    state_sums,
    step_counts,
    tool_sums,
    typed_flows,
)
from riff_store.schema.sums import StateSums
from riff_store.vocabulary import UNKNOWN_SEGMENT

ORDERED_BY = ("stall", "progress", "escalation")
"""The measures that the worst state is told by (`worst_first`)."""
_DESCRIBED = ("flow", "archetype", "state", "segment")


class StateCell(NamedTuple):
    """Describe a cell of the state matrix; `keys` have flow, state and any `by`, `lost` counts the calls lost there.

    `measures` are progress, stall, escalation, revisit, dwell_turns, latency_p95 (seconds), guard_error and
    slot_fill_rate. A state that a flow file describes and no call has seen has n = 0. `steps` counts the calls whose
    task asks for the state, `None` if none does; `asks_steps` shows that tasks of its flow name steps. `blames` counts
    the failed calls that are blamed on the state, by kind of failure, the most first. If its turns were `typed`, `slow`
    is not measured and latency is not a reason.
    """

    keys: Mapping[str, str | None]
    segment: str
    n: int
    measures: Mapping[str, Measure]
    to_states: Mapping[str, int]
    lost: int | None = None
    steps: StepCounts | None = None
    asks_steps: bool = False
    typed: bool = False
    blames: Mapping[str, int] = {}

    @property
    def failed(self) -> int:
        """Return how many failed calls are blamed on the state."""
        return sum(self.blames.values())

    def figure(self, metric: str) -> float | None:
        """Return what a metric shows: its mean, of lost calls their number."""
        return _figure(self, metric)


class SegmentCell(NamedTuple):
    """Describe a cell of the segment matrix, with the member that does worst, of which only the measures are given.

    `lost` counts the calls lost in its states. `most` and `least` are the members with most and least progress.
    """

    keys: Mapping[str, str | None]
    n: int
    measures: Mapping[str, Measure]
    worst: StateCell
    least: StateCell
    most: StateCell
    lost: int | None = None
    typed: bool = False
    blames: Mapping[str, int] = {}

    @property
    def failed(self) -> int:
        """Return how many failed calls are blamed on the states of the segment."""
        return sum(self.blames.values())

    def figure(self, metric: str) -> float | None:
        """Return what a metric shows: its mean, of lost calls their number."""
        return _figure(self, metric)


def state_cells(
    store: Store,
    calls: Predicate | None = None,
    facts: Predicate | None = None,
    by: Sequence[str] = ("flow", "state"),
    *,
    whole: bool = True,
    only: Collection[Names] | None = None,
    first: int | None = None,
) -> StateCells:
    """Return the cells of the state matrix, the worst first; terms about states narrow the states' rows.

    `facts` is one more predicate, kept apart where a caller has it apart. By flow and state alone, states that flow
    files describe and no call has seen are there with n = 0, unless the filter asks for more than flows and states; so
    are states that tasks asked for in vain. Cells that are not to be `whole` have the measures that order them alone,
    and no steps to other states; nor do those of `only` some names have these. Where `first` shows how many are looked
    at, the others may be less than whole.
    """
    rows = both(calls, facts)
    group = Grouping(tuple(by))
    with store.snapshot():
        # Rows of calls, unlike sums, are not read twice for it: that would take longer.
        in_parts = first is not None and only is None and needs(rows, by, state_rows=True) != "base"
        sums = (ordering_sums if in_parts or not whole else state_sums)(store, rows, group)
        expected = expected_steps(store, rows, group)
        blames = blame_counts(store, rows, group)
        asking = flows_with_steps(store)
        typed = typed_flows(store)
        described = _described(store, rows, by) if set(by) == {"flow", "state"} else {}
        totals = {names: reduce(add, found.values()) for names, found in sums.items()}
        named = dict.fromkeys([*sums, *expected, *blames], UNKNOWN_SEGMENT) | described
        ranked = sorted(named if only is None else only, key=lambda names: _place(totals.get(names, NO_ROWS), names))
        shown = ranked[:first] if in_parts else []
        if shown:
            sums = {**sums, **state_sums(store, rows, group, shown)}
            totals |= {names: reduce(add, sums[names].values()) for names in shown if names in sums}
        steps = step_counts(store, rows, group, shown) if whole and only is None else {}

    def cell(names: Names) -> StateCell:
        return _cell(
            dict(zip(by, names, strict=True)),
            totals.get(names, NO_ROWS),
            sums.get(names, {}),
            steps.get(names, {}),
            expected.get(names),
            asking,
            typed,
            named[names],
            whole,
            blames.get(names, {}),
        )

    flow = by.index("flow") if "flow" in by else None
    told = [names for names in ranked if names in expected or (flow is not None and names[flow] in typed)]
    return StateCells(ranked, cell, told)


class StateCells(Sequence[StateCell]):
    """Make cells of the state matrix as they are looked at."""

    def __init__(self, names: Sequence[Names], make: Callable[[Names], StateCell], told: Sequence[Names]) -> None:
        self._names, self._make, self._told = names, make, told

    @property
    def told(self) -> Iterator[StateCell]:
        """Return the cells that tasks ask for or whose turns were typed."""
        return map(self._make, self._told)

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, index: int) -> StateCell: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[StateCell]: ...
    def __getitem__(self, index: int | slice) -> StateCell | Sequence[StateCell]:
        return [*map(self._make, self._names[index])] if isinstance(index, slice) else self._make(self._names[index])


def count_states(store: Store, by: Sequence[str] = ("flow", "state")) -> int:
    """Return how many cells the state matrix of all calls has."""
    group = Grouping(tuple(by))
    with store.snapshot():
        described = _described(store, None, by) if set(by) == {"flow", "state"} else ()
        expected, blames = expected_steps(store, None, group), blame_counts(store, None, group)
        return len({*state_counts(store, None, group), *expected, *blames, *described})


def _cell(
    keys: Mapping[str, str | None],
    total: StateSums,
    segments: Mapping[str, StateSums],
    steps: Mapping[str, int],
    expected: StepCounts | None,
    asking: Set[str],
    typed: Set[str],
    described: str,
    whole: bool,
    blames: Blames,
) -> StateCell:
    flow = keys.get("flow")
    measures = _Measures(total, typed=flow in typed)
    return StateCell(
        keys=keys,
        segment=(
            (min(segments, key=lambda name: (-segments[name].n, name)) if len(segments) > 1 else next(iter(segments)))
            if segments
            else next((segment for segment, _ in blames), described)
        ),
        n=total.n,
        measures=measures if whole else {name: measures[name] for name in ORDERED_BY},
        to_states=dict(sorted(steps.items())) if len(steps) > 1 else steps,
        lost=total.lost if total.lost_n else None,
        steps=expected,
        asks_steps=flow in asking,
        typed=flow in typed,
        blames=by_kind(blames),
    )


def by_kind(blames: Blames) -> dict[str, int]:
    """Return how many failed calls are blamed, by kind of failure, the most first."""
    if not blames:
        return {}
    found: dict[str, int] = {}
    for (_, kind), n in blames.items():
        found[kind] = found.get(kind, 0) + n
    return dict(sorted(found.items(), key=lambda each: (-each[1], each[0])))


class _Measures(Mapping[str, Measure]):
    """Make the means of a cell once any of them is looked at."""

    __slots__ = ("_made", "_sums", "_typed")

    def __init__(self, sums: StateSums, *, typed: bool) -> None:
        self._sums, self._typed = sums, typed
        self._made: Mapping[str, Measure] | None = None

    def _all(self) -> Mapping[str, Measure]:
        if self._made is None:
            self._made = _measures(self._sums, typed=self._typed)
        return self._made

    def __getitem__(self, name: str) -> Measure:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


def _measures(sums: StateSums, *, typed: bool) -> dict[str, Measure]:
    """Return the means of a cell; nobody waits on the line for what is typed."""
    return {**sums.measures(), **({"slow": Measure(0, 0)} if typed else {})}


def _described(store: Store, rows: Predicate | None, by: Sequence[str]) -> dict[Names, str]:
    """Return the segment of each working state that flow files describe; of several files the last by path counts."""
    if any(term.field not in _DESCRIBED for term in terms(rows)):
        return {}
    query = (
        m.DescribedState.select(m.Flow.name, m.Flow.archetype, m.State.name, m.Segment.name)
        .join(m.State, on=(m.State.id == m.DescribedState.state))
        .join(m.Flow, on=(m.Flow.id == m.State.flow))
        .join(m.Segment, on=(m.Segment.id == m.DescribedState.segment))
        .join(m.SourceFile, on=(m.SourceFile.id == m.DescribedState.source_file))
        .where(m.State.outcome.is_null())
        .order_by(m.SourceFile.path)
    )
    found: dict[Names, str] = {}
    for flow, archetype, state, segment in store.execute(query):
        record = {"flow": flow, "archetype": archetype, "state": state, "segment": segment}
        if rows is None or matches(rows, record, ()):
            found[tuple(record[name] for name in by)] = segment
    return found


def segment_cells(
    store: Store,
    calls: Predicate | None = None,
    facts: Predicate | None = None,
    by: Sequence[str] = ("flow", "segment"),
    *,
    only: Collection[Names] | None = None,
) -> list[SegmentCell]:
    """Return the cells of the segment matrix, or `only` some, the worst first; each pools the rows of its states.

    Terms about states narrow the rows. The worst member is judged by its rows in this segment.
    """
    keys = _keys_of_members(by)
    with store.snapshot():
        sums = state_sums(store, both(calls, facts), Grouping(keys))
        blames = blame_counts(store, both(calls, facts), Grouping(keys))
        typed = typed_flows(store)
    members: dict[Names, list[tuple[StateCell, StateSums]]] = {}
    for names, segments in sums.items():
        member = dict(zip(keys, names, strict=True))
        for segment, found in segments.items():
            cell = tuple(segment if name == "segment" else member[name] for name in by)
            if only is not None and cell not in only:
                continue
            row = StateCell(
                keys=member,
                segment=segment,
                n=found.n,
                measures=_measures(found, typed=member["flow"] in typed),
                to_states={},
                lost=found.lost if found.lost_n else None,
                typed=member["flow"] in typed,
            )
            members.setdefault(cell, []).append((row, found))
    blamed: dict[Names, dict[tuple[str, str], int]] = {}
    for names, of_state in sorted(blames.items(), key=_most_blamed_first):
        member = dict(zip(keys, names, strict=True))
        for (segment, kind), n in of_state.items():
            cell = tuple(segment if name == "segment" else member[name] for name in by)
            if only is not None and cell not in only:
                continue
            counted = blamed.setdefault(cell, {})
            counted[segment, kind] = counted.get((segment, kind), 0) + n
            # A segment that no call came to can be blamed: a step of the task was never taken.
            members.setdefault(cell, [(StateCell(member, segment, 0, NO_ROWS.measures(), {}), NO_ROWS)])
    cells = [
        _segment_cell(dict(zip(by, names, strict=True)), found, by_kind(blamed.get(names, {})))
        for names, found in members.items()
    ]
    return sorted(cells, key=worst_first)


def count_segments(store: Store, by: Sequence[str] = ("flow", "segment")) -> int:
    """Return how many cells the segment matrix of all calls has."""
    keys = _keys_of_members(by)
    places = [-1 if name == "segment" else keys.index(name) for name in by]
    with store.snapshot():
        sums, blames = ranking_sums(store, None, Grouping(keys)), blame_counts(store, None, Grouping(keys))
        members = {(*names, segment) for names, found in sums.items() for segment in found}
        members |= {(*names, segment) for names, of_kinds in blames.items() for segment, _ in of_kinds}
    return len({tuple(member[place] for place in places) for member in members})


def _keys_of_members(by: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the states that cells of segments by some names are made of."""
    return tuple(
        dict.fromkeys((*(() if "flow" in by else ("flow",)), *(name for name in by if name != "segment"), "state"))
    )


def _segment_cell(
    keys: dict[str, str | None], members: Sequence[tuple[StateCell, StateSums]], blames: Mapping[str, int]
) -> SegmentCell:
    total = reduce(add, (sums for _, sums in members))
    cells = [member for member, _ in members]
    typed = all(member.typed for member in cells)
    # A thin member shows little of how far members differ, but is better than none.
    compared = [cell for cell in cells if not is_thin(cell)] or cells
    return SegmentCell(
        keys=keys,
        n=total.n,
        measures=_measures(total, typed=typed),
        worst=min(cells, key=worst_first),
        least=min(compared, key=_by_progress),
        most=max(compared, key=_by_progress),
        lost=total.lost if total.lost_n else None,
        blames=blames,
        typed=typed,
    )


def _most_blamed_first(counted: tuple[Names, Mapping[tuple[str, str], int]]) -> tuple[int, tuple[str, ...]]:
    names, of_state = counted
    return -sum(of_state.values()), tuple(name or "" for name in names)


def _by_progress(cell: StateCell) -> tuple[float, tuple[str, ...]]:
    return mean(cell.measures, "progress") or 0.0, tuple(name or "" for name in cell.keys.values())


def _figure(cell: StateCell | SegmentCell, metric: str) -> float | None:
    if metric == "lost":
        return cell.lost
    measure = cell.measures.get(metric)
    return None if measure is None else measure.mean


def worst_first(cell: StateCell | SegmentCell) -> tuple[Any, ...]:
    """Sort by stall down, progress up, escalation down, n down, then names; not measured comes last."""
    stall, progress, escalation = (mean(cell.measures, name) for name in ORDERED_BY)
    return _order(stall, progress, escalation, cell.n, tuple(cell.keys.values()))


def _place(sums: StateSums, names: Names) -> tuple[Any, ...]:
    """Return the same of sums, without making any measure."""
    stall = sums.stall / sums.stall_n if sums.stall_n else None
    progress, escalation = (sums.progress / sums.n, sums.escalation / sums.n) if sums.n else (None, None)
    return _order(stall, progress, escalation, sums.n, names)


def _order(
    stall: float | None, progress: float | None, escalation: float | None, n: int, names: Names
) -> tuple[Any, ...]:
    return *falling(stall), *rising(progress), *falling(escalation), -n, tuple([name or "" for name in names])


# Measure how tools fare in states.
class ToolCell(NamedTuple):
    """Describe how a tool fares; `keys` have flow, tool, state and agent, and any `by`.

    It was called `n` times in `calls` conversations. `errors` of these failed, and `unrecovered` of them were followed
    by no good call of the tool; `bad_arguments` did not fit its schema, `None` if none is known. `failed` are the
    failed calls that are blamed on it, also those that should have called it and did not.
    """

    keys: Mapping[str, str | None]
    n: int
    calls: int
    errors: int
    unrecovered: int
    bad_arguments: int | None
    latency_p95: Measure
    failed: int


def tool_cells(store: Store, calls: Predicate | None, by: Sequence[str]) -> list[ToolCell]:
    """Return how each tool fares in each state, those to blame for most failed calls first."""
    with store.snapshot():
        found = tool_sums(store, calls, Grouping(tuple(by)))
    cells = [
        ToolCell(
            dict(zip(by, names, strict=True)),
            sums.n,
            sums.calls,
            sums.errors,
            sums.unrecovered,
            sums.bad_arguments if sums.bad_arguments_n else None,
            Measure(sums.latency_n, sums.latency, sums.latency_squares),
            sums.failed,
        )
        for names, sums in found.items()
    ]
    return sorted(cells, key=_blamed_first)


def _blamed_first(cell: ToolCell) -> tuple[object, ...]:
    names = tuple(name or "" for name in cell.keys.values())
    return -cell.failed, -cell.unrecovered, -cell.errors, -(cell.bad_arguments or 0), -cell.n, names
