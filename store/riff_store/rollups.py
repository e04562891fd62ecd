"""Sums over the cells of (flow, agent, run), kept true in the transaction that changes a cell.

Values enter as whole billionths, so that a sum does not depend on the order of rows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Set

_BILLIONTHS = "CAST({0} * 1000000000.0 + 0.5 AS INTEGER)"
_CELL = "flow_id, agent_id, run_id"

_TOUCHED = """
CREATE TEMP TABLE IF NOT EXISTS touched_cell
  (flow_id INTEGER, agent_id INTEGER, run_id INTEGER, PRIMARY KEY (flow_id, agent_id, run_id))"""

_CALLS = f"""
INSERT INTO call_rollup ({_CELL}, n, excluded, first_at)
SELECT c.flow_id, c.agent_id, c.run_id,
  SUM(CASE WHEN c.errored THEN 0 ELSE 1 END), SUM(CASE WHEN c.errored THEN 1 ELSE 0 END),
  MIN(c.started_at)
FROM touched_cell t JOIN conversation c USING (flow_id, agent_id, run_id)
GROUP BY 1, 2, 3"""

_ASPECTS = f"""
INSERT INTO aspect_rollup ({_CELL}, aspect_id, judge_id, n, total, squares, top, unscored)
SELECT c.flow_id, c.agent_id, c.run_id, a.aspect_id, a.judge_id, COUNT(a.value),
  COALESCE(SUM({_BILLIONTHS.format("a.value")}), 0), COALESCE(SUM(a.value * a.value), 0.0),
  SUM(CASE WHEN a.value >= 10 THEN 1 ELSE 0 END), SUM(CASE WHEN a.value IS NULL THEN 1 ELSE 0 END)
FROM touched_cell t JOIN conversation c USING (flow_id, agent_id, run_id)
JOIN aspect_score a ON a.conversation_id = c.id
WHERE NOT c.errored
GROUP BY 1, 2, 3, 4, 5"""

_STATE_COLUMNS = (
    "n, progress, stall, escalation, revisit, revisit_squares, dwell, dwell_squares, "
    "latency_n, latency, latency_squares, guard_error, guard_error_squares, slot_n, slot, slot_squares"
)

_STATES = f"""
INSERT INTO state_rollup ({_CELL}, state_id, segment_id, {_STATE_COLUMNS})
SELECT c.flow_id, c.agent_id, c.run_id, s.state_id, s.segment_id, COUNT(*),
  SUM(s.progress), SUM(s.stall), SUM(s.escalation), SUM(s.revisit), SUM(s.revisit * s.revisit * 1.0),
  SUM({_BILLIONTHS.format("s.dwell_turns")}), SUM(s.dwell_turns * s.dwell_turns),
  COUNT(s.latency_p95_ms), COALESCE(SUM({_BILLIONTHS.format("(s.latency_p95_ms / 1000.0)")}), 0),
  COALESCE(SUM((s.latency_p95_ms / 1000.0) * (s.latency_p95_ms / 1000.0)), 0.0),
  SUM(s.guard_error), SUM(s.guard_error * s.guard_error * 1.0),
  COUNT(s.slot_fill_rate), COALESCE(SUM({_BILLIONTHS.format("s.slot_fill_rate")}), 0),
  COALESCE(SUM(s.slot_fill_rate * s.slot_fill_rate), 0.0)
FROM touched_cell t JOIN conversation c USING (flow_id, agent_id, run_id)
JOIN state_score s ON s.conversation_id = c.id
WHERE NOT c.errored
GROUP BY 1, 2, 3, 4, 5"""

_TRANSITIONS = f"""
INSERT INTO transition_rollup ({_CELL}, from_state_id, to_state_id, n)
SELECT c.flow_id, c.agent_id, c.run_id, x.from_state_id, x.to_state_id, SUM(x.n)
FROM touched_cell t JOIN conversation c USING (flow_id, agent_id, run_id)
JOIN transition x ON x.conversation_id = c.id
WHERE NOT c.errored
GROUP BY 1, 2, 3, 4, 5"""


def _summed(columns: str) -> str:
    return ", ".join(f"SUM(r.{name.strip()})" for name in columns.split(","))


def _total(kind: str, keys: str, columns: str) -> str:
    grouped = ", ".join(f"r.{key.strip()}" for key in keys.split(","))
    return (
        f"INSERT INTO {kind}_total (flow_id, agent_id, {keys}, {columns}) "
        f"SELECT r.flow_id, r.agent_id, {grouped}, {_summed(columns)} "
        f"FROM (SELECT DISTINCT flow_id, agent_id FROM touched_cell) t JOIN {kind}_rollup r USING (flow_id, agent_id) "
        f"GROUP BY r.flow_id, r.agent_id, {grouped}"
    )


_ROLLUPS = (
    ("call_rollup", _CALLS),
    ("aspect_rollup", _ASPECTS),
    ("state_rollup", _STATES),
    ("transition_rollup", _TRANSITIONS),
)
_TOTALS = (
    ("aspect_total", _total("aspect", "aspect_id, judge_id", "n, total, squares, top, unscored")),
    ("state_total", _total("state", "state_id, segment_id", _STATE_COLUMNS)),
    ("transition_total", _total("transition", "from_state_id, to_state_id", "n")),
)


def recompute(connection: sqlite3.Connection, cells: Set[tuple[int, int, int]]) -> None:
    """Sum the given (flow, agent, run) cells anew, and the (flow, agent) totals above them."""
    connection.execute(_TOUCHED)
    connection.execute("DELETE FROM touched_cell")
    connection.executemany("INSERT INTO touched_cell VALUES (?, ?, ?)", sorted(cells))
    for table, insert in _ROLLUPS:
        connection.execute(f"DELETE FROM {table} WHERE ({_CELL}) IN (SELECT {_CELL} FROM touched_cell)")
        connection.execute(insert)
    for table, insert in _TOTALS:
        connection.execute(
            f"DELETE FROM {table} WHERE (flow_id, agent_id) IN (SELECT flow_id, agent_id FROM touched_cell)"
        )
        connection.execute(insert)
