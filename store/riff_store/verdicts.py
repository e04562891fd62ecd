"""Choose which of several verdicts of a judge on a call counts, and copy it to where means are taken.

The latest `judged_at` of the same (call, judge, aspect) wins; ties go to the later path and line.
A verdict for a call that is not there yet waits and is copied when the call arrives.
"""

from __future__ import annotations

import sqlite3

from riff_store.models import COMPUTED_JUDGE
from riff_store.quality import settle_quality

_TOUCHED = """
CREATE TEMP TABLE IF NOT EXISTS touched_call (id INTEGER PRIMARY KEY, run_id INTEGER, name TEXT)"""

_OF_SCORES = """
INSERT INTO touched_call SELECT DISTINCT c.id, c.run_id, c.name
FROM judged_score j JOIN conversation c ON c.run_id = j.run_id AND c.name = j.conversation_name
WHERE j.source_file_id = ?"""

_OF_CALLS = """
INSERT INTO touched_call SELECT c.id, c.run_id, c.name FROM conversation c
WHERE c.source_file_id = ? AND EXISTS
  (SELECT 1 FROM judged_score j WHERE j.run_id = c.run_id AND j.conversation_name = c.name)"""

_EVERY = """
INSERT INTO touched_call SELECT c.id, c.run_id, c.name FROM conversation c WHERE EXISTS
  (SELECT 1 FROM judged_score j WHERE j.run_id = c.run_id AND j.conversation_name = c.name)"""

_WITHDRAW = f"""
DELETE FROM aspect_score WHERE judge_id <> {COMPUTED_JUDGE} AND conversation_id IN (SELECT id FROM touched_call)"""

_COUNT = """
INSERT INTO aspect_score (conversation_id, aspect_id, judge_id, value)
SELECT id, aspect_id, judge_id, score FROM (
  SELECT t.id, j.aspect_id, j.judge_id, j.score, ROW_NUMBER() OVER (
    PARTITION BY t.id, j.aspect_id, j.judge_id
    ORDER BY COALESCE(j.judged_at, -1) DESC, s.path DESC, j.line DESC) AS place
  FROM touched_call t JOIN judged_score j ON j.run_id = t.run_id AND j.conversation_name = t.name
  JOIN source_file s ON s.id = j.source_file_id) ranked
WHERE place = 1"""

_CELLS = """
SELECT DISTINCT c.flow_id, c.agent_id, c.run_id FROM touched_call t JOIN conversation c ON c.id = t.id"""


def choose_verdicts(connection: sqlite3.Connection, source_file: int, cells: set[tuple[int, int, int]]) -> None:
    """Choose anew for every call that this file brings or judges; `cells` gains those that changed."""
    if connection.execute("SELECT 1 FROM judged_score LIMIT 1").fetchone() is None:
        return
    _choose(connection, (_OF_SCORES, _OF_CALLS), source_file, cells)


def withdraw_verdicts(connection: sqlite3.Connection, source_file: int, cells: set[tuple[int, int, int]]) -> None:
    """Take a file's verdicts away and choose among those that are left."""
    found = connection.execute("SELECT 1 FROM judged_score WHERE source_file_id = ? LIMIT 1", (source_file,))
    if found.fetchone() is not None:
        _choose(connection, (_OF_SCORES,), source_file, cells, forget=True)


def choose_all(connection: sqlite3.Connection) -> None:
    """Choose anew for every call that was judged."""
    connection.execute(_TOUCHED)
    connection.execute("DELETE FROM touched_call")
    connection.execute(_EVERY)
    connection.execute(_WITHDRAW)
    connection.execute(_COUNT)


def _choose(
    connection: sqlite3.Connection,
    queries: tuple[str, ...],
    source_file: int,
    cells: set[tuple[int, int, int]],
    *,
    forget: bool = False,
) -> None:
    connection.execute(_TOUCHED)
    connection.execute("DELETE FROM touched_call")
    for query in queries:
        connection.execute(f"{query} ON CONFLICT DO NOTHING", (source_file,))
    if forget:
        connection.execute("DELETE FROM judged_score WHERE source_file_id = ?", (source_file,))
    connection.execute(_WITHDRAW)
    connection.execute(_COUNT)
    settle_quality(connection, (key for (key,) in connection.execute("SELECT id FROM touched_call").fetchall()))
    cells.update(connection.execute(_CELLS).fetchall())
