"""The views that set judges, agents and calls against each other, in the words of the peer."""

from __future__ import annotations

from benchmarks.scale.matrices import CALLS, long
from riff_store.scoring import CAP_INCOMPLETE, CAP_INCORRECT, FULL, SLOWEST, WEIGHTS

_PAIRS = f"""
WITH {CALLS}, score AS (
  SELECT conversation_id AS call, CASE WHEN judge.name = '(computed)' THEN 'correctness' ELSE judge.name END AS judge,
         value
  FROM call JOIN aspect_score ON conversation_id = call.id JOIN judge ON judge.id = judge_id
       JOIN aspect ON aspect.id = aspect_id
  WHERE NOT errored AND value IS NOT NULL
        AND aspect.name = CASE WHEN judge.name = '(computed)' THEN 'correctness' ELSE 'humanness' END
), cell AS (
  SELECT a.judge AS first, b.judge AS second, a.value AS x, b.value AS y, count(*) AS n
  FROM score AS a JOIN score AS b USING (call)
  WHERE a.judge <> 'correctness' AND (a.judge < b.judge OR b.judge = 'correctness')
  GROUP BY ALL
), of_x AS (
  SELECT first, second, x, sum(sum(n)) OVER (PARTITION BY first, second ORDER BY x) - (sum(n) - 1) / 2 AS rank
  FROM cell GROUP BY first, second, x
), of_y AS (
  SELECT first, second, y, sum(sum(n)) OVER (PARTITION BY first, second ORDER BY y) - (sum(n) - 1) / 2 AS rank
  FROM cell GROUP BY first, second, y
), ranked AS (
  SELECT cell.*, of_x.rank AS a, of_y.rank AS b, (sum(cell.n) OVER (PARTITION BY first, second) + 1) / 2 AS middle
  FROM cell JOIN of_x USING (first, second, x) JOIN of_y USING (first, second, y)
), pair AS (
  SELECT first, second, sum(n) AS n, sum(n * (x - y)) / sum(n) AS mean_difference,
         sum(n * (a - middle) * (b - middle))
           / sqrt(sum(n * (a - middle) * (a - middle)) * sum(n * (b - middle) * (b - middle))) AS spearman
  FROM ranked GROUP BY ALL
)"""

JUDGES = f"""{_PAIRS}, judged AS (
  SELECT judge.name AS judge, count(value) AS n, avg(value) AS mean, count(*) - count(value) AS unscored
  FROM call JOIN aspect_score ON conversation_id = call.id JOIN judge ON judge.id = judge_id
  WHERE NOT errored AND judge.name <> '(computed)' GROUP BY ALL
), both_ways AS (
  SELECT first, second, n, spearman FROM pair
  UNION ALL SELECT second, first, n, spearman FROM pair WHERE second <> 'correctness'
)
{long("SELECT * FROM judged", "judge", "n, mean, unscored")}
UNION ALL SELECT first, 'agreement.' || second, spearman FROM both_ways
UNION ALL SELECT first, 'shared.' || second, n FROM both_ways
"""

AGREEMENT = f"""{_PAIRS}, rated AS (
  SELECT first, second, n,
         CASE WHEN second = 'correctness' THEN CAST(x >= 5 AS INTEGER) ELSE CAST(floor(x + 0.5) AS INTEGER) END AS i,
         CASE WHEN second = 'correctness' THEN CAST(y >= 10 AS INTEGER) ELSE CAST(floor(y + 0.5) AS INTEGER) END AS j
  FROM cell
), chance AS (
  SELECT first, second, sum(one.n * other.n) AS alike
  FROM (SELECT first, second, i, sum(n) AS n FROM rated GROUP BY ALL) AS one
  JOIN (SELECT first, second, j AS i, sum(n) AS n FROM rated GROUP BY ALL) AS other USING (first, second, i)
  GROUP BY ALL
), agreed AS (
  SELECT first, second, sum(n) AS n, sum(n) FILTER (i = j) AS alike, sum(n * (i - j) * (i - j)) AS apart,
         sum(n) * sum(n * i * i) + sum(n) * sum(n * j * j) - 2 * sum(n * i) * sum(n * j) AS expected
  FROM rated GROUP BY ALL
)
{
    long(
        "SELECT first, second, agreed.n, agreed.alike / agreed.n AS exact, 1 - apart * agreed.n / expected AS kappa,"
        " 1 - (agreed.n - agreed.alike) * agreed.n / (agreed.n * agreed.n - chance.alike) AS kappa_unweighted,"
        " spearman, CASE WHEN second <> 'correctness' THEN mean_difference END AS mean_difference"
        " FROM agreed JOIN chance USING (first, second) JOIN pair USING (first, second)",
        "first, second",
        "n, exact, kappa, kappa_unweighted, spearman, mean_difference",
    )
}
"""

