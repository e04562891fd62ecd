"""A large store quickly: the runs of a small one again and again, under new names, and what follows from them again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from shutil import copyfile

from riff_store.arrays.rows import pack_all
from riff_store.write.rollups import recompute_all

_OWNERS = {"source_file_id": "source_file", "conversation_id": "conversation"}
"""The columns that say with which file, or with which call, a row came."""
_DAY = 86_400_000_000
"""In the unit in which a store keeps times."""


def grown(small: Path, large: Path, times: int) -> None:
    """Copy a store to `large` and let it hold `times` as many runs, the copies some days after one another."""
    copyfile(small, large)
    with closing(sqlite3.connect(large, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA cache_size = -400000")
        connection.execute("BEGIN IMMEDIATE")
        tables = _tables(connection)
        spans = {
            table: int(connection.execute(f"SELECT COALESCE(MAX(id), 0) FROM {table}").fetchone()[0])
            for table, columns in tables.items()
            if columns.get("id") == "INTEGER"
        }
        for copy in range(1, times):
            for table, columns in tables.items():
                _repeat(connection, table, columns, spans, copy)
        recompute_all(connection)
        pack_all(connection)
        connection.execute("COMMIT")


def _tables(connection: sqlite3.Connection) -> dict[str, dict[str, str]]:
    """The tables whose rows come with a run, and the types of their columns; what others refer to comes first."""
    named = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    columns = {name: {row[1]: row[2] for row in connection.execute(f"PRAGMA table_info({name})")} for name in named}
    owned = [name for name in named if not _OWNERS.keys().isdisjoint(columns[name])]
    return {name: columns[name] for name in dict.fromkeys(["run", *_OWNERS.values(), *owned])}


def _repeat(
    connection: sqlite3.Connection, table: str, columns: Iterable[str], spans: Mapping[str, int], copy: int
) -> None:
    """Insert what a table held of the small store once more, under new keys."""
    replaced = {f"{owner}_id": f"{owner}_id + {spans[owner] * copy}" for owner in ("run", *_OWNERS.values())}
    replaced["started_at"] = f"started_at + {spans['run'] * copy * _DAY}"
    if table in spans:
        replaced["id"] = f"id + {spans[table] * copy}"
    replaced |= {f"{end}_call": f"{end}_call + {spans['conversation'] * copy}" for end in ("first", "last")}
    if table in ("run", "source_file"):
        replaced |= {name: f"{name} || '-{copy:03d}'" for name in ("name", "path")}
        replaced["commit"] = f"\"commit\" || '{copy:03d}'"
    values = ", ".join(replaced.get(column, f'"{column}"') for column in columns)
    key = "id" if table in spans else next(column for column in _OWNERS if column in columns)
    span = spans[table if table in spans else _OWNERS[key]]
    connection.execute(f"INSERT INTO {table} SELECT {values} FROM {table} WHERE {key} <= {span}")
