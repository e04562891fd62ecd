"""Read columns from the rows that they are made of, for calls of a range of keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riff_store.columns.encoding import UNSCORED, Floats
from riff_store.columns.keeping import Ask
from riff_store.columns.layout import CALLS, HANGING

_IN_RANGE = "BETWEEN ? AND ?"
_SPARSE = 8
"""Calls of which there are so many times more between the first and the last are quicker asked for one by one."""


def call_columns(ask: Ask, names: Iterable[str], first: int, last: int) -> list[Floats]:
    """Return columns of calls in the order of their keys, these first; nan is null."""
    columns = ", ".join(["id", *(CALLS[name] for name in names)])
    return _columns(ask(f"SELECT {columns} FROM conversation WHERE id {_IN_RANGE} ORDER BY id", (first, last)), columns)


def hanging_columns(ask: Ask, kind: str, names: Iterable[str], first: int, last: int) -> list[Floats]:
    """Return columns of what hangs on calls, the keys of the calls first; nan is null."""
    known, table, order = HANGING[kind]
    columns = ", ".join(["conversation_id", *(known[name] for name in names)])
    more = ", to_state_id" if kind == "transition" else ""
    sql = f"SELECT {columns} FROM {table} WHERE conversation_id {_IN_RANGE} ORDER BY conversation_id, {order}{more}"
    return _columns(ask(sql, (first, last)), columns)


def outcome_visits(ask: Ask, states: Iterable[int], calls: NDArray[np.int64]) -> list[Floats]:
    """Return the keys of calls, the states of some by key in which they ended, and the places of these in order.

    The calls, by their keys in order, are at least one; others between them may be among those that are returned.
    """
    columns, wanted = "conversation_id, state_id, position", _listed(sorted(states))
    if not wanted:
        return _columns((), columns)
    ends: tuple[int, ...] = (int(calls[0]), int(calls[-1]))
    where = f"conversation_id {_IN_RANGE}"
    if calls.size * _SPARSE <= ends[1] - ends[0]:
        ends, where = (), f"conversation_id IN ({_listed(calls.tolist())})"
    # The sign keeps SQLite from looking for each state of each call.
    sql = f"SELECT {columns} FROM outcome_visit WHERE {where} AND +state_id IN ({wanted})"
    return _columns(ask(sql, ends), columns)


def scores(ask: Ask, aspect: int, judge: int, first: int, last: int) -> tuple[Floats, Floats]:
    """Return the keys of the calls that a judge was asked about in one aspect, and the scores; nan is unscored."""
    sql = (
        f"SELECT conversation_id, value FROM aspect_score WHERE conversation_id {_IN_RANGE}"
        " AND aspect_id = ? AND judge_id = ? ORDER BY conversation_id"
    )
    keys, values = _columns(ask(sql, (first, last, aspect, judge)), "conversation_id, value")
    return keys, values


def scores_by_judge(ask: Ask, first: int, last: int) -> dict[tuple[int, int], tuple[Floats, Floats]]:
    """Return what `scores` does of each (aspect, judge), read at once."""
    calls, aspects, judges, values = all_scores(ask, first, last)
    width = int(judges.max(initial=0)) + 1
    code = (aspects * width + judges).astype(np.int64)
    order = np.argsort(code, kind="stable")
    known, starts = np.unique(code[order], return_index=True)
    return {
        divmod(pair, width): (calls[these], values[these])
        for pair, these in zip(known.tolist(), np.split(order, starts[1:]), strict=False)
    }


def placed_scores(calls: NDArray[Any], keys: Floats, values: Floats) -> Floats:
    """Return scores at the places of their calls, `UNSCORED` where a judge gave none and nan where it was not asked."""
    found = np.full(calls.size, np.nan)
    found[np.searchsorted(calls, keys)] = np.where(np.isnan(values), UNSCORED, values)
    return found


def all_scores(ask: Ask, first: int, last: int) -> list[Floats]:
    """Return the keys of calls, aspects and judges, and the scores; nan is unscored."""
    columns = "conversation_id, aspect_id, judge_id, value"
    sql = f"SELECT {columns} FROM aspect_score WHERE conversation_id {_IN_RANGE}"
    return _columns(ask(sql, (first, last)), columns)


def judged(ask: Ask, first: int, last: int) -> set[tuple[int, int]]:
    """Return the (aspect, judge) of which there are scores."""
    sql = f"SELECT DISTINCT aspect_id, judge_id FROM aspect_score WHERE conversation_id {_IN_RANGE}"
    return {(aspect, judge) for aspect, judge in ask(sql, (first, last))}


def _listed(keys: Iterable[int]) -> str:
    return ", ".join(str(int(key)) for key in keys)


def _columns(rows: Sequence[tuple[Any, ...]], columns: str) -> list[Floats]:
    if not rows:
        return [np.empty(0) for _ in columns.split(", ")]
    return [np.array(column, np.float64) for column in zip(*rows, strict=True)]