DISPUTES = f"""
WITH {CALLS}, spread AS (
  SELECT conversation_id AS id, round(max(value) - min(value), 9) AS spread
  FROM call JOIN aspect_score ON conversation_id = call.id JOIN aspect ON aspect.id = aspect_id
  WHERE NOT errored AND aspect.name = 'humanness' GROUP BY ALL HAVING count(value) > 1 AND max(value) > min(value)
), named AS (
  SELECT run.name AS run, call.name AS conversation, spread
  FROM spread JOIN call USING (id) JOIN run ON run.id = run_id JOIN flow ON flow.id = flow_id
       JOIN agent ON agent.id = agent_id
  ORDER BY spread DESC, run.name, call.name, flow.name, agent.name, trial LIMIT 50
), placed AS (
  SELECT *, row_number() OVER (ORDER BY spread DESC, run, conversation) - 1 AS place FROM named
)
{long("SELECT * FROM placed", "run, conversation", "spread, place")}
UNION ALL SELECT NULL, NULL, 'matched', count(*) FROM spread
"""

_BLENDED = ("correctness", "completion", "errors")
_SCORES = " + ".join(f"{WEIGHTS[name]} * coalesce({name}, 0)" for name in _BLENDED)
_WEIGHTS = " + ".join(f"{WEIGHTS[name]} * CAST({name} IS NOT NULL AS INTEGER)" for name in _BLENDED)
_PARTS = ", ".join(
    f"max(value) FILTER (aspect.name = '{name}' AND judge.name = '(computed)') AS {name}"
    for name in (*_BLENDED, "latency_p95")
)

_LEVELS = " UNION ALL ".join(
    f"SELECT '{factor}' AS factor, {name} AS level, count(*) AS observations, avg(value) AS mean, sum(value) AS total,"
    f" sum(value * value) AS squares FROM observed {join} GROUP BY ALL"
    for factor, name, join in (
        ("judge", "judge", "WHERE common"),
        ("agent", "agent.name", "JOIN agent ON agent.id = agent_id"),
        ("flow", "flow.name", "JOIN flow ON flow.id = flow_id"),
        ("persona", "persona.name", "JOIN persona ON persona.id = persona_id"),
    )
)

EFFECTS = f"""
WITH {CALLS}, part AS (
  SELECT conversation_id AS id, {_PARTS},
         list({{'judge': judge.name, 'score': value}}) FILTER (aspect.name = 'humanness' AND value IS NOT NULL) AS heard
  FROM call JOIN aspect_score ON conversation_id = call.id JOIN aspect ON aspect.id = aspect_id
       JOIN judge ON judge.id = judge_id
  WHERE NOT errored GROUP BY ALL
), blend AS (
  SELECT id, coalesce(heard, []) AS heard,
         {_SCORES} + {WEIGHTS["latency"]} * coalesce(greatest(0, {FULL} * (1 - latency_p95 / {SLOWEST})), 0) AS scores,
         {_WEIGHTS} + {WEIGHTS["latency"]} * CAST(latency_p95 IS NOT NULL AS INTEGER) AS weight,
         CASE WHEN correctness < {FULL} THEN {CAP_INCORRECT} WHEN completion < {FULL} THEN {CAP_INCOMPLETE}
              ELSE {FULL} END AS cap
  FROM part WHERE correctness IS NOT NULL
), seen AS (
  SELECT id, scores, weight, cap, len(heard) AS judges,
         unnest(list_prepend({{'judge': '(computed)', 'score': NULL}}, heard)) AS heard
  FROM blend
), observed AS (
  SELECT heard.judge AS judge, agent_id, flow_id, persona_id, judges = (SELECT count(*) - 1 FROM judge) AS common,
         least(cap, round((scores + {WEIGHTS["humanness"]} * coalesce(heard.score, 0))
           / (weight + {WEIGHTS["humanness"]} * CAST(heard.score IS NOT NULL AS INTEGER)), 12)) AS value
  FROM seen JOIN call USING (id)
), level AS (
  {_LEVELS}
), factor AS (
  SELECT factor, (sum(total * total / observations) - sum(total) * sum(total) / sum(observations))
                 / (sum(squares) - sum(total) * sum(total) / sum(observations)) AS alone
  FROM level GROUP BY ALL
)
{long("SELECT * FROM level", "factor, level", "observations, mean")}
UNION ALL SELECT factor, NULL, 'alone', alone FROM factor
UNION ALL SELECT factor, NULL, 'observations', sum(observations) FROM level GROUP BY ALL
"""

