"""A statement that never ends by itself, and how to know that it runs."""

from __future__ import annotations

import sqlite3
import threading

from tests.surface.store import Store

ENDLESS = (
    "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n)"
    " SELECT count(*) FROM n WHERE i > (SELECT begun())"
)


def _of(store: Store) -> sqlite3.Connection:
    connection = store.connection
    assert isinstance(connection, sqlite3.Connection)
    return connection


def announced(store: Store) -> threading.Event:
    """Return what is set once a store executes `ENDLESS`."""
    begun = threading.Event()

    def begin() -> int:
        begun.set()
        return 0

    _of(store).create_function("begun", 0, begin)
    # Such a statement would be ended for what it takes, too.
    _of(store).set_progress_handler(None, 0)
    return begun
