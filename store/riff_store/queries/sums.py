"""Read the sums behind the matrices from as far up as the query allows, equal wherever they come from.

A question that only names flows and agents reads totals. One that names runs reads the rollups, with the rows of the
calls that these leave out. Any other reads the rows of the calls, or their columns if these are packed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import peewee as pw

from riff_store import schema as m
from riff_store.database import Store
from riff_store.filters.conditions import one_of
from riff_store.filters.dimensions import DIMENSIONS, Grouping, Names
from riff_store.filters.predicates import Predicate, asks_of_visits, is_of_states, terms
from riff_store.filters.sql import Depth, Scope, columns_of_states, needs
from riff_store.schema.sums import AspectSums, CallSums, StateSums, Sum, Summed, ToolSums
from riff_store.vocabulary import MARKED, UNKNOWN_SEGMENT

if TYPE_CHECKING:
    from riff_store.filters.notes import Mark

NO_ROWS = StateSums(*([0] * len(StateSums._fields)))
_ORDERING = m.STATES.sums[: StateSums._fields.index("escalation") + 1]
"""The first of the sums of states, which their cells are ordered by and which say what was lost."""
_COUNTS = m.CALLS.sums[:2]
_OF_CALLS = tuple(each for each in m.CALLS.sums if each.name in CallSums._fields)
_OF_STATES = {each.name: each for each in m.STATES.sums}
_LOST = _OF_STATES["n"], _OF_STATES["lost"]
_RANKING = tuple(_OF_STATES[name] for name in ("n", "dwell", "slow_n", "slow"))
_PLACED = _OF_STATES["n"], _OF_STATES["position_n"], _OF_STATES["position"]
_CELL: Any = m.CALLS.rollup.alias("k")
_HAS_FEW = _CELL.n + _CELL.excluded < m.FEWEST_SUMMED


def call_counts(store: Store, calls: Predicate | None, group: Grouping) -> dict[Names, tuple[int, int]]:
    """Count the calls that count and those that are errored, by the names of the group."""
    return {names: (row[0], row[1]) for names, row in _sums_of_calls(store, calls, group, _COUNTS).items()}


def call_sums(store: Store, calls: Predicate | None, group: Grouping) -> Mapping[Names, CallSums]:
    """Sum how calls went, by the names of the group."""

    def found() -> Mapping[Names, CallSums]:
        return {names: CallSums._make(row) for names, row in _sums_of_calls(store, calls, group, _OF_CALLS).items()}

    return store.once((call_sums, calls, group), found)


def _sums_of_calls(
    store: Store, calls: Predicate | None, group: Grouping, wanted: Sequence[Sum]
) -> dict[Names, tuple[Any, ...]]:
    if in_columns(store, m.CALLS, calls, group.by):
        from riff_store.arrays.sums import call_rows

        rows = call_rows(store, calls, group.keys, wanted)
    else:
        rows = rows_of_sums(store, m.CALLS, wanted, calls, group)
    found: dict[Names, tuple[Any, ...]] = {}
    names, size = group.namer(store), len(wanted)
    for row in rows:
        if row[-size] is not None:
            cell, sums = names(row[:-size]), row[-size:]
            found[cell] = tuple(_added(found[cell], sums)) if cell in found else sums
    return found


def typed_flows(store: Store) -> frozenset[str]:
    """Return the flows whose median turn takes as long as typing does: nobody waited on the line for it."""

    def found() -> frozenset[str]:
        cell = m.CALLS.rollup
        of_flows = cell.select(m.Flow.name).join(m.Flow, on=(m.Flow.id == cell.flow)).group_by(m.Flow.id, m.Flow.name)
        return frozenset(name for (name,) in store.execute(of_flows.having(pw.fn.SUM(cell.typed) > 0)))

    typed: frozenset[str] = store.once((typed_flows,), found)
    return typed


def aspect_sums(
    store: Store, calls: Predicate | None, group: Grouping, only: Collection[str] = ()
) -> dict[Names, dict[tuple[str, int], AspectSums]]:
    """Return the sums by the names of the group, then by aspect and the judge's key; those of `only` some aspects."""
    aspects = dict(store.execute(m.Aspect.select(m.Aspect.id, m.Aspect.name)))
    wanted = {key for key, name in aspects.items() if not only or name in only}
    if wanted and in_columns(store, m.ASPECTS, calls, group.by):
        from riff_store.arrays.sums import score_rows

        rows = score_rows(store, calls, group.keys, wanted)
    else:
        among = {"aspect": wanted} if only else {}
        rows = rows_of_sums(store, m.ASPECTS, m.ASPECTS.sums, calls, group, m.ASPECTS.keys, among)
    names, size = group.namer(store), len(AspectSums._fields)
    found: dict[Names, dict[tuple[str, int], AspectSums]] = {}
    for row in rows:
        *keys, aspect, judge = row[:-size]
        cell = found.setdefault(names(tuple(keys)), {})
        kind = (aspects[aspect], judge)
        cell[kind] = AspectSums(*_added(cell.get(kind), row[-size:]))
    return found


