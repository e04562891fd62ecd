"""The views that add up calls by flow, agent, state and run, in the words of the peer."""

from __future__ import annotations

from riff_store.measure import LONG_DWELL, OFTEN_SLOW, THIN
from riff_store.queries.worklist import MOST_PAIRS

CALLS = "call AS MATERIALIZED (SELECT * FROM conversation WHERE {where})"
"""The calls of a question; `where` is its filter."""
_STATE_FIGURES = "n, progress, stall, escalation, revisit, dwell_turns, latency_p95, guard_error, slot_fill_rate, lost"
_STATE_SUMS = """
count(*) AS n, avg(s.progress) AS progress, avg(s.stall) AS stall, avg(s.escalation) AS escalation,
avg(s.revisit) AS revisit, avg(s.dwell_turns) AS dwell_turns, avg(s.latency_p95_ms) / 1000 AS latency_p95,
avg(s.guard_error) AS guard_error, avg(s.slot_fill_rate) AS slot_fill_rate, sum(s.lost) AS lost"""
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

_FUNNEL_FIGURES = "reached, failed, share, position"
FUNNEL = f"""
WITH {CALLS}, counting AS (
  SELECT flow_id, count(*) AS calls FROM call WHERE NOT errored GROUP BY ALL
), came AS (
  SELECT state_id, position FROM call JOIN state_score AS s ON s.conversation_id = call.id WHERE NOT errored
  UNION ALL
  SELECT state_id, position FROM call JOIN outcome_visit AS o ON o.conversation_id = call.id WHERE NOT errored
), blamed AS (
  SELECT state_id, count(*) AS failed
  FROM call JOIN call_failure AS f ON f.conversation_id = call.id WHERE NOT errored GROUP BY ALL
), cell AS (
  SELECT state_id, count(*) AS reached, avg(position) AS position FROM came GROUP BY ALL
), step AS (
  SELECT from_state_id, to_state_id, sum(n) AS value
  FROM call JOIN transition AS t ON t.conversation_id = call.id WHERE NOT errored GROUP BY ALL
), named AS (
  SELECT flow.name AS flow, state.name AS state, cell.*, coalesce(failed, 0) AS failed, reached / calls AS share
  FROM cell LEFT JOIN blamed USING (state_id) JOIN state ON state.id = cell.state_id
  JOIN flow ON flow.id = state.flow_id JOIN counting ON counting.flow_id = flow.id
)
{long("SELECT * FROM named", "flow, state", _FUNNEL_FIGURES)}
UNION ALL
SELECT flow, state, 'next.' || target.name, value
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
WITH {CALLS}, pair AS (
  SELECT flow_id, agent_id, count(*) FILTER (NOT errored) AS calls, count(success) FILTER (NOT errored) AS n,
         count(*) FILTER (NOT errored AND success = 0) AS failed
  FROM call GROUP BY ALL
), share AS (
  SELECT count(*) <= {MOST_PAIRS} AS by_agent FROM pair
), weak AS (
  SELECT * FROM (
    SELECT flow_id, CASE WHEN by_agent THEN agent_id END AS agent_id, sum(calls) AS calls, sum(pair.n) AS n,
           sum(pair.failed) AS failed
    FROM pair, share GROUP BY 1, 2
  ) WHERE failed > 0
), correct AS (
  SELECT flow_id, CASE WHEN by_agent THEN agent_id END AS agent_id, avg(value) AS correctness
  FROM share, call JOIN aspect_score ON conversation_id = call.id
  WHERE NOT errored AND judge_id = ({_COMPUTED}) AND aspect_id = (SELECT id FROM aspect WHERE name = 'correctness')
  GROUP BY 1, 2
), blamed AS (
  SELECT flow_id, state_id, segment_id, count(*) AS failed
  FROM call JOIN call_failure ON conversation_id = call.id WHERE NOT errored AND state_id IS NOT NULL GROUP BY ALL
), visited AS (
  SELECT flow_id, state_id, segment_id, count(*) AS n, avg(slow) AS slow, avg(dwell_turns) AS dwell
  FROM call JOIN state_score AS s ON s.conversation_id = call.id WHERE NOT errored GROUP BY ALL
), row AS (
  SELECT flow_id, state_id, segment_id, coalesce(n, 0) AS came, coalesce(failed, 0) AS blamed, slow, dwell
  FROM visited FULL JOIN blamed USING (flow_id, state_id, segment_id)
), listed AS (
  (SELECT 'flows' AS list, weak.flow_id, weak.agent_id, NULL AS segment_id, NULL AS state_id, n, failed, correctness
   FROM weak LEFT JOIN correct ON correct.flow_id = weak.flow_id
        AND correct.agent_id IS NOT DISTINCT FROM weak.agent_id
        JOIN flow ON flow.id = weak.flow_id LEFT JOIN agent ON agent.id = weak.agent_id
   ORDER BY calls < {THIN}, failed DESC, failed / calls DESC, flow.name, agent.name LIMIT 10)
  UNION ALL BY NAME
  (SELECT 'segments' AS list, flow_id, segment_id, any_value(whole.n) AS n, sum(blamed) AS failed
   FROM row JOIN flow ON flow.id = flow_id JOIN segment ON segment.id = segment_id
        JOIN (SELECT flow_id, sum(n) AS n FROM pair GROUP BY 1) AS whole USING (flow_id)
   GROUP BY flow_id, segment_id, flow.name, segment.name HAVING sum(blamed) > 0
   ORDER BY sum(came) < {THIN}, sum(blamed) DESC, sum(blamed) / sum(came) DESC, flow.name, segment.name LIMIT 10)
  UNION ALL BY NAME
  (SELECT 'states' AS list, row.flow_id, segment_id, state_id, greatest(came, blamed) AS n, blamed AS failed
   FROM row JOIN flow ON flow.id = row.flow_id JOIN state ON state.id = state_id
   WHERE blamed > 0 OR slow >= {OFTEN_SLOW} OR dwell > {LONG_DWELL}
   ORDER BY greatest(came, blamed) < {THIN}, blamed DESC, blamed / came DESC, flow.name, state.name LIMIT 10)
)
{
    long(
        "SELECT list, flow.name AS flow, agent.name AS agent, segment.name AS segment, state.name AS state, n, failed,"
        " correctness FROM listed JOIN flow ON flow.id = flow_id LEFT JOIN agent ON agent.id = agent_id"
        " LEFT JOIN segment ON segment.id = segment_id LEFT JOIN state ON state.id = state_id",
        "list, flow, agent, segment, state",
        "n, failed, correctness",
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
), here AS (
  SELECT s.conversation_id, s.stall, revisit + 1 AS times,
         (SELECT coalesce(sum(n), 0) FROM transition AS t
          WHERE t.conversation_id = s.conversation_id AND from_state_id = s.state_id) AS went,
         (SELECT coalesce(sum(n), 0) FROM transition AS t
          WHERE t.conversation_id = s.conversation_id AND to_state_id = s.state_id) AS came
  FROM call JOIN state_score AS s ON s.conversation_id = call.id WHERE NOT errored AND s.state_id = (FROM place)
), apart AS (
  SELECT direction, state.name AS state, count, n, stall
  FROM near JOIN fared USING (state_id) JOIN state ON state.id = state_id
  UNION ALL
  SELECT 'out', NULL, sum(times - went), count(*), avg(stall) FROM here WHERE times > went HAVING count(*) > 0
  UNION ALL
  SELECT 'in', NULL, sum(times - came), count(*), NULL FROM here WHERE times > came HAVING count(*) > 0
)
{
    long(
        "SELECT direction, state, count, count / (SELECT sum(times) FROM here) AS share, n, stall FROM apart",
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
