"""What explains quality: which query is asked, and what of the filter is about calls, judges or rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from riff_store.predicates import Predicate
from riff_tui.errors import UsageError
from riff_tui.filters import split, take_judges
from riff_tui.table import Table
from riff_tui.view_queries.result import ViewResult
from riff_tui.view_registry import spec_of
from riff_tui.views.spec import EMPTY_STORE

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_tui.catalog import Request

NO_CALL = "No call matches the filter, so there is nothing to explain."


def ask_effects(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.answers.effects import QUALITY
    from riff_store.queries.effects import UnknownAspect
    from riff_store.queries.effects import effects as model_of
    from riff_tui.views.effects import effects

    judges, rest = take_judges(predicate)
    calls, rows = split(rest, spec_of("effects").row_fields)
    try:
        answer = model_of(store, calls, judges, request.aspect or QUALITY)
    except UnknownAspect as error:
        raise UsageError(f"--aspect: {error.message}", error.hint) from None
    table = ViewResult(request, None, rows).of(lambda _: effects(answer), recount=False)
    if predicate is None and not (answer.model.n or answer.unmeasured or answer.excluded):
        return replace(table, notes=[*table.notes, EMPTY_STORE])
    if not (answer.model.n or answer.unmeasured or answer.excluded):
        return replace(table, notes=[*table.notes, NO_CALL])
    return table
