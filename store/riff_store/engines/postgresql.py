"""Keep a store in a schema of a PostgreSQL database; a table in it names it as such.

What is not a store is named as such and never written to. Writers take turns by a lock of the store that lasts as long
as their transaction, as those of a file do, so that keys, sums and verdicts come from what is there.
"""

from __future__ import annotations

import sys
import time
import uuid
import zlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import peewee as pw
import psycopg
from psycopg.pq import TransactionStatus

from riff_store import schema as models
from riff_store.engines.engine import APPLICATION_ID, Engine, RowsOf
from riff_store.engines.postgresql_connection import (
    COMPILER,
    TABLE,
    Address,
    PostgresqlConnection,
    advance_keys,
    column_of,
    definitions,
    lacking,
    meaning_of,
    strange,
)
from riff_store.engines.sqlite_errors import causes
from riff_store.engines.statements import spelled
from riff_store.errors import NotAStore, StoreError, StoreReadOnly
from riff_store.facts import WriteNotice

CHANNEL = "riff_written"
"""The channel on which writers tell that they wrote."""
_CANCEL_SECONDS = 1.0
_RELATIONS = """
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = ? AND c.relkind IN ('r', 'p', 'v', 'm', 'f')"""
_SIZE = """
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = ? AND c.relkind = 'r'"""


class _Message(msgspec.Struct, frozen=True):
    store: str
    written: WriteNotice = msgspec.field(name="news")


