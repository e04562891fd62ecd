"""Write what people noted on calls into the store, read it back, and find what of it is of no call."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from riff_store import schema as m
from riff_store.annotations import decisive, merged, standing
from riff_store.engines.engine import Connection
from riff_store.facts import Annotation, Unjoined
from riff_store.write.ledger import WithoutForgotten
from riff_store.write.names import encodable

if TYPE_CHECKING:
    from riff_store.database import Store

_CHUNK = 500
_NO_LABELS = "[]"

MATCHING = """
FROM run r CROSS JOIN conversation c ON c.run_id = r.id AND c.name = a.conversation_name
  JOIN flow f ON f.id = c.flow_id JOIN agent g ON g.id = c.agent_id
WHERE r.id IN (SELECT id FROM run WHERE a.run_name IS NULL UNION ALL SELECT id FROM run WHERE name = a.run_name)
  AND f.name = coalesce(a.flow_name, f.name) AND g.name = coalesce(a.agent_name, g.name)
  AND c.trial = coalesce(a.trial, c.trial)"""

_UNJOINED = f"""
SELECT a.id, coalesce(s.path, '(written here)') AS path, a.conversation_name, (SELECT COUNT(*) {MATCHING}) AS calls
FROM annotation a LEFT JOIN source_file s ON s.id = a.source_file_id
WHERE NOT a.deleted AND (SELECT COUNT(*) {MATCHING}) <> 1
ORDER BY path, a.conversation_name, a.id"""

_ACROSS_CALLS = """
SELECT 1 FROM annotation a LEFT JOIN annotation b ON b.id = a.supersedes
WHERE a.supersedes IS NOT NULL AND (b.id IS NULL OR b.conversation_name <> a.conversation_name) LIMIT 1"""

_FIELDS = (
    "id, run_name, flow_name, agent_name, conversation_name, trial, turn, state_name, verdict, code, note, labels,"
    " author, at, supersedes, deleted, editor"
)


class NoteOfNoCall(NamedTuple):
    """Describe where a note is that is of no call, its call's id, and how many calls it may be of (0: it waits)."""

    path: str
    conversation: str
    calls: int


class Written(NamedTuple):
    """Count notes that were to be written: those that are new, those known as they are, those that changed.

    `forgotten` are on calls that were taken out of the store, and were left out.
    """

    new: int
    known: int
    changed: int
    forgotten: int = 0


def add_notes(store: Store, notes: Iterable[Annotation]) -> Written:
    """Write notes into a store, all of them or none.

    Of two with the same id the decisive one stays; what a file has brought is left to that file. Those on calls that
    were forgotten are left out.
    """
    given = list(notes)
    with store.writing():
        kept = list(WithoutForgotten(store.connection, given))
        return merge_notes(store.connection, kept)._replace(forgotten=len(given) - len(kept))


def merge_notes(connection: Connection, notes: Iterable[Annotation]) -> Written:
    """Write notes that stay whatever becomes of the file they came in; call it inside a transaction."""
    wanted = merged(encoded(note) for note in notes)
    new = known = changed = 0
    held = {note.id: (note, source) for note, source in _held(connection, list(wanted))}
    for note in wanted.values():
        before, source = held.get(note.id, (None, None))
        if before is None:
            new += 1
        elif source is not None or decisive(before, note) == before:
            known += 1
            continue
        else:
            changed += 1
            connection.execute("DELETE FROM annotation WHERE id = ?", (note.id,))
        connection.execute(_INSERT, row_of(note, None))
    return Written(new, known, changed)


