"""Join judges' verdicts to their calls, choose which of several counts, and copy it to where means are taken.

A verdict joins its call where exactly one call of its run has its id and all that it reports of flow, agent and trial.
One whose call is not there yet waits for it; one that does not decide between several calls waits too. Of those of one
judge on one aspect of a call the latest `judged_at` counts; ties go to the later path and line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from riff_store.chunks import drop_calls, drop_keys
from riff_store.engines.engine import BulkConnection, Connection
from riff_store.facts import Unjoined
from riff_store.schema import ASPECTS, COMPUTED_JUDGE, AspectScore
from riff_store.write.quality import settle_new, settle_quality
from riff_store.write.rollups import Cell, Changes, add_calls, judge_anew, leave_totals

if TYPE_CHECKING:
    from riff_store.database import Store

_TOUCHED = """
CREATE TEMP TABLE IF NOT EXISTS touched_name (run_id INTEGER, name TEXT, PRIMARY KEY (run_id, name)) WITHOUT ROWID"""

_OF_SCORES = """
INSERT INTO touched_name SELECT DISTINCT COALESCE(j.run_id, c.run_id), COALESCE(j.conversation_name, c.name)
FROM judged_score j LEFT JOIN conversation c ON c.id = j.conversation_id WHERE {} ON CONFLICT DO NOTHING"""
_WAITING = "j.conversation_id IS NULL AND j.run_id = {0}.run_id AND j.conversation_name = {0}.name"

# Verdicts on new calls alone are joined and counted with these: their names were touched before their files came again.
_DROP_SETTLED = f"""
DELETE FROM touched_name WHERE NOT EXISTS (SELECT 1 FROM judged_score j WHERE {_WAITING.format("touched_name")})
  AND NOT EXISTS (SELECT 1 FROM conversation c WHERE c.run_id = touched_name.run_id AND c.name = touched_name.name
    AND c.id < ?)"""

_OF_NEW_CALLS = f"""
INSERT INTO touched_name SELECT c.run_id, c.name FROM conversation c WHERE c.id BETWEEN ? AND ? AND (
  EXISTS (SELECT 1 FROM judged_score j WHERE {_WAITING.format("c")})
  OR EXISTS (SELECT 1 FROM conversation o CROSS JOIN judged_score j ON j.conversation_id = o.id
    WHERE o.run_id = c.run_id AND o.name = c.name AND o.id <> c.id)) ON CONFLICT DO NOTHING"""

# In these joins the touched names come first, whatever the engine expects of the others.
_CALLS = "touched_name t CROSS JOIN conversation c ON c.run_id = t.run_id AND c.name = t.name"
_GIVEN = "j.source_file_id, j.line, j.conversation_id, t.run_id, t.name AS conversation_name"
VERDICTS = f"""
(SELECT {_GIVEN}, j.flow_name, j.agent_name, j.trial FROM touched_name t CROSS JOIN judged_score j
  ON {_WAITING.format("t")}
UNION ALL SELECT {_GIVEN}, j.flow_name, j.agent_name, j.trial FROM {_CALLS}
  CROSS JOIN judged_score j ON j.conversation_id = c.id)"""
"""All verdicts on calls of the touched names, with these."""

_WITHDRAW = f"""
DELETE FROM aspect_score WHERE judge_id <> {COMPUTED_JUDGE} AND conversation_id IN (SELECT c.id FROM {_CALLS})"""

MATCHING = """
FROM conversation c WHERE c.run_id = j.run_id AND c.name = j.conversation_name
  AND (j.flow_name IS NULL OR c.flow_id = (SELECT id FROM flow WHERE name = j.flow_name))
  AND (j.agent_name IS NULL OR c.agent_id = (SELECT id FROM agent WHERE name = j.agent_name))
  AND (j.trial IS NULL OR c.trial = j.trial)"""
UNJOINED = f"""
SELECT s.path, j.line, j.conversation_name, r.name, (SELECT COUNT(*) {MATCHING}),
  (SELECT COUNT(DISTINCT c.flow_id) {MATCHING}), (SELECT COUNT(DISTINCT c.agent_id) {MATCHING}),
  (SELECT COUNT(DISTINCT c.trial) {MATCHING}),
  EXISTS (SELECT 1 FROM conversation c WHERE c.run_id = j.run_id AND c.name = j.conversation_name)
