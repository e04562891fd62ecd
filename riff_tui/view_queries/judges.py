"""Ask what takes judges or repeats, and say why there is none of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from riff_store.predicates import terms
from riff_tui.table import Table
from riff_tui.view_queries.view_query import FilterParts, ViewQuery
from riff_tui.views.spec import EMPTY_STORE

if TYPE_CHECKING:
    from riff_store.answers.agreement import Disputes


def finish_judges(query: ViewQuery, table: Table) -> Table:
    """Tell calls that nobody judged from a store without any call."""
    from riff_store.queries.conversations import count_conversations
    from riff_tui.views.agreement import NO_JUDGES

    if table.counts.total or query.predicate is not None or not count_conversations(query.store):
        return table
    return replace(table, notes=[NO_JUDGES])


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
    """Return the widest disputes only, unless it is said how many: those that are left out are counted."""
    from riff_store.queries.disputes import disputes
    from riff_tui.views.disputes import LISTED, NO_DISPUTES, NONE_HERE

    calls, rows, judges = query.parts()
    limit = LISTED if query.request.limit is None else query.request.limit
    # A bare word looks through all names of a row, and another order at all rows, so these have to be there first.
    wordy = any(term.field is None for term in terms(rows))
    early = None if wordy or query.request.sort not in (None, query.spec.order_by) else limit
    found: Disputes = disputes(query.store, calls, judges, None if wordy else rows, early)
    total = found.total if query.predicate is None else disputes(query.store, limit=0).total
    table = query.result(FilterParts(rows=rows if wordy else None), lambda _: query.build(found))
    why = NO_DISPUTES if query.predicate is None else NONE_HERE
    notes = list(table.notes) if table.rows else [why, *table.notes[2:]]
    return replace(table, notes=notes, total=total, matched=table.matched if wordy else found.total, limit=limit)
