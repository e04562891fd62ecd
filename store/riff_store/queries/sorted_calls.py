"""Say what calls can be sorted by, and sort very many of them on columns."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from riff_store import models as m
from riff_store.columns.keeping import is_packed
from riff_store.columns.layout import CALLS, STATES
from riff_store.database import Store
from riff_store.metrics import POOLED
from riff_store.predicates import And, Predicate, all_of, conjuncts, terms
from riff_store.queries.dimensions import DIMENSIONS, judges_meant, names_of
from riff_store.vocabulary import Field, field_named, field_of, split_name

if TYPE_CHECKING:
    from riff_store.columns.ordering import SortedCalls, SortKey


def sorted_calls(store: Store, calls: Predicate | None, sort: str, figures: Collection[str]) -> SortedCalls | None:
    """Return the keys of calls in order, `None` unless there are very many and columns hold what they are sorted by.

    `figures` are the columns that calls hold themselves.
    """
    if not is_packed(store.execute_sql):
        return None
    key = _sort_key(store, calls, sort.removeprefix("-"), figures)
    if key is None:
        return None
    from riff_store.columns.ordering import SortedCalls

    return SortedCalls(store, calls, key, down=sort.startswith("-"))


def _sort_key(store: Store, calls: Predicate | None, column: str, figures: Collection[str]) -> SortKey | None:
    from riff_store.columns.ordering import SortKey

    name, judge = split_name(column)
    if column in figures:
        return SortKey(figure=column) if column in CALLS else None
    if column in DIMENSIONS:
        dimension = DIMENSIONS[column]
        return SortKey(dimension=dimension.key, names=names_of(store, dimension)) if dimension.key in CALLS else None
    field = sortable(name, judge)
    if field is None or field.name in POOLED:
        return None
    if field.level == "state":
        return SortKey(state=field.name, about=about_states(calls)) if field.name in STATES else None
    aspects = [key for key, text in store.execute(m.Aspect.select(m.Aspect.id, m.Aspect.name)) if text == field.name]
    judges = judges_meant(store, judge) if field.spreads else {m.COMPUTED_JUDGE}
    return SortKey(scores=[(aspect, judge) for aspect in aspects for judge in sorted(judges)])


def sortable(name: str, judge: str | None) -> Field | None:
    """Return the field that calls can be sorted by, of one judge where it spreads over judges."""
    field = field_named(name)
    if field is None or field.kind != "number" or field.level == "row" or not (judge is None or field.spreads):
        return None
    return field


def about_states(calls: Predicate | None) -> Predicate | None:
    """Return the parts of a filter that are about states alone."""
    found: list[Predicate] = []
    for part in conjuncts(calls):
        if isinstance(part, And):
            inner = about_states(part)
            found += [] if inner is None else [inner]
        elif all(term.field is not None and field_of(term.field).level == "state" for term in terms(part)):
            found.append(part)
    return all_of(found)
