"""Make the conditions that filters are put together from, every value bound.

Every condition is true or false, never null, so that `NOT` is `!`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import peewee as pw

from riff_store.metrics import Pooled
from riff_store.predicates import Term
from riff_store.time_range import time_range

Condition: TypeAlias = Any  # the expressions of Peewee have no type in common that says more

ALWAYS = pw.SQL("(1 = 1)")
NEVER = pw.SQL("(1 = 0)")
_MOST_BOUND = 500
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def figure_of_call(row: Any, figure: Pooled) -> Condition:
    """Return a figure over the events of a single call, from the row of its sums; null without any."""
    events = combined(operator.add, [getattr(row, name) for name in figure.whole])
    return getattr(row, figure.part).cast("REAL") / pw.fn.NULLIF(events, 0)


def some(term: Term, scored: Callable[[Term], Condition]) -> Condition:
    """Hold where a call has a value as the term says; `!=` where it has values and none is equal."""
    measured = replace(term, operator="measured", value=None)
    if term.operator == "missing":
        return ~scored(measured)
    if term.operator == "!=":
        return scored(measured) & ~scored(replace(term, operator="="))
    return scored(term)


def exists(table: Any, condition: Condition) -> Condition:
    """Hold where a table has a row of which a condition holds."""
    return pw.fn.EXISTS(table.select(pw.SQL("1")).where(condition))


def compared(column: Any, term: Term) -> Condition:
    """Compare a column with the value of a term; what is null is neither equal nor unequal to anything."""
    if term.operator == "missing":
        return column.is_null()
    if term.operator == "measured":
        return column.is_null(False)
    # A number is compared as it stands: an integer column would cut it to a whole one.
    return column.is_null(False) & _COMPARE[term.operator](column, pw.Value(term.value, converter=False))


def in_time(column: Any, term: Term) -> Condition:
    """Compare a column of microseconds since the epoch with the moment, day or month that a term names."""
    if term.operator in ("missing", "measured"):
        return compared(column, term)
    start, end = time_range(str(term.value))
    inside = (column >= start) & (column < end)
    if term.operator in ("=", "!="):
        return column.is_null(False) & (inside if term.operator == "=" else ~inside)
    bound = start if term.operator in ("<", ">=") else end - 1
    return column.is_null(False) & _COMPARE[term.operator](column, bound)


def one_of(column: Any, keys: Iterable[int]) -> Condition:
    """Test membership in a set of keys; more than a statement may bind are written out as whole numbers."""
    wanted = sorted(keys)
    if not wanted:
        return NEVER
    if len(wanted) <= _MOST_BOUND:
        return column.in_(wanted)
    return column.in_(pw.SQL(f"({', '.join(str(int(key)) for key in wanted)})"))


def combined(join: Callable[[Any, Any], Any], conditions: Sequence[Condition]) -> Condition:
    """Join conditions as a balanced tree, since engines bound how deep an expression may be."""
    if len(conditions) == 1:
        return conditions[0]
    middle = len(conditions) // 2
    return join(combined(join, conditions[:middle]), combined(join, conditions[middle:]))
