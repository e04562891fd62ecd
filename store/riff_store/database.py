"""Find, create, open and check a store.

A store is one SQLite file that says what it is in its header, so that anything else is refused
before it is touched. Reading never creates or changes a file.

Foreign keys are declared and not enforced at each row: every key comes from the transaction that
uses it, enforcing doubles the cost of a delete, and `foreign_key_check` is run by doctor and tests.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import peewee as pw

from riff_store import models
from riff_store.engine_errors import store_error_of
from riff_store.errors import NewerStore, NotAStore, OlderStore, StoreError, StoreMissing, StoreReadOnly
from riff_store.location import without_secrets

if TYPE_CHECKING:
    from riff_store.facts import Annotation

APPLICATION_ID = 0x52494646
BUSY_SECONDS = 10
CACHE_KIB = 16_384
PAGE_BYTES = 8192
"""A transcript takes some 2 kB: of pages of 4096 bytes most would hold one and be half empty."""

_HOLDINGS = ("conversation", "judged_score", "flow", "flow_edit", "annotation")
_MAGIC = b"SQLite format 3\x00"
_COMMON = {"busy_timeout": BUSY_SECONDS * 1000, "trusted_schema": 0, "cell_size_check": 1}


class Store:
    """Run queries on an open store, one at a time, from any thread.

    Errors of the engine leave it as `StoreError`. Use it as a context manager.
    """

    def __init__(self, database: pw.SqliteDatabase, location: str, *, writable: bool) -> None:
        self.database = database
        self.location = location
        self.writable = writable
        self.copy_before: Path | None = None
        """Where the store lies as it was before it was migrated, if opening it did that."""
        self.is_new = False
        """Whether opening it made it."""
        self.kept_notes: Sequence[Annotation] = ()
        """Notes that are read with those of the store, since they could not be written into it."""
        self._lock = threading.RLock()

    def execute(self, query: Any) -> list[tuple[Any, ...]]:
        """Return all rows of a Peewee query, with nothing left open."""
        with self._lock, self._translating():
            rows: list[tuple[Any, ...]] = self.database.execute(query).fetchall()
            return rows

    def execute_sql(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a statement that was compiled before."""
        with self._lock, self._translating():
            rows: list[tuple[Any, ...]] = self.database.execute_sql(sql, parameters).fetchall()
            return rows

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Answer everything inside from one state of the store, whatever is written meanwhile."""
        with self._lock, self._translating():
            if self.database.in_transaction():
                yield
            else:
                with self.database.atomic():
                    yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold a write transaction, taken at once, so that two writers wait instead of failing."""
        with self._lock, self._translating(), self.database.atomic("IMMEDIATE"):
            yield

    def change_counter(self, *, wait: bool = True) -> int:
        """Return a number that differs once another process has written to the store, until it is reopened.

        Raises `StoreBusy` at once, instead of waiting for a writer, unless `wait` is true.
        """
        with self._lock, self._translating():
            try:
                if not wait:
                    self.database.execute_sql("PRAGMA busy_timeout = 0")
                return int(self.database.execute_sql("PRAGMA data_version").fetchone()[0])
            finally:
                if not wait:
                    self.database.execute_sql(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")

    def reopen(self) -> None:
        """Let go of the file and open what is at its place now.

        Raises as `open_store` does, and then keeps what was open.
        """
        # Reading the header closes a file, and that would end the locks of a question being answered.
        with self._lock:
            found = open_store(self.location, write=self.writable)
            before, self.database = self.database, found.database
            before.close()

    def discard_empty(self) -> bool:
        """Delete a store that holds no call, verdict, flow, edit or note, and close it; say whether it was so."""
        with self._lock, self._translating():
            with self.database.atomic("EXCLUSIVE"):
                held = " UNION ALL ".join(f"SELECT 1 FROM {table}" for table in _HOLDINGS)
                is_empty = not self.database.execute_sql(f"{held} LIMIT 1").fetchall()
                if is_empty:
                    os.unlink(self.location)
            if is_empty:
                self.close()
            return is_empty

    def wait_at_most(self, seconds: float) -> None:
        """Wait no longer than that for another process that is writing; it is `BUSY_SECONDS` otherwise."""
        self.execute_sql(f"PRAGMA busy_timeout = {round(seconds * 1000)}")

    def close(self) -> None:
        """Let go of the file; closing twice is fine."""
        if not self.database.is_closed():
            self.database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _translating(self) -> Iterator[None]:
        try:
            yield
        except (pw.PeeweeException, sqlite3.Error, OSError) as error:
            known = store_error_of(error, self.location)
            if known is None:
                raise
            raise known from error


def open_store(location: str | Path, *, write: bool = False, create: bool = False) -> Store:
    """Open the store at a path.

    Raises `StoreMissing`, `NotAStore`, `NewerStore`, `OlderStore` or `StoreReadOnly`. An older
    store is migrated when it is opened for writing.
    """
    path = _local_path(location)
    is_new = create and not os.path.lexists(path)
    if is_new:
        _create(path)
    version = _schema_of(path)
    if version > models.SCHEMA_VERSION:
        raise NewerStore(
            f"{path}: written by a newer riff-tui (schema {version}, this one knows {models.SCHEMA_VERSION})",
            "upgrade riff-tui",
        )
    if version < models.SCHEMA_VERSION:
        if not write:
            raise _older(path, version)
        from riff_store.migrations import migrate

        copy = migrate(path, version)
        store = _connect(path, write=True)
        store.copy_before = copy
        return store
    store = _connect(path, write=write)
    store.is_new = is_new
    if store.execute_sql("PRAGMA user_version")[0][0] != version:
        # What a killed migration had written of the header was rolled back when the file was opened.
        store.close()
        return open_store(location, write=write)
    return store


def is_writable(path: Path) -> bool:
    """Return whether this process may write the store at a path, and the journal beside it."""
    return os.access(path, os.W_OK) and os.access(path.resolve().parent, os.W_OK)


def _older(path: Path, version: int) -> OlderStore:
    import shlex

    return OlderStore(
        f"{path}: has schema {version}, this riff-tui needs {models.SCHEMA_VERSION}",
        "any `riff-tui ingest` into it migrates it, and so does"
        f" `riff-tui doctor --migrate --store {shlex.quote(str(path))}`; a copy is kept",
    )


def _local_path(location: str | Path) -> Path:
    text = os.fspath(location)
    if "://" in text:
        raise StoreError(f"{without_secrets(text)}: only stores in a local SQLite file can be opened", "give a path")
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise StoreMissing(f"{text}: no user of that name has a home directory here", "give a path without ~") from None


def _connect(path: Path, *, write: bool) -> Store:
    mode = "rw" if write else "ro"
    pragmas: dict[str, int | str] = dict(_COMMON)
    if write:
        if not is_writable(path):
            raise StoreReadOnly(f"{path}: the store or its directory is read-only", "choose another one with --store")
        pragmas |= {"journal_mode": "delete", "synchronous": "full", "cache_size": -CACHE_KIB}
    else:
        pragmas |= {"query_only": 1}
    database = pw.SqliteDatabase(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        pragmas=pragmas,
        timeout=BUSY_SECONDS,
        thread_safe=False,
        check_same_thread=False,
    )
    store = Store(database, str(path), writable=write)
    try:
        store.execute_sql("SELECT count(*) FROM sqlite_master")
    except StoreReadOnly:
        if write or not _recover(path):
            raise
        store.execute_sql("SELECT count(*) FROM sqlite_master")
    return store


def _recover(path: Path) -> bool:
    """Let the engine roll back what a killed writer left; reading alone cannot."""
    if not os.access(path, os.W_OK) or not os.path.exists(f"{path}-journal"):
        return False
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=BUSY_SECONDS)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    finally:
        connection.close()
    return True


