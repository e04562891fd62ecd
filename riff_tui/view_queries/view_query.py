"""Ask the store for a view: split the filter, query, build, filter rows, sort, limit, and note what was left out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from riff_store.metrics import is_optional
from riff_store.predicate_eval import compile_predicate
from riff_store.predicates import Predicate, all_of, conjuncts, terms
from riff_store.vocabulary import FIELDS, split_name
from riff_tui.errors import UsageError
from riff_tui.filters import split, take_judges
from riff_tui.request import Request
from riff_tui.table import BOUNDS, Bounds, Row, Table, begun, in_one_step
from riff_tui.view_queries.sort_limit import left_out, limited, ordered
from riff_tui.views.parts.rows import plain_table
from riff_tui.views.spec import ViewSpec

if TYPE_CHECKING:
    from riff_store.database import Store


class FilterParts(NamedTuple):
    """Hold what a filter says of the calls behind the rows, of the rows, and of judges."""

    calls: Predicate | None = None
    rows: Predicate | None = None
    judges: Predicate | None = None

    def of_rows_alone(self) -> FilterParts:
        """Return the parts where a name that stands in rows chooses rows alone.

        It may narrow the calls too, which would change what shares in the rows are of.
        """
        rows = conjuncts(self.rows)
        return self._replace(calls=all_of([part for part in conjuncts(self.calls) if part not in rows]))


QUICK_CALLS = 100_000
"""So many calls are looked at before anybody notices."""
EVERYTHING = FilterParts()
BuildTable: TypeAlias = Callable[[FilterParts], Table]


@dataclass(frozen=True, slots=True)
class ViewQuery:
    """Hold what is asked of one view: the store, the request, its filter as a predicate, and when to mark."""

    store: Store
    spec: ViewSpec
    request: Request
    predicate: Predicate | None = field(default=None)
    bounds: Bounds = BOUNDS

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the names by which the rows are told apart: what `--by` says as well, or instead."""
        own = () if self.spec.regroups and self.request.by else self.spec.keys
        return tuple(dict.fromkeys((*own, *self.request.by)))

    @property
    def row_fields(self) -> set[str]:
        """Return the keys of the records, without the names in whose place `--by` has put others."""
        gone = set(self.spec.keys) - set(self.keys)
        return (set(self.spec.row_fields) - gone) | set(self.request.by)

    def table(self) -> Table:
        """Return the table that is asked for, all of it from one state of the store."""
        with self.store.snapshot():
            if self.spec.show:
                shown: Table = _named(self.spec.show)(self)
                return shown
            return self.result(self.parts(), self._query)

    def parts(self) -> FilterParts:
        """Split the filter; raises `FilterError` or `UsageError` where it makes no sense for the view."""
        judges, rest = take_judges(self.predicate) if self.spec.judges else (None, self.predicate)
        added = _added_aspects(rest) if self.spec.added_aspects else ()
        calls, rows = split(rest, {*self.row_fields, *added})
        if calls is not None and self.spec.no_calls:
            raise UsageError(f"{self.spec.name} can be filtered by {', '.join(self.spec.row_fields)} only")
        return FilterParts(calls, rows, judges)

    def result(self, parts: FilterParts, build: BuildTable) -> Table:
        """Build a table; filter its rows, sort and limit them, note what was left out, and finish it as the view does.

        Rows that are gone for want of calls, or of judges where these choose rows, count in its total if the view
        recounts.
        """
        table = build(parts)
        fewer = parts.calls is not None or (parts.judges is not None and self.spec.judges == "rows")
        total = len((build(EVERYTHING) if fewer and self.spec.recounts else table).rows)
        every, table = table, replace(table, rows=matching(table, parts.rows))
        table = self.arranged(replace(table, total=total, matched=len(table.rows)))
        table = _with_columns_asked_for(table, parts.rows)
        notes = [*_values_in_vain(every, table, parts.rows), *table.notes, *left_out(table, self.keys)]
        is_whole = self.spec.recounts or (not fewer and parts.rows is None)
        if self.spec.empty_store and not total and is_whole:
            notes.append(self.spec.empty_store)
        return self._finished(replace(table, notes=notes))

    def _finished(self, table: Table) -> Table:
        finish = self.spec.finish
        if callable(finish):
            return finish(table)
        finished: Table = _named(finish)(self, table) if finish else table
        return finished

    @property
    def has_to_hurry(self) -> bool:
        """Say whether a screen waits, and the calls are so many that it would notice."""
        if not self.request.defer:
            return False
        from riff_store.queries.conversations import count_conversations

        return count_conversations(self.store) > QUICK_CALLS

    def in_two_parts(self, table: Callable[[bool], Table], doing: str, later: Collection[str]) -> Table:
        """Return for a screen, of very many calls, a table that is not whole yet, and for all else the whole one.

        `table` is told whether to be whole, and `doing` says what takes long. Where the rows are chosen or sorted by
        columns that come `later` there is nothing to show before.
        """
        if not self.has_to_hurry or any(term.field in later for term in terms(self.predicate)):
            return table(True)
        first = table(False)
        if first.sort.removeprefix("-") in later:
            return table(True)
        return replace(begun(first, later), deferred=partial(in_one_step, doing, partial(table, True)))

    def arranged(self, table: Table) -> Table:
        """Sort and limit the rows of a table."""
        if self.request.sort is not None:
            table = ordered(table, self.request.sort, self.spec.ranked)
        return limited(table, self.spec.limit if self.request.limit is None else self.request.limit)

    def build(self, answer: Any) -> Table:
        """Build the view of an answer."""
        if self.spec.build is None:
            return plain_table(self.spec, answer)
        keys = (self.keys,) if self.spec.takes_by else ()
        bounds = {"bounds": self.bounds} if self.spec.marked else {}
        return self.spec.build(answer, *keys, **bounds)

    def _query(self, parts: FilterParts) -> Table:
        """Query the store for some calls and build the view of the answer."""
        options: dict[str, Any] = {"by": self.keys} if self.spec.takes_by else {}
        options |= {"judges": parts.judges} if self.spec.judges else {}
        options |= {} if self.spec.no_calls else {"calls": parts.calls}
        options |= {"k": self.request.k} if self.spec.draws and self.request.k is not None else {}
        return self.build(_named(self.spec.query)(self.store, **options))


