"""Ask where failed calls first went wrong; what a filter says of that chooses rows, whose shares stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from riff_store.predicates import terms
from riff_store.queries.conversations import count_conversations
from riff_store.queries.sums import reads_columns
from riff_tui.table import Table
from riff_tui.view_queries.view_query import BuildTable, ViewQuery
from riff_tui.views.spec import EMPTY_STORE

COUNTING = "counting who took each step"
TESTING = "testing what stands out"
NONE_FAILED = "No call failed: each was served, or errored, or nothing says how it ended."


def show_failure_matrix(query: ViewQuery) -> Table:
    """Return the cells of the flows in scope, with a grid where there is one flow."""
    from riff_store.queries.failure_matrix import failure_matrix
    from riff_tui.views.failure_matrix import failure_matrix as build

    def table(whole: bool) -> Table:
        return _shown(query, lambda parts: build(failure_matrix(query.store, parts.calls, whole=whole)))

    # The grid of one flow would push down rows that were there before.
    has_grid = any(term.field == "flow" for term in terms(query.predicate))
    return table(True) if has_grid else _in_two_parts(query, table, COUNTING, ("rate", "taken"))


def show_causes(query: ViewQuery) -> Table:
    """Return the groups of failed calls."""
    from riff_store.queries.causes import causes
    from riff_tui.views.causes import causes as build

    def table(whole: bool) -> Table:
        return _shown(query, lambda parts: build(causes(query.store, parts.calls, whole=whole)))

    return _in_two_parts(query, table, TESTING, ("stands_out", "lift"))


def show_failure_shifts(query: ViewQuery) -> Table:
    """Return where the failed calls of two sides differ."""
    from riff_store.queries.failure_shifts import failure_shifts

    assert query.request.sides is not None
    a, b = query.request.sides
    return _shown(query, lambda parts: query.build(failure_shifts(query.store, a, b, parts.calls)))


def _in_two_parts(query: ViewQuery, table: Callable[[bool], Table], doing: str, later: Collection[str]) -> Table:
    is_long = reads_columns(query.store, query.parts().of_rows_alone().calls)
    return query.in_two_parts(table, doing, later) if is_long else table(True)


def _shown(query: ViewQuery, build: BuildTable) -> Table:
    table = query.result(query.parts().of_rows_alone(), build)
    if table.rows or table.counts.total:
        return table
    return replace(table, notes=[NONE_FAILED if count_conversations(query.store) else EMPTY_STORE])
