"""Ask for the flow matrix, and leave trends that take long for later."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from riff_store.queries.first_to_mend import first_to_mend
from riff_store.queries.flows import flow_cells
from riff_store.queries.scope import needs
from riff_tui.table import Table, in_one_step
from riff_tui.view_queries.view_query import FilterParts, ViewQuery
from riff_tui.views.parts.first_to_mend import what_is_first


def show_flows(query: ViewQuery) -> Table:
    """Return the matrix with what is to be mended first, and trends if asked for; deferred where that takes long."""
    request, wanted = query.request, query.parts()

    def build(parts: FilterParts, *, trend: bool, edits: bool) -> Table:
        # All rows are only counted, unless they are what was asked for.
        own = parts.calls is wanted.calls
        cells = flow_cells(
            query.store, parts.calls, query.keys, wanted.judges, trend=trend and own, edits=edits and own
        )
        return query.build(cells)

    def table(*, trend: bool, whole: bool = True) -> Table:
        found = query.result(wanted, partial(build, trend=trend, edits=whole))
        return replace(found, **what_is_first(first_to_mend(query.store, wanted.calls))) if whole else found

    if request.trend and request.defer and needs(wanted.calls, query.keys) == "base":
        steps = partial(in_one_step, "reading how it went run by run", partial(table, trend=True))
        return replace(table(trend=False, whole=False), deferred=steps)
    return table(trend=request.trend)
