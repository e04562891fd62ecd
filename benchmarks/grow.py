"""A large store quickly: every row of a small one again and again, under new keys, and all sums anew."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from shutil import copyfile

from riff_store.rollups import recompute

_KEYED_BY_CONVERSATION = ("aspect_score", "state_score", "transition")


def grown(small: Path, large: Path, times: int) -> None:
    """Copy a store to `large` and let it hold `times` as many conversations."""
    copyfile(small, large)
    with closing(sqlite3.connect(large, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA cache_size = -200000")
        connection.execute("BEGIN IMMEDIATE")
        span = int(connection.execute("SELECT max(id) FROM conversation").fetchone()[0])
        for copy in range(1, times):
            _repeat(connection, "conversation", "id", copy * span, copy)
            for table in _KEYED_BY_CONVERSATION:
                _repeat(connection, table, "conversation_id", copy * span, copy)
        cells = set(connection.execute("SELECT DISTINCT flow_id, agent_id, run_id FROM conversation"))
        recompute(connection, cells)
        connection.execute("COMMIT")


def _repeat(connection: sqlite3.Connection, table: str, key: str, offset: int, copy: int) -> None:
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    replaced = {key: f"{key} + {offset}", "name": f"name || '-{copy}'"}
    values = ", ".join(replaced.get(column, f'"{column}"') for column in columns)
    connection.execute(
        f"INSERT INTO {table} SELECT {values} FROM {table} WHERE {key} <= {offset // copy} ORDER BY {key}"
    )
