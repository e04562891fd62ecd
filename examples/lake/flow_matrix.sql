-- The flow matrix of every run in the lake: one row for each flow and agent, as `riff-tui dump flows` has it.
-- Means are sums of whole billionths divided once, so that they do not depend on the order in which parts were added.

CREATE TEMP MACRO billionths(value) AS CAST(floor(value * 1e9 + 0.5) AS BIGINT);

-- docs/metrics.md, section 5: what was not measured drops out and the other weights grow.
CREATE TEMP MACRO blend(correctness, completion, errors, latency, humanness) AS CASE WHEN correctness IS NOT NULL THEN least(
  CASE WHEN correctness < 10 THEN 4.0 WHEN completion < 10 THEN 6.0 ELSE 10.0 END::DOUBLE,
  round((0.35::DOUBLE * correctness + coalesce(0.20::DOUBLE * completion, 0) + coalesce(0.15::DOUBLE * errors, 0)
         + coalesce(0.10::DOUBLE * least(10, greatest(0, 10 * (1 - latency / 15::DOUBLE))), 0)
         + coalesce(0.20::DOUBLE * humanness, 0))
        / (0.35::DOUBLE + CASE WHEN completion IS NULL THEN 0 ELSE 0.20::DOUBLE END
           + CASE WHEN errors IS NULL THEN 0 ELSE 0.15::DOUBLE END + CASE WHEN latency IS NULL THEN 0 ELSE 0.10::DOUBLE END
           + CASE WHEN humanness IS NULL THEN 0 ELSE 0.20::DOUBLE END), 12)) END;

WITH score AS (
  SELECT * FROM read_parquet(getvariable('lake') || '/*/*.parquet', hive_partitioning = true)
), call AS (
  SELECT run, flow, agent, conversation, trial, errored,
         max(value) FILTER (aspect = 'correctness' AND judge = '(computed)') AS correctness,
         max(value) FILTER (aspect = 'completion' AND judge = '(computed)') AS completion,
         max(value) FILTER (aspect = 'errors' AND judge = '(computed)') AS errors,
         max(value) FILTER (aspect = 'latency_p95' AND judge = '(computed)') AS latency,
         median(value) FILTER (aspect = 'humanness' AND judge <> '(computed)') AS humanness
  FROM score GROUP BY ALL
), worth AS (
  SELECT *, CASE WHEN least(correctness, completion) < 10 THEN 0 WHEN correctness >= 10 THEN 1 END AS success,
         blend(correctness, completion, errors, latency, humanness) AS quality
  FROM call
), cell AS (
  SELECT flow, agent, count(*) FILTER (NOT errored) AS n, count(*) FILTER (errored) AS excluded,
         sum(success) FILTER (NOT errored)::DOUBLE / count(success) FILTER (NOT errored) AS success_rate,
         2 * count(correctness) FILTER (NOT errored) >= count(*) FILTER (NOT errored) AS is_measured,
         sum(billionths(quality)) FILTER (NOT errored)::DOUBLE / (1e9 * count(quality) FILTER (NOT errored)) AS quality
  FROM worth GROUP BY ALL
), mean AS (
  SELECT flow, agent, aspect, judge, sum(billionths(value))::DOUBLE / (1e9 * count(value)) AS mean
  FROM score WHERE NOT errored AND value IS NOT NULL GROUP BY ALL
), aspects AS (
  SELECT flow, agent,
         max(mean) FILTER (aspect = 'correctness' AND judge = '(computed)') AS correctness,
         max(mean) FILTER (aspect = 'completion' AND judge = '(computed)') AS completion,
         max(mean) FILTER (aspect = 'errors' AND judge = '(computed)') AS errors,
         max(mean) FILTER (aspect = 'latency_p95' AND judge = '(computed)') AS latency_p95,
         max(mean) FILTER (aspect = 'latency_mean' AND judge = '(computed)') AS latency_mean,
         max(mean) FILTER (aspect = 'turn_count' AND judge = '(computed)') AS turn_count,
         median(mean) FILTER (aspect = 'humanness' AND judge <> '(computed)') AS heard
  FROM mean GROUP BY ALL
), judged AS (
  SELECT flow, agent, map_from_entries(list((judge, mean) ORDER BY judge)) AS humanness
  FROM (SELECT flow, agent FROM cell)
    CROSS JOIN (SELECT DISTINCT judge FROM score WHERE aspect = 'humanness' AND judge <> '(computed)')
    LEFT JOIN (FROM mean WHERE aspect = 'humanness') USING (flow, agent, judge)
  GROUP BY ALL
)
SELECT flow, agent, n, excluded, CASE WHEN is_measured THEN blend(correctness, completion, errors, latency_p95, heard) END AS operability,
       success_rate, CASE WHEN is_measured THEN quality END AS quality, correctness, completion, errors, latency_p95, latency_mean,
       turn_count, coalesce(humanness, MAP {}) AS humanness
FROM cell LEFT JOIN aspects USING (flow, agent) LEFT JOIN judged USING (flow, agent)
ORDER BY flow, agent;
