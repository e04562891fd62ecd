"""Ask for the list of calls, whose rows are read a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from riff_store.queries.annotations import notes_by_call
from riff_store.queries.conversations import calls_of, conversation_ids, count_conversations
from riff_store.vocabulary import ALIASES
from riff_tui.errors import UsageError
from riff_tui.lazy_rows import LazyRows
from riff_tui.table import Column, Row, Table
from riff_tui.view_queries.sort_limit import sort_column
from riff_tui.view_queries.view_query import ViewQuery
from riff_tui.views.conversations import conversations, gone, row
from riff_tui.views.spec import EMPTY_STORE


def show_conversations(query: ViewQuery) -> Table:
    """Return the calls, sorted by the store."""
    sort, calls, limit = _sort_key(query.request.sort, query.spec.columns), query.parts().calls, query.request.limit
    try:
        ids = conversation_ids(query.store, calls, sort, limit)
    except UsageError:
        keys = ", ".join(column.key for column in query.spec.columns)
        raise UsageError(f"--sort: calls have no column {query.request.sort}; there are {keys}") from None

    def fetch(offset: int, limit: int) -> list[Row]:
        wanted = ids[offset : offset + limit]
        found = {call.id: row(call) for call in calls_of(query.store, wanted)}
        return [found.get(key) or gone(key) for key in wanted]

    total = count_conversations(query.store)
    matched = len(ids) if limit is None else count_conversations(query.store, calls)
    noted = notes_by_call(query.store).keys()
    table = conversations(LazyRows(len(ids), fetch, ids), noted=not noted.isdisjoint(ids))
    return replace(
        table, notes=[] if total else [EMPTY_STORE], total=total, matched=matched, limit=limit, sort=sort or ""
    )


def _sort_key(sort: str | None, known: Sequence[Column]) -> str | None:
    """Return the column as queries call it; a metric of states is none of the list's but can be sorted by."""
    if sort is None:
        return None
    try:
        key = sort_column(known, sort).key
    except UsageError:
        name = sort.removeprefix("-")
        key = ALIASES.get(name.lower(), name)
    return f"-{key}" if sort.startswith("-") else key
