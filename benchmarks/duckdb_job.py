"""The peer of an ingest: DuckDB reads the same files, computes the same rows and keeps them in its own file.

Written to be quick in DuckDB: explicit column types, texts of turns read only where they are kept, names kept as
text (it compresses them by dictionary), no keys and no indexes, and none of the care that ingest takes with
imperfect streams. It finds no first failures and keeps no figure of a call; that is ours to pay. Its sums are those
that a store has of nights like these, in which hardly a flow has a second call by the same agent.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

_READ = """
CREATE TEMP TABLE line AS
SELECT row_number() OVER () AS id, * REPLACE (coalesce(errored, false) AS errored)
FROM read_json($paths, format = 'newline_delimited', maximum_object_size = 67108864, columns = {
  conversation_id: 'VARCHAR', run_id: 'VARCHAR', commit: 'VARCHAR', flow: 'VARCHAR', archetype: 'VARCHAR',
  agent_model: 'VARCHAR', persona: 'VARCHAR', started_at: 'TIMESTAMP', duration_s: 'DOUBLE', completed: 'BOOLEAN',
  stop_reason: 'VARCHAR', final_state: 'VARCHAR', final_status: 'VARCHAR', errored: 'BOOLEAN', errors: 'VARCHAR[]',
  scenario: 'VARCHAR', slots: 'MAP(VARCHAR, VARCHAR)', %s
  contract: 'STRUCT(success_terminals VARCHAR[], escalation_terminals VARCHAR[], final_statuses VARCHAR[],
                    required_slots VARCHAR[], states MAP(VARCHAR, STRUCT(required_slots VARCHAR[])))',
  events: 'STRUCT(type VARCHAR, t DOUBLE, state VARCHAR, to_state VARCHAR, latency_ms DOUBLE, error VARCHAR,
                  slot VARCHAR, value VARCHAR)[]'
})
"""

_CALLS = """
CREATE TABLE conversation AS
SELECT id, run_id AS run, conversation_id AS name, commit, flow, archetype, agent_model AS agent, persona, scenario,
       started_at, duration_s, completed, stop_reason, final_state, final_status, errored, len(errors) AS error_count
FROM line
"""

_EVENTS = """
CREATE TEMP TABLE event AS
SELECT id, i, e.type AS type, e.state AS state, e.to_state AS to_state, e.latency_ms AS latency_ms, e.error AS error,
       e.slot AS slot, count(*) FILTER (e.type = 'state_entered') OVER (PARTITION BY id ORDER BY i) AS visit
FROM (SELECT id, unnest(events) AS e, generate_subscripts(events, 1) AS i FROM line)
"""

_VISITS = """
CREATE TEMP TABLE visited AS
SELECT event.*, entered.state AS visited
FROM event JOIN (SELECT id, visit, state FROM event WHERE type = 'state_entered') AS entered USING (id, visit)
"""

_TRANSITIONS = """
CREATE TABLE transition AS
SELECT id AS conversation, visited AS from_state, to_state, count(*) AS n
FROM visited WHERE type = 'state_exited' AND to_state IS NOT NULL
GROUP BY ALL
"""

_STATES = """
CREATE TABLE state_score AS
WITH call AS (
  SELECT id, completed, contract.success_terminals AS successes, contract.escalation_terminals AS escalations,
         contract.states AS states
  FROM line
), outcome AS (
  SELECT id, bool_or(list_contains(escalations, state)) AS escalated,
         arg_max(state, visit) FILTER (NOT list_contains(escalations, state) AND NOT list_contains(successes, state))
           AS last_working
  FROM event JOIN call USING (id) WHERE type = 'state_entered' GROUP BY id
), filled AS (
  SELECT id, state, list(DISTINCT slot) AS slots FROM event WHERE type = 'slot_filled' GROUP BY id, state
), visits AS (
  SELECT id, visited AS state, count(*) FILTER (type = 'state_entered') AS entries,
         count(*) FILTER (type = 'turn_complete') AS turns, quantile_cont(latency_ms, 0.95) AS latency_p95_ms,
         count(error) AS guard_error, list(to_state) FILTER (type = 'state_exited') AS targets
  FROM visited GROUP BY id, visited
)
SELECT id AS conversation, state,
       len(list_filter(targets, lambda x: x <> state AND NOT list_contains(escalations, x))) > 0 AS progress,
       NOT completed AND NOT escalated AND state = last_working AS stall,
       len(list_intersect(coalesce(targets, []), escalations)) > 0 AS escalation,
       entries - 1 AS revisit, turns / entries AS dwell_turns, latency_p95_ms, guard_error,
       len(list_intersect(wanted, coalesce(slots, []))) / nullif(len(wanted), 0) AS slot_fill_rate
