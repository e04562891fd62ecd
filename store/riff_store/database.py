"""Find, create, open and check a store."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from riff_store import schema as models
from riff_store.engines import engine_at
from riff_store.engines.engine import BUSY_SECONDS as BUSY_SECONDS
from riff_store.engines.engine import BulkConnection, Engine
from riff_store.errors import OF_DAMAGE, NewerStore, NotAStore, OlderStore, StoreMissing
from riff_store.interruption import interruption_in_force

if TYPE_CHECKING:
    from riff_store.engines.engine import RowsOf
    from riff_store.facts import Annotation, WriteNotice

Made = TypeVar("Made")
LASTING = 6
"""So many answers are kept from one question to the next."""
_HOLDINGS = ("conversation", "judged_score", "flow", "flow_edit", "annotation", "forgotten_call")


class Store:
    """Run queries on an open store, one at a time, from any thread.

    Errors of the database leave it as `StoreError`. Use it as a context manager.
    """

    def __init__(self, engine: Engine, *, writable: bool) -> None:
        self.engine = engine
        self.location = engine.location
        self.writable = writable
        self.copy_before: Path | None = None
        """Where the store lies as it was before it was migrated, if opening it did that."""
        self.is_new = False
        """Whether opening it made it."""
        self.kept_notes: Sequence[Annotation] = ()
        """Notes that are read with those of the store, since they could not be written into it."""
        self._listens = False
        self._lock = threading.RLock()
        self._kept: dict[object, Any] | None = None
        self._lasting: tuple[object, dict[object, Any]] = (None, {})

    @property
    def address(self) -> str:
        """Return what opens the store again; it may contain a password."""
        return self.engine.address

    @property
    def connection(self) -> BulkConnection:
        """Return what runs statements; only those inside a transaction use it."""
        return self.engine.connection

    def execute(self, query: Any) -> list[tuple[Any, ...]]:
        """Return all rows of a Peewee query, with nothing left open."""
        return self.execute_sql(*self.engine.compiled(query))

    def execute_sql(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a statement that was compiled before."""
        with self._lock, _translating(self.engine), self._interruptible():
            return self.engine.connection.execute(sql, parameters).fetchall()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Answer everything inside from one state of the store, whatever is written meanwhile.

        Raises `NotAStore` if that fails for what a damaged store has.
        """
        with self._lock, _translating(self.engine):
            if self.engine.in_transaction:
                yield
                return
            with self.engine.reading(), _explaining(self):
                self._kept = {}
                try:
                    yield
                finally:
                    self._kept = None

    def once(self, key: object, make: Callable[[], Made]) -> Made:
        """Return what was made for a key within the snapshot that is in force; outside of any it is made each time."""
        with self._lock:
            if self._kept is None:
                return make()
            if key not in self._kept:
                self._kept[key] = make()
            made: Made = self._kept[key]
            return made

    def kept(self, key: object) -> Any:
        """Return what was made for a key within the snapshot that is in force, `None` if nothing was."""
        with self._lock:
            return None if self._kept is None else self._kept.get(key)

    def lasting(self, key: object, make: Callable[[], Made]) -> Made:
        """Return what was made for a key since anybody wrote to the store, in whatever snapshot.

        What was used longest ago of more than `LASTING` is regenerated, and all where the store is gone.
        """
        with self._lock:
            try:
                written = self.engine, self.change_counter(), len(self.kept_notes)
            except StoreMissing:
                return make()
            if self._lasting[0] != written:
                self._lasting = written, {}
            kept = self._lasting[1]
            made: Made = kept.pop(key) if key in kept else make()
            kept[key] = made
            while len(kept) > LASTING:
                del kept[next(iter(kept))]
            return made

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Run a write transaction, begun at once, so that two writers wait instead of failing."""
        with self._lock, _translating(self.engine), self.engine.writing():
            yield

    def savepoint(self) -> AbstractContextManager[None]:
        """Begin a part of a write transaction that can fail by itself."""
        return self.engine.savepoint()

    def change_counter(self, *, wait: bool = True) -> object:
        """Return what differs once another process has written to the store, until it is reopened.

        Raises `StoreMissing` if it is gone, and `StoreBusy` at once, instead of waiting for a writer, unless `wait` is
        true.
        """
        with self._lock, _translating(self.engine):
            return self.engine.change_counter(wait=wait)

    def tell(self, written: WriteNotice) -> None:
        """Notify listeners of what the current write transaction wrote, once it is committed."""
        self.engine.tell(written)

    def listen(self) -> None:
        """Begin to receive what others write, for as long as it is open, reopened or not."""
        self._listens = True
        with self._lock, _translating(self.engine):
            self.engine.listen()

    def notifications(self) -> list[WriteNotice] | None:
        """Return what others wrote since it was asked for last; `None` if nothing shows."""
        with self._lock, _translating(self.engine):
            return self.engine.notifications()

    def identity(self) -> object:
        """Return what distinguishes the store from any that takes its place; raises `StoreMissing` if there is none."""
        with self._lock, _translating(self.engine):
            return self.engine.identity()

    def written_at(self) -> float | None:
        """Return when the store was written last, in seconds since the epoch; `None` if nothing shows."""
        with self._lock, _translating(self.engine):
            return self.engine.written_at()

    def size(self) -> int:
        """Return how many bytes the store takes."""
        with self._lock, _translating(self.engine):
            return self.engine.size()

    def damages(self, most: int) -> list[str]:
        """Return what the database itself finds damaged, so many at most."""
        with self._lock, _translating(self.engine), self._interruptible():
            return self.engine.damages(most)

    def broken_references(self, rows: RowsOf) -> dict[str, int]:
        """Return how many rows of each table, of some only these, point to rows that are not there."""
        with self._lock, _translating(self.engine), self._interruptible():
            return self.engine.broken_references(rows)

    def strange_values(self, rows: RowsOf) -> dict[str, int]:
        """Return how many rows of each table, of some only these, contain what no column of its kind may."""
        with self._lock, _translating(self.engine), self._interruptible():
            return self.engine.strange_values(rows)

    def can_be_written(self) -> bool:
        """Return whether this process may write the store, however it was opened."""
        with self._lock, _translating(self.engine):
            return self.engine.can_write()

    def reopen(self) -> None:
        """Let go of the store and open what is at its place now.

        Raises as `open_store` does, and then keeps what was open.
        """
        # Reading the header closes a file, and that would end the locks of a question being answered.
        with self._lock:
            if self.engine.is_current():
                return
            found = open_store(self.address, write=self.writable)
            before, self.engine = self.engine, found.engine
            before.close()
            if self._listens:
                self.listen()

    def wipe_deleted(self) -> None:
        """Overwrite from here on what is deleted, where it would be in free space otherwise."""
        with self._lock, _translating(self.engine):
            self.engine.wipe_deleted()

    def compact(self) -> None:
        """Write the store again without its free space."""
        with self._lock, _translating(self.engine):
            self.engine.compact()

    def discard_empty(self) -> bool:
        """Delete a store that has nothing and forgot no call, and close it; report whether it was so."""
        with self._lock, _translating(self.engine):
            held = " UNION ALL ".join(f"SELECT 1 FROM {table}" for table in _HOLDINGS)
            return self.engine.discard_if(f"{held} LIMIT 1")

    def wait_at_most(self, seconds: float) -> None:
        """Wait no longer than that for another process that is writing."""
        with self._lock, _translating(self.engine):
            self.engine.wait_at_most(seconds)

    def close(self) -> None:
        """Let go of the store; closing twice is fine."""
        self.engine.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _interruptible(self) -> AbstractContextManager[None]:
        """End a statement where the question is interrupted that it belongs to, unless the store may be written."""
        interruption = None if self.writable else interruption_in_force()
        return nullcontext() if interruption is None else interruption.ending(self.engine.interrupt)


