"""A made-up schema before the present one, whose runs are kept without who wrote them, and which keeps no sums."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.support.facts import call, fresh, put, verdict
from tests.surface.store import SCHEMA_VERSION, Connection, Step, migrations, schema

EARLIER = SCHEMA_VERSION - 1
STEP = 'ALTER TABLE "run" ADD COLUMN "written_by" TEXT'
_SUMS = ("call_rollup", "state_rollup", "state_total", "aspect_rollup", "aspect_total")


@contextmanager
def stepped(steps: Mapping[int, Step] | None = None) -> Iterator[None]:
    """Let steps lead from that schema to the present one; others where they are given."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrations, "STEPS", {EARLIER: _step} if steps is None else steps)
        patch.setattr(schema, "OLDEST_SCHEMA", EARLIER)
        yield


def _step(connection: Connection) -> None:
    connection.execute(STEP)


def made_earlier(path: Path) -> Path:
    """Make a store what that schema would have written."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute('ALTER TABLE "run" DROP COLUMN "written_by"')
        for table in _SUMS:
            connection.execute(f'DELETE FROM "{table}"')
        connection.execute(f"PRAGMA user_version = {EARLIER}")
        connection.commit()
    return path


def earlier_store(path: Path) -> Path:
    """Write a store of that schema."""
    return made_earlier(store_of_today(path))


def store_of_today(path: Path) -> Path:
    """Write a store with the calls of `earlier_store`."""
    with fresh(path) as store:
        put(
            store,
            "/in/a.jsonl",
            [call("c-1", commit="ab12", started_at=1_000_000), call("c-2", errored=True, started_at=2_000_000)],
        )
        put(store, "/in/b.jsonl", [call("c-3", run="night-2", agent="model-b", started_at=90_000_000)])
        judged = verdict("c-1", 7.0, rationale="warm", model="gpt", prompt_hash="ab")
        put(store, "/in/humanness.jsonl", [judged, verdict("c-9", None, line=2)])
    return path
