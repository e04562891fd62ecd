"""Ask for the worklist, ranked in full so that what a limit leaves out is counted."""

from __future__ import annotations

from dataclasses import replace

from riff_store.queries.conversations import count_conversations
from riff_store.queries.worklist import worklist
from riff_tui.table import Table
from riff_tui.view_queries.view_query import ViewQuery
from riff_tui.views.spec import EMPTY_STORE

_ALL = 10**9


def show_worklist(query: ViewQuery) -> Table:
    """Return the three ranked lists, as many of each as requested."""
    table = query.result(query.parts(), lambda parts: query.build(worklist(query.store, parts.calls, _ALL)))
    if table.rows or count_conversations(query.store):
        return table
    return replace(table, notes=[*table.notes, EMPTY_STORE])
