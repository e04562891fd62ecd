"""Translate errors of PostgreSQL into those of the store, in sentences that quote neither address nor password."""

from __future__ import annotations

import psycopg

from riff_store.engines.sqlite_errors import causes
from riff_store.errors import DiskFull, NotAStore, StoreBusy, StoreError, StoreMissing, StoreReadOnly

_Meaning = tuple[type[StoreError], str, str]

_BUSY: _Meaning = (StoreBusy, "another process is writing the store", "try again in a moment")
_BY_CODE: dict[str, _Meaning] = {
    "25006": (StoreReadOnly, "the store is read-only here", "connect to the server that is written to, as its writer"),
    "28": (StoreError, "the server refused the user or the password", "check both, ~/.pgpass and PGPASSWORD"),
    "25P03": (StoreError, "the server ended a connection that was idle", "try again"),
    "3D000": (StoreMissing, "the server has no such database", "make it with createdb"),
    "40": _BUSY,
    "42501": (StoreReadOnly, "the role may not do this", "connect as one that may; docs/postgresql.md has the grants"),
    "42P01": (NotAStore, "the store is damaged: it lacks a table", "restore a copy, or ingest again into a new one"),
    "42703": (NotAStore, "the store is damaged: it lacks a column", "restore a copy, or ingest again into a new one"),
    "53100": (DiskFull, "disk full: nothing of this step was stored", "make room and run it again"),
    "53300": (StoreBusy, "the server has too many connections", "try again in a moment"),
    "53": (StoreError, "the server ran out of memory or room", "see its log"),
    "55P03": _BUSY,
    "57014": (StoreError, "the server ended the question", "its statement_timeout may be too short for it"),
    "57P": (StoreError, "the server ended the connection", "try again in a moment"),
    "58": (StoreError, "the server's disk failed", "see its log"),
    "08": (StoreError, "the connection to the server was lost", "try again in a moment"),
}
_BY_MESSAGE: tuple[tuple[str, _Meaning], ...] = (
    ("password authentication failed", _BY_CODE["28"]),
    ("no password supplied", (StoreError, "the server wants a password", "put it into ~/.pgpass or PGPASSWORD")),
    ("pg_hba.conf", (StoreError, "the server lets nobody in from here", "see its pg_hba.conf")),
    ("role", (StoreError, "the server knows no such user", "name one with PGUSER or in the address")),
    ("does not exist", _BY_CODE["3D000"]),
    ("definition of service", (StoreError, "no such service", "see ~/.pg_service.conf")),
    ("too many", _BY_CODE["53300"]),
    ("starting up", (StoreError, "the server is starting", "try again in a moment")),
    ("timeout", (StoreError, "no server answered in time", "check host and port")),
    ("could not translate host", (StoreError, "no such host", "check the host in the address")),
    ("failed to resolve host", (StoreError, "no such host", "check the host in the address")),
    ("connection", (StoreError, "no server answers there", "check host and port, and that it runs")),
)


def store_error_of(error: Exception, location: str) -> StoreError | None:
    """Return the store error behind an error of PostgreSQL, `None` where it is something else."""
    found = list(causes(error))
    for cause in found:
        if isinstance(cause, StoreError):
            return cause
    for cause in found:
        if isinstance(cause, psycopg.Error) and (meaning := _meaning(cause)) is not None:
            kind, message, hint = meaning
            return kind(f"{location}: {message}", hint)
    return None


def _meaning(error: psycopg.Error) -> _Meaning | None:
    code = error.sqlstate
    if code is not None:
        return next((_BY_CODE[code[:length]] for length in (5, 3, 2) if code[:length] in _BY_CODE), None)
    if not isinstance(error, psycopg.OperationalError):
        return None
    text = str(error).lower()
    return next((meaning for words, meaning in _BY_MESSAGE if words in text), _BY_CODE["08"])