def state_sums(
    store: Store, rows: Predicate | None, group: Grouping, only: Sequence[Names] = ()
) -> Mapping[Names, Mapping[str, StateSums]]:
    """Return the sums of state rows by the names of the group, then by segment; terms about states narrow the rows.

    With `only` some names theirs are among what is returned, and few others.
    """
    return store.once((state_sums, rows, group, *only), lambda: _state_sums(store, rows, group, only=only))


def ordering_sums(store: Store, rows: Predicate | None, group: Grouping) -> Mapping[Names, Mapping[str, StateSums]]:
    """Return the same, but of the sums those alone that cells are ordered by, in half the time where rows are summed.

    The others are 0 then.
    """
    known: Mapping[Names, Mapping[str, StateSums]] | None = store.kept((state_sums, rows, group))
    return _state_sums(store, rows, group, _ORDERING) if known is None else known


def _state_sums(
    store: Store,
    rows: Predicate | None,
    group: Grouping,
    wanted: Sequence[Sum] = m.STATES.sums,
    only: Sequence[Names] = (),
) -> dict[Names, dict[str, StateSums]]:
    others = NO_ROWS[len(wanted) :]
    return {
        names: {segment: StateSums(*sums, *others) for segment, sums in cell.items()}
        for names, cell in _by_segment(store, rows, group, wanted, only).items()
    }


def _by_segment(
    store: Store, rows: Predicate | None, group: Grouping, wanted: Sequence[Sum], only: Sequence[Names] = ()
) -> dict[Names, dict[str, Sequence[Any]]]:
    names, size = group.namer(store), len(wanted)
    segments = dict(store.execute(m.Segment.select(m.Segment.id, m.Segment.name)))
    found: dict[Names, dict[str, Sequence[Any]]] = {}
    for row in _sums_of_states(store, rows, group, wanted, only):
        cell, segment, sums = found.setdefault(names(row[: -size - 1]), {}), segments[row[-size - 1]], row[-size:]
        cell[segment] = tuple(_added(cell[segment], sums)) if segment in cell else sums
    return found


def lost_in_states(store: Store, rows: Predicate | None, group: Grouping) -> dict[Names, tuple[int, int]]:
    """Count the rows of states and those of them that lost their call, by the names of the group."""
    known: Mapping[Names, Mapping[str, StateSums]] | None = store.kept((state_sums, rows, group))
    if known is not None:
        return {
            names: (sum(each.n for each in sums.values()), sum(each.lost for each in sums.values()))
            for names, sums in known.items()
        }
    return {names: (n, lost) for names, (n, lost) in _over_segments(store, rows, group, _LOST).items()}


def places_of_states(store: Store, rows: Predicate | None, group: Grouping) -> dict[Names, tuple[int, int, int]]:
    """Count the calls that came to each state and those that show when, and add up at which visit they first did."""
    return {names: (n, told, at) for names, (n, told, at) in _over_segments(store, rows, group, _PLACED).items()}


