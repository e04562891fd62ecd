"""Connect to SQLite, and insert in bulk.

Statements are compiled by Peewee once and run with many rows, which is ten times quicker than
asking Peewee for each batch.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import peewee as pw

from riff_store.engines.engine import BUSY_SECONDS

COMPILER = pw.SqliteDatabase(None)
"""Turn Peewee's queries into the SQL of SQLite; it is never connected."""
AT_ONCE = (100, 10, 1)
"""How many rows go into one statement, as long as there are so many: far quicker than one by one."""


class SqliteConnection(sqlite3.Connection):
    """Insert many rows with a statement."""

    def insert(self, model: type[pw.Model], values: Sequence[Any]) -> None:
        """Insert rows with every column of a model: their values one after the other, in the order of its fields."""
        start = 0
        for rows in AT_ONCE:
            step = rows * len(model._meta.sorted_fields)
            end = len(values) - (len(values) - start) % step
            if end > start:
                batches = (values[begin : begin + step] for begin in range(start, end, step))
                self.executemany(insert_statement(model, rows), batches)
            start = end


@lru_cache(maxsize=64)
def insert_statement(model: type[pw.Model], rows: int = 1) -> str:
    """Return an INSERT of so many rows with every column of a model, in the order of its fields.

    A row that does not go in FAILs and leaves those before it: a file's savepoint takes them back, so
    the engine need not keep a journal for each statement.
    """
    fields = model._meta.sorted_fields
    query = model.insert_many([(None,) * len(fields)], fields=fields).on_conflict("FAIL")
    sql = str(COMPILER.get_sql_context().sql(query).query()[0])
    row = sql[sql.rindex("(") :]
    return sql + f", {row}" * (rows - 1)


def connect(address: str, *, uri: bool = False) -> SqliteConnection:
    """Return a connection that begins transactions only when it is told to, and can be used by any thread."""
    return sqlite3.connect(
        address,
        uri=uri,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        factory=SqliteConnection,
    )
