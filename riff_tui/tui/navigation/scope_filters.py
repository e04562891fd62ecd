"""What a place is narrowed to: a filter expression that rows above it wrote."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from riff_store.predicates import And, Or, Predicate, Term, conjuncts, terms
from riff_tui.filters import FilterError, parse, render, split
from riff_tui.table import Table

# The names that say where in the walk one is; everything else in a scope is a condition on calls.
STEPS = frozenset({"flow", "agent", "segment", "state", "conversation"})
_NAMES = STEPS | {"run", "persona", "scenario", "archetype"}


def narrowed(scope: str, expression: str) -> str:
    """A scope with the names of an expression put in, one per field; judges that it names are heard alone."""
    parts = list(conjuncts(parse(scope)))
    for part in conjuncts(parse(expression)):
        if _about_judges(part):
            parts = [each for each in parts if not _about_judges(each)]
        names = [_named(each) for each in parts]
        name = _named(part)
        if name is not None and name in names:
            parts[names.index(name)] = part
        elif part not in parts:
            parts.append(part)
    return _written(parts)


def kept(scope: str, steps: Collection[str]) -> str:
    """A scope with only these steps of the walk, and all its conditions on calls."""
    return _written(part for part in conjuncts(parse(scope)) if _named(part) not in STEPS or _named(part) in steps)


def parted(expression: str, steps: Collection[str]) -> tuple[str, str]:
    """An expression in two: the part that names these steps of the walk, and everything else it says."""
    parts = list(conjuncts(parse(expression)))
    names = [part for part in parts if _named(part) in steps]
    return _written(names), _written(part for part in parts if part not in names)


def within(inner: str, outer: str) -> bool:
    """Whether the inner scope holds everything that the outer one does."""
    return set(conjuncts(parse(outer))) <= set(conjuncts(parse(inner)))


def fixed(scope: str) -> frozenset[str]:
    """The fields that a scope holds to one name: a column of them says the same in every row."""
    return frozenset(name for part in conjuncts(parse(scope)) if (name := _named(part)) is not None)


def value(scope: str, field: str) -> str | None:
    """The name that a scope holds a field to."""
    for part in conjuncts(parse(scope)):
        if _named(part) == field and isinstance(part, Term):
            return None if part.value is None else str(part.value)
    return None


def heard(scope: str) -> frozenset[str]:
    """The judges that a scope names."""
    named = (part for part in conjuncts(parse(scope)) if isinstance(part, Term) and part.field == "judge")
    return frozenset(str(part.value) for part in named if part.operator == "=")


def both(scope: str, expression: str) -> str:
    """A scope and a typed expression that must both hold, the expression as it was typed."""
    if not scope or not expression.strip():
        return scope or expression
    return f"{scope} ({expression})" if isinstance(parse(expression), Or) else f"{scope} {expression}"


def around(scope: str, expression: str) -> str:
    """A scope and what a typed expression says of calls by name; bare words are looked for in rows alone."""
    said = (part for part in conjuncts(parse(expression)) if all(term.field is not None for term in terms(part)))
    return both(scope, _written(said))


def offset(scope: str, expression: str) -> int:
    """Where the typed expression begins in `both` of them."""
    return len(both(scope, expression)) - len(expression) - both(scope, expression).endswith(f"({expression})")


def carried(expression: str, table: Table) -> str:
    """The part of a typed filter that speaks of calls and so holds below the rows as well."""
    try:
        calls, _ = split(parse(expression), {column.key for column in table.columns})
    except FilterError:
        return ""
    return _written(conjuncts(calls))


def called(expression: str, table: Table) -> str:
    """The part of a typed filter that other views can be narrowed to: what it says of calls, and every name."""
    try:
        calls, _ = split(parse(expression), {column.key for column in table.columns if column.kind != "name"} | {"n"})
    except FilterError:
        return ""
    return _written(conjuncts(calls))


def _named(part: Predicate) -> str | None:
    if isinstance(part, Term) and part.operator in ("=", "missing") and part.field in _NAMES:
        return part.field
    return None


def _about_judges(part: Predicate) -> bool:
    return all(term.field == "judge" for term in terms(part))


def _written(parts: Iterable[Predicate]) -> str:
    found = tuple(parts)
    return render(And(found)) if found else ""
