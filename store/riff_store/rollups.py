"""Sum over the cells of (flow, agent, run), in the transaction that changes a cell.

Values enter as whole billionths, so that a sum does not depend on the order of rows. What new calls add up to is
added to what is there; a cell that lost a call is summed anew, and so is the (flow, agent) above it.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import NamedTuple

from riff_store.engines.engine import Connection
from riff_store.interaction import SUMS as INTERACTION_SUMS
from riff_store.models import ASPECT_SUMS, CALL_SUMS, STATE_SUMS

_BILLIONTHS = "CAST({0} * 1000000000.0 + 0.5 AS INTEGER)"
_PAIR = ("flow_id", "agent_id")
_CELL = (*_PAIR, "run_id")
_OF_CELL = "flow_id = ?1 AND agent_id = ?2 AND run_id = ?3"
_OF_PAIR = "flow_id = ?1 AND agent_id = ?2"
_CALL_OF_CELL = "c.flow_id = ?1 AND c.agent_id = ?2 AND c.run_id = ?3"
_NEW_CALL = "c.id BETWEEN ?1 AND ?2"

_CALL_COLUMNS = ("first_at", *CALL_SUMS)
_CALLS = f"""
SELECT c.flow_id, c.agent_id, c.run_id, MIN(c.started_at),
  SUM(CASE WHEN c.errored THEN 0 ELSE 1 END), SUM(CASE WHEN c.errored THEN 1 ELSE 0 END),
  SUM(CASE WHEN c.errored OR c.success IS NULL THEN 0 ELSE 1 END),
  COALESCE(SUM(CASE WHEN c.errored THEN 0 ELSE c.success END), 0),
  SUM(CASE WHEN c.errored OR c.lost IS NULL THEN 0 ELSE 1 END),
  COALESCE(SUM(CASE WHEN c.errored THEN 0 ELSE c.lost END), 0),
  SUM(CASE WHEN c.errored OR c.quality IS NULL THEN 0 ELSE 1 END),
  COALESCE(SUM(CASE WHEN c.errored THEN 0 ELSE {_BILLIONTHS.format("c.quality")} END), 0),
  COALESCE(SUM(CASE WHEN c.errored THEN 0.0 ELSE c.quality * c.quality END), 0.0),
  COALESCE(SUM(CASE WHEN c.errored THEN 0 ELSE {_BILLIONTHS.format("c.computed_quality")} END), 0),
  COALESCE(SUM(CASE WHEN c.errored THEN 0.0 ELSE c.computed_quality * c.computed_quality END), 0.0),
  COUNT(CASE WHEN NOT c.caller_ok THEN 1 END), COUNT(CASE WHEN NOT c.caller_ok THEN c.success END),
  COALESCE(SUM(CASE WHEN NOT c.caller_ok THEN c.success END), 0)
FROM conversation c WHERE {{which}}
GROUP BY c.flow_id, c.agent_id, c.run_id"""

_LINE_SUMS = ", ".join(
    f"SUM({_BILLIONTHS.format(f'i.{name}') if name.endswith('latency') else f'i.{name}'})"
    for name in INTERACTION_SUMS[1:]
)
_INTERACTIONS = f"""
SELECT c.flow_id, c.agent_id, c.run_id, c.errored, COUNT(*), {_LINE_SUMS}
FROM conversation c CROSS JOIN call_interaction i ON i.conversation_id = c.id
WHERE {{which}}
GROUP BY c.flow_id, c.agent_id, c.run_id, c.errored"""

_ASPECTS = f"""
SELECT c.flow_id, c.agent_id, c.run_id, a.aspect_id, a.judge_id, COUNT(a.value),
  COALESCE(SUM({_BILLIONTHS.format("a.value")}), 0), COALESCE(SUM(a.value * a.value), 0.0),
  SUM(CASE WHEN a.value >= 10 THEN 1 ELSE 0 END), SUM(CASE WHEN a.value IS NULL THEN 1 ELSE 0 END)
FROM conversation c CROSS JOIN aspect_score a ON a.conversation_id = c.id
WHERE {{which}} AND NOT c.errored
GROUP BY c.flow_id, c.agent_id, c.run_id, a.aspect_id, a.judge_id"""

_STATES = f"""
SELECT c.flow_id, c.agent_id, c.run_id, s.state_id, s.segment_id, COUNT(*),
  SUM(s.progress), COUNT(s.stall), COALESCE(SUM(s.stall), 0), COUNT(s.lost), COALESCE(SUM(s.lost), 0),
  SUM(s.escalation), SUM(s.revisit), SUM(s.revisit * s.revisit * 1.0),
  SUM({_BILLIONTHS.format("s.dwell_turns")}), SUM(s.dwell_turns * s.dwell_turns),
  COUNT(s.latency_p95_ms), COALESCE(SUM({_BILLIONTHS.format("(s.latency_p95_ms / 1000.0)")}), 0),
  COALESCE(SUM((s.latency_p95_ms / 1000.0) * (s.latency_p95_ms / 1000.0)), 0.0),
  SUM(s.guard_error), SUM(s.guard_error * s.guard_error * 1.0),
  COUNT(s.slot_fill_rate), COALESCE(SUM({_BILLIONTHS.format("s.slot_fill_rate")}), 0),
  COALESCE(SUM(s.slot_fill_rate * s.slot_fill_rate), 0.0)
