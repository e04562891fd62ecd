"""Store the edits of flows, each flow of a repository as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from riff_store import models as m
from riff_store.engines.engine import BulkConnection
from riff_store.facts import EditsResult, FlowEdit
from riff_store.histories import forget_histories
from riff_store.names import encodable


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