def read_notes(store: Store, conversations: Collection[str] | None = None) -> list[Annotation]:
    """Return every line that people wrote in the order of their ids; with `conversations` at least those on such calls.

    Those that are kept beside a store that cannot be written are among them. What is on some calls is decided by their
    lines alone only where no line supersedes one of another call.
    """
    if conversations is None or store.execute_sql(_ACROSS_CALLS):
        rows = store.execute_sql(f"SELECT {_FIELDS} FROM annotation ORDER BY id")
        return [*map(_note, rows), *store.kept_notes]
    found: list[Annotation] = []
    names = sorted(conversations)
    for start in range(0, len(names), _CHUNK):
        some = names[start : start + _CHUNK]
        where = f"conversation_name IN ({', '.join('?' * len(some))})"
        found += map(_note, store.execute_sql(f"SELECT {_FIELDS} FROM annotation WHERE {where}", tuple(some)))
    kept = [note for note in store.kept_notes if note.conversation in conversations]
    return [*sorted(found, key=lambda note: note.id), *kept]


def has_notes(store: Store) -> bool:
    """Return whether people wrote anything, whether or not it still counts."""
    return bool(store.kept_notes or store.execute_sql("SELECT 1 FROM annotation LIMIT 1"))


def row_of(note: Annotation, source_file: int | None) -> list[Any]:
    """Return the values of a note's row, in the order of the model's fields."""
    return [
        encodable(note.id), source_file, _text(note.run), _text(note.flow), _text(note.agent),
        encodable(note.conversation), note.trial, note.turn, _text(note.state), _text(note.verdict),
        _text(note.code), _text(note.note), _kept_labels(note.labels), encodable(note.author),
        note.at, _text(note.supersedes), note.deleted, _text(note.editor),
    ]  # fmt: skip


def encoded(note: Annotation) -> Annotation:
    """Return a note as the store keeps it: what cannot be text is spelled out."""
    id, _, *others = row_of(note, None)
    return _note([id, *others])


def waiting_notes(connection: Connection) -> int:
    """Count the notes that wait for their call."""
    return _counted(unjoined_notes(connection)).waiting


def notes_of_no_call(store: Store) -> Unjoined:
    """Count the notes that wait for their call, and those that may be of several."""
    with store.snapshot():
        return _counted(unjoined_notes(store.connection))


def unjoined_notes(connection: Connection) -> list[NoteOfNoCall]:
    """Return the notes in effect that are of no call, in the order of their files and their calls' ids."""
    found = connection.execute(_UNJOINED).fetchall()
    if not found:
        return []
    stand = {line.id for line in standing(map(_note, connection.execute(f"SELECT {_FIELDS} FROM annotation")))}
    return [NoteOfNoCall(*where) for id, *where in found if id in stand]


def _counted(found: Collection[NoteOfNoCall]) -> Unjoined:
    several = sum(each.calls > 0 for each in found)
    return Unjoined(len(found) - several, several)


_INSERT = f"INSERT INTO annotation VALUES ({', '.join('?' * len(m.Annotation._meta.sorted_fields))})"


def _held(connection: Connection, ids: Sequence[str]) -> Iterator[tuple[Annotation, int | None]]:
    for start in range(0, len(ids), _CHUNK):
        some = ids[start : start + _CHUNK]
        marks = ", ".join("?" * len(some))
        query = f"SELECT source_file_id, {_FIELDS} FROM annotation WHERE id IN ({marks})"
        for source, *row in connection.execute(query, some).fetchall():
            yield _note(row), source


def _note(row: Sequence[Any]) -> Annotation:
    id, run, flow, agent, call, trial, turn, state, verdict, code, note, labels, author, at, before, deleted, editor = (
        row
    )
    return Annotation(
        id, call, author, run, flow, agent, trial, turn, state, verdict, code, note, _labels(labels), at, before,
        bool(deleted), editor,
    )  # fmt: skip


def _kept_labels(labels: list[str]) -> str:
    return encodable(json.dumps(labels)) if labels else _NO_LABELS


def _labels(kept: str) -> list[str]:
    """Return the kept labels; a store that was tampered with has none."""
    if kept == _NO_LABELS:
        return []
    try:
        return msgspec.json.decode(kept, type=list[str])
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return []


def _text(value: str | None) -> str | None:
    return None if value is None else encodable(value)
