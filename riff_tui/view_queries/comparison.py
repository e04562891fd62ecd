"""Ask what two sides differ in, and which calls each of them failed."""

from __future__ import annotations

from dataclasses import replace

from riff_store.predicates import Predicate, all_of, conjuncts, terms
from riff_tui.filters import render, take_judges
from riff_tui.request import Request, dump_command
from riff_tui.table import Table
from riff_tui.view_queries.view_query import ViewQuery
from riff_tui.view_registry import spec_of


def show_compare(query: ViewQuery) -> Table:
    """Return the differences of both sides, with the command that lists the calls that failed."""
    from riff_store.queries.comparison import compare as compared
    from riff_tui.views.compare import compare

    a, b = _sides(query)
    whole = query.parts()
    # A flow in the filter hides the others' rows; it must not make p-values smaller by forgetting them.
    calls = all_of([part for part in conjuncts(whole.calls) if part not in conjuncts(whole.rows)])
    _, rest = take_judges(query.predicate)
    drill = dump_command("failures", Request(where=_of_failures(rest, calls), sides=(a, b)))
    return query.result(
        whole._replace(calls=calls),
        lambda parts: compare(compared(query.store, a, b, parts.calls, whole.judges), drill=drill),
    )


def show_failures(query: ViewQuery) -> Table:
    """Return the calls that either side failed; whoever judged them, a call fails by what was computed."""
    from riff_store.queries.failures import failures
    from riff_tui.views.parts.cells import shell_quoted

    a, b = _sides(query)
    table = query.result(query.parts(), lambda parts: query.build(failures(query.store, a, b, parts.calls)))
    drills = [f"Drill: riff-tui dump conversation --where {shell_quoted(row.where)}" for row in table.rows[:1]]
    return replace(table, notes=[*table.notes, *drills])


def _sides(query: ViewQuery) -> tuple[str, str]:
    assert query.request.sides is not None
    return query.request.sides


def _of_failures(predicate: Predicate | None, calls: Predicate | None) -> str:
    """Return what of a filter chooses the calls behind the rows that it leaves."""
    fields, kept = spec_of("failures").row_fields, conjuncts(calls)
    parts = [part for part in conjuncts(predicate) if part in kept or all(term.field in fields for term in terms(part))]
    return render(all_of(parts))
