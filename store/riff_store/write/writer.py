"""Insert scored facts, file by file, and keep sums true.

A batch is one transaction, a file in it one savepoint, so that a file is in the store wholly or
not at all, together with its `source_file` row.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, TypeAlias

from riff_store import chunks, schema
from riff_store.annotations import CodesInUse
from riff_store.database import Store
from riff_store.edit_graph import EditGraph, edit_graph
from riff_store.engines.engine import BulkConnection
from riff_store.facts import (
    Annotation,
    Commit,
    ConversationFacts,
    DescribedFlow,
    EditsResult,
    FileResult,
    FlowEdit,
    HeldInput,
    JudgedScore,
    RunOfCall,
    Skipped,
    SourceFile,
    SupersededFile,
    Unjoined,
    WriteNotice,
)
from riff_store.write import notes, verdicts
from riff_store.write.ledger import WithoutForgotten
from riff_store.write.names import Names, encodable
from riff_store.write.rollups import Changes, no_changes, shrink
from riff_store.write.rows import FIRST_REASON, NOTES, OF_FILE, Rows, forget_calls, runs_of, settle_unended
from riff_store.write.text_compression import TextCompressor

_PATHS = 500
_GROUPS = 8
"""How many row groups are packed in a transaction, so that nobody waits for it long."""
_ANNOTATIONS = "(SELECT COUNT(*) FROM annotation a WHERE a.source_file_id = s.id)"
_CALLS_OF_FILES = f"SELECT c.id FROM source_file s CROSS JOIN conversation c ON {OF_FILE.format('s')}"
_STANDING = (
    "conversation c JOIN run r ON r.id = c.run_id JOIN flow f ON f.id = c.flow_id JOIN agent a ON a.id = c.agent_id"
    " WHERE r.name = k.run AND c.name = k.conversation AND f.name = coalesce(k.flow, f.name)"
    " AND a.name = coalesce(k.agent, a.name) AND c.trial = coalesce(k.trial, c.trial)"
)

Item: TypeAlias = ConversationFacts | JudgedScore | Annotation | DescribedFlow | Skipped


def stored_path(path: str | os.PathLike[str]) -> str:
    """Return a path as the store keeps it: absolute text, bytes that are no text spelled out."""
    return encodable(os.path.abspath(os.fsdecode(path)))


class Writer:
    """Write to one store; `order` names paths so that of two calls that are the same the later file's stays.

    `written_by` is who stores calls, as it is kept with their run and shown to those who look at the store. Calls that
    were forgotten stay out, unless it `takes_back` what it reads.
    """

    def __init__(self, store: Store, written_by: str = "", *, takes_back: bool = False) -> None:
        self._store = store
        self._connection: BulkConnection = store.connection
        self._names = Names(self._connection, written_by)
        self._written_by = written_by
        self._takes_back = takes_back
        self._texts = TextCompressor(self._connection)
        self._changed = Changes(1, 1)
        self._cleared: set[int] = set()
        self._rank: Mapping[str, int] = {}
        self._codes: CodesInUse | None = None

    def order(self, paths: Iterable[str]) -> None:
        """Name the files of this ingest in their order; files not named yield to those that are."""
        self._rank = {stored_path(path): place for place, path in enumerate(paths)}

    def contracts(self) -> dict[str, str]:
        """Return contracts of the flow files in the store: flow → JSON; of several files the last by path counts."""
        rows = self._store.execute_sql(
            "SELECT f.name, c.body FROM flow_contract c JOIN flow f ON f.id = c.flow_id"
            " JOIN source_file s ON s.id = c.source_file_id ORDER BY s.path"
        )
        return dict(rows)

    def inputs(self) -> list[tuple[str, str]]:
        """Return the paths and kinds of all inputs that the store has, in the order of paths."""
        return list(self._store.execute_sql("SELECT path, kind FROM source_file ORDER BY path"))

    def dictionary(self) -> bytes | None:
        """Return by what other processes may compress transcripts that they read, `None` before that was learnt."""
        return self._texts.give()

    def runs_of(self, calls: Iterable[str]) -> dict[str, list[RunOfCall]]:
        """Return the runs that have a call of each name, in the order of their names."""
        return runs_of(self._store, calls)

    def known(self, file: SourceFile) -> FileResult | None:
        """Return what an earlier reading of this file gave, where it would give the same now."""
        rows = self._store.execute_sql(
            f"SELECT conversations, scores, {_ANNOTATIONS}, skipped, {FIRST_REASON} FROM source_file s"
            " WHERE path = ? AND kind = ? AND sha256 = ? AND size = ? AND reader = ? AND with_text = ? AND context = ?",
            (stored_path(file.path), file.kind, file.sha256, file.size, file.reader, file.with_text, file.context),
        )
        if not rows:
            return None
        result = FileResult(stored_path(file.path), file.kind, "unchanged")
        result.conversations, result.scores, result.annotations, result.skipped, reason = rows[0]
        result.reason = reason or ""
        return result

    @contextmanager
    def batch(self, files: Iterable[SourceFile] = (), *, rebuild: bool = False) -> Iterator[None]:
        """Yield one transaction around any number of files; verdicts and sums are settled at its end.

        What those of `files` had that are not as they were is taken away at once, which is quicker than file by file:
        all of them are put in this batch, or it fails.
        """
        try:
            with self._store.writing():
                self._forget()  # another process may have written since
                self._changed = no_changes(self._connection)
                verdicts.begin(self._connection)
                paths = {stored_path(file.path): file for file in files}
                found = self._by_path("SELECT path, id FROM source_file WHERE path IN ({})", paths)
                self._cleared = {key for path, key in found if rebuild or self.known(paths[path]) is None}
                self._clear(sorted(self._cleared))
                yield
                verdicts.settle(self._store, self._changed)
                if self._store.engine.tells:
                    self._store.tell(self._written(self._changed.first))
        except BaseException:
            self._forget()
            raise

    def _written(self, first: int) -> WriteNotice:
        runs = self._connection.execute(
            "SELECT r.name, COUNT(*) FROM conversation c JOIN run r ON r.id = c.run_id WHERE c.id >= ?"
            " GROUP BY r.name ORDER BY 2 DESC, 1",
            (first,),
        ).fetchall()
        return WriteNotice(self._written_by, runs[0][0] if runs else "", len(runs), sum(count for _, count in runs))

    def pack(self, report: Callable[[int, int], None] | None = None) -> None:
        """Pack the columns of calls, once all that was to be written is: for a store of many calls.

        `report` is shown how many groups of calls are packed, and of how many.
        """
        done = 0
        while True:
            with self._store.snapshot():
                left = chunks.unpacked(self._connection)
            if not left:
                break
            from riff_store.arrays.rows import pack  # it takes numpy, which small stores do without

            if report is not None:
                report(done, done + len(left))
            with self._store.writing():
                pack(self._connection, chunks.unpacked(self._connection)[:_GROUPS])
            done += min(len(left), _GROUPS)
        while True:
            with self._store.writing():
                unsummed = chunks.unsummed(chunks.asking(self._connection))
                if not unsummed:
                    break
                from riff_store.arrays.sums import keep_sums

                keep_sums(self._store, self._connection, unsummed[0])

    def _forget(self) -> None:
        self._names.forget()
        self._texts.forget()

    def put_file(self, file: SourceFile, items: Iterable[Item], *, rebuild: bool = False) -> FileResult:
        """Store what one file has in place of what it had before; call it inside `batch`."""
        path = stored_path(file.path)
        known = None if rebuild else self.known(file)
        if known is not None:
            return known
        before = self._changed.copy()
        try:
            with self._store.savepoint():
                return self._put(file, path, items)
        except BaseException:
            self._forget()
            self._changed = before
            raise

    def put_edits(
        self,
        repository: str,
        edits: Mapping[str, Sequence[FlowEdit]],
        commits: Sequence[Commit] = (),
        *,
        rebuild: bool = False,
    ) -> list[EditsResult]:
        """Store the edits of a repository's flows in place of those it had; call it inside `batch`.

        `commits` are all that the repository knows, parents first; its commit shows which edits a run contains if it is
        one of them, else the time. With `rebuild` all edits that the store has are forgotten first, those of other
        repositories too.
        """
        if rebuild:
            forget_edits(self._connection)
        results = replace_edits(self._connection, repository, edits)
        replace_history(self._connection, repository, commits)
        return results

    def _put(self, file: SourceFile, path: str, items: Iterable[Item]) -> FileResult:
        key, known = self._source_file(file, path)
        first = self._changed.next
        result = FileResult(path, file.kind, "changed" if known else "taken")
        rows = Rows(self._connection, self._names, key, file.kind, path, self._rank, self._changed, self._texts)
        remembered = WithoutForgotten(self._connection, items, take_back=self._takes_back)
        for item in remembered:
            if isinstance(item, ConversationFacts):
                rows.add_call(item)
            elif isinstance(item, JudgedScore):
                rows.add_score(item)
                result.scores += 1
            elif isinstance(item, Annotation):
                rows.add_annotation(self._with_code_in_use(item), stays=file.notes_stay)
                result.annotations += 1
            elif isinstance(item, DescribedFlow):
                rows.add_flow(item)
                result.flows += 1
            else:
                rows.add_note(item)
                if item.kind == "skipped":
                    result.skipped += 1
                    place = "" if item.line is None else f"line {item.line}: "
                    result.reason = result.reason or encodable(f"{place}{item.reason}")
                elif item.kind == "replaced":
                    rows.winners.add(path)
                else:
                    result.noted += item.kind != "superseded"  # which are counted once all is settled
            if rows.is_full:
                rows.flush()
        rows.flush()
        result.conversations, result.replaced, result.updated = rows.taken, rows.replaced, rows.updated
        result.rerun, result.winners = rows.rerun, sorted(rows.winners)
        result.forgotten = remembered.calls
        if result.forgotten and not remembered.others:
            # A path may name a call, and so it goes with the last one.
            self._connection.execute("DELETE FROM source_file WHERE id = ?", (key,))
            return result
        self._connection.execute(
            "UPDATE source_file SET conversations = ?, scores = ?, skipped = ?, first_call = ?, last_call = ?"
            " WHERE id = ?",
            (rows.taken, result.scores, result.skipped, first, self._changed.last, key),
        )
        return result

    def _with_code_in_use(self, note: Annotation) -> Annotation:
        if self._codes is None and note.code:
            self._codes = CodesInUse(notes.read_notes(self._store))
        return note if self._codes is None else self._codes.spelled(note)

    def _source_file(self, file: SourceFile, path: str) -> tuple[int, bool]:
        found = self._connection.execute("SELECT id FROM source_file WHERE path = ?", (path,)).fetchone()
        values = (file.kind, file.sha256, file.size, file.reader, file.with_text, file.context)
        if found is None:
            added = self._connection.execute(
                "INSERT INTO source_file (path, kind, sha256, size, reader, with_text, context,"
                " conversations, scores, skipped, first_call, last_call) VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, -1)"
                " RETURNING id",
                (path, *values),
            )
            return int(added.fetchone()[0]), False
        key = int(found[0])
        if key in self._cleared:
            self._cleared.remove(key)
        else:
            self._clear([key])
        self._connection.execute(
            "UPDATE source_file SET kind = ?, sha256 = ?, size = ?, reader = ?, with_text = ?, context = ?"
            " WHERE id = ?",
            (*values, key),
        )
        return key, True

    def _clear(self, keys: Sequence[int]) -> None:
        """Take away what files had brought; cells that they were in are summed again."""
        for start in range(0, len(keys), _PATHS):
            some = keys[start : start + _PATHS]
            marks = ", ".join("?" * len(some))
            calls, theirs = f"id IN ({_CALLS_OF_FILES} WHERE s.id IN ({marks}))", f"source_file_id IN ({marks})"
            cells = f"SELECT DISTINCT flow_id, agent_id, run_id FROM conversation WHERE {calls}"
            shrink(self._connection, self._changed, self._connection.execute(cells, some).fetchall())
            verdicts.touch(self._connection, calls, theirs, some)
            described = ("described_state", "described_edge", "flow_contract")
            for table in ("judged_score", "annotation", "skipped_input", *described):
                self._connection.execute(f"DELETE FROM {table} WHERE {theirs}", some)
            forget_calls(self._connection, calls, *some)
            for key in some:
                self._changed.judged.pop(key, None)
            self._codes = None  # some may have gone with what they had brought

    def orphaned(self) -> list[str]:
        """Return paths of files whose call yielded to another file's that has it no more: read them again."""
        rows = self._store.execute_sql(
            "SELECT DISTINCT s.path FROM skipped_input k JOIN source_file s ON s.id = k.source_file_id"
            " WHERE k.kind IN ('replaced', 'superseded') AND k.run IS NOT NULL"
            f" AND NOT EXISTS (SELECT 1 FROM {_STANDING}) ORDER BY s.path"
        )
        return [path for (path,) in rows]

    def superseded(self) -> list[SupersededFile]:
        """Return the files whose calls yielded to another file's that has them still, in the order of paths."""
        rows = self._store.execute_sql(
            "SELECT s.path, s.kind, s.sha256, s.size, s.reader, w.path, COUNT(DISTINCT c.id)"
            " FROM skipped_input k JOIN source_file s ON s.id = k.source_file_id, source_file w,"
            f" {_STANDING} AND k.kind = 'replaced' AND w.id = c.source_file_id AND w.id <> s.id"
            " GROUP BY s.id, w.id ORDER BY s.path, w.path"
        )
        return [SupersededFile(SourceFile(*row[:5]), *row[5:]) for row in rows]

    def held(self, paths: Iterable[str]) -> dict[str, HeldInput]:
        """Return of each file how many calls the store has from it, and how much of it does not count, and why."""
        counts = f"s.conversations, {NOTES.format('replaced')}, {NOTES.format('superseded')}, skipped, {FIRST_REASON}"
        rows = self._by_path(f"SELECT s.path, {counts} FROM source_file s WHERE s.path IN ({{}})", paths)
        return {path: HeldInput(*counts) for path, *counts in rows}

    def _by_path(self, question: str, paths: Iterable[str]) -> Iterator[tuple[Any, ...]]:
        """Yield what a question answers of paths, which are put where its braces are."""
        wanted = list(paths)
        for start in range(0, len(wanted), _PATHS):
            some = tuple(wanted[start : start + _PATHS])
            yield from self._store.execute_sql(question.format(", ".join("?" * len(some))), some)

    def settle_unended(self) -> None:
        """Let reports of calls before their end be no loss if the store has these by now."""
        settle_unended(self._store)

    def waiting_notes(self) -> int:
        """Count the notes in the store that wait for their call."""
        with self._store.snapshot():
            return notes.waiting_notes(self._connection)

    def unjoined(self) -> Unjoined:
        """Count the verdicts in the store that are joined to no call."""
        with self._store.snapshot():
            return verdicts.unjoined(self._connection)


