"""Keep a store in one SQLite file that shows what it is in its header.

Anything else is refused before it is touched, and reading never creates or changes a file.

Foreign keys are declared and not enforced at each row: every key comes from the transaction that uses it, enforcing
doubles the cost of a delete. Doctor and tests look for those that point nowhere.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import peewee as pw

from riff_store import schema as models
from riff_store.engines.engine import APPLICATION_ID, BUSY_SECONDS, Engine, RowsOf
from riff_store.engines.sqlite_connection import COMPILER, SqliteConnection, connect
from riff_store.engines.sqlite_schema import broken_references, check_schema, create_tables, strange_values
from riff_store.errors import NO_ROOM, NotAStore, StoreError, StoreMissing, StoreReadOnly

CACHE_KIB = 8_192
"""What SQLite keeps of a store that it writes, and sorts in memory at once: a large ingest needs little more."""
CHECKING_KIB = 65_536
PAGE_BYTES = 8192
"""A transcript takes some 2 kB: of pages of 4096 bytes most would hold one and be half empty."""

LONGEST = 128 * 1024 * 1024
"""How long a value that is read may be in any store, in bytes; in a larger one as long as the store."""

_MAGIC = b"SQLite format 3\x00"
_COMMON: Mapping[str, int | str] = {"busy_timeout": BUSY_SECONDS * 1000, "trusted_schema": 0, "cell_size_check": 1}


class SqliteEngine(Engine):
    """Reach a store in a file."""

    errors = (sqlite3.Error, pw.PeeweeException, OSError, UnicodeDecodeError)
    cuts_off = True

    def __init__(self, address: str | Path) -> None:
        text = os.fspath(address)
        try:
            self.path = Path(text).expanduser()
        except RuntimeError:
            message = f"{text}: no user of that name has a home directory here"
            raise StoreMissing(message, "give a path without ~") from None
        self.address = self.location = str(self.path)
        self._connection: SqliteConnection | None = None

    @property
    def connection(self) -> SqliteConnection:
        if self._connection is None:
            raise StoreError(f"{self.location}: the store is closed")
        return self._connection

    def exists(self) -> bool:
        return os.path.lexists(self.path)

    def create(self) -> None:
        """Make an empty store next to its place and move it there whole; another creator may win."""
        path = self.path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = path.with_name(f".{path.name}.{os.urandom(4).hex()}.new")
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError as error:
            if error.errno in NO_ROOM:
                raise
            raise StoreReadOnly(f"{path}: cannot be created ({error.strerror})") from error
        try:
            pragmas = {"page_size": PAGE_BYTES, "journal_mode": "delete", "synchronous": "full"}
            database = pw.SqliteDatabase(str(draft), pragmas=pragmas)
            with closing(database), database.bind_ctx([models.Judge]), database.atomic("IMMEDIATE"):
                create_tables(database)
                models.Judge.create(id=models.COMPUTED_JUDGE, name="(computed)", prompt_hash="")
                database.execute_sql(f"PRAGMA application_id = {APPLICATION_ID}")
                database.execute_sql(f"PRAGMA user_version = {models.SCHEMA_VERSION}")
            try:
                os.link(draft, path)
            except FileExistsError:
                pass
            except OSError:
                os.rename(draft, path)
        finally:
            draft.unlink(missing_ok=True)

    def schema(self) -> int:
        path = self.path
        try:
            kind = os.stat(path)
            if not stat.S_ISREG(kind.st_mode):
                raise NotAStore(f"{path}: not a riff-tui store (it is not a regular file)")
            with open(path, "rb") as file:
                header = file.read(100)
        except FileNotFoundError:
            raise self.missing() from None
        except OSError as error:
            raise StoreReadOnly(f"{path}: cannot be read ({error.strerror})") from error
        if len(header) < 100 or not header.startswith(_MAGIC):
            raise NotAStore(f"{path}: not a riff-tui store; nothing was changed")
        version, application = struct.unpack(">I", header[60:64])[0], struct.unpack(">I", header[68:72])[0]
        if application != APPLICATION_ID or version < models.OLDEST_SCHEMA:
            raise NotAStore(f"{path}: an SQLite file, but not a riff-tui store; nothing was changed")
        return int(version)

    def migrate(self) -> Path | None:
        from riff_store.migrations import migrate

        return migrate(self.path)

    def open(self, *, write: bool) -> None:
        if write and not self.can_write():
            message = f"{self.path}: the store or its directory is read-only"
            raise StoreReadOnly(message, "choose another one with --store")
        pragmas = {**_COMMON, "query_only": 1}
        if write:
            pragmas = {**_COMMON, "journal_mode": "delete", "synchronous": "full", "cache_size": -CACHE_KIB}
        connection = connect(f"{self.path.absolute().as_uri()}?mode={'rw' if write else 'ro'}", uri=True)
        connection.bound(self.path)
        try:
            if not write:
                # A value that claims to be longer than its file is a lie, and the engine would make room for it.
                connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(LONGEST, self.size()))
            for name, value in pragmas.items():
                connection.execute(f"PRAGMA {name} = {value}")
            try:
                connection.execute("SELECT count(*) FROM sqlite_master")
            except sqlite3.Error as error:
                if write or not isinstance(self.error_of(error), StoreReadOnly) or not self._recover():
                    raise
                connection.execute("SELECT count(*) FROM sqlite_master")
            if _version_of(connection) == models.SCHEMA_VERSION:
                check_schema(connection, self.location)
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def opened_schema(self) -> int:
        return _version_of(self.connection)

    def can_write(self) -> bool:
        """Return whether this process may write the file, and the journal beside it."""
        return os.access(self.path, os.W_OK) and os.access(self.path.resolve().parent, os.W_OK)

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def compiled(self, query: Any) -> tuple[str, Sequence[Any]]:
        sql, values = COMPILER.get_sql_context().sql(query).query()
        return str(sql), values

    @property
    def in_transaction(self) -> bool:
        return self.connection.in_transaction

    def reading(self) -> AbstractContextManager[None]:
        return self._transaction("DEFERRED")

    def writing(self) -> AbstractContextManager[None]:
        return self._transaction("IMMEDIATE")

    def interrupt(self) -> None:
        self.connection.interrupt()

    def stream(self, statement: str, at_once: int) -> Iterator[Sequence[Any]]:
        cursor = self.connection.execute(statement)
        # Not `yield from` the cursor: who leaves early may do so after the connection was closed, when it cannot be.
        while rows := cursor.fetchmany(at_once):
            yield from rows

    def settle(self) -> None:
        """Do nothing: a new key follows the largest that is there."""

    def wipe_deleted(self) -> None:
        self.connection.execute("PRAGMA secure_delete = ON")

    def compact(self) -> None:
        self.connection.execute("VACUUM")

    def discard_if(self, statement: str) -> bool:
        with self._transaction("EXCLUSIVE"):
            if self.connection.execute(statement).fetchone() is not None:
                return False
            os.unlink(self.path)
        self.close()
        return True

    def wait_at_most(self, seconds: float) -> None:
        self.connection.execute(f"PRAGMA busy_timeout = {round(seconds * 1000)}")

    def identity(self) -> object:
        file = self._stat()
        return file.st_dev, file.st_ino

    def change_counter(self, *, wait: bool) -> object:
        file = self._stat()
        try:
            if not wait:
                self.wait_at_most(0)
            counter = self.connection.execute("PRAGMA data_version").fetchone()[0]
        finally:
            if not wait:
                self.wait_at_most(BUSY_SECONDS)
        return file.st_mtime_ns, file.st_size, counter

    def written_at(self) -> float | None:
        return self._stat().st_mtime

    def size(self) -> int:
        return os.path.getsize(self.path)

    def damages(self, most: int) -> list[str]:
        # Each entry of an index is looked up in its table: with less the same pages are read over and over.
        (cache,) = self.connection.execute("PRAGMA cache_size").fetchone()
        self.connection.execute(f"PRAGMA cache_size = -{CHECKING_KIB}")
        try:
            told = [str(text) for (text,) in self.connection.execute(f"PRAGMA integrity_check({most})")]
        finally:
            self.connection.execute(f"PRAGMA cache_size = {cache}")
        found = [line for text in told for line in text.split("\n") if not line.startswith("***")]
        return [] if found == ["ok"] else found[:most]

    def broken_references(self, rows: RowsOf) -> dict[str, int]:
        return broken_references(self.connection, rows)

    def strange_values(self, rows: RowsOf) -> dict[str, int]:
        return strange_values(self.connection, rows)

    def error_of(self, error: Exception) -> StoreError | None:
        from riff_store.engines.sqlite_errors import store_error_of

        return store_error_of(error, self.location)

    def _stat(self) -> os.stat_result:
        try:
            return os.stat(self.path)
        except OSError as error:
            raise self.missing() from error

    def _recover(self) -> bool:
        """Let SQLite roll back what a killed writer left; reading alone cannot."""
        if not os.access(self.path, os.W_OK) or not os.path.exists(f"{self.path}-journal"):
            return False
        connection = connect(f"{self.path.absolute().as_uri()}?mode=rw", uri=True)
        connection.bound(self.path)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        finally:
            connection.close()
        return True


def _version_of(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