def open_store(location: str | Path, *, write: bool = False, create: bool = False) -> Store:
    """Open the store at a path.

    Raises `StoreMissing`, `NotAStore`, `NewerStore`, `OlderStore` or `StoreReadOnly`. An older
    store is migrated when it is opened for writing.
    """
    engine = engine_at(location)
    try:
        with _translating(engine):
            return _opened(engine, write=write, create=create)
    except BaseException:
        engine.close()
        raise


def _opened(engine: Engine, *, write: bool, create: bool) -> Store:
    is_new = create and not engine.exists()
    if is_new:
        engine.create()
    version = engine.schema()
    if version > models.SCHEMA_VERSION:
        known = f"schema {version}, this one knows {models.SCHEMA_VERSION}"
        raise NewerStore(
            f"{engine.location}: written by a newer riff-tui ({known})",
            "upgrade riff-tui, or ingest again into a new store",
        )
    if version < models.SCHEMA_VERSION and not write:
        raise _older(engine.location, version)
    copy = engine.migrate() if version < models.SCHEMA_VERSION else None
    engine.open(write=write)
    if engine.opened_schema() != models.SCHEMA_VERSION:
        # What a killed migration had written of the header was rolled back when the file was opened.
        engine.close()
        return open_store(engine.address, write=write)
    store = Store(engine, writable=write)
    store.copy_before, store.is_new = copy, is_new
    return store


def is_writable(location: str | Path) -> bool:
    """Return whether this process may write the store at a place."""
    engine = engine_at(location)
    try:
        with _translating(engine):
            return engine.can_write()
    finally:
        engine.close()


def _older(location: str, version: int) -> OlderStore:
    """Return why a store of an older schema is not read: reading leaves it as it is."""
    import shlex

    return OlderStore(
        f"{location}: has schema {version}, this riff-tui needs {models.SCHEMA_VERSION}",
        "any `riff-tui ingest` into it migrates it, and so does"
        f" `riff-tui doctor --migrate --store {shlex.quote(location)}`; a copy is kept",
    )


@contextmanager
def _explaining(store: Store) -> Iterator[None]:
    """Yield that a store is damaged if that is why something failed; it is looked at only then."""
    try:
        yield
    except OF_DAMAGE as error:
        from riff_store.health import examine

        wrong = examine(store).wrong
        if not wrong:
            raise
        message = f"{store.location}: the store is damaged ({wrong[0]})"
        raise NotAStore(
            message, "`riff-tui doctor` shows more; restore a copy, or ingest again into a new one"
        ) from error


@contextmanager
def _translating(engine: Engine) -> Iterator[None]:
    try:
        yield
    except engine.errors as error:
        known = engine.error_of(error)
        if known is None:
            raise
        raise known from error
