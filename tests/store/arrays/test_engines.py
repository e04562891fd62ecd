"""What PostgreSQL packs is what SQLite does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.facts import put
from tests.support.packed_stores import packed, small_groups
from tests.support.postgresql_server import Server
from tests.support.random_stores import world
from tests.surface.store import Writer, examine, flow_cells, open_store, state_cells
from tests.surface.tui import parse

__all__ = ["small_groups"]


@pytest.mark.usefixtures("small_groups")
def test_both_engines_pack_the_same(tmp_path: Path, postgresql: Server) -> None:
    made, calls = world(5, 40), parse("persona=hurried | correctness<5")
    with open_store(postgresql.store(), write=True, create=True) as served:
        put(served, "calls.jsonl", made.calls)
        put(served, "verdicts.jsonl", made.verdicts)
        Writer(served).pack()
        assert examine(served).wrong == []
        with packed(made, tmp_path / "calls.db") as local:
            listed = "SELECT name, row_group, n FROM column_chunk ORDER BY 1, 2"
            assert served.execute_sql(listed) == local.execute_sql(listed)
            assert flow_cells(served, calls) == flow_cells(local, calls)
            assert list(state_cells(served, calls)) == list(state_cells(local, calls))
        put(served, "calls.jsonl", made.calls[:20], sha256="bb")
        Writer(served).pack()
        assert examine(served).wrong == []
