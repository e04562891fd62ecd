"""Bring an older store in PostgreSQL to the present schema, in the transaction that its caller holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from riff_store import models
from riff_store.engines.engine import Connection
from riff_store.engines.postgresql_schema import TABLE
from riff_store.errors import StoreError
from riff_store.migrations import derive

Step = Callable[[Connection], None]

STEPS: Mapping[int, Step] = {}
"""From a schema version to the step that leads to the next one; the first stores in PostgreSQL have schema 7."""


def migrate(
    connection: Connection,
    version: int,
    location: str,
) -> None:
    """Run every step from a version on; where another process migrated first there is nothing left to do."""
    steps, target = STEPS, models.SCHEMA_VERSION
    missing = [number for number in range(version, target) if number not in steps]
    if missing:
        raise StoreError(
            f"{location}: schema {version} cannot be migrated to {target}", "ingest again into a new store"
        )
    for number in range(version, target):
        steps[number](connection)
    if version < target:
        derive(connection)
        connection.execute(f"UPDATE {TABLE} SET schema_version = ?", (target,))
