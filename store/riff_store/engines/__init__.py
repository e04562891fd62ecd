"""Reach stores of each kind of database; nothing outside of this package knows which kind a store is."""

from __future__ import annotations

import os
from pathlib import Path

from riff_store.engines.engine import Engine
from riff_store.errors import StoreError
from riff_store.location import without_secrets


def engine_at(location: str | Path) -> Engine:
    """Return the engine for the store at a path; raises `StoreError` for a place of a kind that is not known."""
    text = os.fspath(location)
    if "://" in text:
        raise StoreError(f"{without_secrets(text)}: only stores in a local SQLite file can be opened", "give a path")
    from riff_store.engines.sqlite import SqliteEngine

    return SqliteEngine(text)
