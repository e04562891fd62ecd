"""Edits of flows: which query the view asks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from riff_store.predicates import Predicate
from riff_tui.filters import split
from riff_tui.table import Table
from riff_tui.view_queries.result import ViewResult
from riff_tui.view_registry import spec_of

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_tui.catalog import Request

NO_EDITS = "No edits of flows are known yet: riff-tui edits --repo DIR --flows 'flows/{flow}.*' reads them from git."


def ask_edits(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.edits import edit_effects
    from riff_tui.views.edits import edits

    answer = ViewResult(request, *split(predicate, spec_of("edits").row_fields))
    found: list[bool] = []

    def make(calls: Predicate | None) -> Table:
        table = edits(edit_effects(store, calls))
        found.append(bool(table.rows))
        return table

    table = answer.of(make, recount=False)
    return table if any(found) else replace(table, notes=[NO_EDITS])
