"""Connect to SQLite, and insert in bulk.

Statements are compiled by Peewee once and run with many rows, which is ten times quicker than
asking Peewee for each batch.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import peewee as pw

from riff_store.engines.engine import BUSY_SECONDS
from riff_store.statement_limit import FEW_ROWS, STEPS_AT_ONCE, TOO_MANY, StatementLimit

COMPILER = pw.SqliteDatabase(None)
"""Turn Peewee's queries into the SQL of SQLite; it is never connected."""
AT_ONCE = (100, 10, 1)
"""How many rows go into one statement, as long as there are so many: far quicker than one by one."""


class BoundedCursor(sqlite3.Cursor):
    """Keep the rows of a statement, and fail if there are more of them than a store of its size can contain."""

    limit: StatementLimit

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""
        found = self.fetchmany(FEW_ROWS)
        if len(found) == FEW_ROWS:
            found += self.fetchmany(self.limit.most_rows() - FEW_ROWS)
            if self.fetchone() is not None:
                raise sqlite3.OperationalError(TOO_MANY)
        return found


class SqliteConnection(sqlite3.Connection):
    """Insert many rows with a statement, and end one that takes more than any needs on a store of its size."""

    _limit: StatementLimit | None = None

    def bound(self, path: Path) -> None:
        """Bound what each statement takes by the size of the file at a path."""
        self._limit = StatementLimit(path)
        self.set_progress_handler(self._limit.step, STEPS_AT_ONCE)

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """Run a statement."""
        if self._limit is None:
            return super().execute(sql, parameters)
        self._limit.begin()
        # Made by its class, the connection would remember it for ever.
        cursor = self.cursor(BoundedCursor)
        cursor.limit = self._limit
        return cursor.execute(sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        """Run a statement once for each row of values."""
        if self._limit is not None:
            self._limit.begin()
        return super().executemany(sql, parameters)

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
    """Return a connection that begins transactions only on request, and can be used by any thread."""
    return sqlite3.connect(
        address,
        uri=uri,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        factory=SqliteConnection,
    )
