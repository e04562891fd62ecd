"""Sum over the cells of (flow, agent, run), in the transaction that changes a cell.

Values enter as whole billionths, so that a sum does not depend on the order of rows. What new calls add up to is
added to what is there; a cell that lost a call is summed anew, and takes the place of what it was in the sums of the
(flow, agent) above it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import NamedTuple

from riff_store.changes import Cell
from riff_store.engines.engine import Connection
from riff_store.interaction import SUMS as INTERACTION_SUMS

_PAIR = ("flow_id", "agent_id")
_CELL = (*_PAIR, "run_id")
_OF_CELLS = "(flow_id, agent_id, run_id) IN (SELECT flow_id, agent_id, run_id FROM changed_cell)"
_OF_PAIRS = "(flow_id, agent_id) IN (SELECT flow_id, agent_id FROM changed_cell)"
_CALLS_OF_CELLS = (
    "changed_cell k CROSS JOIN conversation c ON"
    " c.flow_id = k.flow_id AND c.agent_id = k.agent_id AND c.run_id = k.run_id"
)
_NEW_CALLS = "new_call c"
_KEEP_CELLS = (
    "CREATE TEMP TABLE IF NOT EXISTS changed_cell (flow_id INTEGER NOT NULL, agent_id INTEGER NOT NULL,"
    " run_id INTEGER NOT NULL, PRIMARY KEY (flow_id, agent_id, run_id))",
    "DELETE FROM changed_cell",
)
_TAKE_CELL = "INSERT INTO changed_cell VALUES (?, ?, ?)"
_KEEP_NEW_CALLS = (
    "CREATE TEMP TABLE IF NOT EXISTS new_call AS SELECT * FROM conversation WHERE 1 = 0",
    "DELETE FROM new_call",
)
_TAKE_NEW_CALLS = (
    f"INSERT INTO new_call SELECT * FROM conversation WHERE id BETWEEN ? AND ? AND NOT {_OF_CELLS}"
    " ORDER BY flow_id, agent_id, run_id, id"
)
"""Put new calls beside the others by their cells: sums are written far quicker in the order in which they lie."""
_FIRST = "first_at"
"""The one column that is no sum: it keeps the earliest."""


def _billionths(value: str) -> str:
    return f"COALESCE(CAST({value} * 1000000000.0 + 0.5 AS INTEGER), 0)"


def _square(value: str) -> str:
    return f"COALESCE({value} * {value} * 1.0, 0.0)"


def _is(condition: str) -> str:
    return f"CASE WHEN {condition} THEN 1 ELSE 0 END"


def _unless_errored(value: str, otherwise: str = "0") -> str:
    return f"CASE WHEN c.errored THEN {otherwise} ELSE {value} END"


_OF_CALL = {
    _FIRST: "c.started_at",
    "n": _unless_errored("1"),
    "excluded": _is("c.errored"),
    "success_n": _unless_errored(_is("c.success IS NOT NULL")),
    "success": _unless_errored("COALESCE(c.success, 0)"),
    "lost_n": _unless_errored(_is("c.lost IS NOT NULL")),
    "lost": _unless_errored("COALESCE(c.lost, 0)"),
    "quality_n": _unless_errored(_is("c.quality IS NOT NULL")),
    "quality": _unless_errored(_billionths("c.quality")),
    "quality_squares": _unless_errored(_square("c.quality"), "0.0"),
    "computed_quality": _unless_errored(_billionths("c.computed_quality")),
    "computed_quality_squares": _unless_errored(_square("c.computed_quality"), "0.0"),
    "caller_failed": _is("NOT c.caller_ok"),
    "caller_success_n": _is("NOT c.caller_ok AND c.success IS NOT NULL"),
    "caller_success": "CASE WHEN NOT c.caller_ok THEN COALESCE(c.success, 0) ELSE 0 END",
}
_OF_INTERACTION = {
    "calls": "1",
    **{name: _billionths(f"i.{name}") if name.endswith("latency") else f"i.{name}" for name in INTERACTION_SUMS[1:]},
}
_OF_ASPECT = {
    "n": _is("a.value IS NOT NULL"),
    "total": _billionths("a.value"),
    "squares": _square("a.value"),
    "top": _is("a.value >= 10"),
    "unscored": _is("a.value IS NULL"),
}
_SECONDS = "(s.latency_p95_ms / 1000.0)"
_OF_STATE = {
    "n": "1",
    "progress": "s.progress",
    "stall_n": _is("s.stall IS NOT NULL"),
    "stall": "COALESCE(s.stall, 0)",
    "lost_n": _is("s.lost IS NOT NULL"),
    "lost": "COALESCE(s.lost, 0)",
    "escalation": "s.escalation",
    "revisit": "s.revisit",
    "revisit_squares": _square("s.revisit"),
    "dwell": _billionths("s.dwell_turns"),
    "dwell_squares": _square("s.dwell_turns"),
    "latency_n": _is("s.latency_p95_ms IS NOT NULL"),
    "latency": _billionths(_SECONDS),
    "latency_squares": _square(_SECONDS),
    "guard_error": "s.guard_error",
    "guard_error_squares": _square("s.guard_error"),
    "slot_n": _is("s.slot_fill_rate IS NOT NULL"),
    "slot": _billionths("s.slot_fill_rate"),
    "slot_squares": _square("s.slot_fill_rate"),
}


class _Sums(NamedTuple):
    """Describe the sums of one kind: their table, the rows that are summed, and what each of these adds.

    `total` is the table of sums over all runs, `None` where there is none. `keys` are those beside the keys of the
    cell, with what says them, `source` is what follows the table of calls `c`, `empty` is true of sums over nothing.
    """

    table: str
    total: str | None
    keys: Mapping[str, str]
    columns: Mapping[str, str]
    source: str
    empty: str = "n = 0"

    @property
    def cell(self) -> tuple[str, ...]:
        """Name what tells apart the rows of sums of cells."""
        return (*_CELL, *self.keys)

    @property
    def pair(self) -> tuple[str, ...]:
        """Name what tells apart the rows of sums over all runs."""
        return (*_PAIR, *self.keys)

    def summed(self, keys: tuple[str, ...], calls: str = _NEW_CALLS) -> str:
        """Select what the rows of some calls add up to by their keys."""
        named = ", ".join(self._keys(keys))
        sums = ", ".join(f"{'MIN' if name == _FIRST else 'SUM'}({value})" for name, value in self.columns.items())
        return f"SELECT {named}, {sums} FROM {calls} {self.source} GROUP BY {named}"

    def single(self, calls: str) -> str:
        """Select what each row of some calls adds to the sums of its cell."""
        return f"SELECT {', '.join((*self._keys(self.cell), *self.columns.values()))} FROM {calls} {self.source}"

    def insert(self, calls: str) -> str:
        """Insert what some calls add up to by their cells."""
        return _insert(self.table, (*self.cell, *self.columns), self.summed(self.cell, calls))

    def add(self, calls: str, *, one_by_one: bool) -> str:
        """Add the rows of some calls to the sums of their cells, one by one or what they add up to."""
        source = self.single(calls) if one_by_one else self.summed(self.cell, calls)
        return _add(self.table, self.cell, self.columns, source)

    def add_new_total(self) -> str:
        """Add what the rows of new calls add up to, to the sums over all runs."""
        return _add(str(self.total), self.pair, self.columns, self.summed(self.pair))

    def add_total(self, where: str = "true", sign: str = "") -> str:
        """Add sums of cells to those over all runs, or take them away."""
        keys = ", ".join(self.pair)
        summed = ", ".join(f"{sign}SUM({name})" for name in self.columns)
        source = f"SELECT {keys}, {summed} FROM {self.table} WHERE {where} GROUP BY {keys}"
        return _add(str(self.total), self.pair, self.columns, source)

    def _keys(self, names: tuple[str, ...]) -> list[str]:
        return [self.keys.get(name, f"c.{name}") for name in names]


def _of_calls(table: str) -> str:
    """Join the rows of a table to their calls, those of calls that are errored left out."""
    return f"CROSS JOIN {table} ON {table[-1]}.conversation_id = c.id WHERE NOT c.errored"


_CALL = _Sums("call_rollup", None, {}, _OF_CALL, "WHERE true")
_ASPECT = _Sums(
    "aspect_rollup",
    "aspect_total",
    {"aspect_id": "a.aspect_id", "judge_id": "a.judge_id"},
    _OF_ASPECT,
    _of_calls("aspect_score a"),
    "n = 0 AND unscored = 0",
)
_ALL = (
    _CALL,
    _Sums(
        "interaction_rollup",
        None,
        {"errored": "c.errored"},
        _OF_INTERACTION,
        "CROSS JOIN call_interaction i ON i.conversation_id = c.id WHERE true",
    ),
    _ASPECT,
    _Sums(
        "state_rollup",
        "state_total",
        {"state_id": "s.state_id", "segment_id": "s.segment_id"},
        _OF_STATE,
        _of_calls("state_score s"),
    ),
    _Sums(
        "transition_rollup",
        "transition_total",
        {"from_state_id": "x.from_state_id", "to_state_id": "x.to_state_id"},
        {"n": "x.n"},
        _of_calls("transition x"),
    ),
)


def recompute_all(connection: Connection) -> None:
    """Sum every cell anew, and the totals above them."""
    for sums in _ALL:
        connection.execute(f"DELETE FROM {sums.table}")
        connection.execute(sums.insert("conversation c"))
        if sums.total is not None:
            connection.execute(f"DELETE FROM {sums.total}")
            connection.execute(sums.add_total())


def add_calls(connection: Connection, first: int, last: int, shrunk: Set[Cell], *, one_by_one: bool) -> None:
    """Add the calls of these keys, of which no sum knows yet, to the sums of their cells, and sum `shrunk` cells anew.

    Adding rows `one_by_one` is quicker than to sum them before, and not every engine can (`Engine.adds_twice`).
    """
    _take_cells(connection, shrunk)
    if last >= first:
        for statement in _KEEP_NEW_CALLS:
            connection.execute(statement)
        connection.execute(_TAKE_NEW_CALLS, (first, last))
        for sums in _ALL:
            connection.execute(sums.add(_NEW_CALLS, one_by_one=one_by_one))
            if sums.total is not None:
                connection.execute(sums.add_new_total())
    if shrunk:
        _sum_anew(connection, _ALL, one_by_one=one_by_one)


def judge_anew(connection: Connection, cells: Set[Cell], *, one_by_one: bool) -> None:
    """Sum anew what judges say of the calls of these cells; the calls themselves are those that were summed before."""
    if cells:
        _take_cells(connection, cells)
        _sum_anew(connection, (_CALL, _ASPECT), one_by_one=one_by_one)


def _take_cells(connection: Connection, cells: Set[Cell]) -> None:
    for statement in _KEEP_CELLS:
        connection.execute(statement)
    connection.executemany(_TAKE_CELL, sorted(cells))


def _sum_anew(connection: Connection, kinds: Iterable[_Sums], *, one_by_one: bool) -> None:
    """Sum the cells that were taken anew, and put them in place of what they were in the totals above them."""
    for sums in kinds:
        if sums.total is not None:
            connection.execute(sums.add_total(_OF_CELLS, sign="-"))
        connection.execute(f"DELETE FROM {sums.table} WHERE {_OF_CELLS}")
        connection.execute(sums.add(_CALLS_OF_CELLS, one_by_one=one_by_one))
        if sums.total is not None:
            connection.execute(sums.add_total(_OF_CELLS))
            connection.execute(f"DELETE FROM {sums.total} WHERE {_OF_PAIRS} AND {sums.empty}")


def _insert(table: str, columns: tuple[str, ...], source: str) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) {source}"


def _add(table: str, keys: tuple[str, ...], columns: Iterable[str], source: str) -> str:
    """Insert rows of sums, or add them to those that are there."""
    added = ", ".join(_sum_of(table, column) for column in columns)
    return f"{_insert(table, (*keys, *columns), source)} ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {added}"


def _sum_of(table: str, column: str) -> str:
    if column != _FIRST:
        return f"{column} = {table}.{column} + excluded.{column}"
    earlier = f"{table}.{_FIRST} IS NULL OR excluded.{_FIRST} < {table}.{_FIRST}"
    return f"{_FIRST} = CASE WHEN {earlier} THEN excluded.{_FIRST} ELSE {table}.{_FIRST} END"
