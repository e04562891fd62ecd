"""The floor of an ingest: decode every line, insert the same rows, and do nothing between the two.

The rows are taken from a store that was ingested from the same file; only the rollups are left
out, since a floor has nobody to serve.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

BATCH = 1000


@dataclass(frozen=True, slots=True)
class TableRows:
    """One table: how it is made, how a row gets in, and its rows in the order of their key."""

    create: str
    insert: str
    rows: Sequence[tuple[Any, ...]]


def rows_of(store: Path) -> list[TableRows]:
    """All tables of a store but its rollups, with their indexes left out of the statements."""
    with closing(sqlite3.connect(store.absolute().as_uri() + "?mode=ro", uri=True)) as connection:
        tables = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
        ).fetchall()
        return [_table_rows(connection, name, sql) for name, sql in tables if not name.endswith(("_rollup", "_total"))]


def _table_rows(connection: sqlite3.Connection, name: str, create: str) -> TableRows:
    cursor = connection.execute(f'SELECT * FROM "{name}"')
    marks = ", ".join("?" * len(cursor.description))
    return TableRows(create, f'INSERT INTO "{name}" VALUES ({marks})', cursor.fetchall())


def decode_and_insert(transcripts: Path, tables: Sequence[TableRows], target: Path, conversations: int) -> None:
    """Do the floor's work into a new file: one commit per 1,000 lines, as durable as a store."""
    with closing(sqlite3.connect(target, isolation_level=None)) as connection, transcripts.open("rb") as lines:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA synchronous = FULL")
        for table in tables:
            connection.execute(table.create)
        batches = max(1, -(-conversations // BATCH))
        for number in range(batches):
            for _ in range(min(BATCH, conversations - number * BATCH)):
                orjson.loads(next(lines))
            connection.execute("BEGIN IMMEDIATE")
            for table in tables:
                begin, end = (len(table.rows) * at // batches for at in (number, number + 1))
                connection.executemany(table.insert, table.rows[begin:end])
            connection.execute("COMMIT")
