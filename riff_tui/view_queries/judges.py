"""Ask what takes judges or repeats, and say why there is none of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from riff_store.predicates import terms
from riff_tui.table import Table
from riff_tui.view_queries.sort_limit import sort_column
from riff_tui.view_queries.view_query import FilterParts, ViewQuery
from riff_tui.views.spec import EMPTY_STORE

if TYPE_CHECKING:
    from riff_store.answers.agreement import Disputes
    from riff_store.queries.disputes import Order

LOOKING_UP = "looking up the versions of prompts"


def show_judges(query: ViewQuery) -> Table:
    """Return the judges; tell calls that nobody judged from a store without any call."""
    from riff_store.queries.conversations import count_conversations
    from riff_store.queries.judges import judges
    from riff_tui.views.agreement import NO_JUDGES

    def table(whole: bool) -> Table:
        return query.result(query.parts(), lambda parts: query.build(judges(query.store, parts.calls, whole=whole)))

    found = query.in_two_parts(table, LOOKING_UP, ("prompt_version",))
    if found.counts.total or query.predicate is not None or not count_conversations(query.store):
        return found
    return replace(found, notes=[NO_JUDGES])


def finish_agreement(query: ViewQuery, table: Table) -> Table:
    """Say that there are no judges where there are none at all."""
    from riff_tui.views.agreement import NO_JUDGES

    return table if table.counts.total or query.predicate is not None else replace(table, notes=[NO_JUDGES])


def finish_alignment(query: ViewQuery, table: Table) -> Table:
    """Say how verdicts of people come about where there are none beside those of judges."""
    from riff_tui.views.alignment import NOBODY

    return table if table.counts.total or query.predicate is not None else replace(table, notes=[NOBODY])


def finish_repeats(query: ViewQuery, table: Table) -> Table:
    """Tell calls that are not repeated from a store without any call."""
    from riff_tui.views.repeats import NO_REPEATS

    if table.counts.total:
        return table
    left_out = list(table.notes[2:])
    return replace(table, notes=[NO_REPEATS, *left_out] if left_out or query.predicate is not None else [EMPTY_STORE])


def show_disputes(query: ViewQuery) -> Table:
    """Return the first disputes only, unless it is said how many: those that are left out are counted."""
    from riff_store.answers.agreement import Disputes
    from riff_store.queries.disputes import FoundDisputes, disputes
    from riff_tui.views.disputes import LISTED, NO_DISPUTES, NONE_HERE

    calls, rows, judges = query.parts()
    limit = LISTED if query.request.limit is None else query.request.limit
    wordy = any(term.field is None for term in terms(rows))
    found = FoundDisputes(query.store, calls, judges, rows)
    # Columns of judges stand for what a bare word is looked for in, and in another order for all that is found.
    heard = found.judges(every=wordy) if wordy or query.request.sort not in (None, query.spec.order_by) else set()
    order = _order(query, Disputes([], 0, 0, heard))
    answer = Disputes(found.listed(limit, order), found.total, found.agreed, heard)
    total = found.total if query.predicate is None else disputes(query.store, limit=0).total
    table = query.result(FilterParts(rows=rows if wordy else None), lambda _: query.build(answer))
    why = NO_DISPUTES if query.predicate is None else NONE_HERE
    notes = list(table.notes) if table.rows else [why, *table.notes[2:]]
    return replace(table, notes=notes, total=total, matched=found.total, limit=limit)


def _order(query: ViewQuery, without_rows: Disputes) -> Order | None:
    """Return the order that is asked for, `None` for the disputes' own."""
    from riff_store.queries.disputes import Order

    sort = query.request.sort
    if sort in (None, query.spec.order_by):
        return None
    return Order(sort_column(query.build(without_rows).columns, sort).key, sort.startswith("-"))
