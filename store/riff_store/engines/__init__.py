"""Reach stores of each kind of database; nothing outside of this package knows which kind a store is."""

from __future__ import annotations

import os
from pathlib import Path

from riff_store import packages as packages
from riff_store.engines.engine import Engine
from riff_store.errors import StoreError, how_to_install
from riff_store.location import is_miswritten, is_on_server, without_secrets


def engine_at(location: str | Path) -> Engine:
    """Return the engine for the store at a path, or at an address of PostgreSQL.

    Raises `StoreError` for a place of a kind that is not known, or whose client is not installed.
    """
    text = os.fspath(location)
    if is_on_server(text):
        try:
            from riff_store.engines.postgresql import PostgresqlEngine
        except ModuleNotFoundError as error:
            if error.name != "psycopg":
                raise
            message = f"{without_secrets(text)}: stores in PostgreSQL need a package that is not installed"
            raise StoreError(message, how_to_install("postgres")) from None
        return PostgresqlEngine(text)
    if is_miswritten(text):
        raise StoreError(
            f"{without_secrets(text)}: no address of a store in PostgreSQL",
            "write postgresql://HOST/DATABASE or service=NAME, and ./ before the name of a file",
        )
    if "://" in text:
        raise StoreError(
            f"{without_secrets(text)}: stores are SQLite files or in PostgreSQL", "give a path or postgresql://…"
        )
    from riff_store.engines.sqlite import SqliteEngine

    return SqliteEngine(text)