FROM conversation c CROSS JOIN state_score s ON s.conversation_id = c.id
WHERE {{which}} AND NOT c.errored
GROUP BY c.flow_id, c.agent_id, c.run_id, s.state_id, s.segment_id"""

_TRANSITIONS = """
SELECT c.flow_id, c.agent_id, c.run_id, x.from_state_id, x.to_state_id, SUM(x.n)
FROM conversation c CROSS JOIN transition x ON x.conversation_id = c.id
WHERE {which} AND NOT c.errored
GROUP BY c.flow_id, c.agent_id, c.run_id, x.from_state_id, x.to_state_id"""


class _Sums(NamedTuple):
    """Describe the sums of one kind: their tables, the keys beside those of the cell, the columns, how they are made.

    `total` is the table of sums over all runs, `None` where there is none.
    """

    table: str
    total: str | None
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    select: str

    @property
    def cell(self) -> tuple[str, ...]:
        """Name what tells apart the rows of sums of cells."""
        return (*_CELL, *self.keys)

    @property
    def staging(self) -> str:
        """Name the table of this session for what new calls add up to."""
        return f"new_{self.table}"

    def create_staging(self) -> str:
        """Make that table, empty."""
        columns = ", ".join((*self.cell, *self.columns))
        return f"CREATE TEMP TABLE IF NOT EXISTS {self.staging} AS SELECT {columns} FROM {self.table} WHERE 1 = 0"

    def insert(self) -> str:
        """Insert what the calls of a cell add up to."""
        return _insert(self.table, (*self.cell, *self.columns), self.select.format(which=_CALL_OF_CELL))

    def keep_new(self) -> str:
        """Insert what new calls add up to beside the sums."""
        return f"INSERT INTO {self.staging} {self.select.format(which=_NEW_CALL)}"

    def add_new(self) -> str:
        """Add what stands beside the sums to those of the cells."""
        return _add(self.table, self.cell, self.columns, f"SELECT * FROM {self.staging} WHERE true")

    def add_total(self, table: str, where: str, sign: str = "") -> str:
        """Add what is in a table like that of the cells, or take it away, to the sums over all runs."""
        keys = ", ".join((*_PAIR, *self.keys))
        summed = ", ".join(f"{sign}SUM({name})" for name in self.columns)
        source = f"SELECT {keys}, {summed} FROM {table} WHERE {where} GROUP BY {keys}"
        return _add(str(self.total), (*_PAIR, *self.keys), self.columns, source)


_CALL = _Sums("call_rollup", None, (), _CALL_COLUMNS, _CALLS)
_ASPECT = _Sums("aspect_rollup", "aspect_total", ("aspect_id", "judge_id"), ASPECT_SUMS, _ASPECTS)
_ALL = (
    _CALL,
    _Sums("interaction_rollup", None, ("errored",), INTERACTION_SUMS, _INTERACTIONS),
    _ASPECT,
    _Sums("state_rollup", "state_total", ("state_id", "segment_id"), STATE_SUMS, _STATES),
    _Sums("transition_rollup", "transition_total", ("from_state_id", "to_state_id"), ("n",), _TRANSITIONS),
)


def recompute(connection: Connection, cells: Set[tuple[int, int, int]]) -> None:
    """Sum the given (flow, agent, run) cells anew, and the (flow, agent) totals above them."""
    touched = sorted(cells)
    pairs = sorted({cell[:2] for cell in cells})
    for sums in _ALL:
        _anew(connection, sums, touched)
        if sums.total is not None:
            connection.executemany(f"DELETE FROM {sums.total} WHERE {_OF_PAIR}", pairs)
            connection.executemany(sums.add_total(sums.table, _OF_PAIR), pairs)


def add_calls(connection: Connection, first: int, last: int) -> None:
    """Add the calls of these keys, of which no sum knows yet, to the sums of their cells."""
    for sums in _ALL:
        connection.execute(sums.create_staging())
        connection.execute(f"DELETE FROM {sums.staging}")
        connection.execute(sums.keep_new(), (first, last))
        connection.execute(sums.add_new())
        if sums.total is not None:
            connection.execute(sums.add_total(sums.staging, "true"))


def judge_anew(connection: Connection, cells: Iterable[tuple[int, int, int]]) -> None:
    """Sum anew what judges say of the calls of these cells; the calls themselves are those that were summed before."""
    judged = sorted(cells)
    _anew(connection, _CALL, judged)
    connection.executemany(_ASPECT.add_total(_ASPECT.table, _OF_CELL, sign="-"), judged)
    _anew(connection, _ASPECT, judged)
    connection.executemany(_ASPECT.add_total(_ASPECT.table, _OF_CELL), judged)
    empty = f"DELETE FROM {_ASPECT.total} WHERE {_OF_PAIR} AND n = 0 AND unscored = 0"
    connection.executemany(empty, sorted({cell[:2] for cell in judged}))


def _anew(connection: Connection, sums: _Sums, cells: list[tuple[int, int, int]]) -> None:
    connection.executemany(f"DELETE FROM {sums.table} WHERE {_OF_CELL}", cells)
    connection.executemany(sums.insert(), cells)


def _insert(table: str, columns: tuple[str, ...], source: str) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) {source}"


def _add(table: str, keys: tuple[str, ...], columns: tuple[str, ...], source: str) -> str:
    """Insert rows of sums, or add them to those that are there."""
    added = ", ".join(_sum_of(table, column) for column in columns)
    return f"{_insert(table, (*keys, *columns), source)} ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {added}"


def _sum_of(table: str, column: str) -> str:
    if column != "first_at":
        return f"{column} = {table}.{column} + excluded.{column}"
    earlier = f"{table}.first_at IS NULL OR excluded.first_at < {table}.first_at"
    return f"first_at = CASE WHEN {earlier} THEN excluded.first_at ELSE {table}.first_at END"
