"""Join judges' verdicts to their calls, choose which of several counts, and copy it to where means are taken.

A verdict joins its call where exactly one call of its run has its id and all that it says of flow, agent and trial.
One whose call is not there yet waits for it; one that does not decide between several calls waits too. Of those of one
judge on one aspect of a call the latest `judged_at` counts; ties go to the later path and line.
"""

from __future__ import annotations

from riff_store.engines.engine import Connection
from riff_store.facts import Unjoined
from riff_store.models import COMPUTED_JUDGE
from riff_store.quality import settle_quality

_TOUCHED = """
CREATE TEMP TABLE IF NOT EXISTS touched_name (run_id INTEGER, name TEXT, PRIMARY KEY (run_id, name)) WITHOUT ROWID"""

_OF_SCORES = """
INSERT OR IGNORE INTO touched_name SELECT run_id, conversation_name FROM judged_score WHERE source_file_id = ?"""

_OF_CALLS = """
INSERT OR IGNORE INTO touched_name SELECT c.run_id, c.name FROM conversation c
WHERE c.source_file_id = ? AND EXISTS
  (SELECT 1 FROM judged_score j WHERE j.run_id = c.run_id AND j.conversation_name = c.name)"""

_EVERY = """
INSERT OR IGNORE INTO touched_name SELECT run_id, conversation_name FROM judged_score"""

# In these joins the touched names come first, whatever the engine expects of the others.
_CALLS = "touched_name t CROSS JOIN conversation c ON c.run_id = t.run_id AND c.name = t.name"
_VERDICTS = "touched_name t CROSS JOIN judged_score j ON j.run_id = t.run_id AND j.conversation_name = t.name"

_WITHDRAW = f"""
DELETE FROM aspect_score WHERE judge_id <> {COMPUTED_JUDGE} AND conversation_id IN (SELECT c.id FROM {_CALLS})"""

_MATCHING = """
FROM conversation c WHERE c.run_id = j.run_id AND c.name = j.conversation_name
  AND (j.flow_name IS NULL OR c.flow_id = (SELECT id FROM flow WHERE name = j.flow_name))
  AND (j.agent_name IS NULL OR c.agent_id = (SELECT id FROM agent WHERE name = j.agent_name))
  AND (j.trial IS NULL OR c.trial = j.trial)"""
UNJOINED = f"""
SELECT s.path, j.line, j.conversation_name, r.name, (SELECT COUNT(*) {_MATCHING}),
  (SELECT COUNT(DISTINCT c.flow_id) {_MATCHING}), (SELECT COUNT(DISTINCT c.agent_id) {_MATCHING}),
  (SELECT COUNT(DISTINCT c.trial) {_MATCHING}),
  EXISTS (SELECT 1 FROM conversation c WHERE c.run_id = j.run_id AND c.name = j.conversation_name)
FROM judged_score j JOIN source_file s ON s.id = j.source_file_id JOIN run r ON r.id = j.run_id
WHERE j.conversation_id IS NULL ORDER BY s.path, j.line"""
"""Read where the verdicts stand that count for no call, and of which run and id they are.

Then come how many calls each may be of (0: it waits), how many flows, agents and trials these have, and if the run has
any call of that id.
"""

_STRAYS = f"""
SELECT COALESCE(SUM(NOT known), 0), COALESCE(SUM(known), 0) FROM (SELECT EXISTS (SELECT 1 {_MATCHING}) AS known
  FROM judged_score j WHERE j.conversation_id IS NULL)"""

_CHANGED = f"""
SELECT found, source_file_id, line FROM (
  SELECT j.source_file_id, j.line, j.conversation_id AS held,
    (SELECT CASE COUNT(*) WHEN 1 THEN MIN(c.id) END {_MATCHING}) AS found FROM {_VERDICTS})
WHERE found IS NOT held"""

_JOIN = "UPDATE judged_score SET conversation_id = ? WHERE source_file_id = ? AND line = ?"

_COUNT = f"""
INSERT INTO aspect_score (conversation_id, aspect_id, judge_id, value)
SELECT conversation_id, aspect_id, judge_id, score FROM (
  SELECT j.conversation_id, j.aspect_id, j.judge_id, j.score, ROW_NUMBER() OVER (
    PARTITION BY j.conversation_id, j.aspect_id, j.judge_id
    ORDER BY COALESCE(j.judged_at, -1) DESC, s.path DESC, j.line DESC) AS place
  FROM {_VERDICTS} JOIN source_file s ON s.id = j.source_file_id WHERE j.conversation_id IS NOT NULL) ranked
WHERE place = 1"""


def begin(connection: Connection) -> None:
    """Forget which calls were touched before."""
    connection.execute(_TOUCHED)
    connection.execute("DELETE FROM touched_name")


def touch(connection: Connection, source_file: int) -> None:
    """Note the names of the judged calls that this file holds, and of those that it judges."""
    if _any_verdict(connection):
        connection.execute(_OF_SCORES, (source_file,))
        connection.execute(_OF_CALLS, (source_file,))


def choose_verdicts(connection: Connection, first: int) -> set[tuple[int, int, int]]:
    """Choose anew for every touched name; return the cells of its calls but those of keys from `first` on."""
    if connection.execute("SELECT 1 FROM touched_name LIMIT 1").fetchone() is None:
        return set()
    _choose(connection)
    settle_quality(connection, (key for (key,) in connection.execute(f"SELECT c.id FROM {_CALLS}").fetchall()))
    cells = f"SELECT DISTINCT c.flow_id, c.agent_id, c.run_id FROM {_CALLS} WHERE c.id < ?"
    return set(connection.execute(cells, (first,)).fetchall())


def unjoined(connection: Connection) -> Unjoined:
    """Count the verdicts that count for no call."""
    return Unjoined(*connection.execute(_STRAYS).fetchone())


def choose_all(connection: Connection) -> None:
    """Choose anew for every call that was judged."""
    begin(connection)
    connection.execute(_EVERY)
    _choose(connection)


def _choose(connection: Connection) -> None:
    connection.execute(_WITHDRAW)
    connection.executemany(_JOIN, connection.execute(_CHANGED).fetchall())
    connection.execute(_COUNT)


def _any_verdict(connection: Connection) -> bool:
    return connection.execute("SELECT 1 FROM judged_score LIMIT 1").fetchone() is not None
