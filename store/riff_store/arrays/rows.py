"""Read columns from the rows that they are made of, and pack those of a row group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riff_store.arrays.encoding import UNSCORED, Floats, encode
from riff_store.chunks import CALL_IDS, CALLS, ROWS, ROWS_OF_CALLS, Ask, asking, keys_of, score_name, unpacked
from riff_store.engines.engine import Connection
from riff_store.statistics import different

_IN_RANGE = "BETWEEN ? AND ?"
_SPARSE = 3
"""Calls of which there are so many times more between the first and the last are quicker asked for one by one."""


def call_columns(ask: Ask, names: Iterable[str], first: int, last: int) -> list[Floats]:
    """Return columns of calls in the order of their keys, these first; nan is null."""
    columns = ", ".join(["id", *(CALLS[name] for name in names)])
    return _columns(ask(f"SELECT {columns} FROM conversation WHERE id {_IN_RANGE} ORDER BY id", (first, last)), columns)


def row_columns(ask: Ask, kind: str, names: Iterable[str], first: int, last: int) -> list[Floats]:
    """Return columns of rows of calls, the keys of the calls first; nan is null."""
    known, table, order = ROWS_OF_CALLS[kind]
    columns = ", ".join(["conversation_id", *(known[name] for name in names)])
    sql = f"SELECT {columns} FROM {table} WHERE conversation_id {_IN_RANGE} ORDER BY conversation_id, {order}"
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
    rows = ask(sql, ends)
    # None of these columns can be null, so there is a quicker way than column by column.
    return list(np.fromiter(chain.from_iterable(rows), np.float64, 3 * len(rows)).reshape(-1, 3).T)


def placed_scores(calls: NDArray[Any], keys: Floats, values: Floats) -> Floats:
    """Return scores at the places of their calls, `UNSCORED` if a judge gave none and nan if it was not asked."""
    found = np.full(calls.size, np.nan)
    found[np.searchsorted(calls, keys)] = np.where(np.isnan(values), UNSCORED, values)
    return found


def counts(calls: NDArray[Any], keys: Floats) -> Floats:
    """Return how many rows each call has, by their calls; both are in order."""
    return (np.searchsorted(keys, calls, "right") - np.searchsorted(keys, calls)).astype(np.float64)


def all_scores(ask: Ask, first: int, last: int) -> list[Floats]:
    """Return the keys of calls, aspects and judges, and the scores; nan is unscored."""
    columns = "conversation_id, aspect_id, judge_id, value"
    sql = f"SELECT {columns} FROM aspect_score WHERE conversation_id {_IN_RANGE}"
    return _columns(ask(sql, (first, last)), columns)


def _listed(keys: Iterable[int]) -> str:
    return ", ".join(str(int(key)) for key in keys)


def _columns(rows: Sequence[tuple[Any, ...]], columns: str) -> list[Floats]:
    if not rows:
        return [np.empty(0) for _ in columns.split(", ")]
    return [np.array(column, np.float64) for column in zip(*rows, strict=True)]


_ID = "id"
_CALL = "call"
_NO_SCORES = np.empty(0), np.empty(0)


class UnpackedCalls:
    """Read columns of the calls of a range of keys, and of their rows; nan is null.

    With `at_once` all columns are read with the first of a kind, and kept: of few calls that takes as long as one does.
    """

    def __init__(self, ask: Ask, first: int, last: int, *, at_once: bool) -> None:
        self._ask = ask
        self._keys = first, last
        self._at_once = at_once
        self._calls: dict[str, Floats] = {}
        self._rows: dict[str, dict[str, Floats]] = {}
        self._scores: dict[tuple[int, int], tuple[Floats, Floats]] | None = None

    def read_ahead(self, names: Sequence[str], kind: str) -> None:
        """Read some columns at once, and keep them: of rows of a kind, or else of calls, with all scores."""
        if kind:
            if not all(name in self._rows.get(kind, ()) for name in names):
                self._rows[kind] = self._columns_of(kind, tuple(ROWS_OF_CALLS[kind][0]) if self._at_once else names)
            return
        if not all(name in self._calls for name in (_ID, *names)):
            self._calls = self._columns_of_calls(names)
        self._held_scores()

    def ids(self) -> Floats:
        """Return the keys of the calls."""
        return self.figures(_ID)

    def figures(self, name: str) -> Floats:
        """Return a column of calls."""
        if self._at_once and not self._calls:
            self._calls = self._columns_of_calls(tuple(CALLS))
        if name in self._calls:
            return self._calls[name]
        return self._columns_of_calls(() if name == _ID else (name,))[name]

    def scores(self, aspect: int, judge: int) -> tuple[Floats, Floats]:
        """Return the keys of the calls that a judge was asked about in one aspect, and the scores; nan is unscored."""
        if self._at_once or self._scores is not None:
            return self._held_scores().get((aspect, judge), _NO_SCORES)
        sql = (
            f"SELECT conversation_id, value FROM aspect_score WHERE conversation_id {_IN_RANGE}"
            " AND aspect_id = ? AND judge_id = ? ORDER BY conversation_id"
        )
        keys, values = _columns(self._ask(sql, (*self._keys, aspect, judge)), "conversation_id, value")
        return keys, values

    def judged(self) -> Iterable[tuple[int, int]]:
        """Return the (aspect, judge) of which there are scores."""
        if self._at_once or self._scores is not None:
            return self._held_scores()
        sql = f"SELECT DISTINCT aspect_id, judge_id FROM aspect_score WHERE conversation_id {_IN_RANGE}"
        return {(aspect, judge) for aspect, judge in self._ask(sql, self._keys)}

    def figures_of(self, kind: str, name: str) -> Floats:
        """Return a column of rows of the calls."""
        if self._at_once and kind not in self._rows:
            self._rows[kind] = self._columns_of(kind, tuple(ROWS_OF_CALLS[kind][0]))
        if name in self._rows.get(kind, ()):
            return self._rows[kind][name]
        return self._columns_of(kind, () if name == _CALL else (name,))[name]

    def row_counts(self, kind: str) -> Floats:
        """Return how many rows each call has."""
        return counts(self.ids(), self.figures_of(kind, _CALL))

    def _held_scores(self) -> dict[tuple[int, int], tuple[Floats, Floats]]:
        if self._scores is None:
            calls, aspects, judges, values = all_scores(self._ask, *self._keys)
            width = int(judges.max(initial=0)) + 1
            code = (aspects * width + judges).astype(np.int64)
            order = np.argsort(code, kind="stable")
            known, starts = np.unique(code[order], return_index=True)
            self._scores = {
                divmod(pair, width): (calls[these], values[these])
                for pair, these in zip(known.tolist(), np.split(order, starts[1:]), strict=False)
            }
        return self._scores

    def _columns_of_calls(self, names: Sequence[str]) -> dict[str, Floats]:
        return dict(zip((_ID, *names), call_columns(self._ask, names, *self._keys), strict=True))

    def _columns_of(self, kind: str, names: Sequence[str]) -> dict[str, Floats]:
        columns = row_columns(self._ask, kind, names, *self._keys)
        return dict(zip((_CALL, *names), columns, strict=True))


# Pack the calls of a row group, and their rows, into a chunk for each column.
_JUDGES = 2**24
"""More than there are judges: of an aspect and a judge one number is made."""
_PUT = "INSERT INTO column_chunk (row_group, name, n, body) VALUES (?, ?, ?, ?)"


class Chunk(NamedTuple):
    """Describe one column of a row group that has `n` rows."""

    name: str
    n: int
    body: bytes


def pack(connection: Connection, groups: Sequence[int]) -> None:
    """Pack row groups that are not packed."""
    ask = asking(connection)
    for group in groups:
        put_chunks(connection, group, packed_group(ask, group))


def put_chunks(connection: Connection, group: int, chunks: Iterable[Chunk]) -> None:
    """Keep the columns of a row group, or of what a span adds up to."""
    connection.executemany(_PUT, [(group, *each) for each in chunks])


def pack_all(connection: Connection) -> None:
    """Pack every row group again."""
    connection.execute("DELETE FROM column_chunk")
    pack(connection, unpacked(connection))


def differs(ask: Ask, group: int) -> bool:
    """Return whether a packed row group is not what its rows are."""
    kept = ask("SELECT name, n, body FROM column_chunk WHERE row_group = ?", (group,))
    return {(name, n, bytes(body)) for name, n, body in kept} != set(packed_group(ask, group))


def packed_group(ask: Ask, group: int) -> Iterator[Chunk]:
    """Yield every column of a row group; scores only of judges that were asked about one of its calls."""
    first, last = keys_of(group)
    calls, *columns = call_columns(ask, CALLS, first, last)
    yield chunk(CALL_IDS, calls)
    for name, column in zip(CALLS, columns, strict=True):
        yield chunk(f"call.{name}", column)
    keys, aspects, judges, values = all_scores(ask, first, last)
    pairs = aspects * _JUDGES + judges
    for pair in different(pairs):
        mine = np.flatnonzero(pairs == pair)
        yield chunk(score_name(*divmod(int(pair), _JUDGES)), placed_scores(calls, keys[mine], values[mine]))
    for kind, (names, *_) in ROWS_OF_CALLS.items():
        keys, *columns = row_columns(ask, kind, names, first, last)
        yield chunk(f"{kind}.{ROWS}", counts(calls, keys))
        for name, column in zip(names, columns, strict=True):
            yield chunk(f"{kind}.{name}", column)


def chunk(name: str, column: Floats) -> Chunk:
    """Pack a column."""
    return Chunk(name, column.size, encode(column))
