"""Ask what explains quality or another aspect."""

from __future__ import annotations

from dataclasses import replace

from riff_store.answers.effects import QUALITY
from riff_store.queries.effects import UnknownAspect, effects
from riff_tui.errors import UsageError
from riff_tui.table import Table
from riff_tui.view_queries.view_query import FilterParts, ViewQuery
from riff_tui.views.spec import EMPTY_STORE

NO_CALL = "No call matches the filter, so there is nothing to explain."


def show_effects(query: ViewQuery) -> Table:
    """Return the model of the aspect that is asked for; raises `UsageError` where no call was scored for it."""
    calls, rows, judges = query.parts()
    try:
        answer = effects(query.store, calls, judges, query.request.aspect or QUALITY)
    except UnknownAspect as error:
        raise UsageError(f"--aspect: {error.message}", error.hint) from None
    table = query.result(FilterParts(rows=rows), lambda _: query.build(answer))
    if answer.model.n or answer.unmeasured or answer.excluded:
        return table
    return replace(table, notes=[*table.notes, EMPTY_STORE if query.predicate is None else NO_CALL])