class PostgresqlEngine(Engine):
    """Reach a store on a server."""

    errors = (psycopg.Error, OSError)
    adds_twice = False
    tells = True

    def __init__(self, address: str) -> None:
        self.address = address
        self._address = Address(address)
        self.location = self._address.shown
        self._schema = self._address.schema
        self._connection: PostgresqlConnection | None = None
        self._is_closed = False
        self._listens_to: str | None = None

    @property
    def connection(self) -> PostgresqlConnection:
        if self._is_closed:
            raise StoreError(f"{self.location}: the store is closed")
        if self._connection is None:
            self._connection = PostgresqlConnection(self._address.parameters, self._schema)
        return self._connection

    def exists(self) -> bool:
        return bool(self._relations())

    def create(self) -> None:
        """Make the schema if it is not there, and the tables of an empty store in it; another creator may win."""
        connection = self.connection
        with self._locked():
            if not connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = ?", (self._schema,)).fetchone():
                connection.execute(f"CREATE SCHEMA {self._quoted}")
            if self.exists():
                return
            if connection.execute("SHOW server_encoding").fetchone() != ("UTF8",):
                raise StoreError(
                    f"{self.location}: the database is not in UTF-8", "make one with createdb -E UTF8 -T template0"
                )
            for statement in definitions():
                connection.execute(statement)
            connection.insert(models.Judge, [models.COMPUTED_JUDGE, "(computed)", "", ""])
            advance_keys(connection)
            connection.execute(
                f"INSERT INTO {TABLE} VALUES (?, ?, ?, 0, ?)",
                (APPLICATION_ID, models.SCHEMA_VERSION, uuid.uuid4().hex, time.time_ns() // 1000),
            )

    def schema(self) -> int:
        found = self._relations()
        if not found:
            raise self.missing()
        other = NotAStore(f"{self.location}: the schema {self._schema} is not a riff-tui store; nothing was changed")
        if TABLE not in found:
            raise other
        if what := strange(self.connection):
            raise NotAStore(
                f"{self.location}: the schema {self._schema} has {what}, which no store has; nothing of it was read",
                "ask who owns it, or choose another store with --store",
            )
        header = f"SELECT application_id, schema_version FROM {self._quoted}.{TABLE}"
        try:
            rows = self.connection.execute(header).fetchall()
        except psycopg.errors.UndefinedColumn:
            raise other from None
        if len(rows) != 1 or rows[0][0] != APPLICATION_ID:
            raise other
        return int(rows[0][1])

    def migrate(self) -> Path | None:
        from riff_store.migrations import derive, run_steps

        with self._locked():
            if (version := self.opened_schema()) < models.SCHEMA_VERSION:
                run_steps(self.connection, version)
                derive(self.connection)
                header = f"UPDATE {TABLE} SET schema_version = ?"
                self.connection.execute(header, (models.SCHEMA_VERSION,))
        return None

    def open(self, *, write: bool) -> None:
        if write and not self.can_write():
            message = f"{self.location}: the role may only read the store"
            raise StoreReadOnly(message, "connect as one that may write, or choose another store with --store")
        if not write:
            self.connection.execute("SELECT set_config('default_transaction_read_only', 'on', false)")

    def opened_schema(self) -> int:
        return int(self.connection.execute(f"SELECT schema_version FROM {TABLE}").fetchone()[0])

    def is_current(self) -> bool:
        try:
            return not self.in_transaction and self.schema() == models.SCHEMA_VERSION
        except (psycopg.Error, StoreError):
            return False

    def can_write(self) -> bool:
        """Return whether the role may insert calls, on a server that is written to."""
        may = "SELECT NOT pg_is_in_recovery() AND has_table_privilege(?, 'INSERT')"
        return bool(self.connection.execute(may, (f"{self._quoted}.conversation",)).fetchone()[0])

    def close(self) -> None:
        connection, self._connection = self._connection, None
        self._is_closed = True
        if connection is not None:
            connection.close()

    def interrupt(self) -> None:
        # Its own connection asks the server; without an answer in time what was asked goes on, unheard.
        if self._connection is not None:
            self._connection.raw.cancel_safe(timeout=_CANCEL_SECONDS)

    def compiled(self, query: Any) -> tuple[str, Sequence[Any]]:
        sql, values = COMPILER.get_sql_context().sql(query).query()
        return str(sql), values

    @property
    def in_transaction(self) -> bool:
        raw = self.connection.raw
        return not raw.closed and bool(raw.info.transaction_status != TransactionStatus.IDLE)

    def reading(self) -> AbstractContextManager[None]:
        return self._transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY")

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._locked():
            yield
            self.connection.execute(
                f"UPDATE {TABLE} SET writes = writes + 1, written_at = ?", (time.time_ns() // 1000,)
            )
            self.tell(WriteNotice())

    def stream(self, statement: str, at_once: int) -> Iterator[Sequence[Any]]:
        with self.connection.raw.cursor("stream") as cursor:
            cursor.itersize = at_once
            yield from cursor.execute(spelled(statement).sql)

    def settle(self) -> None:
        advance_keys(self.connection)
        for model in models.ALL:
            self.connection.execute(f'ANALYZE "{model._meta.table_name}"')

    def compact(self) -> None:
        owned = (
            "SELECT pg_has_role(c.relowner, 'USAGE') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = ? AND c.relname = 'conversation'"
        )
        # The server would pass over tables of others with no more than a warning.
        if not self.connection.execute(owned, (self._schema,)).fetchone()[0]:
            message = f"{self.location}: the role does not own the store, and so cannot rewrite it"
            raise StoreReadOnly(message, "everything else is done; run it again as the owner of the tables")
        for model in models.ALL:
            self.connection.execute(f'VACUUM (FULL, ANALYZE) "{model._meta.table_name}"')

    def discard_if(self, statement: str) -> bool:
        with self._locked():
            if self.connection.execute(statement).fetchone() is not None:
                return False
            for table in (*(model._meta.table_name for model in models.ALL), TABLE):
                self.connection.execute(f'DROP TABLE "{table}"')
        self.close()
        return True

    def wait_at_most(self, seconds: float) -> None:
        # No time at all would mean for ever.
        self.connection.execute("SELECT set_config('lock_timeout', ?, false)", (f"{max(1, round(seconds * 1000))}ms",))

    def identity(self) -> object:
        return self._header("id")

    def change_counter(self, *, wait: bool) -> object:
        return self._header("writes")

    def written_at(self) -> float | None:
        return float(self._header("written_at")) / 1e6

    def tell(self, written: WriteNotice) -> None:
        message = msgspec.json.encode(_Message(self._header("id"), written.shortened())).decode()
        self.connection.execute("SELECT pg_notify(?, ?)", (CHANNEL, message))

    def listen(self) -> None:
        # A server that only follows another one announces nothing.
        with suppress(psycopg.errors.ObjectNotInPrerequisiteState, psycopg.errors.ReadOnlySqlTransaction):
            self.connection.execute(f"LISTEN {CHANNEL}")
            self._listens_to = self._header("id")

    def notifications(self) -> list[WriteNotice] | None:
        if self._listens_to is None:
            return None
        found = []
        for notice in self.connection.raw.notifies(timeout=0):
            # Others may send on this channel too.
            with suppress(msgspec.DecodeError):
                message = msgspec.json.decode(notice.payload, type=_Message)
                if message.store == self._listens_to:
                    found.append(message.written)
        return found

    def size(self) -> int:
        return int(self.connection.execute(_SIZE, (self._schema,)).fetchone()[0])

    def damages(self, most: int) -> list[str]:
        return lacking(self.connection)[:most]

    def broken_references(self, rows: RowsOf) -> dict[str, int]:
        broken: dict[str, int] = {}
        for model in models.ALL:
            table = model._meta.table_name
            for field in model._meta.sorted_fields:
                if isinstance(field, pw.ForeignKeyField):
                    other, key = field.rel_model._meta.table_name, field.rel_field.column_name
                    there = f'SELECT 1 FROM "{other}" b WHERE b."{key}" = a.{column_of(field)}'
                    lost = f"a.{column_of(field)} IS NOT NULL AND NOT EXISTS ({there})"
                    asked = f'SELECT COUNT(*) FROM "{table}" a WHERE {lost}'
                    if count := int(self.connection.execute(asked).fetchone()[0]):
                        broken[table] = broken.get(table, 0) + count
        return broken

    def strange_values(self, rows: RowsOf) -> dict[str, int]:
        """Count the figures that are infinite or none; the server sees to all else."""
        found = {}
        for model in models.ALL:
            figures = [field for field in model._meta.sorted_fields if field.field_type == "DOUBLE"]
            if figures:
                strange = " OR ".join(f"abs({column_of(field)}) > {sys.float_info.max!r}" for field in figures)
                asked = f'SELECT COUNT(*) FROM "{model._meta.table_name}" WHERE {strange}'
                if count := int(self.connection.execute(asked).fetchone()[0]):
                    found[model._meta.table_name] = count
        return found

    def error_of(self, error: Exception) -> StoreError | None:
        found = list(causes(error))
        for cause in found:
            if isinstance(cause, StoreError):
                return cause
        for cause in found:
            if isinstance(cause, psycopg.Error) and (meaning := meaning_of(cause)) is not None:
                kind, message, hint = meaning
                return kind(f"{self.location}: {message}", hint)
        return None

    @property
    def _quoted(self) -> str:
        name = self._schema.replace('"', '""')
        return f'"{name}"'

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Begin a transaction that has the lock of the store."""
        # What was committed while it waited is seen: a snapshot of the whole transaction would be older than the lock.
        with self._transaction("ISOLATION LEVEL READ COMMITTED READ WRITE"):
            place = zlib.crc32(self._schema.encode()) - 2**31
            self.connection.execute("SELECT pg_advisory_xact_lock(?, ?)", (APPLICATION_ID, place))
            yield

    def _relations(self) -> set[str]:
        return {name for (name,) in self.connection.execute(_RELATIONS, (self._schema,))}

    def _header(self, column: str) -> Any:
        try:
            return self.connection.execute(f"SELECT {column} FROM {TABLE}").fetchone()[0]
        except psycopg.errors.UndefinedTable:
            raise self.missing() from None
