"""What a filter says, as values: a tree of terms that SQL and Python both understand.

The grammar that makes these lives with the command line; what each term means is decided here,
once, and compiled to bound SQL by the queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Operator: TypeAlias = Literal["contains", "matches", "=", "!=", "<", "<=", ">", ">=", "missing", "measured"]


@dataclass(frozen=True, slots=True)
class Term:
    """One comparison; `field` None means any name column. `position` is the offset in the expression.

    `value` is text for names, a number for metrics and None for `missing` and `measured`.
    `contains` ignores case, `=` on names does not.
    """

    field: str | None
    operator: Operator
    value: str | float | None = None
    position: int = 0


@dataclass(frozen=True, slots=True)
class Not:
    """True where its part is not."""

    part: Predicate


@dataclass(frozen=True, slots=True)
class And:
    """True where all parts are."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """True where any part is."""

    parts: tuple[Predicate, ...]


Predicate: TypeAlias = Term | Not | And | Or
