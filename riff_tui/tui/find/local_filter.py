"""Filter and test rows that are loaded, without a query."""

from __future__ import annotations

from collections.abc import Sequence

from riff_store.predicate_eval import compile_predicate
from riff_store.predicates import Predicate, all_of, conjuncts, terms
from riff_store.vocabulary import split_name
from riff_tui.filters import FilterError, parse, split
from riff_tui.table import Row, Table
from riff_tui.tui.data.paged_rows import all_loaded
from riff_tui.tui.find.finder import RowTest
from riff_tui.view_registry import spec_of

# Rows that are looked through within one keystroke.
MOST = 20_000


def count_matches(expression: str, table: Table) -> int | None:
    """Return how many of a location's rows a filter would leave, `None` where only the store can tell.

    The rows are those that the location has without anything typed. Raises `FilterError`.
    """
    predicate = parse(expression)
    if predicate is None:
        return len(table.rows)
    fields = spec_of(table.view).row_fields
    if not fields or len(table.rows) > MOST or not all_loaded(table.rows):
        return None
    if any(term.field == "judge" for term in terms(predicate)):
        return None
    calls, rows = split(predicate, fields)
    if calls is not None or rows is None:
        return None
    return _count(rows, table.rows, _names(table))


def row_test(expression: str, table: Table) -> RowTest | None:
    """Return a test of rows for the part of a filter that speaks of them, `None` where no part of it does."""
    keys = {key for column in table.columns for key in (column.key, *column.path[:1])}
    about = [part for part in conjuncts(parse(expression)) if _fields(part) <= keys]
    predicate = all_of(about)
    if predicate is None:
        return None
    holds = compile_predicate(predicate, _names(table))
    return lambda row: holds(row.record)


def moment_test(expression: str, table: Table) -> RowTest:
    """Return a test of the moments of a conversation; a bare word is searched for in all of a moment.

    Raises `FilterError`, also for a field that moments do not have.
    """
    calls, moments = split(parse(expression), {column.key for column in table.columns})
    for term in terms(calls):
        raise FilterError(f"what is said in a conversation has no {term.field}", term.position)
    if moments is None:
        return lambda row: False
    holds = compile_predicate(moments, [column.key for column in table.columns if column.kind in ("name", "text")])
    return lambda row: holds(row.record)


def _count(predicate: Predicate, rows: Sequence[Row], names: Sequence[str]) -> int:
    holds = compile_predicate(predicate, names)
    return sum(holds(row.record) for row in rows)


def _names(table: Table) -> Sequence[str]:
    return [column.key for column in table.columns if column.kind == "name"]


def _fields(predicate: Predicate) -> frozenset[str]:
    return frozenset(split_name(term.field)[0] for term in terms(predicate) if term.field is not None)
