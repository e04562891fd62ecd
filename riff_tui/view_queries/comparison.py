"""Two sides against each other: which queries that asks, and the command that asks the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from riff_store.predicates import Predicate, all_of, conjuncts, terms
from riff_tui.errors import UsageError
from riff_tui.filters import render, split, take_judges
from riff_tui.table import Table
from riff_tui.view_queries.result import ViewResult
from riff_tui.view_registry import spec_of

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_tui.catalog import Request


def ask_compare(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.comparison import compare as compared
    from riff_tui.catalog import Request, dump_command
    from riff_tui.views.compare import compare

    a, b = sides_of(request, "compare")
    judges, rest = take_judges(predicate)
    calls_said, rows = split(rest, spec_of("compare").row_fields)
    # A flow in the filter hides the others' rows; it must not make p-values smaller by forgetting them.
    about_calls = all_of([part for part in conjuncts(calls_said) if part not in conjuncts(rows)])
    answer = ViewResult(request, about_calls, rows)
    drill = dump_command("failures", Request(where=_of_failures(rest, about_calls), sides=(a, b)))
    return answer.of(lambda calls: compare(compared(store, a, b, calls, judges), drill=drill), recount=False)


def ask_failures(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.failures import failures as failed
    from riff_tui.views.failures import failures
    from riff_tui.views.parts.cells import shell_quoted

    a, b = sides_of(request, "failures")
    # Whoever judged them, a call fails by what was computed.
    _, rest = take_judges(predicate)
    answer = ViewResult(request, *split(rest, spec_of("failures").row_fields))
    table = answer.of(lambda calls: failures(failed(store, a, b, calls)), recount=False)
    drills = [f"Drill: riff-tui dump conversation --where {shell_quoted(row.where)}" for row in table.rows[:1]]
    return replace(table, notes=[*table.notes, *drills])


def _of_failures(said: Predicate | None, about_calls: Predicate | None) -> str:
    """What of a filter chooses the calls behind the rows that it leaves."""
    fields, kept = spec_of("failures").row_fields, conjuncts(about_calls)
    parts = [part for part in conjuncts(said) if part in kept or all(term.field in fields for term in terms(part))]
    return render(all_of(parts))


def sides_of(request: Request, view: str) -> tuple[str, str]:
    """The two sides of a request; raises `UsageError` with the command that has them."""
    if request.sides is None:
        command = spec_of(view).command
        raise UsageError(f"{view} needs two sides: {command}, where A and B are runs or agent:NAME")
    return request.sides
