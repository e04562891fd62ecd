"""Calls, in a list and one by one: which queries they ask, and how the list is ordered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from riff_store.predicates import Predicate
from riff_store.vocabulary import ALIASES
from riff_tui.errors import UsageError
from riff_tui.filters import split
from riff_tui.table import Column, Row, Table
from riff_tui.view_queries.result import ViewResult
from riff_tui.view_queries.sort_limit import sort_column
from riff_tui.views.spec import EMPTY_STORE

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_tui.catalog import Request


def ask_conversations(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.conversations import calls_of, conversation_ids, count_conversations
    from riff_tui.lazy_rows import LazyRows
    from riff_tui.views.conversations import COLUMNS, conversations, gone, row

    calls, _ = split(predicate, ())
    sort = _call_sort(request.sort, COLUMNS)
    try:
        ids = conversation_ids(store, calls, sort, request.limit)
    except UsageError:
        keys = ", ".join(column.key for column in COLUMNS)
        raise UsageError(f"--sort: calls have no column {request.sort}; there are {keys}") from None

    def fetch(offset: int, limit: int) -> list[Row]:
        wanted = ids[offset : offset + limit]
        found = {call.id: row(call) for call in calls_of(store, wanted)}
        return [found.get(key) or gone(key) for key in wanted]

    total = count_conversations(store)
    notes = [] if total else [EMPTY_STORE]
    return replace(conversations(LazyRows(len(ids), fetch, ids)), notes=notes, hidden=max(0, total - len(ids)))


def ask_conversation(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.conversation import conversation as told
    from riff_tui.text.redaction import LIMITS, Redactor
    from riff_tui.view_queries.one_call import the_call
    from riff_tui.views.conversation import conversation

    call = the_call(store, predicate)
    detail = told(store, call.run, call.conversation)
    if detail is None:
        raise UsageError(f"conversation {call.conversation} of run {call.run} is gone; run it again")
    table = conversation(detail, text=request.text, redact=Redactor() if request.redact else None)
    if request.text and request.redact:
        table = replace(table, notes=[*table.notes, LIMITS])
    return ViewResult(request, None, None).of(lambda _: table)


def _call_sort(sort: str | None, known: Sequence[Column]) -> str | None:
    """The column as the queries call it; a metric of states is none of the list's but can be sorted by."""
    if sort is None:
        return None
    try:
        key = sort_column(known, sort).key
    except UsageError:
        name = sort.removeprefix("-")
        key = ALIASES.get(name.lower(), name)
    return f"-{key}" if sort.startswith("-") else key
