"""The views that add up calls by flow, agent, state and run, in the words of the peer."""

from __future__ import annotations

from riff_store.measure import THIN

CALLS = "call AS MATERIALIZED (SELECT * FROM conversation WHERE {where})"
"""The calls of a question; `where` is its filter."""
_STATE_FIGURES = "n, progress, stall, escalation, revisit, dwell_turns, latency_p95, guard_error, slot_fill_rate, lost"
_STATE_SUMS = """
count(*) AS n, avg(s.progress) AS progress, avg(s.stall) AS stall, avg(s.escalation) AS escalation,
avg(s.revisit) AS revisit, avg(s.dwell_turns) AS dwell_turns, avg(s.latency_p95_ms) / 1000 AS latency_p95,
avg(s.guard_error) AS guard_error, avg(s.slot_fill_rate) AS slot_fill_rate, sum(s.lost) AS lost"""
_GRAVEST = (
    f"n < {THIN}, coalesce(lost, 0) DESC, coalesce(stall, 0) + coalesce(escalation, 0) / 2 DESC, stall DESC NULLS LAST,"
    " progress NULLS LAST, escalation DESC NULLS LAST, n DESC"
)
_COMPUTED = "SELECT id FROM judge WHERE name = '(computed)'"


def long(select: str, keys: str, figures: str) -> str:
    """Turn a row with several figures into a row for each of them."""
    columns = ", ".join(f"CAST({name} AS DOUBLE) AS {name}" for name in figures.split(", "))
    return f"""
SELECT {keys}, figure, value FROM (SELECT {keys}, {columns} FROM ({select}))
UNPIVOT (value FOR figure IN ({figures}))"""


def _judged(aspect: str = "aspect.name", judge: str = "judge.name") -> str:
    """The name that our rows have for the mean of an aspect."""
    return f"CASE WHEN {judge} = '(computed)' THEN {aspect} ELSE {aspect} || '.' || {judge} END"


FLOWS = f"""
WITH {CALLS}, cell AS (
  SELECT flow_id, agent_id, count(*) FILTER (NOT errored) AS n, count(*) FILTER (errored) AS excluded,
         avg(success) FILTER (NOT errored) AS success_rate, avg(quality) FILTER (NOT errored) AS quality,
         sum(lost) FILTER (NOT errored) AS lost
  FROM call GROUP BY ALL
), score AS (
  SELECT flow_id, agent_id, aspect_id, judge_id, avg(value) AS value
  FROM call JOIN aspect_score ON conversation_id = call.id WHERE NOT errored GROUP BY ALL
), named AS (
  SELECT flow.name AS flow, agent.name AS agent, cell.*
  FROM cell JOIN flow ON flow.id = flow_id JOIN agent ON agent.id = agent_id
)
{long("SELECT * FROM named", "flow, agent", "n, excluded, success_rate, quality, lost")}
UNION ALL
SELECT flow, agent, {_judged()}, value
FROM score JOIN named USING (flow_id, agent_id) JOIN aspect ON aspect.id = aspect_id JOIN judge ON judge.id = judge_id
"""

STATES = f"""
WITH {CALLS}, cell AS (
  SELECT state_id, {_STATE_SUMS}
  FROM call JOIN state_score AS s ON s.conversation_id = call.id WHERE NOT errored GROUP BY ALL
), step AS (
  SELECT from_state_id, to_state_id, sum(n) AS value
  FROM call JOIN transition AS t ON t.conversation_id = call.id WHERE NOT errored GROUP BY ALL
), named AS (
  SELECT flow.name AS flow, state.name AS state, cell.*
  FROM cell JOIN state ON state.id = state_id JOIN flow ON flow.id = state.flow_id
)
{long("SELECT * FROM named", "flow, state", _STATE_FIGURES)}
UNION ALL
SELECT flow, state, 'to_states.' || target.name, value
FROM step JOIN named ON state_id = from_state_id JOIN state AS target ON target.id = to_state_id
"""