def _with_columns_asked_for(table: Table, rows: Predicate | None) -> Table:
    """Show the figures that rows are sorted or filtered by, where these are columns to choose, before all others."""
    asked = {term.field for term in terms(rows)} | {table.sort.removeprefix("-")}
    hidden = {column.key for column in table.columns if not column.shown and column.kind in ("number", "count")} & asked
    columns = [replace(column, shown=True) if column.key in hidden else column for column in table.columns]
    return replace(table, columns=columns, first=tuple(column.key for column in columns if column.key in hidden))


def _added_aspects(predicate: Predicate | None) -> set[str]:
    """Return the aspects that not every store has and that a filter names."""
    named = {term.field: split_name(term.field)[0] for term in terms(predicate) if term.field}
    return {field for field, base in named.items() if base not in FIELDS or is_optional(base)}


def _named(path: str) -> Any:
    """Return the function that `module:function` names."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def _values_in_vain(every: Table, left: Table, predicate: Predicate | None) -> list[str]:
    if predicate is None or left.matched or not every.rows:
        return []
    from riff_tui.view_queries.nearest_names import unknown_values

    return unknown_values(every, predicate)


def matching(table: Table, predicate: Predicate | None) -> Sequence[Row]:
    """Return the rows that a filter of rows leaves."""
    if predicate is None:
        return table.rows
    holds = compile_predicate(predicate, [column.key for column in table.columns if column.kind == "name"])
    return [row for row in table.rows if holds(row.record)]
