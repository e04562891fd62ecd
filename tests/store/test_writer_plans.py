"""What a file costs does not grow with the store: no statement of an ingest looks at every row of what calls left."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from tests.support.facts import call, fresh, source, verdict
from tests.surface.store import Store, Writer, schema

GROWING = {
    model._meta.table_name
    for model in (*schema.FACTS, *schema.ROLLUPS, schema.SkippedInput)
    if model is not schema.TextDictionary
}
WAITING = {"judged_score_of_no_call", "skipped_input_replaced"}
"""Indexes of the few rows that still have to be looked at."""


def test_no_statement_of_an_ingest_scans_what_grows(tmp_path: Path) -> None:
    path = tmp_path / "calls.db"
    with fresh(path) as store:
        statements: list[str] = []
        store.connection.set_trace_callback(statements.append)  # type: ignore[attr-defined]
        _ingest(store, "aa")
        _ingest(store, "bb")
        store.connection.set_trace_callback(None)  # type: ignore[attr-defined]
        assert _scans(store, statements) == set()


def test_a_scan_would_be_seen(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        wanted = "SELECT name FROM conversation WHERE line = 3"
        assert _scans(store, [wanted]) == {f"SCAN conversation: {wanted}"}


def _ingest(store: Store, sha256: str) -> None:
    writer = Writer(store)
    writer.order(["/in/a.jsonl", "/in/b.jsonl", "/in/judged.jsonl"])
    with writer.batch():
        writer.put_file(source("/in/a.jsonl", sha256), [call("c-1"), call("c-2"), call("c-3", run="night-2")])
        writer.put_file(source("/in/judged.jsonl", sha256), [verdict("c-1", 6.0), verdict("c-9", 7.0, line=2)])
    with writer.batch():
        writer.put_file(source("/in/b.jsonl", sha256), [call("c-1"), call("c-9")])
        writer.put_file(source("/in/judged.jsonl", f"{sha256}-2"), [verdict("c-1", 8.0)])
    writer.contracts(), writer.orphaned(), writer.superseded(), writer.unjoined(), writer.waiting_notes()
    writer.held(["/in/a.jsonl", "/in/b.jsonl"])


def _scans(store: Store, statements: list[str]) -> set[str]:
    """Return what scans a table that grows, with the statement that does."""
    found = set()
    for statement in dict.fromkeys(statements):
        is_query = statement.upper().startswith(("SELECT", "WITH", "INSERT", "DELETE", "UPDATE"))
        is_bounded = "LIMIT" in statement and "ORDER BY" not in statement
        if not is_query or is_bounded:
            continue
        for *_, step in store.execute_sql(f"EXPLAIN QUERY PLAN {statement}"):
            words = step.split()
            alias = words[1] if words[0] == "SCAN" else ""
            if _table(statement, alias) in GROWING and not WAITING & set(words):
                found.add(f"{' '.join(words[:2])}: {statement}")
    return found


def _table(statement: str, alias: str) -> str:
    """Return the table that goes by a name in a statement."""
    words = statement.replace("(", " ").replace(")", " ").split()
    of = {after: word for word, after in pairwise(words) if word in GROWING}
    return of.get(alias, alias)
