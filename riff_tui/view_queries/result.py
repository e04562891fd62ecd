"""From a view's rows to what was requested: filtered, ordered, cut, and saying what that left out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from riff_store.predicate_eval import compile_predicate
from riff_store.predicates import Predicate, Term, conjuncts, terms
from riff_store.vocabulary import FIELDS, split_name
from riff_tui.table import Row, Table
from riff_tui.view_queries.sort_limit import left_out, limited, ordered
from riff_tui.view_registry import spec_of

if TYPE_CHECKING:
    from riff_tui.catalog import Request

Make: TypeAlias = Callable[[Predicate | None], Table]


@dataclass(frozen=True, slots=True)
class ViewResult:
    """A table on its way to what was requested: filtered by its rows, ordered, cut, and saying what it left out."""

    request: Request
    calls: Predicate | None
    rows: Predicate | None

    def of(self, make: Make, *, recount: bool = True) -> Table:
        """The table that `make` gives for the calls; with `recount` rows that are gone for want of calls are hidden."""
        table = make(self.calls)
        total = len(make(None).rows) if recount and self.calls is not None else len(table.rows)
        table = replace(table, rows=_matching(table, self.rows))
        if self.request.sort is not None:
            table = ordered(table, self.request.sort)
        table = limited(table, self.request.limit)
        notes = [*table.notes, *left_out(table.rows)]
        empty = spec_of(table.view).empty_store
        if empty and not total and self.calls is None and self.rows is None:
            notes.append(empty)
        return replace(table, notes=notes, hidden=max(0, total - len(table.rows)))


def _matching(table: Table, predicate: Predicate | None) -> Sequence[Row]:
    if predicate is None:
        return table.rows
    holds = compile_predicate(predicate, [column.key for column in table.columns if column.kind == "name"])
    return [row for row in table.rows if holds(row.record)]


def keys_of(own: tuple[str, ...], by: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*own, *by)))


def fields_of(view: str, by: Iterable[str]) -> Collection[str]:
    return {*spec_of(view).row_fields, *by}


def added_aspects(predicate: Predicate | None) -> set[str]:
    """Return the aspects of other distributions that a filter names."""
    return {term.field for term in terms(predicate) if term.field and split_name(term.field)[0] not in FIELDS}


def terms_said(predicate: Predicate | None) -> list[Term]:
    """The terms that hold as they stand, neither negated nor one of several."""
    return [part for part in conjuncts(predicate) if isinstance(part, Term)]


def scope_of(predicate: Predicate | None) -> str:
    """The flows that a matrix is about, for its title."""
    named = [term for term in terms_said(predicate) if term.field == "flow"]
    if len(named) == 1 and named[0].operator in ("=", "contains"):
        return f"{'' if named[0].operator == '=' else 'flows with '}{named[0].value}"
    return "all flows" if predicate is None else "filtered flows"