def _over_segments(
    store: Store, rows: Predicate | None, group: Grouping, wanted: Sequence[Sum]
) -> dict[Names, list[Any]]:
    names, size = group.namer(store), len(wanted)
    found: dict[Names, list[Any]] = {}
    for row in _sums_of_states(store, rows, group, wanted):
        cell = names(row[: -size - 1])
        found[cell] = list(_added(found.get(cell), row[-size:]))
    return found


def ranking_sums(store: Store, rows: Predicate | None, group: Grouping) -> Mapping[Names, Mapping[str, Sequence[int]]]:
    """Return by names and segment how many rows of states there are, their turns, those that are timed, and slow."""
    return store.once((ranking_sums, rows, group), lambda: _by_segment(store, rows, group, _RANKING))


def state_counts(store: Store, rows: Predicate | None, group: Grouping) -> dict[Names, int]:
    """Count the calls that came to each state, by the names of the group."""
    known: Mapping[Names, Mapping[str, Sequence[int]]] | None = store.kept((ranking_sums, rows, group))
    if known is None:
        return {names: n for names, (n, _) in lost_in_states(store, rows, group).items()}
    return {names: sum([n for n, *_ in sums.values()]) for names, sums in known.items()}


def _sums_of_states(
    store: Store, rows: Predicate | None, group: Grouping, wanted: Sequence[Sum], only: Sequence[Names] = ()
) -> Sequence[tuple[Any, ...]]:
    """Return the keys of the group, the segment and those of the sums of state rows that are wanted."""
    if in_columns(store, m.STATES, rows, group.by):
        from riff_store.arrays.sums import state_rows

        return state_rows(store, rows, group.keys, wanted, group.keys_of(store, only))
    return rows_of_sums(store, m.STATES, wanted, rows, group, ("segment",), group.keys_of(store, only))


def step_counts(
    store: Store, rows: Predicate | None, group: Grouping, only: Sequence[Names] = ()
) -> Mapping[Names, Mapping[str, int]]:
    """Count the steps from each state of the group to the others; terms about states mean the first."""
    return store.once((step_counts, rows, group, *only), lambda: _step_counts(store, rows, group, only))


def _step_counts(
    store: Store, rows: Predicate | None, group: Grouping, only: Sequence[Names]
) -> dict[Names, dict[str, int]]:
    if in_columns(store, m.STEPS, rows, group.by):
        from riff_store.arrays.sums import step_rows

        answer = step_rows(store, rows, group.keys, group.keys_of(store, only))
    else:
        answer = rows_of_sums(store, m.STEPS, m.STEPS.sums, rows, group, ("to_state",), group.keys_of(store, only))
    names = group.namer(store)
    named = dict(store.execute(m.State.select(m.State.id, m.State.name)))
    found: dict[Names, dict[str, int]] = {}
    for *keys, to_state, count in answer:
        cell = found.setdefault(names(tuple(keys)), {})
        cell[named[to_state]] = cell.get(named[to_state], 0) + int(count)
    return found


def blame_counts(store: Store, rows: Predicate | None, group: Grouping) -> Mapping[Names, Blames]:
    """Count the failed calls that are blamed on states, by the names of the group, then by segment and kind.

    What people marked counts before what events show. Terms about states speak of the state that is blamed.
    """
    return store.once((blame_counts, rows, group), lambda: _blame_counts(store, rows, group))


Blames: TypeAlias = Mapping[tuple[str, str], int]
"""How many failed calls are blamed, by segment and kind of failure."""