SEGMENTS = f"""
WITH {CALLS}, cell AS (
  SELECT flow_id, segment_id, {_STATE_SUMS}
  FROM call JOIN state_score AS s ON s.conversation_id = call.id WHERE NOT errored GROUP BY ALL
)
{
    long(
        "SELECT flow.name AS flow, segment.name AS segment, cell.* FROM cell JOIN flow ON flow.id = flow_id"
        " JOIN segment ON segment.id = segment_id",
        "flow, segment",
        _STATE_FIGURES,
    )
}
"""

WORKLIST = f"""
WITH {CALLS}, weak AS (
  SELECT flow_id, agent_id, count(*) FILTER (NOT errored) AS n, sum(lost) FILTER (NOT errored) AS lost
  FROM call GROUP BY ALL
), correct AS (
  SELECT flow_id, agent_id, avg(value) AS correctness FROM call JOIN aspect_score ON conversation_id = call.id
  WHERE NOT errored AND judge_id = ({_COMPUTED}) AND aspect_id = (SELECT id FROM aspect WHERE name = 'correctness')
  GROUP BY ALL
), rows AS (
  SELECT flow_id, state_id, segment_id, {_STATE_SUMS}, sum(s.progress) AS progressed, count(s.stall) AS stall_n,
         sum(s.stall) AS stalled, sum(s.escalation) AS escalated
  FROM call JOIN state_score AS s ON s.conversation_id = call.id WHERE NOT errored GROUP BY ALL
), segment_row AS (
  SELECT flow_id, segment_id, sum(n) AS n, sum(lost) AS lost, sum(stalled) / sum(stall_n) AS stall,
         sum(progressed) / sum(n) AS progress, sum(escalated) / sum(n) AS escalation
  FROM rows GROUP BY ALL HAVING stall >= 0.25 OR escalation >= 0.25
), listed AS (
  (SELECT 'flows' AS list, flow_id, agent_id, NULL AS segment_id, NULL AS state_id, n, lost, correctness
   FROM weak JOIN correct USING (flow_id, agent_id) JOIN flow ON flow.id = flow_id JOIN agent ON agent.id = agent_id
   WHERE correctness < 7 ORDER BY n < {THIN}, correctness, flow.name, agent.name LIMIT 10)
  UNION ALL BY NAME
  (SELECT 'segments' AS list, flow_id, segment_id, n, lost
   FROM segment_row JOIN flow ON flow.id = flow_id JOIN segment ON segment.id = segment_id
   ORDER BY {_GRAVEST}, flow.name, segment.name LIMIT 10)
  UNION ALL BY NAME
  (SELECT 'states' AS list, rows.flow_id, segment_id, state_id, n, lost
   FROM rows JOIN flow ON flow.id = rows.flow_id JOIN state ON state.id = state_id
   WHERE stall >= 0.25 OR escalation >= 0.25 OR latency_p95 > 8 OR guard_error >= 0.5
         OR (progress < 0.7 AND (dwell_turns > 3 OR slot_fill_rate < 0.7))
   ORDER BY {_GRAVEST}, flow.name, state.name LIMIT 10)
)
{
    long(
        "SELECT list, flow.name AS flow, agent.name AS agent, segment.name AS segment, state.name AS state, n, lost,"
        " correctness FROM listed JOIN flow ON flow.id = flow_id LEFT JOIN agent ON agent.id = agent_id"
        " LEFT JOIN segment ON segment.id = segment_id LEFT JOIN state ON state.id = state_id",
        "list, flow, agent, segment, state",
        "n, lost, correctness",
    )
}
"""