_Row = tuple[object, ...]


def forget_edits(connection: BulkConnection) -> None:
    """Drop the edits of all flows, from whatever repository."""
    connection.execute("DELETE FROM flow_edit")
    forget_histories(connection)


def replace_edits(
    connection: BulkConnection, repository: str, edits: Mapping[str, Sequence[FlowEdit]]
) -> list[EditsResult]:
    """Store the edits of flows, in the order of their history, in place of those that the repository had of them.

    A repository is known by the commit that its history begins with, and by any commit that it shares: the
    same one, cloned less deep before, began elsewhere. What is the same already is not written again.
    """
    calls = "SELECT name FROM flow WHERE id IN (SELECT flow_id FROM call_rollup)"
    called = {name for (name,) in connection.execute(calls)}
    return [_replace_edits(connection, repository, encodable(flow), edits[flow], called) for flow in sorted(edits)]


def _replace_edits(
    connection: BulkConnection, repository: str, flow: str, edits: Sequence[FlowEdit], called: set[str]
) -> EditsResult:
    known: dict[str, list[tuple[object, ...]]] = {}
    for origin, *row in connection.execute(
        'SELECT repository, "commit", time, author, subject, path, merged FROM flow_edit WHERE flow_name = ?'
        " ORDER BY repository, position",
        (flow,),
    ):
        known.setdefault(origin, []).append(tuple(row))
    rows: list[tuple[object, ...]] = [
        (
            encodable(edit.commit),
            edit.time,
            encodable(edit.author),
            encodable(edit.subject),
            encodable(edit.path),
            edit.merged,
        )
        for edit in edits
    ]
    commits = {row[0] for row in rows}
    same = {
        origin: found for origin, found in known.items() if origin == repository or commits & {row[0] for row in found}
    }
    if same != {repository: rows}:
        for origin in same:
            connection.execute("DELETE FROM flow_edit WHERE flow_name = ? AND repository = ?", (flow, origin))
        values = [value for place, row in enumerate(rows) for value in (repository, flow, place, *row)]
        connection.insert(schema.FlowEdit, values)
    before = {row[0] for found in same.values() for row in found}
    times = [edit.time for edit in edits]
    return EditsResult(
        flow=flow,
        edits=len(edits),
        added=len(commits - before),
        gone=len(before - commits),
        first=min(times),
        last=max(times),
        has_calls=flow in called,
    )


