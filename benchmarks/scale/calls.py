"""The views that list calls, or find out how they failed and whether they come out the same, in the peer's words."""

from __future__ import annotations

from benchmarks.scale.matrices import CALLS, long
from riff_store.queries.causes import MANY
from riff_store.vocabulary import CLASSES_OF_FAILURE, DIVIDED_BY_DETAIL, SEVERAL

LISTED = 50

_TURNS = """
SELECT conversation_id, max(value) FILTER (aspect.name = 'correctness') AS correctness,
       max(value) FILTER (aspect.name = 'latency_p95') AS latency_p95,
       max(value) FILTER (aspect.name = 'turn_count') AS turn_count
FROM aspect_score JOIN aspect ON aspect.id = aspect_id JOIN judge ON judge.id = judge_id
WHERE judge.name = '(computed)' AND conversation_id IN (SELECT id FROM page) GROUP BY ALL"""

CONVERSATIONS = f"""
WITH {CALLS}, page AS MATERIALIZED (
  SELECT call.*, run.name AS run, row_number() OVER (
           ORDER BY run.started_at NULLS LAST, run.name, flow.name, call.name, agent.name, trial) - 1 AS place
  FROM call JOIN run ON run.id = run_id JOIN flow ON flow.id = flow_id JOIN agent ON agent.id = agent_id
  ORDER BY run.started_at NULLS LAST, run.name, flow.name, call.name, agent.name, trial LIMIT {LISTED}
), turn AS ({_TURNS})
{
    long(
        "SELECT run, name AS conversation, place, duration_s, correctness, latency_p95, turn_count"
        " FROM page LEFT JOIN turn ON conversation_id = page.id",
        "run, conversation",
        "place, duration_s, correctness, latency_p95, turn_count",
    )
}
UNION ALL SELECT NULL, NULL, 'matched', count(*) FROM call
"""

_FAILED = """
SELECT call.*, coalesce(ok.name, '(start)') AS last_ok, coalesce(broken.name, '(none found)') AS first_failed, kind,
       detail.name AS detail, error.name AS failed_with, stop.name AS stop_reason, flow.name AS flow
FROM call JOIN call_failure ON conversation_id = call.id JOIN flow ON flow.id = call.flow_id
     LEFT JOIN state AS ok ON ok.id = last_ok_id LEFT JOIN state AS broken ON broken.id = state_id
     LEFT JOIN label AS detail ON detail.id = detail_id LEFT JOIN label AS error ON error.id = error_id
     LEFT JOIN label AS stop ON stop.id = stop_reason_id
WHERE NOT errored"""

FAILURE_MATRIX = f"""
WITH {CALLS}, failed AS ({_FAILED}), cell AS (
  SELECT flow, last_ok, first_failed, count(*) AS n, count(*) / sum(count(*)) OVER (PARTITION BY flow) AS share
  FROM failed GROUP BY flow, last_ok, first_failed
), step AS (
  SELECT ok.name AS last_ok, broken.name AS first_failed, count(*) AS taken
  FROM call JOIN transition AS t ON t.conversation_id = call.id
       JOIN state AS ok ON ok.id = from_state_id JOIN state AS broken ON broken.id = to_state_id
  WHERE NOT errored GROUP BY ALL
  UNION ALL
  SELECT '(start)', state.name, count(*)
  FROM call JOIN state_score AS s ON s.conversation_id = call.id JOIN state ON state.id = state_id
  WHERE NOT errored AND position = 0 GROUP BY ALL
)
{
    long(
        "SELECT flow, last_ok, first_failed, n, share, CASE WHEN taken >= n THEN taken END AS taken"
        " FROM cell LEFT JOIN step USING (last_ok, first_failed)",
        "flow, last_ok, first_failed",
        "n, share, taken",
    )
}
"""

