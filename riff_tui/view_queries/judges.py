"""How far judges agree, where they differ, and how steady repeats are: which queries these ask."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from riff_store.predicates import Predicate, terms
from riff_tui.filters import split, take_judges
from riff_tui.table import Table
from riff_tui.view_queries.result import ViewResult, fields_of, keys_of
from riff_tui.view_registry import spec_of
from riff_tui.views.spec import EMPTY_STORE

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_tui.catalog import Request

DISPUTES = 50


def ask_agreement(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.agreement import agreement as pairs
    from riff_tui.views.agreement import NO_JUDGES, agreement

    judges, rest = take_judges(predicate)
    answer = ViewResult(request, *split(rest, spec_of("agreement").row_fields))
    table = answer.of(lambda calls: agreement(pairs(store, calls, judges)))
    if not table.rows and predicate is None and not table.hidden:
        return replace(table, notes=[NO_JUDGES])
    if judges is not None:
        every = len(agreement(pairs(store)).rows)
        table = replace(table, hidden=max(0, every - len(table.rows)))
    return table


def ask_disputes(store: Store, request: Request, predicate: Predicate | None) -> Table:
    """The widest disputes only, unless it is said how many: those that are left out are counted."""
    from riff_store.queries.disputes import disputes as apart
    from riff_tui.views.disputes import NO_DISPUTES, NONE_HERE, disputes

    judges, rest = take_judges(predicate)
    calls, rows = split(rest, spec_of("disputes").row_fields)
    limit = DISPUTES if request.limit is None else request.limit
    # A bare word looks through all names of a row, and a sort at all rows, so these have to be there first.
    wordy = any(term.field is None for term in terms(rows))
    early = None if wordy or request.sort is not None else limit
    found = apart(store, calls, judges, None if wordy else rows, early)
    total = found.total if predicate is None else apart(store, limit=0).total
    answer = ViewResult(replace(request, limit=limit), calls, rows if wordy else None)
    table = answer.of(lambda _: disputes(found), recount=False)
    why = NO_DISPUTES if predicate is None else NONE_HERE
    notes = list(table.notes) if table.rows else [why, *table.notes[2:]]
    if request.limit is None and len(table.rows) == DISPUTES < found.total:
        notes.append(f"The first {DISPUTES} of them; --limit N lists more or fewer.")
    return replace(table, notes=notes, hidden=max(0, total - len(table.rows)))


def ask_repeats(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.repeats import repeats as groups
    from riff_tui.views.repeats import NO_REPEATS, repeats

    by = keys_of(("flow", "agent"), request.by)
    answer = ViewResult(request, *split(predicate, fields_of("repeats", request.by)))
    table = answer.of(lambda calls: repeats(groups(store, calls, by), request.by))
    if table.rows or table.hidden:
        return table
    left_out = list(table.notes[2:])
    return replace(table, notes=[NO_REPEATS, *left_out] if left_out or predicate is not None else [EMPTY_STORE])
