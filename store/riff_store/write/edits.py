"""Store the edits of flows, each flow of a repository as a whole, and which of them its commits contain."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from riff_store import schema as m
from riff_store.edit_graph import EditGraph, edit_graph
from riff_store.engines.engine import BulkConnection
from riff_store.facts import Commit, EditsResult, FlowEdit
from riff_store.write.names import encodable

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
    return [_replace(connection, repository, encodable(flow), edits[flow], called) for flow in sorted(edits)]


def _replace(
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
        connection.insert(m.FlowEdit, values)
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
            _forget(connection, key)
        return
    edited = {commit for (commit,) in connection.execute('SELECT DISTINCT "commit" FROM flow_edit')}
    graph = edit_graph(commits, edited)
    own = _key(connection, name)
    known = {
        commit: (repository, node)
        for commit, repository, node in connection.execute('SELECT "commit", repository_id, node FROM known_commit')
    }
    wanted = {bytes.fromhex(commit): (own, node) for commit, node in graph.place_of.items()}
    for other in {known[commit][0] for commit in wanted.keys() & known.keys()} - {own}:
        _forget(connection, other)
        known = {commit: found for commit, found in known.items() if found[0] != other}
    _replace_commits(connection, own, known, wanted)
    _replace_nodes(connection, own, graph)


def _key(connection: BulkConnection, name: str) -> int:
    connection.execute("INSERT INTO repository (name) VALUES (?) ON CONFLICT DO NOTHING", (name,))
    return int(connection.execute("SELECT id FROM repository WHERE name = ?", (name,)).fetchone()[0])


def _forget(connection: BulkConnection, key: int) -> None:
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
    connection.insert(m.KnownCommit, [value for commit in sorted(changed) for value in (commit, *wanted[commit])])


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
        connection.insert(m.HistoryNode, [value for row in rows for value in (own, *row)])
