"""Bring an older store in SQLite to the present schema, in one transaction, after a copy."""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from riff_store import models, quality, rollups, verdicts
from riff_store.columns import keeping
from riff_store.engines.engine import Connection
from riff_store.engines.sqlite_connection import SqliteConnection, connect
from riff_store.engines.sqlite_errors import store_error_of
from riff_store.engines.sqlite_schema import check_schema
from riff_store.errors import NO_ROOM, StoreError, StoreReadOnly
from riff_store.first_schema import FIRST
from riff_store.migration_steps import (
    CALLERS,
    EDITS_AND_EVIDENCE,
    IDENTITY_AND_QUALITY,
    INTERACTION_AND_NOTES,
    READING,
    SCALE,
)

Step = Callable[[SqliteConnection], None]


def _statements(step: str) -> Step:
    def run(connection: SqliteConnection) -> None:
        for statement in step.split(";\n"):
            connection.execute(statement)

    return run


FIRST_STEP = _statements(FIRST)
"""What makes an empty store of schema 1."""
STEPS: Mapping[int, Step] = {
    1: _statements(EDITS_AND_EVIDENCE),
    2: _statements(IDENTITY_AND_QUALITY),
    3: _statements(CALLERS),
    4: _statements(INTERACTION_AND_NOTES),
    5: _statements(READING),
    6: _statements(SCALE),
}
"""From a schema version to the step that leads to the next one."""


def backup_path(path: Path, version: int) -> Path:
    """Return the place where the copy of an older store is kept."""
    return path.with_name(f"{path.name}.schema-{version}.bak")


def migrate(
    path: Path, version: int, steps: Mapping[int, Step] = STEPS, target: int = models.SCHEMA_VERSION
) -> Path | None:
    """Copy the store, then run every step from its version on; returns the copy's path.

    A failing step leaves the store as it was. Where another process migrated first there is nothing left to do,
    and the copy is that one's: `None`.
    """
    missing = [number for number in range(version, target) if number not in steps]
    if missing:
        raise StoreError(f"{path}: schema {version} cannot be migrated to {target}", "ingest again into a new store")
    connection = connect(str(path))
    connection.bound(path)
    try:
        connection.execute("PRAGMA foreign_keys = OFF")
        # From here on nobody else writes, so that what is copied is what is migrated.
        connection.execute("BEGIN IMMEDIATE")
        try:
            found = connection.execute("PRAGMA user_version").fetchone()[0]
            check_schema(connection, found, str(path))
            copy = _copy(path, backup_path(path, found)) if found < target else None
            for number in range(found, target):
                steps[number](connection)
            if found < target:
                derive(connection)
            connection.execute(f"PRAGMA user_version = {max(found, target)}")
            broken = connection.execute("PRAGMA foreign_key_check").fetchone()
            if broken:
                raise StoreError(f"{path}: migration would lose rows of {broken[0]}; the store was left as it is")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    except (sqlite3.Error, UnicodeDecodeError, OSError) as error:
        raise store_error_of(error, str(path)) or error from error
    finally:
        connection.close()
    return copy


def derive(connection: Connection) -> None:
    """Make anew what follows from other rows: which verdicts count, what calls are worth, all sums and columns."""
    verdicts.choose_all(connection)
    quality.settle_all(connection)
    rollups.recompute_all(connection)
    keeping.pack_all(connection)


def _copy(path: Path, to: Path) -> Path:
    draft = to.with_name(f".{to.name}.{secrets.token_hex(4)}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(path)) as store, closing(sqlite3.connect(draft)) as copy:
            store.backup(copy)
        os.replace(draft, to)
    except OSError as error:
        _drop(draft)
        if error.errno in NO_ROOM:
            raise
        why = error.strerror or type(error).__name__
        raise StoreReadOnly(
            f"{path}: cannot be migrated, for no copy can be made at {to} ({why})",
            "copy the store to where you may write and migrate it there",
        ) from error
    except sqlite3.Error:
        _drop(draft)
        raise
    return to


def _drop(draft: Path) -> None:
    for name in (draft, draft.with_name(f"{draft.name}-journal")):
        name.unlink(missing_ok=True)