_SIDES = "agent_id = (SELECT id FROM agent WHERE name = 'qwen-flash')"
_OTHERS = "agent_id = (SELECT id FROM agent WHERE name = 'gpt-4.1-mini')"

COMPARE = f"""
WITH {CALLS}, side AS (
  SELECT id, flow_id, {_SIDES} AS one, scenario_id, persona_id, trial, run_id, success, quality,
         count(*) OVER (PARTITION BY agent_id, flow_id, scenario_id, trial, run_id) AS alike,
         count(*) OVER (PARTITION BY agent_id, flow_id, scenario_id, trial, run_id, persona_id) AS twins
  FROM call WHERE NOT errored AND ({_SIDES} OR {_OTHERS})
), pair AS (
  SELECT a.id AS a, b.id AS b FROM side AS a JOIN side AS b USING (flow_id, scenario_id, trial, run_id)
  WHERE a.one AND NOT b.one AND (a.alike * b.alike = 1 OR (a.persona_id = b.persona_id AND a.twins * b.twins = 1))
), score AS MATERIALIZED (
  SELECT id, flow_id, one, aspect_id AS about, judge_id AS judge, value
  FROM side JOIN aspect_score ON conversation_id = id WHERE value IS NOT NULL
  UNION ALL SELECT id, flow_id, one, -1, 0, success FROM side WHERE success IS NOT NULL
  UNION ALL SELECT id, flow_id, one, -2, 0, quality FROM side WHERE quality IS NOT NULL
), apart AS (
  SELECT flow_id, about, judge, avg(value) FILTER (one) AS a, avg(value) FILTER (NOT one) AS b,
         count(*) FILTER (one) AS n_a, count(*) FILTER (NOT one) AS n_b
  FROM score GROUP BY ALL
), together AS (
  SELECT x.flow_id, x.about, x.judge, avg(x.value) AS a, avg(y.value) AS b, count(*) AS pairs
  FROM pair JOIN score AS x ON x.id = pair.a
       JOIN score AS y ON y.id = pair.b AND y.about = x.about AND y.judge = x.judge
  GROUP BY ALL
), chosen AS (
  SELECT flow_id, about, judge, unnest(CASE WHEN 2 * coalesce(pairs, 0) >= least(n_a, n_b)
      THEN [{{'a': together.a, 'b': together.b, 'n_a': pairs, 'n_b': pairs, 'pairs': pairs}}]
      ELSE [{{'a': apart.a, 'b': apart.b, 'n_a': n_a, 'n_b': n_b, 'pairs': NULL}}] END, recursive := true)
  FROM apart LEFT JOIN together USING (flow_id, about, judge)
)
{
    long(
        "SELECT flow.name AS flow, judge.name AS judge, a, b, n_a, n_b, pairs,"
        " CASE about WHEN -1 THEN 'success_rate' WHEN -2 THEN 'quality' ELSE aspect.name END AS aspect"
        " FROM chosen JOIN flow ON flow.id = flow_id LEFT JOIN aspect ON aspect.id = about"
        " LEFT JOIN judge ON judge.id = chosen.judge AND judge.name <> '(computed)'"
        " WHERE coalesce(aspect.name, '') NOT IN ('latency_mean', 'slow')",
        "flow, aspect, judge",
        "a, b, n_a, n_b, pairs",
    )
}
"""