FROM judged_score j JOIN source_file s ON s.id = j.source_file_id JOIN run r ON r.id = j.run_id
WHERE j.conversation_id IS NULL ORDER BY s.path, j.line"""
"""Read where the verdicts stand that count for no call, and of which run and id they are.

Then come how many calls each may be of (0: it waits), how many flows, agents and trials these have, and if the run has
any call of that id.
"""

_STRAYS = f"""
SELECT COUNT(CASE WHEN NOT known THEN 1 END), COUNT(CASE WHEN known THEN 1 END) FROM (
  SELECT EXISTS (SELECT 1 {MATCHING}) AS known FROM judged_score j WHERE j.conversation_id IS NULL) stray"""

_CHANGED = f"""
SELECT found, CASE WHEN found IS NULL THEN run_id END, CASE WHEN found IS NULL THEN conversation_name END,
  source_file_id, line FROM (
  SELECT j.source_file_id, j.line, j.run_id, j.conversation_name, j.conversation_id AS known_call,
    (SELECT CASE COUNT(*) WHEN 1 THEN MIN(c.id) END {MATCHING}) AS found FROM {VERDICTS} j) joined
WHERE found IS DISTINCT FROM known_call"""

_JOIN = """
UPDATE judged_score SET conversation_id = ?, run_id = ?, conversation_name = ? WHERE source_file_id = ? AND line = ?"""

_COUNT = f"""
INSERT INTO aspect_score (conversation_id, aspect_id, judge_id, value)
SELECT conversation_id, aspect_id, judge_id, score FROM (
  SELECT j.conversation_id, j.aspect_id, j.judge_id, j.score, ROW_NUMBER() OVER (
    PARTITION BY j.conversation_id, j.aspect_id, j.judge_id
    ORDER BY COALESCE(j.judged_at, -1) DESC, s.path DESC, j.line DESC) AS place
  FROM {_CALLS} CROSS JOIN judged_score j ON j.conversation_id = c.id
  JOIN source_file s ON s.id = j.source_file_id) ranked