FROM (SELECT *, states[state].required_slots AS wanted FROM visits JOIN call USING (id))
JOIN outcome USING (id) LEFT JOIN filled USING (id, state)
WHERE NOT list_contains(successes, state) AND NOT list_contains(escalations, state)
"""

_ASPECTS = """
CREATE TABLE aspect_score AS
SELECT id, aspect, 'computed' AS judge, value FROM (
WITH turn AS (
  SELECT id, count(*) AS n, quantile_cont(latency_ms, 0.95) / 1000 AS p95, avg(latency_ms) / 1000 AS mean,
         avg((latency_ms > 4000)::INT) AS slow
  FROM event WHERE type = 'turn_complete' GROUP BY id
), reached AS (
  SELECT id, list(state) FILTER (type = 'state_entered') AS states,
         list(DISTINCT slot) FILTER (type = 'slot_filled') AS filled
  FROM event GROUP BY id
), score AS (
  SELECT id,
         10.0 * (len(list_intersect(states, contract.success_terminals)) > 0)::INT
              * len(list_intersect(contract.required_slots, list_concat(coalesce(filled, []), map_keys(slots))))
              / len(contract.required_slots)
              * list_contains(contract.final_statuses, coalesce(final_status, ''))::INT AS correctness,
         CASE WHEN completed AND stop_reason = 'terminal' THEN 10.0 ELSE 0.0 END AS completion,
         greatest(0.0, 10 - 2.5 * (len(errors) + (stop_reason IN ('unsafe', 'max_turns', 'loop'))::INT)) AS errors,
         p95 AS latency_p95, mean AS latency_mean, coalesce(turn.n, 0)::DOUBLE AS turn_count, slow
  FROM line JOIN reached USING (id) LEFT JOIN turn USING (id)
)
UNPIVOT score ON correctness, completion, errors, latency_p95, latency_mean, turn_count, slow
INTO NAME aspect VALUE value
)
"""

_TURNS = "turns: 'STRUCT(role VARCHAR, text VARCHAR, t DOUBLE, state VARCHAR, latency_ms DOUBLE)[]',"
_TRANSCRIPTS = "CREATE TABLE transcript AS SELECT id, turns, events FROM line"

_VERDICTS = """
CREATE TABLE judged_score AS
SELECT * FROM read_json($paths, format = 'newline_delimited', columns = {
  conversation_id: 'VARCHAR', run_id: 'VARCHAR', judge: 'VARCHAR', score: 'DOUBLE'
})
"""

_JUDGED = """
INSERT INTO aspect_score
SELECT id, 'humanness', judge, score
FROM judged_score JOIN conversation ON run = run_id AND name = conversation_id
"""

_SUMS = (
    """
    CREATE TABLE call_rollup AS
    SELECT flow, agent, run, count(*) FILTER (NOT errored) AS n, count(*) FILTER (errored) AS excluded
    FROM conversation GROUP BY ALL
    """,
    """
    CREATE TABLE aspect_total AS
    SELECT flow, agent, aspect, judge, count(value) AS n, sum(value) AS total, sum(value * value) AS squares,
           count(*) FILTER (value = 10) AS top
    FROM aspect_score JOIN conversation USING (id) WHERE NOT errored GROUP BY ALL
    """,
    """
    CREATE TABLE state_total AS
    SELECT flow, agent, state, count(*) AS n, sum(progress::INT) AS progress, sum(stall::INT) AS stall,
           sum(escalation::INT) AS escalation, sum(revisit) AS revisit, sum(revisit * revisit) AS revisit_squares,
           sum(dwell_turns) AS dwell, sum(dwell_turns * dwell_turns) AS dwell_squares,
           count(latency_p95_ms) AS latency_n, sum(latency_p95_ms) AS latency,
           sum(latency_p95_ms * latency_p95_ms) AS latency_squares, sum(guard_error) AS guard_error,
           sum(guard_error * guard_error) AS guard_error_squares, count(slot_fill_rate) AS slot_n,
           sum(slot_fill_rate) AS slot, sum(slot_fill_rate * slot_fill_rate) AS slot_squares
    FROM state_score JOIN conversation ON conversation.id = state_score.conversation
    WHERE NOT errored GROUP BY ALL
    """,
    """
    CREATE TABLE transition_total AS
    SELECT flow, agent, from_state, to_state, sum(n) AS n
    FROM transition JOIN conversation ON conversation.id = transition.conversation
    WHERE NOT errored GROUP BY ALL
    """,
)


def run(files: Path, store: Path, *, with_text: bool, threads: int | None = None) -> None:
    """Do the whole job into a new file, from a transcript file or a folder of nights with their scores.

    DuckDB takes every core unless `threads` shows less.
    """
    calls = [str(path) for path in sorted(files.rglob("flow-transcripts*.jsonl"))] or [str(files)]
    scores = [str(path) for path in sorted(files.rglob("humanness-scores*.jsonl"))]
    with duckdb.connect(str(store), config={} if threads is None else {"threads": threads}) as connection:
        connection.execute(_READ % (_TURNS if with_text else ""), {"paths": calls})
        for statement in (_CALLS, _EVENTS, _VISITS, _TRANSITIONS, _STATES, _ASPECTS):
            connection.execute(statement)
        if scores:
            connection.execute(_VERDICTS, {"paths": scores})
            connection.execute(_JUDGED)
        for statement in (*_SUMS, *([_TRANSCRIPTS] if with_text else [])):
            connection.execute(statement)


def row_counts(store: Path) -> dict[str, int]:
    """Rows of each table of facts, to see that both sides did the same job."""
    with duckdb.connect(str(store), read_only=True) as connection:
        return {
            table: int(connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0])
            for table in ("conversation", "aspect_score", "state_score", "transition")
        }
