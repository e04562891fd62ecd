"""Take calls out of a store with all that hangs on them, as if it had never had them.

What goes: the calls, what was said, scores, the verdicts and notes that may be of no call that stays, the places of
these calls in the reading list, what was noted while they were read, files of which nothing is left, and names that
nothing uses any more. Sums are those of the calls that stay. The ledger remembers the calls by digests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from riff_store import schema as m
from riff_store.engines.engine import Connection
from riff_store.transcripts import Transcripts, parsed
from riff_store.write import notes, verdicts
from riff_store.write.ledger import remember
from riff_store.write.names import CallNames
from riff_store.write.rollups import no_changes, shrink
from riff_store.write.rows import OF_FILE, forget_calls
from riff_store.write.text_compression import TextCompressor

if TYPE_CHECKING:
    from riff_store.database import Store

Report: TypeAlias = Callable[[int, int], None]
"""Is told how many calls are done, and of how many."""

_TAKE = (
    "CREATE TEMP TABLE IF NOT EXISTS taken_call (id INTEGER PRIMARY KEY)",
    "CREATE TEMP TABLE IF NOT EXISTS taken_verdict (source_file_id INTEGER, line INTEGER)",
    "CREATE TEMP TABLE IF NOT EXISTS unused_name (id INTEGER PRIMARY KEY)",
)
_TAKEN = "SELECT id FROM taken_call"
_CALLS = "taken_call k CROSS JOIN conversation c ON c.id = k.id"
_NAMES = (
    f"SELECT r.name, f.name, a.name, c.name, c.trial FROM {_CALLS} JOIN run r ON r.id = c.run_id"
    " JOIN flow f ON f.id = c.flow_id JOIN agent a ON a.id = c.agent_id ORDER BY k.id"
)
_TAKE_VERDICTS = f"""
INSERT INTO taken_verdict SELECT j.source_file_id, j.line FROM {verdicts.VERDICTS} j
WHERE EXISTS (SELECT 1 {verdicts.MATCHING} AND c.id IN ({_TAKEN}))
  AND NOT EXISTS (SELECT 1 {verdicts.MATCHING} AND c.id NOT IN ({_TAKEN}))"""
_TAKEN_NOTES = f"""
SELECT a.id, a.source_file_id FROM annotation a WHERE a.conversation_name IN (SELECT c.name FROM {_CALLS})
  AND EXISTS (SELECT 1 {notes.MATCHING} AND c.id IN ({_TAKEN}))
  AND NOT EXISTS (SELECT 1 {notes.MATCHING} AND c.id NOT IN ({_TAKEN}))"""
_WORDS = (
    "SELECT k.id, t.body, t.dictionary_id FROM taken_call k CROSS JOIN transcript t ON t.conversation_id = k.id"
    " WHERE k.id > ? ORDER BY k.id LIMIT 100"
)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Count what goes with calls, or went; `runs` and `flows` are the names of those that have such calls."""

    calls: int = 0
    runs: Sequence[str] = ()
    flows: Sequence[str] = ()
    scores: int = 0
    notes: int = 0
    words: int = 0


def prepare(connection: Connection) -> None:
    """Make what `going_with` and `forget` keep their place by; call it inside a write transaction."""
    verdicts.begin(connection)
    for statement in _TAKE:
        connection.execute(statement)


def going_with(
    store: Store, calls: Sequence[int], *, keep_notes: bool = False, report: Report = lambda done, total: None
) -> Forgotten:
    """Return what would go with calls, given by their keys; call it inside a snapshot, once all is prepared."""
    connection = store.connection
    _take(connection, calls)
    found = _counted(connection, _taken_notes(connection, keep_notes), len(calls))
    return replace(found, words=sum(_words(store, len(calls), report)))


def forget(
    store: Store,
    calls: Sequence[int],
    *,
    keep_notes: bool = False,
    renew: bool = False,
    report: Report = lambda done, total: None,
) -> None:
    """Take calls out of a store, given by their keys, and remember that; call it inside a write transaction.

    With `renew` transcripts are compressed again, for what compresses them is made of pieces of what was said.
    """
    connection = store.connection
    prepare(connection)
    _take(connection, calls)
    if calls:
        _forget(store, _taken_notes(connection, keep_notes), keep_notes=keep_notes)
    if renew:
        TextCompressor(connection).renew(report)


