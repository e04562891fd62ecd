"""What can be wrong with a store.

StoreError
├── StoreMissing     there is nothing at that place
├── NotAStore        what is there is something else, or damaged
├── NewerStore       a newer riff-tui wrote it
├── OlderStore       it needs migrating, and was opened for reading only
├── StoreBusy        another process is writing
├── StoreReadOnly    it cannot be written here
└── DiskFull         there is no room left
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator


class StoreError(Exception):
    """A store cannot be used as asked; the message says what to do next."""


class StoreMissing(StoreError):
    """There is no store at that place."""


class NotAStore(StoreError):
    """What is there is not a store, or it is damaged."""


class NewerStore(StoreError):
    """The store was written by a newer version."""


class OlderStore(StoreError):
    """The store has an older schema and was opened for reading only."""


class StoreBusy(StoreError):
    """Another process held the store for too long."""


class StoreReadOnly(StoreError):
    """The store or its directory cannot be written."""


class DiskFull(StoreError):
    """No room is left where the store lies."""


def causes(error: BaseException) -> Iterator[BaseException]:
    """An error and what stands behind it; the engine's own error may hide under a failed rollback."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        found = pending.pop()
        if found is None or id(found) in seen:
            continue
        seen.add(id(found))
        yield found
        pending += [found.__cause__, found.__context__]


_BY_MESSAGE: tuple[tuple[str, type[StoreError], str], ...] = (
    ("database or disk is full", DiskFull, "disk full: nothing of this step was stored; make room and run it again"),
    ("database is locked", StoreBusy, "another process is writing the store; try again in a moment"),
    ("readonly database", StoreReadOnly, "the store is read-only here; copy it or choose another one with --store"),
    ("unable to open database", StoreReadOnly, "the store cannot be opened here; check its path and permissions"),
    ("file is not a database", NotAStore, "not a riff-tui store"),
    ("malformed", NotAStore, "the store is damaged; restore a copy, or ingest again into a new one"),
    ("disk i/o error", StoreError, "the disk failed while the store was used; run `riff-tui doctor`"),
)


def translated(error: Exception, location: str) -> StoreError | None:
    """The store error behind an error of the engine, or `None` where it is something else."""
    found = list(causes(error))
    for kind in found:
        if isinstance(kind, StoreError):
            return kind
    if any(isinstance(kind, sqlite3.Error) and _is_over_a_limit(kind) for kind in found):
        return DiskFull(f"{location}: {_BY_MESSAGE[0][2]}")
    for name, store_error, advice in _BY_MESSAGE:
        for kind in found:
            if isinstance(kind, (sqlite3.Error,)) and name in str(kind).lower():
                return store_error(f"{location}: {advice}")
    for kind in found:
        if isinstance(kind, OSError) and kind.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
            return DiskFull(f"{location}: {_BY_MESSAGE[0][2]}")
    return None


def _is_over_a_limit(error: sqlite3.Error) -> bool:
    """A write that failed: the engine says so of a quota and of a limit of size, where a full disk has its own name."""
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_IOERR_WRITE
