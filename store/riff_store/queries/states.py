"""Measure how calls fare in each state, and in each segment of states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from riff_store import models as m
from riff_store.answers.cells import SegmentCell, StateCell
from riff_store.answers.steps import StepCounts
from riff_store.database import Store
from riff_store.models.sums import StateSums
from riff_store.predicate_eval import matches
from riff_store.predicates import Predicate, both, terms
from riff_store.queries.dimensions import Grouping, Names
from riff_store.queries.expected import expected_steps, flows_with_steps
from riff_store.queries.sums import NO_ROWS, add, ordering_sums, state_sums, step_counts
from riff_store.ranking import is_thin, mean, worst_first

UNKNOWN_SEGMENT = "other"
ORDERED_BY = ("stall", "progress", "escalation")
"""The measures that the worst state is told by (`ranking.worst_first`)."""
_DESCRIBED = ("flow", "archetype", "state", "segment")


def state_cells(
    store: Store,
    calls: Predicate | None = None,
    facts: Predicate | None = None,
    by: Sequence[str] = ("flow", "state"),
    *,
    whole: bool = True,
) -> list[StateCell]:
    """Return the cells of the state matrix, the worst first; terms about states narrow the states' rows.

    `facts` is one more predicate, kept apart where a caller has it apart. By flow and state alone,
    states that flow files describe and no call has seen are there with n = 0, unless the filter asks
    for more than flows and states; so are states that tasks asked for in vain. Cells that are not to be `whole` have
    the measures that order them alone, and no steps to other states.
    """
    rows = both(calls, facts)
    group = Grouping(tuple(by))
    with store.snapshot():
        sums = (state_sums if whole else ordering_sums)(store, rows, group)
        steps = step_counts(store, rows, group) if whole else {}
        expected = expected_steps(store, rows, group)
        asking = flows_with_steps(store)
        described = _described(store, rows, by) if set(by) == {"flow", "state"} else {}
    cells = [
        _cell(
            dict(zip(by, names, strict=True)),
            sums.get(names, {}),
            steps.get(names, {}),
            expected.get(names),
            asking,
            segment,
            whole,
        )
        for names, segment in (dict.fromkeys([*sums, *expected], UNKNOWN_SEGMENT) | described).items()
    ]
    return sorted(cells, key=worst_first)


def _cell(
    keys: Mapping[str, str | None],
    segments: Mapping[str, StateSums],
    steps: Mapping[str, int],
    expected: StepCounts | None,
    asking: Set[str],
    described: str,
    whole: bool,
) -> StateCell:
    total = NO_ROWS
    for sums in segments.values():
        total = add(total, sums)
    measures = total.measures()
    return StateCell(
        keys=keys,
        segment=min(segments, key=lambda name: (-segments[name].n, name)) if segments else described,
        n=total.n,
        measures=measures if whole else {name: measures[name] for name in ORDERED_BY},
        to_states=dict(sorted(steps.items())),
        lost=total.lost if total.lost_n else None,
        steps=expected,
        asks_steps=keys.get("flow") in asking,
    )


def _described(store: Store, rows: Predicate | None, by: Sequence[str]) -> dict[Names, str]:
    """Return the segment of each working state that flow files describe; of several files the last by path holds."""
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
) -> list[SegmentCell]:
    """Return the cells of the segment matrix, the worst first; each pools the rows of its states.

    Terms about states narrow the rows. The worst member is judged by its rows in this segment.
    """
    apart = tuple(name for name in by if name != "segment")
    keys = tuple(dict.fromkeys((*(("flow", *apart) if "flow" not in apart else apart), "state")))
    with store.snapshot():
        sums = state_sums(store, both(calls, facts), Grouping(keys))
    members: dict[Names, list[tuple[StateCell, StateSums]]] = {}
    for names, segments in sums.items():
        member = dict(zip(keys, names, strict=True))
        for segment, found in segments.items():
            cell = tuple(segment if name == "segment" else member[name] for name in by)
            row = StateCell(
                keys=member,
                segment=segment,
                n=found.n,
                measures=found.measures(),
                to_states={},
                lost=found.lost if found.lost_n else None,
            )
            members.setdefault(cell, []).append((row, found))
    cells = [_segment_cell(dict(zip(by, names, strict=True)), found) for names, found in members.items()]
    return sorted(cells, key=worst_first)


def _segment_cell(keys: dict[str, str | None], members: Sequence[tuple[StateCell, StateSums]]) -> SegmentCell:
    total = NO_ROWS
    for _, sums in members:
        total = add(total, sums)
    cells = [member for member, _ in members]
    # A thin member says little of how far members differ, but is better than none.
    compared = [cell for cell in cells if not is_thin(cell)] or cells
    return SegmentCell(
        keys=keys,
        n=total.n,
        measures=total.measures(),
        worst=min(cells, key=worst_first),
        least=min(compared, key=_by_progress),
        most=max(compared, key=_by_progress),
        lost=total.lost if total.lost_n else None,
    )


def _by_progress(cell: StateCell) -> tuple[float, tuple[str, ...]]:
    return mean(cell.measures, "progress") or 0.0, tuple(name or "" for name in cell.keys.values())