def _forget(store: Store, going: Mapping[str, int | None], *, keep_notes: bool) -> None:
    connection, changed = store.connection, no_changes(store.connection)
    names = [CallNames(*row) for row in connection.execute(_NAMES).fetchall()]
    cells = connection.execute(f"SELECT DISTINCT c.flow_id, c.agent_id, c.run_id FROM {_CALLS}").fetchall()
    shrink(connection, changed, cells)
    used = _names_used(connection)
    files = {key for (key,) in connection.execute(f"SELECT DISTINCT c.source_file_id FROM {_CALLS}").fetchall()}
    files |= {key for (key,) in connection.execute("SELECT DISTINCT source_file_id FROM taken_verdict").fetchall()}
    files |= {key for key in going.values() if key is not None}
    files |= _drop_skipped(connection, files)
    connection.execute(
        "DELETE FROM judged_score WHERE (source_file_id, line) IN (SELECT source_file_id, line FROM taken_verdict)"
    )
    connection.executemany("DELETE FROM annotation WHERE id = ?", [(id,) for id in sorted(going)])
    forget_calls(connection, f"id IN ({_TAKEN})")
    if connection.execute("SELECT 1 FROM transcript LIMIT 1").fetchone() is None:
        connection.execute("DELETE FROM text_dictionary")
    _drop_sampled(connection, names)
    remember(connection, names, keeps_notes=keep_notes)
    verdicts.settle(store, changed)
    _settle_files(connection, files)
    _drop_unused(connection, used)


def _take(connection: Connection, calls: Sequence[int]) -> None:
    """Put the keys of calls, and of the verdicts that go with them, where statements find them."""
    for table in ("touched_name", "taken_call", "taken_verdict"):
        connection.execute(f"DELETE FROM {table}")
    connection.executemany("INSERT INTO taken_call VALUES (?)", [(key,) for key in sorted(calls)])
    verdicts.touch_calls(connection, _CALLS)
    connection.execute(_TAKE_VERDICTS)


def _taken_notes(connection: Connection, keep_notes: bool) -> dict[str, int | None]:
    """Return the ids of the notes that go, and the file of each that has one."""
    return {} if keep_notes else dict(connection.execute(_TAKEN_NOTES).fetchall())


def _counted(connection: Connection, going: Mapping[str, int | None], calls: int) -> Forgotten:
    def names(table: str) -> list[str]:
        query = f"SELECT DISTINCT x.name FROM {_CALLS} JOIN {table} x ON x.id = c.{table}_id ORDER BY x.name"
        return [name for (name,) in connection.execute(query).fetchall()]

    scores = int(connection.execute("SELECT COUNT(*) FROM taken_verdict").fetchone()[0])
    return Forgotten(calls, names("run"), names("flow"), scores, len(going))


def _words(store: Store, calls: int, report: Report) -> Iterator[int]:
    """Yield how many words were said in each call; what cannot be read has none that anybody could count."""
    texts, last, done = Transcripts(store), -1, 0
    while rows := store.connection.execute(_WORDS, (last,)).fetchall():
        for _, body, dictionary in rows:
            try:
                turns = parsed(texts.text(body, dictionary)).get("turns", ())
                yield sum(len(str(turn["text"]).split()) for turn in turns)
            except (ValueError, TypeError, KeyError, AttributeError):
                continue
        last, done = rows[-1][0], done + len(rows)
        report(done, calls)


# What was noted while calls were read.
class _Note(NamedTuple):
    """Describe what was noted of a call while it was read: of one that another took the place of all that names it."""

    id: int
    source_file: int
    conversation: str
    run: str | None
    flow: str | None
    agent: str | None
    trial: int | None


_NOTES = (
    "SELECT id, source_file_id, conversation, run, flow, agent, trial FROM skipped_input"
    f" WHERE conversation IN (SELECT c.name FROM {_CALLS})"
)
_STAYING = (
    "SELECT c.name, c.source_file_id, r.name, f.name, a.name, c.trial FROM run r CROSS JOIN conversation c"
    " ON c.run_id = r.id AND c.name IN (SELECT DISTINCT conversation FROM skipped_input"
    f" WHERE conversation IN (SELECT c.name FROM {_CALLS})) JOIN flow f ON f.id = c.flow_id"
    f" JOIN agent a ON a.id = c.agent_id WHERE c.id NOT IN ({_TAKEN})"
)


def _drop_skipped(connection: Connection, files: Iterable[int]) -> set[int]:
    """Drop what was noted of the calls, unless it may be of one that stays; return the files that lose a note."""
    found = [_Note(*row) for row in connection.execute(_NOTES).fetchall()]
    if not found:
        return set()
    staying = connection.execute(_STAYING).fetchall()
    named = {(name, *names) for name, _, *names in staying}
    there, anywhere = {(name, file) for name, file, *_ in staying}, {name for name, *_ in staying}
    theirs = set(files)
    going = [
        note
        for note in found
        if (
            (note.conversation, note.run, note.flow, note.agent, note.trial) not in named
            if note.run is not None
            else (note.conversation, note.source_file) not in there
            and (note.source_file in theirs or note.conversation not in anywhere)
        )
    ]
    connection.executemany("DELETE FROM skipped_input WHERE id = ?", [(note.id,) for note in going])
    return {note.source_file for note in going}


