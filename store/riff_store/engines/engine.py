"""Describe what a kind of database does for the store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    import peewee as pw

    from riff_store.errors import StoreError, StoreMissing
    from riff_store.facts import WriteNotice

APPLICATION_ID = 0x52494646
BUSY_SECONDS = 10
"""How long a process waits for another one that is writing."""
RowsOf: TypeAlias = Mapping[str, Sequence[str]]
"""Conditions of the rows to look at, by table; all rows of a table that is not there."""
ALL_ROWS = ("TRUE",)


class Cursor(Protocol):
    """Keep the rows that a statement returned."""

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """Run statements whose values are as `?`, or as `?1` and so on where one is several times."""

    def execute(self, sql: str, parameters: Sequence[Any] = ..., /) -> Cursor: ...

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> object: ...


class BulkConnection(Connection, Protocol):
    """Insert in bulk as well."""

    def insert(self, model: type[pw.Model], values: Sequence[Any]) -> None:
        """Insert rows with every column of a model: their values one after the other, in the order of its fields."""


class Engine(ABC):
    """Reach the store at one place: look what is there, create it, open it.

    `location` is the place as others may see it, `address` what opens it. Errors of the database leave every method as
    they are, one of `errors`; `error_of` shows what they mean.
    """

    location: str
    address: str
    errors: tuple[type[Exception], ...]
    adds_twice = True
    """Whether an INSERT with ON CONFLICT may come to one row several times."""
    cuts_off = False
    """Whether CAST of a real number to a whole one cuts off what is behind the point, as arrays do."""
    tells = False
    """Whether those who look at a store can be told what is written into it."""

    @property
    @abstractmethod
    def connection(self) -> BulkConnection:
        """Return the connection of a store that was opened."""

    @abstractmethod
    def exists(self) -> bool:
        """Return whether anything is at the place."""

    @abstractmethod
    def create(self) -> None:
        """Make an empty store of the present schema; another creator may win."""

    @abstractmethod
    def schema(self) -> int:
        """Return the schema version of the store at the place.

        Raises `StoreMissing`, `NotAStore` or `StoreReadOnly`.
        """

    @abstractmethod
    def migrate(self) -> Path | None:
        """Bring an older store to the present schema; return where a copy of it as it was is, if there is one."""

    @abstractmethod
    def open(self, *, write: bool) -> None:
        """Open the store, and see that it is made as a store is; nothing that somebody put into it is run.

        Raises `StoreReadOnly` if it is to be written and cannot be, `NotAStore` where it has what no store has.
        """

    @abstractmethod
    def opened_schema(self) -> int:
        """Return the schema version of the store that was opened."""

    def is_current(self) -> bool:
        """Return whether what is open is for sure what is at the place by now."""
        return False

    @abstractmethod
    def can_write(self) -> bool:
        """Return whether this process may write the store at the place."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the store; closing twice is fine."""

    @abstractmethod
    def compiled(self, query: Any) -> tuple[str, Sequence[Any]]:
        """Return a Peewee query as a statement for the connection, and its values."""

    @property
    @abstractmethod
    def in_transaction(self) -> bool:
        """Return whether a transaction has begun and not ended."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[None]:
        """Begin a transaction that reads one state of the store."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[None]:
        """Begin a transaction that writes, waiting for another process that does."""

    def savepoint(self) -> AbstractContextManager[None]:
        """Begin a part of a transaction that can fail by itself."""
        return self._begun("SAVEPOINT part", "RELEASE part", "ROLLBACK TO part", "RELEASE part")

    def _transaction(self, kind: str) -> AbstractContextManager[None]:
        return self._begun(f"BEGIN {kind}", "COMMIT", "ROLLBACK")

    @contextmanager
    def _begun(self, begin: str, end: str, *undo: str) -> Iterator[None]:
        connection = self.connection
        connection.execute(begin)
        try:
            yield
            connection.execute(end)
        except BaseException:
            # Some errors, such as a full disk or a lost connection, have ended the transaction already.
            for statement in undo if self.in_transaction else ():
                connection.execute(statement)
            raise

    @abstractmethod
    def interrupt(self) -> None:
        """End the statement that runs, from any thread, and touch none that begins once this has returned."""

    @abstractmethod
    def stream(self, statement: str, at_once: int) -> Iterator[Sequence[Any]]:
        """Yield the rows of a statement, at most so many in memory; call it inside a transaction."""

    @abstractmethod
    def settle(self) -> None:
        """Take note of rows that brought their keys along, at the end of a transaction that inserted many."""

    def wipe_deleted(self) -> None:  # noqa: B027  # not every kind of store can
        """Overwrite from here on what is deleted, where it would be in free space otherwise."""

    @abstractmethod
    def compact(self) -> None:
        """Write the store again without its free space; call it outside a transaction."""

    @abstractmethod
    def discard_if(self, statement: str) -> bool:
        """Delete the store where a statement returns no row, while nobody else uses it; report whether it was so."""

    @abstractmethod
    def wait_at_most(self, seconds: float) -> None:
        """Wait no longer than that for another process that is writing; it is `BUSY_SECONDS` otherwise."""

    @abstractmethod
    def identity(self) -> object:
        """Return what tells the store at the place from any that takes its place; raises `StoreMissing` without one."""

    @abstractmethod
    def change_counter(self, *, wait: bool) -> object:
        """Return what differs once another process has written, without waiting for a writer unless `wait` is true."""

    def tell(self, written: WriteNotice) -> None:  # noqa: B027  # not every kind of store can
        """Notify listeners of what the current transaction wrote, once it is committed."""

    def listen(self) -> None:  # noqa: B027  # as above
        """Begin to receive what others write."""

    def notifications(self) -> list[WriteNotice] | None:
        """Return what others wrote since it was asked for last; `None` if nothing shows."""
        return None

    @abstractmethod
    def written_at(self) -> float | None:
        """Return when the store was written last, in seconds since the epoch; `None` if nothing shows."""

    @abstractmethod
    def size(self) -> int:
        """Return how many bytes the store takes."""

    @abstractmethod
    def damages(self, most: int) -> list[str]:
        """Return what the database itself finds damaged, so many at most."""

    @abstractmethod
    def broken_references(self, rows: RowsOf) -> dict[str, int]:
        """Return how many rows of each table, of some only these, point to rows that are not there."""

    @abstractmethod
    def strange_values(self, rows: RowsOf) -> dict[str, int]:
        """Return how many rows of each table, of some only these, have text for a number, or what is not finite."""

    @abstractmethod
    def error_of(self, error: Exception) -> StoreError | None:
        """Return the store error behind an error, `None` if it is something else."""

    def missing(self) -> StoreMissing:
        """Return the error that there is no store at the place, and how to make one."""
        import shlex

        from riff_store.errors import StoreMissing

        making = f"riff-tui ingest PATH... --store {shlex.quote(self.location)}"
        return StoreMissing(f"{self.location}: there is no store", f"make one with `{making}`, or try `riff-tui demo`")