def forget_histories(connection: BulkConnection) -> None:
    """Drop what is known of all repositories."""
    for table in ("known_commit", "history_node", "repository"):
        connection.execute(f'DELETE FROM "{table}"')


def replace_history(connection: BulkConnection, name: str, commits: Sequence[Commit]) -> None:
    """Store the history of a repository, parents first, in place of what was known of it; edits are stored before.

    A history that shares a commit with it is the same one, read elsewhere, and goes. What is the same already is not
    written again.
    """
    if not commits:
        for (key,) in connection.execute("SELECT id FROM repository WHERE name = ?", (name,)).fetchall():
            _forget_history(connection, key)
        return
    edited = {commit for (commit,) in connection.execute('SELECT DISTINCT "commit" FROM flow_edit')}
    graph = edit_graph(commits, edited)
    own = _repository(connection, name)
    known = {
        commit: (repository, node)
        for commit, repository, node in connection.execute('SELECT "commit", repository_id, node FROM known_commit')
    }
    wanted = {bytes.fromhex(commit): (own, node) for commit, node in graph.place_of.items()}
    for other in {known[commit][0] for commit in wanted.keys() & known.keys()} - {own}:
        _forget_history(connection, other)
        known = {commit: found for commit, found in known.items() if found[0] != other}
    _replace_commits(connection, own, known, wanted)
    _replace_nodes(connection, own, graph)