def _drop_sampled(connection: Connection, names: Iterable[CallNames]) -> None:
    """Take calls off the reading list and number the others again; a list without any goes."""
    listed = connection.execute("SELECT * FROM sampled_call ORDER BY position").fetchall()
    gone = set(names)
    left = [row for row in listed if CallNames(*row[1:6]) not in gone]
    if len(left) == len(listed):
        return
    connection.execute("DELETE FROM sampled_call")
    marks = ", ".join("?" * len(m.SampledCall._meta.sorted_fields))
    insert = f"INSERT INTO sampled_call VALUES ({marks})"
    connection.executemany(insert, [(place, *row[1:]) for place, row in enumerate(left, 1)])
    if not left:
        connection.execute("DELETE FROM sample")


_COUNTS = (
    f"UPDATE source_file AS s SET conversations = (SELECT COUNT(*) FROM conversation c WHERE {OF_FILE.format('s')}),"
    " scores = (SELECT COUNT(*) FROM judged_score j WHERE j.source_file_id = s.id),"
    " skipped = (SELECT COUNT(*) FROM skipped_input k WHERE k.source_file_id = s.id AND k.kind = 'skipped')"
    " WHERE id = ?"
)
_HANGING = ("judged_score", "annotation", "skipped_input", "described_state", "described_edge", "flow_contract")
_DROP_FILE = (
    "DELETE FROM source_file WHERE id = ?"
    f" AND NOT EXISTS (SELECT 1 FROM conversation c WHERE {OF_FILE.format('source_file')})"
) + "".join(f" AND NOT EXISTS (SELECT 1 FROM {table} x WHERE x.source_file_id = source_file.id)" for table in _HANGING)


def _settle_files(connection: Connection, files: Iterable[int]) -> None:
    """Count what files have now, and drop those that have nothing, for a path may name a call."""
    keys = [(key,) for key in sorted(files)]
    connection.executemany(_COUNTS, keys)
    connection.executemany(_DROP_FILE, keys)


# Names that nothing uses any more.
class _Use(NamedTuple):
    """Describe in which column of which table names of a kind are used."""

    table: str
    column: str


def _uses() -> dict[str, list[_Use]]:
    """Return by tables of names where these are used, in small tables first."""
    found: dict[str, list[_Use]] = {model._meta.table_name: [] for model in m.DIMENSIONS}
    for model in (*m.ROLLUPS, *m.DESCRIBED, *m.DIMENSIONS, *m.FACTS):
        for field in model._meta.sorted_fields:
            other: Any = getattr(field, "rel_model", None)
            # The state of a tool is a key without being declared one, for 0 is none.
            name = "state" if other is None and field.name == "state" else other and other._meta.table_name
            if name in found:
                found[name].append(_Use(model._meta.table_name, field.column_name))
    return found


_USES = _uses()
_ROWS = {model._meta.table_name: f"x.conversation_id IN ({_TAKEN})" for model in m.OF_CALLS} | {
    "conversation": f"x.id IN ({_TAKEN})",
    "judged_score": "(x.source_file_id, x.line) IN (SELECT source_file_id, line FROM taken_verdict)",
}
"""Of the tables of calls and verdicts the rows that go."""


def _names_used(connection: Connection) -> dict[str, set[int]]:
    """Return by tables of names the keys of those that are used by what goes."""
    found: dict[str, set[int]] = {}
    for name, uses in _USES.items():
        keys = found[name] = set()
        for use in uses:
            if use.table in _ROWS:
                query = f"SELECT DISTINCT x.{use.column} FROM {use.table} x WHERE {_ROWS[use.table]}"
                keys.update(key for (key,) in connection.execute(query).fetchall())
    return found


def _drop_unused(connection: Connection, used: Mapping[str, set[int]]) -> None:
    """Drop the names that were used by what went and are used by nothing that is there; states before their flow."""
    states = "SELECT id FROM state WHERE flow_id = ? AND flow_id NOT IN (SELECT flow_id FROM call_rollup)"
    for flow in sorted(used["flow"]):
        used["state"].update(key for (key,) in connection.execute(states, (flow,)).fetchall())
    for name in sorted(used, key=lambda name: name != "state"):
        unused = used[name] - ({None, m.COMPUTED_JUDGE} if name == "judge" else {None})
        for use in _USES[name]:
            if not unused:
                break
            unused -= _still_used(connection, use, unused)
        connection.executemany(f"DELETE FROM {name} WHERE id = ?", [(key,) for key in sorted(unused)])


def _still_used(connection: Connection, use: _Use, keys: Iterable[int]) -> set[int]:
    connection.execute("DELETE FROM unused_name")
    connection.executemany("INSERT INTO unused_name VALUES (?)", [(key,) for key in sorted(keys)])
    query = f"SELECT DISTINCT {use.column} FROM {use.table} WHERE {use.column} IN (SELECT id FROM unused_name)"
    return {key for (key,) in connection.execute(query).fetchall()}
