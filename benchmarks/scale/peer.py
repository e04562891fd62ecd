"""Copy the rows of a store into a DuckDB file.

usage: python -m benchmarks.scale.peer STORE FILE
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb

TABLES = (
    "run", "flow", "agent", "persona", "scenario", "label", "aspect", "judge", "state", "segment", "conversation",
    "aspect_score", "state_score", "transition", "call_failure", "outcome_visit",
)  # fmt: skip
_AT_ONCE = 50_000


def copy_rows(store: Path, target: Path) -> None:
    """Make a DuckDB file with the facts of a store, table by table in the order of their keys.

    It gets what we keep of runs as well, when each began; sums it makes of the facts.
    """
    with (
        closing(sqlite3.connect(store.absolute().as_uri() + "?mode=ro", uri=True, check_same_thread=False)) as source,
        duckdb.connect(str(target)) as connection,
    ):
        for table in TABLES:
            rows = _batches(source, table)
            connection.register("rows", rows)
            connection.execute(f"CREATE TABLE {table} AS SELECT * FROM rows")
            connection.unregister("rows")
        connection.execute("ALTER TABLE run ADD COLUMN started_at BIGINT")
        connection.execute(
            "UPDATE run SET started_at = found.at FROM (SELECT run_id, min(started_at) AS at FROM conversation"
            " GROUP BY ALL) AS found WHERE found.run_id = run.id"
        )


def _batches(source: sqlite3.Connection, table: str) -> Any:
    import pyarrow as pa

    kinds = {"INTEGER": pa.int64(), "REAL": pa.float64(), "TEXT": pa.string()}
    schema = pa.schema([(row[1], kinds[row[2]]) for row in source.execute(f"PRAGMA table_info({table})")])

    def batches() -> Iterator[Any]:
        cursor = source.execute(f"SELECT * FROM {table}")
        while rows := cursor.fetchmany(_AT_ONCE):
            columns = zip(zip(*rows, strict=True), schema.types, strict=True)
            yield pa.record_batch([pa.array(values, kind) for values, kind in columns], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


if __name__ == "__main__":
    copy_rows(Path(sys.argv[1]), Path(sys.argv[2]))