def _schema_of(path: Path) -> int:
    """Return the schema version that a store's header names; raises where it is no store."""
    try:
        kind = os.stat(path)
        if not stat.S_ISREG(kind.st_mode):
            raise NotAStore(f"{path}: not a riff-tui store (it is not a regular file)")
        with open(path, "rb") as file:
            header = file.read(100)
    except FileNotFoundError:
        import shlex

        making = f"riff-tui ingest PATH... --store {shlex.quote(str(path))}"
        raise StoreMissing(f"{path}: there is no store", f"make one with `{making}`, or try `riff-tui demo`") from None
    except OSError as error:
        raise StoreReadOnly(f"{path}: cannot be read ({error.strerror})") from error
    if len(header) < 100 or not header.startswith(_MAGIC):
        raise NotAStore(f"{path}: not a riff-tui store; nothing was changed")
    version, application = struct.unpack(">I", header[60:64])[0], struct.unpack(">I", header[68:72])[0]
    if application != APPLICATION_ID or version < 1:
        raise NotAStore(f"{path}: an SQLite file, but not a riff-tui store; nothing was changed")
    return int(version)


def _create(path: Path) -> None:
    """Make an empty store next to its place and move it there whole; another creator may win."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.new")
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise StoreReadOnly(f"{path}: cannot be created ({error.strerror})") from error
    try:
        _fill(draft)
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        except OSError:
            os.rename(draft, path)
    except (pw.PeeweeException, sqlite3.Error) as error:
        raise store_error_of(error, str(path)) or error from error
    finally:
        draft.unlink(missing_ok=True)


def _fill(path: Path) -> None:
    pragmas = {"page_size": PAGE_BYTES, "journal_mode": "delete", "synchronous": "full"}
    database = pw.SqliteDatabase(str(path), pragmas=pragmas)
    try:
        # These are all models: to look for others among what refers to them took most of the time.
        bound = database.bind_ctx(models.ALL, bind_refs=False, bind_backrefs=False)
        with bound, database.atomic("IMMEDIATE"):
            database.create_tables(models.ALL, safe=False)
            models.Judge.create(id=models.COMPUTED_JUDGE, name="(computed)", prompt_hash="")
            database.execute_sql(f"PRAGMA application_id = {APPLICATION_ID}")
            database.execute_sql(f"PRAGMA user_version = {models.SCHEMA_VERSION}")
    finally:
        database.close()
