"""Bring an older store to the present schema, in one transaction, and one in SQLite after a copy."""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from riff_store import schema
from riff_store.engines.engine import Connection
from riff_store.engines.sqlite_connection import connect
from riff_store.engines.sqlite_errors import store_error_of
from riff_store.engines.sqlite_schema import check_plain, check_schema
from riff_store.errors import NO_ROOM, StoreError, StoreReadOnly
from riff_store.write import quality, rollups, verdicts

Step = Callable[[Connection], None]


STEPS: Mapping[int, Step] = {}
"""From a schema version to the step that leads to the next one."""


def backup_path(path: Path, version: int) -> Path:
    """Return the place where the copy of an older store is kept."""
    return path.with_name(f"{path.name}.schema-{version}.bak")


def run_steps(connection: Connection, version: int) -> None:
    """Bring the tables of an older store to the present schema, in a transaction that is open; `derive` follows."""
    for number in range(version, schema.SCHEMA_VERSION):
        STEPS[number](connection)


def migrate(path: Path) -> Path | None:
    """Copy a store in SQLite, then run every step from its version on; returns the copy's path.

    A failing step leaves the store as it was. Where another process migrated first there is nothing left to do,
    and the copy is that one's: `None`.
    """
    connection = connect(str(path))
    connection.bound(path)
    copy = None
    try:
        connection.execute("PRAGMA foreign_keys = OFF")
        # From here on nobody else writes, so that what is copied is what is migrated.
        connection.execute("BEGIN IMMEDIATE")
        try:
            found = connection.execute("PRAGMA user_version").fetchone()[0]
            if found < schema.SCHEMA_VERSION:
                check_plain(connection, str(path))
                copy = _copy(path, backup_path(path, found))
                run_steps(connection, found)
                check_schema(connection, str(path))
                derive(connection)
                connection.execute(f"PRAGMA user_version = {schema.SCHEMA_VERSION}")
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
    """Make again what follows from other rows: which verdicts count, what calls are worth, all sums and columns."""
    from riff_store.arrays.rows import pack_all

    verdicts.choose_all(connection)
    quality.settle_all(connection)
    rollups.recompute_all(connection)
    pack_all(connection)


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
