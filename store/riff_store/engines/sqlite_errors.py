"""Translate errors of SQLite into those of the store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from riff_store.errors import NO_ROOM, DiskFull, NotAStore, StoreBusy, StoreError, StoreReadOnly
from riff_store.statement_limit import TOO_MANY


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what is behind it; the engine's own error may hide under a failed rollback."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        found = pending.pop()
        if found is None or id(found) in seen:
            continue
        seen.add(id(found))
        yield found
        pending += [found.__cause__, found.__context__]


_FULL = (DiskFull, "disk full: nothing of this step was stored", "make room and run it again")
_DAMAGED = (NotAStore, "the store is damaged", "restore a copy, or ingest again into a new one")
_BY_MESSAGE: tuple[tuple[str, type[StoreError], str, str], ...] = (
    ("database or disk is full", *_FULL),
    ("database is locked", StoreBusy, "another process is writing the store", "try again in a moment"),
    ("readonly database", StoreReadOnly, "the store is read-only here", "copy it or choose another one with --store"),
    ("unable to open database", StoreReadOnly, "the store cannot be opened here", "check its path and permissions"),
    ("file is not a database", NotAStore, "not a riff-tui store", ""),
    ("malformed", *_DAMAGED),
    ("could not decode to utf-8", *_DAMAGED),
    ("integer overflow", *_DAMAGED),
    ("string or blob too big", *_DAMAGED),
    (TOO_MANY, NotAStore, "a statement returned more rows than the store can contain, so it is damaged", _DAMAGED[2]),
    (
        "interrupted",
        NotAStore,
        "a statement took more than the store can need, so it is damaged",
        "ingest again into a new one; if it is whole after all, raise limits.statement_steps in the settings",
    ),
    ("disk i/o error", StoreError, "the disk failed while the store was used", "run `riff-tui doctor`"),
)


def store_error_of(error: Exception, location: str) -> StoreError | None:
    """Return the store error behind an error of the engine, or `None` if it is something else."""
    found = list(causes(error))
    for cause in found:
        if isinstance(cause, StoreError):
            return cause
    engine = [cause for cause in found if isinstance(cause, sqlite3.Error)]
    full = DiskFull(f"{location}: {_FULL[1]}", _FULL[2])
    # A write that failed for a quota or a limit of size has no word of its own in the engine.
    if any(getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_IOERR_WRITE for cause in engine):
        return full
    if any(isinstance(cause, UnicodeDecodeError) for cause in found):
        # Not even what the engine reports of it is text.
        return _DAMAGED[0](f"{location}: {_DAMAGED[1]}", _DAMAGED[2])
    for name, kind, message, hint in _BY_MESSAGE:
        if any(name in str(cause).lower() for cause in engine):
            return kind(f"{location}: {message}", hint)
    return full if any(isinstance(cause, OSError) and cause.errno in NO_ROOM for cause in found) else None
