"""Read the sums behind the matrices from as far up as the query allows, equal wherever they come from.

A question that only names flows and agents reads totals, one that names runs the rollups, any other
the rows of the calls, or their columns where these are packed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import peewee as pw

from riff_store import models as m
from riff_store.columns import layout
from riff_store.columns.keeping import is_packed
from riff_store.database import Store
from riff_store.measure import UNIT, Measure
from riff_store.metrics import RATES
from riff_store.predicates import Predicate
from riff_store.queries.conditions import ALWAYS, one_of
from riff_store.queries.dimensions import Grouping, Names
from riff_store.queries.scope import STATE_COLUMNS, Depth, Scope, needs


class CallSums(NamedTuple):
    """Hold the sums of calls: `n` count, `excluded` are errored; what is no count is in billionths.

    `caller_failed` are those of the excluded ones whose caller failed.
    """

    n: int
    excluded: int
    success_n: int
    success: int
    lost_n: int
    lost: int
    quality_n: int
    quality: int
    quality_squares: float
    computed_quality: int
    computed_quality_squares: float
    caller_failed: int
    caller_success_n: int
    caller_success: int

    def success_measure(self) -> Measure:
        """Return the share of calls that were correct and complete."""
        return Measure(self.success_n, self.success * UNIT, float(self.success), rate=True)

    def overall_measure(self) -> Measure | None:
        """Return the same share with the calls whose caller failed counted as they ended, `None` without any."""
        if not self.caller_failed:
            return None
        n, good = self.success_n + self.caller_success_n, self.success + self.caller_success
        return Measure(n, good * UNIT, float(good), rate=True)

    def quality_measure(self) -> Measure:
        """Return the mean quality of calls, with what judges say of them."""
        return Measure(self.quality_n, self.quality, self.quality_squares)

    def computed_quality_measure(self) -> Measure:
        """Return the mean quality of calls without any judge."""
        return Measure(self.quality_n, self.computed_quality, self.computed_quality_squares)


class AspectSums(NamedTuple):
    """Hold the sums of one aspect by one judge; `top` counts tens, `unscored` what was not measured."""

    n: int
    total: int
    squares: float
    top: int
    unscored: int

    @property
    def mean(self) -> float | None:
        """Return the mean alone, the same as that of the measure."""
        return self.total / (UNIT * self.n) if self.n else None

    def measure(self, aspect: str = "") -> Measure:
        """Return the mean on the aspect's own scale."""
        if aspect in RATES:
            return Measure(self.n, self.total, self.squares, rate=True, scale=RATES[aspect])
        return Measure(self.n, self.total, self.squares)


class StateSums(NamedTuple):
    """Hold the sums of state rows; totals that are no counts are billionths, latency is in seconds."""

    n: int
    progress: int
    stall_n: int
    stall: int
    lost_n: int
    lost: int
    escalation: int
    revisit: int
    revisit_squares: float
    dwell: int
    dwell_squares: float
    latency_n: int
    latency: int
    latency_squares: float
    guard_error: int
    guard_error_squares: float
    slot_n: int
    slot: int
    slot_squares: float

    def measures(self) -> dict[str, Measure]:
        """Return the means of a cell of the state matrix (docs/metrics.md, section 2)."""
        return {
            "progress": Measure(self.n, self.progress * UNIT, float(self.progress), rate=True),
            "stall": Measure(self.stall_n, self.stall * UNIT, float(self.stall), rate=True),
            "escalation": Measure(self.n, self.escalation * UNIT, float(self.escalation), rate=True),
            "revisit": Measure(self.n, self.revisit * UNIT, self.revisit_squares),
            "dwell_turns": Measure(self.n, self.dwell, self.dwell_squares),
            "latency_p95": Measure(self.latency_n, self.latency, self.latency_squares),
            "guard_error": Measure(self.n, self.guard_error * UNIT, self.guard_error_squares),
            "slot_fill_rate": Measure(self.slot_n, self.slot, self.slot_squares),
        }


NO_ROWS = StateSums(*([0] * len(StateSums._fields)))
SUMS_IN_ORDER = StateSums._fields[:7]
"""The first of the sums, which rows of states are ordered by and which say what was lost."""