WHERE place = 1"""


_AT_ONCE = 500


class Named(NamedTuple):
    """Describe a call and what distinguishes it from others of its run with its name."""

    key: int
    flow: str
    agent: str
    trial: int

    def fits(self, flow: str | None, agent: str | None, trial: int | None) -> bool:
        """Return whether what is known of a call is true of this one."""
        return flow in (None, self.flow) and agent in (None, self.agent) and trial in (None, self.trial)


def calls_of(connection: Connection, names: Iterable[tuple[int, str]]) -> dict[tuple[int, str], list[Named]]:
    """Return the calls of runs by their names."""
    found: dict[tuple[int, str], list[Named]] = {}
    wanted = sorted(set(names))
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        rows = connection.execute(
            f"WITH wanted (run, name) AS (VALUES {', '.join(['(?, ?)'] * len(some))})"
            " SELECT w.run, w.name, c.id, f.name, a.name, c.trial FROM wanted w"
            " CROSS JOIN conversation c ON c.run_id = w.run AND c.name = w.name"
            " JOIN flow f ON f.id = c.flow_id JOIN agent a ON a.id = c.agent_id",
            [part for each in some for part in each],
        )
        for run, name, *call in rows.fetchall():
            found.setdefault((run, name), []).append(Named(*call))
    return found


def begin(connection: Connection) -> None:
    """Forget which calls were touched before."""
    connection.execute(_TOUCHED)
    connection.execute("DELETE FROM touched_name")


def touch(connection: Connection, calls: str, theirs: str, files: Sequence[int]) -> None:
    """Note the names of the judged calls of files, and of those that they judge, before they are taken away.

    These are what SQL asks of a call's key, and of the file of a row, to be of one of these `files`.
    """
    if _any_verdict(connection):
        connection.execute(_OF_SCORES.format(f"j.{theirs}"), files)
        touch_calls(connection, f"(SELECT id, run_id, name FROM conversation WHERE {calls}) c", files)


def touch_calls(connection: Connection, calls: str, values: Sequence[Any] = ()) -> None:
    """Note the names of those of some calls that are judged, given as what follows FROM, where they are called `c`."""
    connection.execute(
        f"INSERT INTO touched_name SELECT DISTINCT c.run_id, c.name FROM {calls} WHERE"
        " EXISTS (SELECT 1 FROM judged_score j WHERE j.conversation_id = c.id)"
        f" OR EXISTS (SELECT 1 FROM judged_score j WHERE {_WAITING.format('c')}) ON CONFLICT DO NOTHING",
        values,
    )


def settle(store: Store, changed: Changes) -> None:
    """Choose the verdicts that count and bring all sums and columns up to date with what a batch changed."""
    connection, one_by_one = store.connection, store.engine.adds_twice
    judged = choose_verdicts(connection, changed)
    judge_anew(connection, judged, changed.first, one_by_one=one_by_one)
    add_calls(connection, changed.first, changed.last, changed.shrunk, one_by_one=one_by_one)
    drop_keys(connection, changed.first, changed.last + 1)


def choose_verdicts(connection: BulkConnection, changed: Changes) -> set[Cell]:
    """Join and choose again what a batch touched; return the cells of calls that were there before and are judged.

    Those that lose calls as well are summed again without that.
    """
    if not _any_verdict(connection) and not _any_touched(connection):
        return set()
    connection.execute(_DROP_SETTLED, (changed.first,))
    connection.execute(_OF_NEW_CALLS, (changed.first, changed.last))
    _join(connection)
    _count_new(connection, changed)
    of_others = sorted(key for key, verdicts in changed.judged.items() if verdicts is None)
    connection.executemany(_OF_SCORES.format("j.source_file_id = ?"), [(key,) for key in of_others])
    if not _any_touched(connection):
        return set()
    cells = f"SELECT DISTINCT c.flow_id, c.agent_id, c.run_id FROM {_CALLS} WHERE c.id < ?"
    judged = set(connection.execute(cells, (changed.first,)).fetchall()) - changed.shrunk
    leave_totals(connection, judged, changed.first, (ASPECTS,))
    _choose(connection)
    drop_calls(connection, _CALLS, key="c.id")
    settle_quality(connection, (key for (key,) in connection.execute(f"SELECT c.id FROM {_CALLS}").fetchall()))
    return judged


def _count_new(connection: BulkConnection, changed: Changes) -> None:
    """Let the latest verdicts on new calls count as `_COUNT` does, which chooses again whatever else was touched."""
    verdicts = sorted(chain.from_iterable(filter(None, changed.judged.values())), key=itemgetter(1))
    if not verdicts:
        return
    there = {key for (key,) in connection.execute("SELECT id FROM conversation WHERE id >= ?", (changed.first,))}
    latest = {place: score for place, _, score in verdicts if place[0] in there}
    connection.insert(AspectScore, [value for place, score in latest.items() for value in (*place, score)])
    settle_new(connection, latest, changed.blends)


def unjoined(connection: Connection) -> Unjoined:
    """Count the verdicts that count for no call."""
    return Unjoined(*connection.execute(_STRAYS).fetchone())


def choose_all(connection: Connection) -> None:
    """Choose again for every call that was judged."""
    begin(connection)
    connection.execute(_OF_SCORES.format("true"))
    _join(connection)
    _choose(connection)


def _join(connection: Connection) -> None:
    connection.executemany(_JOIN, connection.execute(_CHANGED).fetchall())


def _choose(connection: Connection) -> None:
    connection.execute(_WITHDRAW)
    connection.execute(_COUNT)


def _any_verdict(connection: Connection) -> bool:
    return connection.execute("SELECT 1 FROM judged_score LIMIT 1").fetchone() is not None


def _any_touched(connection: Connection) -> bool:
    return connection.execute("SELECT 1 FROM touched_name LIMIT 1").fetchone() is not None
