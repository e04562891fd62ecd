"""Stores as earlier schemas wrote them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tests.support.facts import call, fresh, put, verdict

SCHEMAS = Path(__file__).resolve().parents[1] / "store" / "schemas"


def restore(version: int, path: Path) -> Path:
    """Restore the store of an earlier schema as it was written then."""
    connection = sqlite3.connect(path)
    connection.executescript((SCHEMAS / f"{version}.sql").read_text())
    connection.close()
    return path


def of_today(path: Path) -> Path:
    """Write what the stores of earlier schemas were filled with as it is written now."""
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
