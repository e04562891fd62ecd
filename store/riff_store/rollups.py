"""Sum over the cells of (flow, agent, run), in the transaction that changes a cell.

Values enter as whole billionths, so that a sum does not depend on the order of rows. Each cell is
summed by statements of its own: what has to be sorted for a GROUP BY stays small.
"""

from __future__ import annotations

from collections.abc import Set

from riff_store.engines.engine import Connection
from riff_store.interaction import SUMS as INTERACTION_SUMS
from riff_store.models import ASPECT_SUMS, CALL_SUMS, STATE_SUMS

_BILLIONTHS = "CAST({0} * 1000000000.0 + 0.5 AS INTEGER)"
_CELL = "flow_id = ?1 AND agent_id = ?2 AND run_id = ?3"
_PAIR = "flow_id = ?1 AND agent_id = ?2"

_CALL_COLUMNS = ", ".join(CALL_SUMS)

_CALLS = f"""
INSERT INTO call_rollup (flow_id, agent_id, run_id, first_at, {_CALL_COLUMNS})
SELECT ?1, ?2, ?3, MIN(started_at),
  SUM(CASE WHEN errored THEN 0 ELSE 1 END), SUM(CASE WHEN errored THEN 1 ELSE 0 END),
  SUM(CASE WHEN errored OR success IS NULL THEN 0 ELSE 1 END),
  COALESCE(SUM(CASE WHEN errored THEN 0 ELSE success END), 0),
  SUM(CASE WHEN errored OR lost IS NULL THEN 0 ELSE 1 END), COALESCE(SUM(CASE WHEN errored THEN 0 ELSE lost END), 0),
  SUM(CASE WHEN errored OR quality IS NULL THEN 0 ELSE 1 END),
  COALESCE(SUM(CASE WHEN errored THEN 0 ELSE {_BILLIONTHS.format("quality")} END), 0),
  COALESCE(SUM(CASE WHEN errored THEN 0.0 ELSE quality * quality END), 0.0),
  COALESCE(SUM(CASE WHEN errored THEN 0 ELSE {_BILLIONTHS.format("computed_quality")} END), 0),
  COALESCE(SUM(CASE WHEN errored THEN 0.0 ELSE computed_quality * computed_quality END), 0.0),
  COUNT(CASE WHEN caller_ok = 0 THEN 1 END), COUNT(CASE WHEN caller_ok = 0 THEN success END),
  COALESCE(SUM(CASE WHEN caller_ok = 0 THEN success END), 0)
FROM conversation WHERE {_CELL}
GROUP BY flow_id, agent_id, run_id"""

_LINE_COLUMNS = ", ".join(INTERACTION_SUMS)
_LINE_SUMS = ", ".join(
    f"SUM({_BILLIONTHS.format(f'i.{name}') if name.endswith('latency') else f'i.{name}'})"
    for name in INTERACTION_SUMS[1:]
)

_INTERACTIONS = f"""
INSERT INTO interaction_rollup (flow_id, agent_id, run_id, errored, {_LINE_COLUMNS})
SELECT ?1, ?2, ?3, c.errored, COUNT(*), {_LINE_SUMS}
FROM conversation c CROSS JOIN call_interaction i ON i.conversation_id = c.id
WHERE {_CELL}
GROUP BY c.errored"""

_ASPECT_COLUMNS = ", ".join(ASPECT_SUMS)

_ASPECTS = f"""
INSERT INTO aspect_rollup (flow_id, agent_id, run_id, aspect_id, judge_id, {_ASPECT_COLUMNS})
SELECT ?1, ?2, ?3, a.aspect_id, a.judge_id, COUNT(a.value),
  COALESCE(SUM({_BILLIONTHS.format("a.value")}), 0), COALESCE(SUM(a.value * a.value), 0.0),
  SUM(CASE WHEN a.value >= 10 THEN 1 ELSE 0 END), SUM(CASE WHEN a.value IS NULL THEN 1 ELSE 0 END)
FROM conversation c CROSS JOIN aspect_score a ON a.conversation_id = c.id
WHERE {_CELL} AND NOT c.errored
GROUP BY a.aspect_id, a.judge_id"""

_STATE_COLUMNS = ", ".join(STATE_SUMS)

_STATES = f"""
INSERT INTO state_rollup (flow_id, agent_id, run_id, state_id, segment_id, {_STATE_COLUMNS})
SELECT ?1, ?2, ?3, s.state_id, s.segment_id, COUNT(*),
  SUM(s.progress), COUNT(s.stall), COALESCE(SUM(s.stall), 0), COUNT(s.lost), COALESCE(SUM(s.lost), 0),
  SUM(s.escalation), SUM(s.revisit), SUM(s.revisit * s.revisit * 1.0),
  SUM({_BILLIONTHS.format("s.dwell_turns")}), SUM(s.dwell_turns * s.dwell_turns),
  COUNT(s.latency_p95_ms), COALESCE(SUM({_BILLIONTHS.format("(s.latency_p95_ms / 1000.0)")}), 0),
  COALESCE(SUM((s.latency_p95_ms / 1000.0) * (s.latency_p95_ms / 1000.0)), 0.0),
  SUM(s.guard_error), SUM(s.guard_error * s.guard_error * 1.0),
  COUNT(s.slot_fill_rate), COALESCE(SUM({_BILLIONTHS.format("s.slot_fill_rate")}), 0),
  COALESCE(SUM(s.slot_fill_rate * s.slot_fill_rate), 0.0)
FROM conversation c CROSS JOIN state_score s ON s.conversation_id = c.id
WHERE {_CELL} AND NOT c.errored
GROUP BY s.state_id, s.segment_id"""

_TRANSITIONS = f"""
INSERT INTO transition_rollup (flow_id, agent_id, run_id, from_state_id, to_state_id, n)
SELECT ?1, ?2, ?3, x.from_state_id, x.to_state_id, SUM(x.n)
FROM conversation c CROSS JOIN transition x ON x.conversation_id = c.id
WHERE {_CELL} AND NOT c.errored
GROUP BY x.from_state_id, x.to_state_id"""


def _total(kind: str, keys: str, columns: str) -> str:
    summed = ", ".join(f"SUM({name})" for name in columns.split(", "))
    return (
        f"INSERT INTO {kind}_total (flow_id, agent_id, {keys}, {columns})"
        f" SELECT ?1, ?2, {keys}, {summed} FROM {kind}_rollup WHERE {_PAIR} GROUP BY {keys}"
    )


_ROLLUPS = (
    ("call_rollup", _CALLS),
    ("interaction_rollup", _INTERACTIONS),
    ("aspect_rollup", _ASPECTS),
    ("state_rollup", _STATES),
    ("transition_rollup", _TRANSITIONS),
)
_TOTALS = (
    ("aspect_total", _total("aspect", "aspect_id, judge_id", _ASPECT_COLUMNS)),
    ("state_total", _total("state", "state_id, segment_id", _STATE_COLUMNS)),
    ("transition_total", _total("transition", "from_state_id, to_state_id", "n")),
)


def recompute(connection: Connection, cells: Set[tuple[int, int, int]]) -> None:
    """Sum the given (flow, agent, run) cells anew, and the (flow, agent) totals above them."""
    touched = sorted(cells)
    for table, insert in _ROLLUPS:
        connection.executemany(f"DELETE FROM {table} WHERE {_CELL}", touched)
        connection.executemany(insert, touched)
    pairs = sorted({cell[:2] for cell in cells})
    for table, insert in _TOTALS:
        connection.executemany(f"DELETE FROM {table} WHERE {_PAIR}", pairs)
        connection.executemany(insert, pairs)
