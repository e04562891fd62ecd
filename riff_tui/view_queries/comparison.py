"""Ask what two sides differ in, and which calls each of them failed."""

from __future__ import annotations

from dataclasses import replace

from riff_store.predicates import Predicate, all_of, conjuncts, terms
from riff_tui.filters import render, take_judges
from riff_tui.request import Request, dump_command
from riff_tui.table import Table
from riff_tui.view_queries.view_query import FilterParts, ViewQuery
from riff_tui.view_registry import spec_of


def show_compare(query: ViewQuery) -> Table:
    """Return the differences of both sides, with the command that lists the calls that failed."""
    from riff_store.queries.comparison import compare as compared
    from riff_tui.views.compare import compare, side_argument

    a, b = _sides(query)
    whole = query.parts()
    # A flow in the filter hides the others' rows; it must not make p-values smaller by forgetting them.
    calls = all_of([part for part in conjuncts(whole.calls) if part not in conjuncts(whole.rows)])
    _, rest = take_judges(query.predicate)
    within = _within(calls, rest)
    failed = _of_failures(rest, calls)

    def built(parts: FilterParts) -> Table:
        found = compared(query.store, a, b, parts.calls, whole.judges, within=within)
        # By their names: what is looked into may leave other runs to be the latest two.
        sides = side_argument(found.a.kind, found.a.name), side_argument(found.b.kind, found.b.name)
        return compare(found, scope=render(within), drill=dump_command("failures", Request(where=failed, sides=sides)))

    return query.result(whole._replace(calls=calls), built)


def show_failures(query: ViewQuery) -> Table:
    """Return the calls that either side failed; whoever judged them, a call fails by what was computed."""
    from riff_store.queries.failures import failures
    from riff_tui.views.parts.cells import shell_quoted

    a, b = _sides(query)
    whole = query.parts()
    within = _within(whole.calls, query.predicate)
    table = query.result(whole, lambda parts: query.build(failures(query.store, a, b, parts.calls, within)))
    drills = [f"Drill: riff-tui dump conversation --where {shell_quoted(row.where)}" for row in table.rows[:1]]
    return replace(table, notes=[*table.notes, *drills])


def _sides(query: ViewQuery) -> tuple[str, str]:
    assert query.request.sides is not None
    return query.request.sides


def _within(calls: Predicate | None, predicate: Predicate | None) -> Predicate | None:
    """Return what a filter says of calls, and of flows by their names."""
    flows = [part for part in conjuncts(predicate) if all(term.field == "flow" for term in terms(part))]
    return all_of([*conjuncts(calls), *(part for part in flows if part not in conjuncts(calls))])


def _of_failures(predicate: Predicate | None, calls: Predicate | None) -> str:
    """Return what of a filter chooses the calls behind the rows that it leaves."""
    fields, kept = spec_of("failures").row_fields, conjuncts(calls)
    parts = [part for part in conjuncts(predicate) if part in kept or all(term.field in fields for term in terms(part))]
    return render(all_of(parts))