def _blame_counts(store: Store, rows: Predicate | None, group: Grouping) -> dict[Names, dict[tuple[str, str], int]]:
    names = group.namer(store)
    segments = dict(store.execute(m.Segment.select(m.Segment.id, m.Segment.name)))
    found: dict[Names, dict[tuple[str, str], int]] = {}

    def count(keys: tuple[Any, ...], segment: int | None, kind: str, n: int) -> None:
        cell = found.setdefault(names(keys), {})
        of_kind = (segments.get(segment, UNKNOWN_SEGMENT), kind)
        cell[of_kind] = cell.get(of_kind, 0) + n
        if not cell[of_kind]:
            del cell[of_kind]

    for *keys, segment, kind, n in _sums_of_blames(store, rows, group):
        count(tuple(keys), segment, kind, n)
    marked = _marks(store)
    if marked:
        told = rows_of_sums(
            store, m.BLAMES, m.BLAMES.sums, rows, group, ("segment", "kind"), {"conversation": marked}, depth="base"
        )
        for *keys, segment, kind, n in told:
            count(tuple(keys), segment, kind, -n)
    for state in {mark.first_failed for mark in marked.values()}:
        calls = [call for call, mark in marked.items() if mark.first_failed == state]
        among = {"conversation": calls, "state": [state]}
        visits = rows_of_sums(store, m.STATES, m.STATES.sums[:1], rows, group, ("segment",), among, depth="base")
        for *keys, segment, n in visits:
            count(tuple(keys), segment, MARKED, n)
    if marked and not any(map(is_of_states, terms(rows))):
        for at_end, n in _marked_ends(store, rows, group, marked):
            count(at_end, None, MARKED, n)
    return {cell: counted for cell, counted in found.items() if counted}


def _marked_ends(
    store: Store, calls: Predicate | None, group: Grouping, marked: Mapping[int, Mark]
) -> Iterator[tuple[tuple[Any, ...], int]]:
    """Yield how many calls people marked at a terminal, which has no row of a state, by the keys of the group."""
    visit, ends = m.OutcomeVisit, dict[int, list[int]]()
    reached = visit.select(visit.conversation, visit.state).where(one_of(visit.conversation, marked))
    for call, state in store.execute(reached):
        if marked[call].first_failed == state:
            ends.setdefault(state, []).append(call)
    others = Grouping(tuple(name for name in group.by if DIMENSIONS[name].key != "state"))
    place = group.keys.index("state") if "state" in group.keys else None
    for state, some in ends.items():
        for *keys, n in rows_of_sums(store, m.CALLS, m.CALLS.sums[:1], calls, others, (), {"id": some}, depth="base"):
            if place is not None:
                keys.insert(place, state)
            yield tuple(keys), n


def _marks(store: Store) -> Mapping[int, Mark]:
    """Return where people marked failed calls; what reads that is loaded only if they wrote anything at all."""
    if not store.kept_notes and not store.execute_sql("SELECT 1 FROM annotation LIMIT 1"):
        return {}
    from riff_store.filters.notes import marks

    return marks(store)


def _sums_of_blames(store: Store, rows: Predicate | None, group: Grouping) -> Sequence[tuple[Any, ...]]:
    if in_columns(store, m.BLAMES, rows, group.by) and asks_of_visits(rows):
        from riff_store.arrays.sums import blame_rows

        return blame_rows(store, rows, group.keys)
    return rows_of_sums(store, m.BLAMES, m.BLAMES.sums, rows, group, ("segment", "kind"))


def tool_sums(store: Store, rows: Predicate | None, group: Grouping) -> dict[Names, ToolSums]:
    """Return the sums of rows of tools by the names of the group; terms about tools and states narrow the rows.

    What people marked counts before what events show, and names no tool.
    """
    names = group.namer(store)
    found: dict[Names, ToolSums] = {}
    for row in _sums_of_tools(store, rows, group):
        cell, sums = names(row[: -len(m.TOOLS.sums)]), row[-len(m.TOOLS.sums) :]
        found[cell] = ToolSums(*_added(found.get(cell), sums))
    if marked := _marks(store):
        among = {"conversation": marked}
        for *keys, failed in rows_of_sums(store, m.TOOLS, m.TOOLS.sums[-1:], rows, group, (), among, "base"):
            cell = names(tuple(keys))
            found[cell] = found[cell]._replace(failed=found[cell].failed - failed)
    return {cell: sums for cell, sums in found.items() if sums.n or sums.failed}