NEIGHBORS = f"""
WITH {CALLS}, place AS (
  SELECT state.id FROM state JOIN flow ON flow.id = state.flow_id WHERE flow.name = 'flow_03' AND state.name = 'triage'
), step AS (
  SELECT from_state_id, to_state_id, sum(n) AS n
  FROM call JOIN transition AS t ON t.conversation_id = call.id WHERE NOT errored GROUP BY ALL
), near AS (
  SELECT 'in' AS direction, from_state_id AS state_id, n AS count FROM step
  WHERE to_state_id = (FROM place) AND from_state_id <> to_state_id
  UNION ALL
  SELECT 'out', to_state_id, n FROM step WHERE from_state_id = (FROM place) AND from_state_id <> to_state_id
), fared AS (
  SELECT state_id, count(*) AS n, avg(stall) AS stall
  FROM call JOIN state_score AS s ON s.conversation_id = call.id WHERE NOT errored GROUP BY ALL
  UNION ALL
  SELECT state_id, count(*), NULL FROM call JOIN outcome_visit AS v ON v.conversation_id = call.id
  WHERE NOT errored GROUP BY ALL
)
{
    long(
        "SELECT direction, state.name AS state, count, count / sum(count) OVER (PARTITION BY direction) AS share,"
        " n, stall FROM near JOIN fared USING (state_id) JOIN state ON state.id = state_id",
        "direction, state",
        '"count", share, n, stall',
    )
}
"""

TIMELINE = f"""
WITH {CALLS}, night AS (
  SELECT run_id, count(*) FILTER (NOT errored) AS n, count(*) FILTER (errored) AS excluded,
         count(DISTINCT flow_id) AS flows, avg(success) FILTER (NOT errored) AS success_rate,
         avg(computed_quality) FILTER (NOT errored) AS computed
  FROM call GROUP BY ALL
), heard AS (
  SELECT run_id, judge_id, avg(value) AS value, count(value) AS n
  FROM call JOIN aspect_score ON conversation_id = call.id
  WHERE NOT errored AND aspect_id = (SELECT id FROM aspect WHERE name = 'humanness') GROUP BY ALL
)
{
    long(
        "SELECT run.name AS run, night.* FROM night JOIN run ON run.id = run_id",
        "run",
        "n, excluded, flows, success_rate",
    )
}
UNION ALL SELECT run.name, 'quality.(computed)', computed FROM night JOIN run ON run.id = run_id
UNION ALL SELECT run.name, 'quality.' || judge.name, value
FROM heard JOIN run ON run.id = run_id JOIN judge ON judge.id = judge_id
UNION ALL SELECT run.name, 'quality_n.' || judge.name, n
FROM heard JOIN run ON run.id = run_id JOIN judge ON judge.id = judge_id
"""

RUNS = f"""
WITH {CALLS}
{
    long(
        "SELECT run.name AS run, count(*) FILTER (NOT errored) AS n, count(*) FILTER (errored) AS excluded,"
        " count(DISTINCT flow_id) AS flows, avg(success) FILTER (NOT errored) AS success_rate,"
        " avg(quality) FILTER (NOT errored) AS quality FROM call JOIN run ON run.id = run_id GROUP BY ALL",
        "run",
        "n, excluded, flows, success_rate, quality",
    )
}
"""

PERSONAS = f"""
WITH {CALLS}, score AS (
  SELECT persona_id, aspect_id, judge_id, avg(value) AS value
  FROM call JOIN aspect_score ON conversation_id = call.id WHERE NOT errored GROUP BY ALL
)
{
    long(
        "SELECT persona.name AS persona, count(*) FILTER (NOT errored) AS n, count(*) FILTER (errored) AS excluded,"
        " avg(success) FILTER (NOT errored) AS success_rate, avg(quality) FILTER (NOT errored) AS quality,"
        " sum(lost) FILTER (NOT errored) AS lost FROM call JOIN persona ON persona.id = persona_id GROUP BY ALL",
        "persona",
        "n, excluded, success_rate, quality, lost",
    )
}
UNION ALL
SELECT persona.name, {_judged()}, value
FROM score JOIN persona ON persona.id = persona_id JOIN aspect ON aspect.id = aspect_id
JOIN judge ON judge.id = judge_id
"""
