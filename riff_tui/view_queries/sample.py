"""Ask for the reading list, and draw another one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from riff_store.answers.sample import ReadingList, Sample
from riff_store.queries.conversations import conversation_ids, count_conversations
from riff_store.queries.sample import candidates, reading_list
from riff_store.reading_list import KeptList
from riff_store.sampling import Draw, draw
from riff_tui.errors import UsageError
from riff_tui.filters import parse
from riff_tui.request import Request
from riff_tui.table import Table
from riff_tui.view_queries.nearest_names import unknown_names
from riff_tui.view_queries.view_query import FilterParts, ViewQuery
from riff_tui.view_registry import spec_of
from riff_tui.views.sample import NO_LIST, sample
from riff_tui.views.spec import EMPTY_STORE

if TYPE_CHECKING:
    from riff_store.database import Store


def show_sample(query: ViewQuery) -> Table:
    """Return the reading list of the store."""
    return _table(query, reading_list(query.store))


def unkept(store: Store, drawn: KeptList) -> Table:
    """Return the table of a list that was drawn and is not in the store."""
    spec = spec_of("sample")
    table = _table(ViewQuery(store, spec, Request()), reading_list(store, drawn))
    return replace(table, first=spec.first, last=spec.last)


def draw_calls(store: Store, asked: Sample) -> Draw:
    """Draw calls as a sample says; raises `UsageError` where there is none to draw."""
    predicate = parse(asked.expression)
    calls = ViewQuery(store, spec_of("conversations"), Request(), predicate).parts().calls
    found = candidates(store, calls)
    if found:
        return draw(found, asked.mix, asked.seed)
    if not count_conversations(store):
        raise UsageError("there is no call to draw: the store is empty; riff-tui ingest PATH... fills it")
    if count_conversations(store, calls):
        raise UsageError("there is no call to draw: all are errored, which says nothing of the agent")
    names = "; ".join(said.rstrip(".") for said in unknown_names(store, predicate))
    raise UsageError(f"no call matches {asked.expression}{f': {names}' if names else ''}")


def _table(query: ViewQuery, answer: ReadingList | None) -> Table:
    """Return the table of a list; a filter of calls leaves those of them that the store still has."""
    calls = () if answer is None else answer.calls

    def build(parts: FilterParts) -> Table:
        if parts.calls is None or not calls:
            return sample(answer, calls)
        left = set(conversation_ids(query.store, parts.calls))
        return sample(answer, [each for each in calls if each.call is not None and each.call.id in left])

    table = query.result(query.parts(), build)
    if answer is not None:
        return table
    return replace(table, notes=[NO_LIST if count_conversations(query.store) else EMPTY_STORE])