def _sums_of_tools(store: Store, rows: Predicate | None, group: Grouping) -> Sequence[tuple[Any, ...]]:
    speaks_of_rows = any(is_of_states(term) or term.field == "tool" for term in terms(rows))
    if not speaks_of_rows and in_columns(store, m.TOOLS, rows, group.by):
        from riff_store.arrays.sums import tool_rows

        return tool_rows(store, rows, group.keys, m.TOOLS.sums)
    return rows_of_sums(store, m.TOOLS, m.TOOLS.sums, rows, group)


def reads_columns(store: Store, calls: Predicate | None) -> bool:
    """Return whether to read columns of the calls that match, not their rows: unless sums show that they are few."""
    from riff_store import chunks

    if not chunks.is_packed(store.execute_sql):
        return False
    if needs(calls) == "base":
        return True
    return sum(map(sum, call_counts(store, calls, Grouping(())).values())) > chunks.FEW_CALLS


def takes_long(store: Store, rows: Predicate | None, by: Sequence[str]) -> bool:
    """Return whether sums of states are made of the states of very many calls."""
    return in_columns(store, m.STATES, rows, by)


def _depth(summed: Summed, predicate: Predicate | None, by: Iterable[str]) -> Depth:
    by_state = summed in (m.STATES, m.STEPS, m.OUTCOMES, m.BLAMES)
    return needs(predicate, by, state_rows=by_state, tool_rows=summed is m.TOOLS)


def in_columns(store: Store, summed: Summed, predicate: Predicate | None, by: Iterable[str]) -> bool:
    """Return whether to sum the columns of the calls, which a store of many calls keeps packed."""
    depth = _depth(summed, predicate, by)
    if depth == "total" or (depth == "rollup" and not summed.has_total):
        return False
    from riff_store import chunks

    left_out = depth == "rollup" and _left_out(store, predicate) <= chunks.FEW_CALLS
    return not left_out and chunks.is_packed(store.execute_sql)


def _left_out(store: Store, predicate: Predicate | None) -> int:
    """Count the calls that match and are in no sums by run, since their cells have too few; of rows, any call may."""
    calls = predicate if needs(predicate) != "base" else None

    def found() -> int:
        query = _CELL.select(pw.fn.SUM(_CELL.n + _CELL.excluded)).where(_HAS_FEW)
        return int(store.execute(query.where(Scope(store, _CELL).condition(calls)))[0][0] or 0)

    return int(store.once((_left_out, calls), found))


def rows_of_sums(
    store: Store,
    summed: Summed,
    wanted: Sequence[Sum],
    predicate: Predicate | None,
    group: Grouping,
    by: Sequence[str] = (),
    among: Mapping[str, Collection[int]] = MappingProxyType({}),
    depth: Depth | None = None,
) -> Sequence[tuple[Any, ...]]:
    """Return the keys of the group, those of `by` and the sums that are wanted, of rows `among` some keys alone.

    They are read from as far up as possible unless a `depth` is given.
    """
    depth = depth or _depth(summed, predicate, group.by)
    asked = (store, summed, wanted, predicate, group, by, among, depth)
    few = depth == "rollup" and summed.has_total and _left_out(store, predicate)
    return store.execute(_query(*asked) + _query(*asked, few=True) if few else _query(*asked))


def _query(
    store: Store,
    summed: Summed,
    wanted: Sequence[Sum],
    predicate: Predicate | None,
    group: Grouping,
    by: Sequence[str],
    among: Mapping[str, Collection[int]],
    depth: Depth,
    *,
    few: bool = False,
) -> Any:
    """Return what reads sums; `few` are those by run of cells that have too few calls, made of rows of these."""
    calls, rows = (_CELL, summed.rows.alias(summed.row)) if few else _tables(summed, depth)
    states = _columns_of_states(summed, depth, rows)
    keys = group.columns(calls, states or {})
    keys += [getattr(rows if hasattr(rows, name) else calls, name) for name in by]
    in_rows = few or depth == "base"
    sums = (pw.SQL(each.total(summed.row)) if in_rows else pw.fn.SUM(getattr(rows, each.name)) for each in wanted)
    query = calls.select(*keys, *sums)
    query = _of_few_calls(query, rows) if few else _joined(summed, depth, calls, rows, query)
    asked = Scope(store, calls, states).condition(predicate)
    for name, some in among.items():
        asked &= one_of((states or {}).get(name) or getattr(rows if hasattr(rows, name) else calls, name), some)
    if in_rows and summed.some:
        asked &= pw.SQL(summed.some)
    return query.where(asked).group_by(*keys)