def call_counts(store: Store, calls: Predicate | None, group: Grouping) -> dict[Names, tuple[int, int]]:
    """Count the calls that count and those that are errored, by the names of the group."""
    counted = (_counted(~m.Conversation.errored), _counted(m.Conversation.errored))
    return {names: (row[0], row[1]) for names, row in _sums_of_calls(store, calls, group, counted).items()}


def call_sums(store: Store, calls: Predicate | None, group: Grouping) -> dict[Names, CallSums]:
    """Sum how calls went, by the names of the group."""
    return {
        names: CallSums(*row)
        for names, row in _sums_of_calls(store, calls, group, _call_sums_of(m.Conversation)).items()
    }


def _sums_of_calls(
    store: Store, calls: Predicate | None, group: Grouping, of_rows: tuple[Any, ...]
) -> dict[Names, tuple[Any, ...]]:
    """Return the first of the sums of calls, as many as `of_rows` makes of the calls themselves."""
    depth = needs(calls, group.by)
    if _in_columns(store, depth):
        from riff_store.columns.sums import call_rows

        rows = call_rows(store, calls, group.keys, len(of_rows))
    else:
        table: Any = m.Conversation if depth == "base" else m.CallRollup
        fields = of_rows if depth == "base" else _summed(table, m.CALL_SUMS[: len(of_rows)])
        columns = group.columns(table, {})
        query = table.select(*columns, *fields).where(Scope(store, table).condition(calls)).group_by(*columns)
        rows = store.execute(query)
    found: dict[Names, tuple[Any, ...]] = {}
    names, size = group.namer(store), len(of_rows)
    for row in rows:
        if row[-size] is not None:
            cell = names(row[:-size])
            found[cell] = tuple(_added(found.get(cell), row[-size:]))
    return found


def aspect_sums(
    store: Store, calls: Predicate | None, group: Grouping, only: Collection[str] = ()
) -> dict[Names, dict[tuple[str, int], AspectSums]]:
    """Return the sums by the names of the group, then by aspect and the judge's key; those of `only` some aspects."""
    depth = needs(calls, group.by)
    aspects = dict(store.execute(m.Aspect.select(m.Aspect.id, m.Aspect.name)))
    wanted = {key for key, name in aspects.items() if not only or name in only}
    if _in_columns(store, depth):
        from riff_store.columns.sums import score_rows

        rows = score_rows(store, calls, group.keys, wanted)
    else:
        table, sums = _calls_and_sums(depth, m.AspectTotal, m.AspectRollup, m.AspectScore)
        columns = (*group.columns(table, {}), sums.aspect, sums.judge)
        fields = _sums_of(sums.value) if depth == "base" else _summed(sums, AspectSums._fields)
        query = _joined(table, sums, table.select(*columns, *fields))
        asked = Scope(store, table).condition(calls) & (one_of(sums.aspect, wanted) if only else ALWAYS)
        rows = store.execute(query.where(asked).group_by(*columns))
    names = group.namer(store)
    found: dict[Names, dict[tuple[str, int], AspectSums]] = {}
    for row in rows:
        cell = found.setdefault(names(row[:-7]), {})
        kind = (aspects[row[-7]], row[-6])
        cell[kind] = AspectSums(*_added(cell.get(kind), row[-5:]))
    return found


def state_sums(store: Store, rows: Predicate | None, group: Grouping) -> Mapping[Names, Mapping[str, StateSums]]:
    """Return the sums of state rows by the names of the group, then by segment; terms about states narrow the rows."""
    return store.once((state_sums, rows, group), lambda: _state_sums(store, rows, group))


def begun_state_sums(store: Store, rows: Predicate | None, group: Grouping) -> Mapping[Names, Mapping[str, StateSums]]:
    """Return the same with `SUMS_IN_ORDER` alone, in half the time where rows have to be summed; others are 0."""
    known: Mapping[Names, Mapping[str, StateSums]] | None = store.kept((state_sums, rows, group))
    return _state_sums(store, rows, group, SUMS_IN_ORDER) if known is None else known


def _state_sums(
    store: Store, rows: Predicate | None, group: Grouping, wanted: Sequence[str] = StateSums._fields
) -> dict[Names, dict[str, StateSums]]:
    names, size = group.namer(store), len(wanted)
    segments = dict(store.execute(m.Segment.select(m.Segment.id, m.Segment.name)))
    found: dict[Names, dict[str, StateSums]] = {}
    for row in _sums_of_states(store, rows, group, wanted):
        cell = found.setdefault(names(row[: -size - 1]), {})
        segment = segments[row[-size - 1]]
        cell[segment] = StateSums(*_added(cell.get(segment), (*row[-size:], *NO_ROWS[size:])))
    return found


