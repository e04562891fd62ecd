"""Tell calls apart: a call is (run, flow, agent, conversation, trial), the flow being any of a unique one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from riff_store.engines.engine import Connection
from riff_store.facts import ConversationFacts

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
    flow: int


def held_calls(
    connection: Connection, wanted: Mapping[Identity, ConversationFacts]
) -> Iterator[tuple[Identity, HeldCall]]:
    """Yield those of the calls that the store holds."""
    by_run: dict[int, list[tuple[object, ...]]] = {}
    for identity, facts in wanted.items():
        by_run.setdefault(identity.run, []).append((*identity, int(facts.unique)))
    for run, identities in by_run.items():
        if connection.execute("SELECT 1 FROM conversation WHERE run_id = ? LIMIT 1", (run,)).fetchone():
            for start in range(0, len(identities), _AT_ONCE):
                yield from _found(connection, identities[start : start + _AT_ONCE])


def _found(connection: Connection, wanted: list[tuple[object, ...]]) -> list[tuple[Identity, HeldCall]]:
    marks = ", ".join(["(?, ?, ?, ?, ?, ?)"] * len(wanted))
    rows = connection.execute(
        f"WITH wanted (run, name, flow, agent, trial, is_unique) AS (VALUES {marks})"
        " SELECT w.run, w.name, w.flow, w.agent, w.trial, c.id, c.source_file_id, c.line, s.path, c.errored,"
        " c.filled, c.flow_id"
        " FROM wanted w CROSS JOIN conversation c ON c.run_id = w.run AND c.name = w.name"
        " AND (w.is_unique = 1 OR c.flow_id = w.flow) AND c.agent_id = w.agent AND c.trial = w.trial"
        " JOIN source_file s ON s.id = c.source_file_id",
        [part for each in wanted for part in each],
    )
    return [(Identity(*row[:5]), HeldCall(*row[5:])) for row in rows.fetchall()]
