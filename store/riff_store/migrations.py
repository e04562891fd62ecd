"""Bring an older store to the present schema, in one transaction, after a copy."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path

from riff_store import models
from riff_store.errors import StoreError, StoreReadOnly, translated

Step = Callable[[sqlite3.Connection], None]


def _edits_and_evidence(connection: sqlite3.Connection) -> None:
    connection.execute('ALTER TABLE "judged_score" ADD COLUMN "prompt_version" TEXT')
    connection.execute('ALTER TABLE "judged_score" ADD COLUMN "evidence" TEXT')
    connection.execute(
        'CREATE TABLE "flow_edit" ("repository" TEXT NOT NULL, "flow_name" TEXT NOT NULL, "position" INTEGER NOT NULL,'
        ' "commit" TEXT NOT NULL, "time" INTEGER NOT NULL, "author" TEXT NOT NULL, "subject" TEXT NOT NULL,'
        ' "path" TEXT NOT NULL, PRIMARY KEY ("repository", "flow_name", "position")) WITHOUT ROWID'
    )


STEPS: Mapping[int, Step] = {1: _edits_and_evidence}
"""From a schema version to the step that leads to the next one."""


def backup_path(path: Path, version: int) -> Path:
    """Where the copy of an older store is kept."""
    return path.with_name(f"{path.name}.schema-{version}.bak")


def migrate(path: Path, version: int, steps: Mapping[int, Step] = STEPS, target: int = models.SCHEMA_VERSION) -> Path:
    """Copy the store, then run every step from its version on; returns the copy's path.

    A failing step leaves the store as it was. Another process that migrates first wins.
    """
    missing = [number for number in range(version, target) if number not in steps]
    if missing:
        raise StoreError(f"{path}: schema {version} cannot be migrated to {target}; ingest again into a new store")
    connection = sqlite3.connect(path, isolation_level=None, timeout=10)
    try:
        copy = _copy(connection, path, backup_path(path, version))
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("BEGIN IMMEDIATE")
        try:
            found = connection.execute("PRAGMA user_version").fetchone()[0]
            for number in range(found, target):
                steps[number](connection)
            connection.execute(f"PRAGMA user_version = {target}")
            broken = connection.execute("PRAGMA foreign_key_check").fetchone()
            if broken:
                raise StoreError(f"{path}: migration would lose rows of {broken[0]}; the store was left as it is")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    except sqlite3.Error as error:
        raise translated(error, str(path)) or error from error
    finally:
        connection.close()
    return copy


def _copy(connection: sqlite3.Connection, path: Path, to: Path) -> Path:
    draft = to.with_name(f".{to.name}.{os.getpid()}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600))
        copy = sqlite3.connect(draft)
        try:
            connection.backup(copy)
        finally:
            copy.close()
        os.replace(draft, to)
    except OSError as error:
        draft.unlink(missing_ok=True)
        why = error.strerror or type(error).__name__
        raise StoreReadOnly(f"{path}: cannot be migrated, for no copy can be made at {to} ({why})") from error
    except sqlite3.Error:
        draft.unlink(missing_ok=True)
        raise
    return to