def _of_few_calls(query: Any, rows: Any) -> Any:
    # What is added to nothing is found by no index, so that cells are read first, and then their calls.
    call = m.Conversation.alias("c")
    of_cell = (call.flow == _CELL.flow + 0) & (call.agent == _CELL.agent + 0) & (call.run == _CELL.run + 0)
    query = query.join(call, on=of_cell).join(rows, on=(rows.conversation == call.id + 0))
    return query.where(_HAS_FEW & ~call.errored)


def _tables(summed: Summed, depth: Depth) -> tuple[Any, Any]:
    """Return the table that has the names of calls, and the one that has the values.

    Rollups are reached from the much smaller one of calls, so that asking for a few runs is cheap.
    """
    if depth == "base":
        calls = m.Conversation.alias("c")
        return calls, calls if summed is m.CALLS else summed.rows.alias(summed.row)
    if not summed.has_total:
        return summed.rollup, summed.rollup
    return (summed.total, summed.total) if depth == "total" else (m.CALLS.rollup, summed.rollup)


def _columns_of_states(summed: Summed, depth: Depth, rows: Any) -> Mapping[str, Any] | None:
    """Return the columns of the state that a row speaks of, of a step the first; `None` if it speaks of none.

    A row of a tool has the tool as well.
    """
    if summed is m.STEPS:
        return columns_of_states(m.StateScore) if depth == "base" else {"state": rows.from_state}
    if summed is m.BLAMES:
        of_rows = {"state": rows.state, "segment": rows.segment}
        return {**columns_of_states(m.StateScore), **of_rows} if depth == "base" else of_rows
    if summed is m.OUTCOMES:
        return {"state": rows.state}
    if summed is m.STATES:
        return columns_of_states(rows) if depth == "base" else {name: getattr(rows, name) for name in m.STATES.keys}
    if summed is m.TOOLS:
        of_row = {"tool": rows.tool, "state": pw.fn.NULLIF(rows.state, 0)}
        return {**columns_of_states(m.StateScore), **of_row} if depth == "base" else of_row
    return None


def _joined(summed: Summed, depth: Depth, calls: Any, rows: Any, query: Any) -> Any:
    if depth == "base":
        if rows is not calls:
            query = query.join(rows, on=(rows.conversation == calls.id))
        if summed in (m.STEPS, m.BLAMES, m.TOOLS):
            start, left = m.StateScore, rows.from_state if summed is m.STEPS else rows.state
            # A call may be blamed on a state that it never came to, and a tool be called in none.
            join = pw.JOIN.INNER if summed is m.STEPS else pw.JOIN.LEFT_OUTER
            query = query.join(start, join, on=((start.conversation == rows.conversation) & (start.state == left)))
        return query if summed.has_errored else query.where(~calls.errored)
    if rows is calls:
        return query
    return query.join(rows, on=((rows.flow == calls.flow) & (rows.agent == calls.agent) & (rows.run == calls.run)))


def add(first: StateSums, second: StateSums) -> StateSums:
    """Add two sums."""
    return StateSums(*_added(first, second))


def pooled(cells: Iterable[CallSums]) -> CallSums:
    """Add up the sums of some cells, of one at least."""
    return CallSums._make(map(sum, zip(*cells, strict=True)))


def _added(before: Sequence[Any] | None, more: tuple[Any, ...]) -> Iterable[Any]:
    return more if before is None else (a + b for a, b in zip(before, more, strict=True))


def has_interaction(store: Store) -> bool:
    """Return whether any call has a record of how its sides shared the line."""
    return bool(store.execute_sql("SELECT 1 FROM interaction_rollup LIMIT 1"))
