"""What a command reads of a store: sums, packed columns, the rows of every call or of some.

usage: python -m benchmarks.scale.reads STORE COMMAND...
"""

from __future__ import annotations

import contextlib
import io
import re
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from riff_store.engines.sqlite_connection import SqliteConnection
from riff_tui.cli import run

FACTS = frozenset(
    ("conversation", "aspect_score", "state_score", "transition", "call_failure", "outcome_visit", "judged_score")
)
_STEP = re.compile(r"(SCAN|SEARCH) (\w+)")
_ALIASES = re.compile(r'(?:FROM|JOIN|,)\s+"?(\w+)"?\s+(?:AS\s+)?"?(\w+)"?')


def main() -> int:
    """Run the command for nothing but the statements that it asks, and print what their plans read."""
    store, *command = sys.argv[1:]
    statements: list[str] = []
    with _heard(statements), contextlib.redirect_stdout(io.StringIO()):
        code = run([*command, "--store", store])
    with closing(sqlite3.connect(Path(store).absolute().as_uri() + "?mode=ro", uri=True)) as connection:
        steps = {step for statement in dict.fromkeys(statements) for step in _steps(connection, statement)}
    print(", ".join(kinds(steps)))
    return code


@contextlib.contextmanager
def _heard(statements: list[str]) -> Iterator[None]:
    """Let every connection tell what it is asked."""
    begin = SqliteConnection.__init__

    def begun(connection: SqliteConnection, *arguments: Any, **options: Any) -> None:
        begin(connection, *arguments, **options)
        connection.set_trace_callback(statements.append)

    SqliteConnection.__init__ = begun  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        SqliteConnection.__init__ = begin  # type: ignore[method-assign]


def _steps(connection: sqlite3.Connection, statement: str) -> Iterator[tuple[str, str]]:
    """Whether the plan of a statement scans or searches a table, for each table in it."""
    aliases = {alias: table for table, alias in _ALIASES.findall(statement)}
    try:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
    except sqlite3.Error:
        return  # of a table that was there for the moment, or no question at all
    for *_, detail in plan:
        found = _STEP.match(detail)
        if found:
            yield str(found[1]), str(aliases.get(found[2], found[2]))


def kinds(steps: Iterable[tuple[str, str]]) -> list[str]:
    """Say in words what is read: a scan of facts is of every call, a search in them of some."""
    read = set(steps)
    tables = {table for _, table in read}
    found = {
        "sums": any(table.endswith(("_rollup", "_total")) for table in tables),
        "column chunks": "column_chunk" in tables,
        "every call": any(how == "SCAN" and table in FACTS for how, table in read),
    }
    told = [name for name, holds in found.items() if holds]
    return told + (["some calls"] if "every call" not in told and tables & FACTS else [])


if __name__ == "__main__":
    raise SystemExit(main())