def _repository(connection: BulkConnection, name: str) -> int:
    connection.execute("INSERT INTO repository (name) VALUES (?) ON CONFLICT DO NOTHING", (name,))
    return int(connection.execute("SELECT id FROM repository WHERE name = ?", (name,)).fetchone()[0])


def _forget_history(connection: BulkConnection, key: int) -> None:
    connection.execute("DELETE FROM known_commit WHERE repository_id = ?", (key,))
    connection.execute("DELETE FROM history_node WHERE repository_id = ?", (key,))
    connection.execute("DELETE FROM repository WHERE id = ?", (key,))


def _replace_commits(
    connection: BulkConnection,
    own: int,
    known: Mapping[bytes, tuple[int, int | None]],
    wanted: Mapping[bytes, tuple[int, int | None]],
) -> None:
    changed = [commit for commit, found in wanted.items() if known.get(commit) != found]
    gone = [commit for commit, (key, _) in known.items() if key == own and commit not in wanted]
    stale = chain((commit for commit in changed if commit in known), gone)
    connection.executemany('DELETE FROM known_commit WHERE "commit" = ?', ((commit,) for commit in stale))
    # In the order of their ids, so that pages are filled one after the other.
    connection.insert(schema.KnownCommit, [value for commit in sorted(changed) for value in (commit, *wanted[commit])])


def _replace_nodes(connection: BulkConnection, own: int, graph: EditGraph) -> None:
    rows = [
        (place, bytes.fromhex(node.commit) if node.commit else None, json.dumps(node.parents))
        for place, node in enumerate(graph.nodes)
    ]
    known: Iterable[_Row] = connection.execute(
        'SELECT position, "commit", parents FROM history_node WHERE repository_id = ? ORDER BY position', (own,)
    )
    if list(known) != rows:
        connection.execute("DELETE FROM history_node WHERE repository_id = ?", (own,))
        connection.insert(schema.HistoryNode, [value for row in rows for value in (own, *row)])
