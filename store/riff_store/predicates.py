"""What a filter says, as values: a tree of terms that SQL and Python both understand.

The grammar that makes these lives with the command line (`InState` is none of it); what each term
means is decided here, once, and compiled to bound SQL by the queries.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Operator: TypeAlias = Literal["contains", "matches", "=", "!=", "<", "<=", ">", ">=", "missing", "measured"]


@dataclass(frozen=True, slots=True)
class Term:
    """Compare one field; `field` None means any name column, `position` is the offset in the expression.

    `value` is text for names and dates, a number for metrics and flags, None for `missing` and
    `measured`. `contains` ignores case, `=` on names does not. Two terms that differ in nothing
    but their position are equal.
    """

    field: str | None
    operator: Operator
    value: str | float | None = None
    position: int = dataclasses.field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """Hold where its part does not."""

    part: Predicate


@dataclass(frozen=True, slots=True)
class And:
    """Hold where all parts do."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Hold where any part does."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class InState:
    """Hold for a call where its part holds for one of the call's states, whatever states the query is about."""

    part: Predicate


Predicate: TypeAlias = Term | Not | And | Or | InState


def both(first: Predicate | None, second: Predicate | None) -> Predicate | None:
    """Join two predicates, each a group of its own; `None` holds everywhere."""
    return all_of([part for part in (first, second) if part is not None])


def all_of(parts: Sequence[Predicate]) -> Predicate | None:
    """Join predicates of which all have to hold; `None`, which holds everywhere, where there are none."""
    return And(tuple(parts)) if len(parts) > 1 else parts[0] if parts else None


def conjuncts(predicate: Predicate | None) -> tuple[Predicate, ...]:
    """Split a predicate into the parts that have to hold all at once."""
    if predicate is None:
        return ()
    return predicate.parts if isinstance(predicate, And) else (predicate,)


def terms(predicate: Predicate | None) -> Iterator[Term]:
    """Yield every term of a predicate, from left to right."""
    match predicate:
        case Term():
            yield predicate
        case Not(part) | InState(part):
            yield from terms(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from terms(part)
