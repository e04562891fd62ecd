"""Say why there are no edits."""

from __future__ import annotations

from dataclasses import replace

from riff_tui.table import Table
from riff_tui.view_queries.view_query import ViewQuery


def explain_empty(query: ViewQuery, table: Table) -> Table:
    """Return the table with what fills it where a filter left nothing of a store without any edit."""
    from riff_store.queries.edits import edit_effects

    if query.predicate is None or table.rows or edit_effects(query.store):
        return table
    return replace(table, notes=[query.spec.empty_store])
