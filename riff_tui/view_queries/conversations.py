"""Ask for the list of calls, whose rows are read a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from riff_store.queries.annotations import notes_by_call
from riff_store.queries.call_list import CallList
from riff_store.queries.conversations import calls_of, count_conversations, has_any, ordered_ids
from riff_store.vocabulary import ALIASES
from riff_tui.errors import UsageError
from riff_tui.table import Column, LazyRows, Row, Table, in_one_step
from riff_tui.view_queries.sort_limit import sort_column
from riff_tui.view_queries.view_query import ViewQuery
from riff_tui.views.conversations import conversations, gone, row
from riff_tui.views.spec import EMPTY_STORE

if TYPE_CHECKING:
    from riff_store.predicates import Predicate

COUNTING = "counting the calls"
LOOKED_AT = 50_000
"""Of more calls than these a screen shows the first that match before all are counted."""
BEGUN = 1024
"""So many of them at most."""


def show_conversations(query: ViewQuery) -> Table:
    """Return the calls, sorted by the store; where counting takes long, at first only those that stand first."""
    sort, calls, request = _sort_key(query.request.sort, query.spec.columns), query.parts().calls, query.request
    if sort is not None:
        return _table(query, calls, _in_order(query, calls, sort), sort)
    listed = CallList(query.store, calls)
    if request.limit is not None:
        # All are counted in any case, and where that is done first, only runs that have some are looked through.
        listed.settle()
        return _table(query, calls, listed.first(request.limit), matched=len(listed))
    if request.defer and not listed.is_counted and listed.at_most > LOOKED_AT:
        begun = listed.first(BEGUN, LOOKED_AT)
        if begun:
            return replace(
                _table(query, calls, begun),
                deferred=partial(in_one_step, COUNTING, partial(_counted, query, calls, listed)),
            )
    return _counted(query, calls, listed)


def _counted(query: ViewQuery, calls: Predicate | None, listed: CallList) -> Table:
    with query.store.snapshot():
        listed.settle()
        return _table(query, calls, listed)


def _in_order(query: ViewQuery, calls: Predicate | None, sort: str) -> Sequence[int]:
    try:
        return ordered_ids(query.store, calls, sort, query.request.limit)
    except UsageError:
        keys = ", ".join(column.key for column in query.spec.columns)
        raise UsageError(f"--sort: calls have no column {query.request.sort}; there are {keys}") from None


def _table(
    query: ViewQuery, calls: Predicate | None, keys: Sequence[int], sort: str = "", matched: int | None = None
) -> Table:
    """Return the list of calls of some keys, which are read page by page as they are touched."""
    store, limit = query.store, query.request.limit

    def fetch(offset: int, limit: int) -> list[Row]:
        wanted = keys[offset : offset + limit]
        found = {call.id: row(call) for call in calls_of(store, wanted)}
        # A key may be gone since it was read, and since they were counted even its place.
        lost = (gone(place) for place in range(offset + len(wanted), offset + limit))
        return [*(found.get(key) or gone(key) for key in wanted), *lost]

    noted = notes_by_call(store).keys()
    is_noted = not noted.isdisjoint(keys) if limit is not None else has_any(store, noted, calls)
    find = getattr(keys, "place_of", None)
    table = conversations(LazyRows(len(keys), fetch, keys, find), noted=is_noted)
    if matched is None:
        matched = len(keys) if limit is None else count_conversations(store, calls)
    total = count_conversations(store)
    return replace(
        table,
        notes=[] if total else [EMPTY_STORE],
        total=total,
        matched=matched,
        limit=limit,
        sort=sort,
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