def lost_in_states(store: Store, rows: Predicate | None, group: Grouping) -> dict[Names, tuple[int, int]]:
    """Count the rows of states and those of them that lost their call, by the names of the group."""
    known: Mapping[Names, Mapping[str, StateSums]] | None = store.kept((state_sums, rows, group))
    if known is not None:
        return {
            names: (sum(each.n for each in sums.values()), sum(each.lost for each in sums.values()))
            for names, sums in known.items()
        }
    names = group.namer(store)
    found: dict[Names, tuple[int, int]] = {}
    for *keys, _, n, lost in _sums_of_states(store, rows, group, ("n", "lost")):
        cell = names(tuple(keys))
        before = found.get(cell, (0, 0))
        found[cell] = before[0] + n, before[1] + lost
    return found


def _sums_of_states(
    store: Store, rows: Predicate | None, group: Grouping, wanted: Sequence[str]
) -> Sequence[tuple[Any, ...]]:
    """Return the keys of the group, the segment and those of the sums of state rows that are wanted."""
    depth = needs(rows, group.by, state_rows=True)
    if _in_columns(store, depth):
        from riff_store.columns.sums import state_rows

        return state_rows(store, rows, group.keys, wanted)
    table, sums = _calls_and_sums(depth, m.StateTotal, m.StateRollup, m.StateScore)
    states = STATE_COLUMNS if depth == "base" else {"state": sums.state, "segment": sums.segment}
    columns = (*group.columns(table, states), sums.segment)
    of_rows = zip(StateSums._fields, _state_sums_of(sums), strict=True) if depth == "base" else ()
    fields = [field for name, field in of_rows if name in wanted] or _summed(sums, wanted)
    query = _joined(table, sums, table.select(*columns, *fields))
    return store.execute(query.where(Scope(store, table, states).condition(rows)).group_by(*columns))


def step_counts(store: Store, rows: Predicate | None, group: Grouping) -> Mapping[Names, Mapping[str, int]]:
    """Count the steps from each state of the group to the others; terms about states mean the first."""
    return store.once((step_counts, rows, group), lambda: _step_counts(store, rows, group))


def _step_counts(store: Store, rows: Predicate | None, group: Grouping) -> dict[Names, dict[str, int]]:
    depth = needs(rows, group.by, state_rows=True)
    if _in_columns(store, depth):
        from riff_store.columns.sums import step_rows

        answer = step_rows(store, rows, group.keys)
    else:
        table, steps = _calls_and_sums(depth, m.TransitionTotal, m.TransitionRollup, m.Transition)
        states = STATE_COLUMNS if depth == "base" else {"state": steps.from_state}
        columns = (*group.columns(table, states), steps.to_state)
        query = _joined(table, steps, table.select(*columns, pw.fn.SUM(steps.n)))
        if depth == "base":
            row = m.StateScore
            query = query.join(row, on=((row.conversation == steps.conversation) & (row.state == steps.from_state)))
        answer = store.execute(query.where(Scope(store, table, states).condition(rows)).group_by(*columns))
    names = group.namer(store)
    named = dict(store.execute(m.State.select(m.State.id, m.State.name)))
    found: dict[Names, dict[str, int]] = {}
    for *keys, to_state, count in answer:
        cell = found.setdefault(names(tuple(keys)), {})
        cell[named[to_state]] = cell.get(named[to_state], 0) + int(count)
    return found


def reads_columns(store: Store, calls: Predicate | None) -> bool:
    """Say whether to read columns of the calls that match, not their rows: unless sums say that they are few."""
    if not is_packed(store.execute_sql):
        return False
    if needs(calls) == "base":
        return True
    return sum(map(sum, call_counts(store, calls, Grouping(())).values())) > layout.FEW_CALLS


def takes_long(store: Store, rows: Predicate | None, by: Sequence[str]) -> bool:
    """Say whether sums of states are made of the states of very many calls."""
    return _in_columns(store, needs(rows, by, state_rows=True))


def _in_columns(store: Store, depth: Depth) -> bool:
    """Say whether to sum the columns of the calls, which a store of many calls keeps packed."""
    return depth == "base" and is_packed(store.execute_sql)


