"""Small facts by hand, and a picture of everything that a store has."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec.structs import replace

from tests.surface.store import (
    And,
    CallDetail,
    ConversationFacts,
    Failure,
    FileResult,
    Item,
    JudgedScore,
    SourceFile,
    StateAspects,
    Store,
    Term,
    Writer,
    conversation,
    conversations,
    open_store,
    succeeded,
)


def state(name: str, *, segment: str = "collect", to: dict[str, int] | None = None, **given: Any) -> StateAspects:
    settings: dict[str, Any] = {
        "progress": 1, "stall": 0, "escalation": 0, "revisit": 0, "dwell_turns": 1.0,
        "latency_p95_ms": 500.0, "guard_error": 0, "slot_fill_rate": None,
    }  # fmt: skip
    return StateAspects(state=name, segment=segment, to_states=to or {}, **(settings | given))


def call(name: str, **given: Any) -> ConversationFacts:
    settings: dict[str, Any] = {
        "run": "night-1",
        "conversation": name,
        "flow": "viewing",
        "agent": "model-a",
        "line": 1,
        "aspects": {"correctness": 10.0, "completion": 10.0, "errors": 7.5, "latency_p95": 0.7},
        "states": [state("greet", to={"collect": 1}), state("collect", to={"booked": 1})],
        "terminals": {"booked": "success"},
    }
    facts = ConversationFacts(**{_NAMES.get(name, name): value for name, value in (settings | given).items()})
    if "success" not in given:
        correctness, completion = (facts.aspects.get(aspect) for aspect in ("correctness", "completion"))
        is_lost = facts.failure is not None or any(row.lost for row in facts.states)
        served = False if is_lost else True if correctness is not None else facts.completed
        facts.success = succeeded(served, correctness, completion)
    if facts.success is False and facts.failure is None and not facts.is_excluded():
        facts.failure = _blame(facts.states)
    if facts.failure is not None and facts.failure.first_failed is not None and facts.failure.segment is None:
        of_state = (row.segment for row in facts.states if row.state == facts.failure.first_failed)
        facts.failure = replace(facts.failure, segment=next(of_state, "other"))
    return facts


def _blame(states: list[StateAspects]) -> Failure:
    """Return what is blamed where a test names nothing: the state that lost the call, else its last one."""
    if not states:
        return Failure(None, None, "none")
    at = next((at for at, row in enumerate(states) if row.lost or row.stall or row.escalation), len(states) - 1)
    row = states[at]
    kind = "hand-off" if row.escalation else "dead end" if row.stall or row.lost else "off contract"
    return Failure(states[at - 1].state if at else None, row.state, kind, segment=row.segment)


def grouped_by(facts: ConversationFacts, name: str) -> Any:
    """What a call has of a name by which views group."""
    return getattr(facts, _NAMES.get(name, name))


def verdict(conversation: str, score: float | None, **given: Any) -> JudgedScore:
    settings: dict[str, Any] = {"run": "night-1", "judge": "codex", "judged_at": 1_000_000, "line": 1}
    return JudgedScore(conversation=conversation, score=score, **(settings | given))


def source(path: str, sha256: str = "aa", kind: str = "transcripts") -> SourceFile:
    return SourceFile(path, kind, sha256, 100, 1)


def put(store: Store, path: str, items: Iterable[Item], sha256: str = "aa", order: Iterable[str] = ()) -> FileResult:
    writer = Writer(store)
    writer.order(order)
    with writer.batch():
        return writer.put_file(source(path, sha256), items)


def detail_of(store: Store, run: str, name: str, trial: int | None = None) -> CallDetail | None:
    """All that is known of one call."""
    for found in conversations(store, And((Term("run", "=", run), Term("conversation", "=", name)))):
        if trial in (None, found.trial):
            return conversation(store, found)
    return None


def fresh(path: Path) -> Store:
    """Open a store for writing; a new one begins as a copy of an empty one, which is much quicker than to make it."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_empty())
    return open_store(path, write=True)


