"""Ask for the codes that people gave; a filter of codes chooses rows, whose shares stay as they are."""

from __future__ import annotations

from dataclasses import replace

from riff_store.queries.codes import codes
from riff_store.queries.conversations import count_conversations
from riff_tui.table import Table
from riff_tui.view_queries.view_query import ViewQuery
from riff_tui.views.codes import NO_CODE
from riff_tui.views.codes import codes as build
from riff_tui.views.spec import EMPTY_STORE


def show_codes(query: ViewQuery) -> Table:
    """Return the codes of the calls in scope."""
    table = query.result(query.parts().of_rows_alone(), lambda parts: build(codes(query.store, parts.calls)))
    if table.rows or table.counts.total:
        return table
    return replace(table, notes=[*table.notes, NO_CODE] if count_conversations(query.store) else [EMPTY_STORE])
