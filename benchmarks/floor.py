"""The floor of an ingest: decode every line, insert the same rows, and do nothing between the two.

The rows are those of a store that was ingested from the same files, without the sums, which another store need not
keep. They are not worked out here, and no index beside the key of a table is filled.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from riff_store.schema.sums import SUMMED

BATCH = 1000


@dataclass(frozen=True, slots=True)
class TableRows:
    """One table: how it is made, how a row gets in, and its rows in the order of their key."""

    create: str
    insert: str
    rows: Sequence[tuple[Any, ...]]


def rows_of(store: Path) -> list[TableRows]:
    """All tables of a store but its sums, with their indexes left out of the statements."""
    sums = {table._meta.table_name for each in SUMMED for table in (each.rollup, each.total) if table is not None}
    with closing(sqlite3.connect(store.absolute().as_uri() + "?mode=ro", uri=True)) as connection:
        tables = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
        ).fetchall()
        return [_table_rows(connection, name, sql) for name, sql in tables if name not in sums]


def _table_rows(connection: sqlite3.Connection, name: str, create: str) -> TableRows:
    cursor = connection.execute(f'SELECT * FROM "{name}"')
    marks = ", ".join("?" * len(cursor.description))
    return TableRows(create, f'INSERT INTO "{name}" VALUES ({marks})', cursor.fetchall())


def decode_and_insert(files: Sequence[Path], tables: Sequence[TableRows], target: Path, batches: int) -> None:
    """Do the floor's work into a new file, as durable as a store: a commit after each batch of 1,000 lines."""
    with closing(sqlite3.connect(target, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA synchronous = FULL")
        for table in tables:
            connection.execute(table.create)
        lines = _lines(files)
        for number in range(batches):
            for line in islice(lines, BATCH):
                orjson.loads(line)
            connection.execute("BEGIN IMMEDIATE")
            for table in tables:
                begin, end = (len(table.rows) * at // batches for at in (number, number + 1))
                connection.executemany(table.insert, table.rows[begin:end])
            connection.execute("COMMIT")


def batches_of(files: Sequence[Path]) -> int:
    """The number of batches that the lines of some files make."""
    return max(1, -(-sum(1 for _ in _lines(files)) // BATCH))


def _lines(files: Sequence[Path]) -> Iterator[bytes]:
    for file in files:
        with file.open("rb") as lines:
            yield from lines
