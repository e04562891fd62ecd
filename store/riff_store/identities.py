"""Tell calls apart: a call is (run, flow, agent, conversation, trial)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_AT_ONCE = 500


class Identity(NamedTuple):
    """Hold what tells a call apart; all but its name and its trial are keys."""

    run: int
    name: str
    flow: int
    agent: int
    trial: int


class HeldCall(NamedTuple):
    """Describe a call that the store holds, and where it was read."""

    key: int
    source_file: int
    line: int
    path: str
    errored: int
    filled: int


def held_calls(connection: sqlite3.Connection, wanted: Iterable[Identity]) -> Iterator[tuple[Identity, HeldCall]]:
    """Yield those of the calls that the store holds."""
    by_run: dict[int, list[Identity]] = {}
    for identity in wanted:
        by_run.setdefault(identity.run, []).append(identity)
    for run, identities in by_run.items():
        if connection.execute("SELECT 1 FROM conversation WHERE run_id = ? LIMIT 1", (run,)).fetchone():
            for start in range(0, len(identities), _AT_ONCE):
                yield from _found(connection, identities[start : start + _AT_ONCE])


def _found(connection: sqlite3.Connection, wanted: list[Identity]) -> list[tuple[Identity, HeldCall]]:
    marks = ", ".join(["(?, ?, ?, ?, ?)"] * len(wanted))
    rows = connection.execute(
        f"WITH wanted (run, name, flow, agent, trial) AS (VALUES {marks})"
        " SELECT w.run, w.name, w.flow, w.agent, w.trial, c.id, c.source_file_id, c.line, s.path, c.errored,"
        " c.filled"
        " FROM wanted w CROSS JOIN conversation c ON c.run_id = w.run AND c.name = w.name"
        " AND c.flow_id = w.flow AND c.agent_id = w.agent AND c.trial = w.trial"
        " JOIN source_file s ON s.id = c.source_file_id",
        [part for identity in wanted for part in identity],
    )
    return [(Identity(*row[:5]), HeldCall(*row[5:])) for row in rows.fetchall()]
