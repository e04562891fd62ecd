"""Let a statement of a store fail: as a full disk, a broken one or a lost connection makes it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

from tests.support.faults import Fault

BROKEN_DISK, FULL_DISK = "disk I/O error", "database or disk is full"
LOST_CONNECTION = "lost connection"
_STATEMENTS = ("execute", "executemany", "executescript", "commit", "backup")
"""What runs statements, of connections and of cursors; neither calls the other's."""


@contextmanager
def sqlite_faults(fault: Fault, message: str = FULL_DISK) -> Iterator[None]:
    """Let a statement, a commit or a copy of a database in SQLite fail while the block runs."""

    @cache
    def failing(kind: type[Any]) -> type[Any]:
        def step(act: Callable[..., Any]) -> Callable[..., Any]:
            def acted(*given: Any, **settings: Any) -> Any:
                if fault.is_due():
                    raise sqlite3.OperationalError(message)
                return act(*given, **settings)

            return acted

        return type(
            kind.__name__, (kind,), {name: step(getattr(kind, name)) for name in _STATEMENTS if hasattr(kind, name)}
        )

    connect = sqlite3.connect

    def failing_connect(*given: Any, **settings: Any) -> Any:
        kind = failing(settings.pop("factory", sqlite3.Connection))
        kind.cursor = lambda self, made_by=sqlite3.Cursor: sqlite3.Connection.cursor(self, failing(made_by))
        return connect(*given, factory=kind, **settings)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", failing_connect)
        yield


@contextmanager
def postgresql_faults(fault: Fault, message: str = FULL_DISK) -> Iterator[None]:
    """Let a statement or a COPY in PostgreSQL fail while the block runs, or its connection be lost in place of it.

    The server itself refuses, so that what was begun is there as after a true fault.
    """
    from tests.surface.store import PostgresqlConnection

    refusal = "DO $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = 'disk_full'; END $$"
    refusal = "SELECT pg_terminate_backend(pg_backend_pid())" if message == LOST_CONNECTION else refusal

    def failing(act: Callable[..., Any]) -> Callable[..., Any]:
        def acted(self: PostgresqlConnection, *given: Any) -> Any:
            if fault.is_due():
                self.raw.execute(refusal)
            return act(self, *given)

        return acted

    with pytest.MonkeyPatch.context() as patch:
        for name in ("execute", "executemany", "insert"):
            patch.setattr(PostgresqlConnection, name, failing(getattr(PostgresqlConnection, name)))
        yield