_CLASS = "CASE kind " + " ".join(f"WHEN '{kind}' THEN '{name}'" for kind, name in CLASSES_OF_FAILURE.items()) + " END"
_DIVIDED = ", ".join(f"'{name}'" for name in DIVIDED_BY_DETAIL)
CAUSES = f"""
WITH {CALLS}, failed AS (
  SELECT *, CASE WHEN class IN ({_DIVIDED}) THEN detail END AS told,
         CASE WHEN class IN ({_DIVIDED}) THEN failed_with END AS said
  FROM (SELECT *, {_CLASS} AS class FROM ({_FAILED}))
), grouped AS (
  SELECT flow, first_failed, class, told, said, count(*) AS n FROM failed GROUP BY ALL
), single AS (
  SELECT flow FROM grouped WHERE n = 1 AND (SELECT count(*) FROM grouped) > {MANY} GROUP BY flow HAVING count(*) > 1
), placed AS (
  SELECT failed.* REPLACE (
           CASE WHEN alone THEN '{SEVERAL}' ELSE first_failed END AS first_failed,
           CASE WHEN alone THEN '' ELSE class END AS class,
           CASE WHEN NOT alone THEN told END AS told, CASE WHEN NOT alone THEN said END AS said
         )
  FROM (
    SELECT failed.*, grouped.n = 1 AND failed.flow IN (SELECT flow FROM single) AS alone
    FROM failed JOIN grouped ON grouped.flow = failed.flow AND grouped.first_failed = failed.first_failed
         AND grouped.class = failed.class AND grouped.told IS NOT DISTINCT FROM failed.told
         AND grouped.said IS NOT DISTINCT FROM failed.said
  ) AS failed
), most AS (
  SELECT *, row_number() OVER (PARTITION BY flow, first_failed, class, told, said ORDER BY n DESC, kind) AS rank
  FROM (SELECT flow, first_failed, class, told, said, kind, count(*) AS n FROM placed GROUP BY ALL)
), cause AS (
  SELECT placed.flow, placed.first_failed, most.kind, placed.told AS detail, placed.said AS error, agent.name AS agent
  FROM placed JOIN agent ON agent.id = agent_id
       JOIN most ON rank = 1 AND most.flow = placed.flow AND most.first_failed = placed.first_failed
            AND most.class = placed.class AND most.told IS NOT DISTINCT FROM placed.told
            AND most.said IS NOT DISTINCT FROM placed.said
)
{
    long(
        "SELECT flow, first_failed, kind, detail, error, count(*) AS n,"
        " count(*) / sum(count(*)) OVER () AS share FROM cause GROUP BY ALL",
        "flow, first_failed, kind, detail, error",
        "n, share",
    )
}
UNION ALL
SELECT flow, first_failed, kind, detail, error, 'agents.' || agent, count(*) FROM cause GROUP BY ALL
"""

REPEATS = f"""
WITH {CALLS}, task AS (
  SELECT flow_id, agent_id, scenario_id, persona_id, count(value) FILTER (NOT errored) AS n,
         count(*) FILTER (NOT errored AND value >= 10) AS passed, count(*) FILTER (errored) AS excluded,
         max(value) FILTER (NOT errored) - min(value) FILTER (NOT errored) AS spread
  FROM call LEFT JOIN aspect_score AS s ON s.conversation_id = call.id
       AND judge_id = (SELECT id FROM judge WHERE name = '(computed)')
       AND aspect_id = (SELECT id FROM aspect WHERE name = 'correctness')
  GROUP BY ALL
)
{
    long(
        "SELECT flow.name AS flow, agent.name AS agent, count(*) AS groups, sum(n) AS trials,"
        " avg(passed / n) AS pass1,"
        " avg(passed * greatest(0, passed - 1) * greatest(0, passed - 2) / (n * (n - 1) * (n - 2))) FILTER (n >= 3)"
        " AS pass_k, avg(CAST(passed BETWEEN 1 AND n - 1 AS INTEGER)) AS flaky,"
        " avg(CAST(passed = n AS INTEGER)) AS always_passed, avg(CAST(passed = 0 AS INTEGER)) AS always_failed,"
        " avg(spread) AS spread FROM task JOIN flow ON flow.id = flow_id JOIN agent ON agent.id = agent_id"
        " WHERE n >= 2 GROUP BY ALL",
        "flow, agent",
        "groups, trials, pass1, pass_k, flaky, always_passed, always_failed, spread",
    )
}
"""