def _calls_and_sums(depth: Depth, total: Any, rollup: Any, rows: Any) -> tuple[Any, Any]:
    """Return the table that holds the names of calls, and the one that holds the values.

    Rollups are reached from the much smaller one of calls, so that asking for a few runs is cheap.
    """
    if depth == "total":
        return total, total
    return (m.CallRollup, rollup) if depth == "rollup" else (m.Conversation, rows)


def _joined(table: Any, sums: Any, query: Any) -> Any:
    if table is sums:
        return query
    if table is m.Conversation:
        return query.join(sums, on=(sums.conversation == table.id)).where(~table.errored)
    cell = (sums.flow == table.flow) & (sums.agent == table.agent) & (sums.run == table.run)
    return query.join(sums, on=cell)


def _summed(table: Any, names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(pw.fn.SUM(getattr(table, name)) for name in names)


def add(first: StateSums, second: StateSums) -> StateSums:
    """Add two sums."""
    return StateSums(*_added(first, second))


def pooled(cells: Iterable[CallSums]) -> CallSums:
    """Add up the sums of some cells, of one at least."""
    return CallSums(*(sum(column) for column in zip(*cells, strict=True)))


def _added(before: tuple[Any, ...] | None, more: tuple[Any, ...]) -> Iterable[Any]:
    return more if before is None else (a + b for a, b in zip(before, more, strict=True))


def _sums_of(value: Any) -> tuple[Any, ...]:
    return (
        pw.fn.COUNT(value),
        pw.fn.COALESCE(pw.fn.SUM(billionths(value)), 0),
        pw.fn.COALESCE(pw.fn.SUM(value * value), 0.0),
        _counted(value >= 10),
        _counted(value.is_null()),
    )


def _call_sums_of(call: Any) -> tuple[Any, ...]:
    counts = ~call.errored

    def known(column: Any) -> Any:
        return _counted(counts & column.is_null(False))

    def summed(value: Any, nothing: float = 0) -> Any:
        return pw.fn.COALESCE(pw.fn.SUM(pw.Case(None, ((counts, value),), nothing)), nothing)

    return (
        _counted(counts),
        _counted(call.errored),
        known(call.success),
        summed(call.success),
        known(call.lost),
        summed(call.lost),
        known(call.quality),
        summed(billionths(call.quality)),
        summed(call.quality * call.quality, 0.0),
        summed(billionths(call.computed_quality)),
        summed(call.computed_quality * call.computed_quality, 0.0),
        _counted(~call.caller_ok),
        _counted(~call.caller_ok & call.success.is_null(False)),
        _counted(~call.caller_ok & (call.success == 1)),
    )


def _state_sums_of(row: Any) -> tuple[Any, ...]:
    seconds = row.latency_p95_ms / 1000.0
    latency, slots = _sums_of(row.latency_p95_ms), _sums_of(row.slot_fill_rate)
    return (
        pw.fn.COUNT(pw.SQL("*")),
        pw.fn.SUM(row.progress),
        pw.fn.COUNT(row.stall),
        pw.fn.COALESCE(pw.fn.SUM(row.stall), 0),
        pw.fn.COUNT(row.lost),
        pw.fn.COALESCE(pw.fn.SUM(row.lost), 0),
        pw.fn.SUM(row.escalation),
        pw.fn.SUM(row.revisit),
        pw.fn.SUM(row.revisit * row.revisit * 1.0),
        pw.fn.SUM(billionths(row.dwell_turns)),
        pw.fn.SUM(row.dwell_turns * row.dwell_turns),
        latency[0],
        pw.fn.COALESCE(pw.fn.SUM(billionths(seconds)), 0),
        pw.fn.COALESCE(pw.fn.SUM(seconds * seconds), 0.0),
        pw.fn.SUM(row.guard_error),
        pw.fn.SUM(row.guard_error * row.guard_error * 1.0),
        slots[0],
        slots[1],
        slots[2],
    )


def billionths(value: Any) -> Any:
    """Round a value as the rollups do, so that sums are equal to the last digit."""
    return (value * float(UNIT) + 0.5).cast("BIGINT")


def _counted(condition: Any) -> Any:
    return pw.fn.SUM(pw.Case(None, ((condition, 1),), 0))
