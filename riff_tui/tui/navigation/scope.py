"""Narrow, widen and compare the predicates that say what a location shows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

from riff_store.filters.predicates import And, Predicate, Term, conjuncts, terms
from riff_tui.errors import FilterError
from riff_tui.filters import Filter, split
from riff_tui.table import Row, Table
from riff_tui.view_registry import find

STEPS = frozenset({"flow", "agent", "segment", "state", "conversation"})
"""The fields that say where in the walk a location is; everything else in a scope is a condition on calls."""
_NAMES = STEPS | {"run", "persona", "scenario", "archetype"}

Scope = Predicate | None


def row_filter(row: Row) -> Filter:
    """Return the filter that selects what a row is about."""
    return _remembered(row.where)


def filter_below(row: Row) -> Filter:
    """Return the filter that leads from a row to what lies below it."""
    return _remembered(row.leads or row.where)


@lru_cache(maxsize=1024)
def _remembered(text: str) -> Filter:
    return Filter(text)


def name_term(field: str, name: str) -> Term:
    """Return the term that holds a field to a name; a name that is no text is spelled as `quote` spells it."""
    return Term(field, "=", name.encode("utf-8", "backslashreplace").decode())


def narrow(scope: Scope, by: Scope) -> Scope:
    """Return a scope with the parts of another one put in.

    A name takes the place of the name of the same field. Judges take the place of all other judges.
    """
    parts = list(conjuncts(scope))
    for part in conjuncts(by):
        if is_about_judges(part):
            parts = [each for each in parts if not is_about_judges(each)]
        fields = [_fixed_field(each) for each in parts]
        field = _fixed_field(part)
        if field is not None and field in fields:
            parts[fields.index(field)] = part
        elif part not in parts:
            parts.append(part)
    return conjunction(parts)


def keep_steps(scope: Scope, steps: Collection[str]) -> Scope:
    """Return a scope with only these steps of the walk, and with all its conditions on calls."""
    dropped = STEPS - frozenset(steps)
    return conjunction([part for part in conjuncts(scope) if _fixed_field(part) not in dropped])


def split_by_field(scope: Scope, fields: Collection[str]) -> tuple[Scope, Scope]:
    """Return the part of a scope that fixes these fields, and everything else that it says."""
    fixing = [part for part in conjuncts(scope) if _fixed_field(part) in fields]
    return conjunction(fixing), conjunction([part for part in conjuncts(scope) if part not in fixing])


def is_within(inner: Scope, outer: Scope) -> bool:
    """Return whether the inner scope says everything that the outer one does."""
    return set(conjuncts(outer)) <= set(conjuncts(inner))


def fixed_fields(scope: Scope) -> frozenset[str]:
    """Return the fields that a scope holds to one name: a column of them says the same in every row."""
    return frozenset(field for part in conjuncts(scope) if (field := _fixed_field(part)) is not None)


def fixed_value(scope: Scope, field: str) -> str | None:
    """Return the name that a scope holds a field to."""
    for part in conjuncts(scope):
        if _fixed_field(part) == field and isinstance(part, Term):
            return None if part.value is None else str(part.value)
    return None


def named_judges(scope: Scope) -> frozenset[str]:
    """Return the judges that a scope names."""
    named = (part for part in conjuncts(scope) if isinstance(part, Term) and part.field == "judge")
    return frozenset(str(part.value) for part in named if part.operator == "=")


def without_bare_words(predicate: Scope) -> Scope:
    """Return the parts of a filter whose terms all have a field; bare words are looked for in rows alone."""
    return conjunction([part for part in conjuncts(predicate) if all(term.field is not None for term in terms(part))])


def about_calls(predicate: Scope, table: Table) -> Scope:
    """Return the part of a filter typed over a table that speaks of calls, and so holds below its rows as well."""
    spec = find(table.view)
    if spec is not None and spec.filters.calls:
        return _about_calls(predicate, spec.row_fields)
    return _about_calls(predicate, {column.key for column in table.columns})


def about_calls_or_names(predicate: Scope, table: Table) -> Scope:
    """Return the part of a filter typed over a table that narrows other views: what it says of calls or by name."""
    return _about_calls(predicate, {column.key for column in table.columns if column.kind != "name"} | {"n"})


def _about_calls(predicate: Scope, row_fields: Collection[str]) -> Scope:
    try:
        return split(predicate, row_fields)[0]
    except FilterError:
        return None


def conjunction(parts: Sequence[Predicate]) -> Scope:
    """Return the scope in which all parts hold."""
    # A group that is left alone stays one: its terms speak of the same state.
    is_whole = len(parts) == 1 and not isinstance(parts[0], And)
    return None if not parts else parts[0] if is_whole else And(tuple(parts))


def _fixed_field(part: Predicate) -> str | None:
    if isinstance(part, Term) and part.operator in ("=", "missing") and part.field in _NAMES:
        return part.field
    return None


def is_about_judges(part: Predicate) -> bool:
    """Return whether a part of a filter says nothing but which judges are meant."""
    return all(term.field == "judge" for term in terms(part))
