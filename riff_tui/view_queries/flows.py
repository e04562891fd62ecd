"""Ask for the flow matrix, and leave trends that take long for later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from riff_store.queries.first_to_mend import first_to_mend
from riff_store.queries.flows import flow_cells
from riff_store.queries.scope import needs
from riff_tui.table import Table, in_one_step
from riff_tui.view_queries.view_query import FilterParts, ViewQuery, matching
from riff_tui.views.parts.first_to_mend import what_is_first

if TYPE_CHECKING:
    from riff_store.answers.cells import FirstToMend


def show_flows(query: ViewQuery) -> Table:
    """Return the matrix with what is to be mended first, and trends if asked for; deferred where that takes long."""
    request, wanted = query.request, query.parts()

    def build(parts: FilterParts, *, trend: bool, edits: bool) -> Table:
        # All rows are only counted, unless they are what was asked for.
        own = parts.calls is wanted.calls
        cells = flow_cells(
            query.store, parts.calls, query.keys, wanted.judges, trend=trend and own, edits=edits and own
        )
        built = query.build(cells)
        if not own or parts.rows is None:
            return built
        left = {row.id for row in matching(built, parts.rows)}
        shown = query.build([cell for cell, row in zip(cells, built.rows, strict=True) if row.id in left])
        # The units stand for all columns; what else is noted is of the rows that are shown.
        return replace(built, notes=[*built.notes[:1], *shown.notes[1:]])

    def table(*, trend: bool, whole: bool = True) -> Table:
        found = query.result(wanted, partial(build, trend=trend, edits=whole))
        if not whole:
            return found
        first = first_to_mend(query.store, wanted.calls)
        # A filter of rows leaves calls out too: what is to be mended is in a row that it shows.
        if first is not None and wanted.rows is not None and not any(_loses(row.record, first) for row in found.rows):
            first = None
        return replace(found, **what_is_first(first))

    if request.trend and request.defer and needs(wanted.calls, query.keys) == "base":
        steps = partial(in_one_step, "reading how it went run by run", partial(table, trend=True))
        return replace(table(trend=False, whole=False), deferred=steps)
    return table(trend=request.trend)


def _loses(names: Mapping[str, Any], first: FirstToMend) -> bool:
    """Return whether a row is of the flow of the state that lost most calls, and of an agent that lost some there."""
    is_losing = "agent" not in names or (names["agent"] or "") in first.losing
    return is_losing and names.get("flow", first.flow) == first.flow
