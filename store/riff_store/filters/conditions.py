"""Make the conditions that filters are put together from, every value bound.

Every condition is true or false, never null, so that `NOT` is `!`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import peewee as pw

from riff_store.metrics import Pooled

Condition: TypeAlias = Any  # the expressions of Peewee have no type in common that shows more

ALWAYS = pw.SQL("(1 = 1)")
NEVER = pw.SQL("(1 = 0)")
_MOST_BOUND = 500


def figure_of_call(row: Any, figure: Pooled) -> Condition:
    """Return a figure over the events of a single call, from the row of its sums; null without any."""
    events = combined(operator.add, [getattr(row, name) for name in figure.whole])
    return getattr(row, figure.part).cast("REAL") / pw.fn.NULLIF(events, 0)


def exists(table: Any, condition: Condition) -> Condition:
    """Match where a table has a row for which a condition is true."""
    return pw.fn.EXISTS(table.select(pw.SQL("1")).where(condition))


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
