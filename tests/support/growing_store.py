"""Calls that are added to a store while somebody looks at it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support import tiny_store
from tests.surface.ingest import ingest
from tests.surface.store import Writer, open_store


def ingest_more(store: Path, first: int, count: int = 1, latency: int = 700) -> None:
    """Add some more calls of `viewing` with gemini over a connection of their own."""
    folder = store.parent / f"more-{first}"
    folder.mkdir()
    numbers = range(first, first + count)
    calls = [tiny_store.viewing(number, "gemini", "books", run="run-2", latency=latency) for number in numbers]
    path = folder / f"flow-transcripts-{first}.jsonl"
    path.write_text("".join(json.dumps(call) + "\n" for call in calls), encoding="utf-8")
    with open_store(store, write=True) as opened:
        ingest([path], Writer(opened))