@cache
def _empty() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "empty.db"
        open_store(path, write=True, create=True).close()
        return path.read_bytes()


def contents(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every fact and sum of a store by name instead of by key, in an order of its own."""
    connection = sqlite3.connect(path)
    try:
        return {name: sorted(connection.execute(sql).fetchall(), key=repr) for name, sql in _PICTURE.items()}
    finally:
        connection.close()


def broken_rows(path: Path) -> list[tuple[Any, ...]]:
    """Return what the engine itself finds wrong."""
    connection = sqlite3.connect(path)
    try:
        found = connection.execute("PRAGMA foreign_key_check").fetchall()
        return found + [row for row in connection.execute("PRAGMA integrity_check") if row != ("ok",)]
    finally:
        connection.close()


_NAMES = {"run": "run_id", "conversation": "conversation_id", "agent": "agent_model"}
_CALL = "JOIN conversation c ON c.id = x.conversation_id JOIN run r ON r.id = c.run_id"
_CELL = "JOIN flow f ON f.id = x.flow_id JOIN agent a ON a.id = x.agent_id"
_PICTURE = {
    "source": "SELECT path, kind, sha256, size, conversations, scores, skipped FROM source_file",
    "conversation": "SELECT r.name, x.name, f.name, a.name, x.errored, x.line, s.path, s.conversations"
    f" FROM conversation x JOIN run r ON r.id = x.run_id {_CELL} JOIN source_file s ON s.id = x.source_file_id",
    "aspect": f"SELECT r.name, c.name, p.name, j.name, j.prompt_hash, x.value FROM aspect_score x {_CALL}"
    " JOIN aspect p ON p.id = x.aspect_id JOIN judge j ON j.id = x.judge_id",
    "state": f"SELECT r.name, c.name, s.name, x.progress, x.stall, x.latency_p95_ms FROM state_score x {_CALL}"
    " JOIN state s ON s.id = x.state_id",
    "transition": f"SELECT r.name, c.name, s.name, t.name, x.n FROM transition x {_CALL}"
    " JOIN state s ON s.id = x.from_state_id JOIN state t ON t.id = x.to_state_id",
    "verdict": "SELECT COALESCE(x.conversation_name, c.name), x.flow_name, x.agent_name, x.trial, x.score, j.name,"
    " s.path, c.name FROM judged_score x JOIN judge j ON j.id = x.judge_id"
    " JOIN source_file s ON s.id = x.source_file_id LEFT JOIN conversation c ON c.id = x.conversation_id",
    "annotation": "SELECT x.id, x.conversation_name, x.note, x.supersedes, x.deleted FROM annotation x",
    "edit": 'SELECT x.flow_name, x.repository, x.position, x."commit" FROM flow_edit x',
    "drawn": "SELECT x.position, x.conversation_name, x.stratum FROM sampled_call x",
    "note": "SELECT s.path, x.kind, x.line, x.run, x.conversation FROM skipped_input x"
    " JOIN source_file s ON s.id = x.source_file_id",
    "calls": f"SELECT f.name, a.name, r.name, x.n, x.excluded FROM call_rollup x {_CELL} JOIN run r ON r.id = x.run_id",
    "aspect_total": f"SELECT f.name, a.name, p.name, j.name, x.n, x.total, x.top, x.unscored"
    f" FROM aspect_total x {_CELL} JOIN aspect p ON p.id = x.aspect_id JOIN judge j ON j.id = x.judge_id",
    "state_total": f"SELECT f.name, a.name, s.name, x.n, x.progress, x.stall, x.latency_n, x.latency FROM state_total x"
    f" {_CELL} JOIN state s ON s.id = x.state_id",
    "transition_total": f"SELECT f.name, a.name, s.name, t.name, x.n FROM transition_total x {_CELL}"
    " JOIN state s ON s.id = x.from_state_id JOIN state t ON t.id = x.to_state_id",
}
