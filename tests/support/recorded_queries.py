"""Record the queries that a store runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from tests.surface.store import Store


@contextmanager
def recorded_queries(store: Store) -> Iterator[list[str]]:
    """Collect the SQL of every query that is run inside."""
    statements: list[str] = []
    execute = store.execute

    def recording(query: object) -> list[tuple[object, ...]]:
        statements.append(store.engine.compiled(query)[0])
        return execute(query)

    with patch.object(store, "execute", recording):
        yield statements
