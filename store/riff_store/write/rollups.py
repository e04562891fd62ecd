"""Sum over the cells of (flow, agent, run), in the transaction that changes a cell.

What new calls add up to is added to what is there; a cell that lost a call is summed again, and takes the place of what
it was in the sums of the (flow, agent) above it. `models.sums` defines what is summed.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from typing import TypeAlias

from riff_store.engines.engine import Connection
from riff_store.schema import ASPECTS, CALLS, SUMMED, Sum, Summed

Cell: TypeAlias = tuple[int, int, int]
"""The keys of a flow, an agent and a run."""


@dataclass(slots=True)
class Changes:
    """Describe what a batch has changed so far.

    Calls from the key `first` on are new, and `next` is the key of the next one. `shrunk` cells have lost calls, and
    `judged` are the keys of the files whose verdicts are new.
    """

    first: int
    next: int
    shrunk: set[Cell] = field(default_factory=set)
    judged: set[int] = field(default_factory=set)

    @property
    def last(self) -> int:
        """Return the key of the last new call, one less than `first` if there is none."""
        return self.next - 1

    def copy(self) -> Changes:
        """Return what to come back to where a file does not go in."""
        return Changes(self.first, self.next, set(self.shrunk), set(self.judged))


def no_changes(connection: Connection) -> Changes:
    """Return what a batch begins with."""
    first = int(connection.execute("SELECT coalesce(max(id), 0) + 1 FROM conversation").fetchone()[0])
    return Changes(first, first)


_PAIR = ("flow_id", "agent_id")
_CELL = (*_PAIR, "run_id")
_OF_CELLS = "(flow_id, agent_id, run_id) IN (SELECT flow_id, agent_id, run_id FROM changed_cell)"
_OF_PAIRS = "(flow_id, agent_id) IN (SELECT flow_id, agent_id FROM changed_cell)"
_CALLS_OF_CELLS = (
    "changed_cell k CROSS JOIN conversation c ON"
    " c.flow_id = k.flow_id AND c.agent_id = k.agent_id AND c.run_id = k.run_id"
)
_NEW_CALLS = "new_call c"
_KEEP_CELLS = (
    "CREATE TEMP TABLE IF NOT EXISTS changed_cell (flow_id INTEGER NOT NULL, agent_id INTEGER NOT NULL,"
    " run_id INTEGER NOT NULL, PRIMARY KEY (flow_id, agent_id, run_id))",
    "DELETE FROM changed_cell",
)
_TAKE_CELL = "INSERT INTO changed_cell VALUES (?, ?, ?)"
_KEEP_NEW_CALLS = (
    "CREATE TEMP TABLE IF NOT EXISTS new_call AS SELECT * FROM conversation WHERE 1 = 0",
    "DELETE FROM new_call",
)
_TAKE_NEW_CALLS = (
    f"INSERT INTO new_call SELECT * FROM conversation WHERE id BETWEEN ? AND ? AND NOT {_OF_CELLS}"
    " ORDER BY flow_id, agent_id, run_id, id"
)
"""Put new calls beside the others by their cells: sums are written far quicker in the order in which they lie."""


def recompute_all(connection: Connection) -> None:
    """Sum every cell again, and the totals above them."""
    for summed in SUMMED:
        sums = _Statements(summed)
        connection.execute(f"DELETE FROM {sums.rollup}")
        connection.execute(sums.insert("conversation c"))
        if sums.total is not None:
            connection.execute(f"DELETE FROM {sums.total}")
            connection.execute(sums.add_total())


def add_calls(connection: Connection, first: int, last: int, shrunk: Set[Cell], *, one_by_one: bool) -> None:
    """Add the calls of these keys, of which no sum knows yet, to the sums of their cells, and sum `shrunk` cells again.

    Adding rows `one_by_one` is quicker than to sum them before, and not every engine can (`Engine.adds_twice`).
    """
    _take_cells(connection, shrunk)
    if last >= first:
        for statement in _KEEP_NEW_CALLS:
            connection.execute(statement)
        connection.execute(_TAKE_NEW_CALLS, (first, last))
        for sums in map(_Statements, SUMMED):
            connection.execute(sums.add(_NEW_CALLS, one_by_one=one_by_one))
            if sums.total is not None:
                connection.execute(sums.add_new_total())
    if shrunk:
        _sum_anew(connection, SUMMED, one_by_one=one_by_one)


def judge_anew(connection: Connection, cells: Set[Cell], *, one_by_one: bool) -> None:
    """Sum anew what judges say of the calls of these cells; the calls themselves are those that were summed before."""
    if cells:
        _take_cells(connection, cells)
        _sum_anew(connection, (CALLS, ASPECTS), one_by_one=one_by_one)


def _take_cells(connection: Connection, cells: Set[Cell]) -> None:
    for statement in _KEEP_CELLS:
        connection.execute(statement)
    connection.executemany(_TAKE_CELL, sorted(cells))


def _sum_anew(connection: Connection, kinds: Iterable[Summed], *, one_by_one: bool) -> None:
    """Sum the cells that were taken again, and put them in place of what they were in the totals above them."""
    for summed in kinds:
        sums = _Statements(summed)
        if sums.total is not None:
            connection.execute(sums.add_total(_OF_CELLS, sign="-"))
        connection.execute(f"DELETE FROM {sums.rollup} WHERE {_OF_CELLS}")
        connection.execute(sums.add(_CALLS_OF_CELLS, one_by_one=one_by_one))
        if sums.total is not None:
            connection.execute(sums.add_total(_OF_CELLS))
            connection.execute(f"DELETE FROM {sums.total} WHERE {_OF_PAIRS} AND {summed.empty}")


class _Statements:
    """Write the statements that fill the tables of one kind of sums; `total` is `None` if there is no such table."""

    def __init__(self, summed: Summed) -> None:
        self._summed = summed
        self._columns = tuple(each.name for each in summed.sums)
        keys = tuple(summed.rollup._meta.fields[key].column_name for key in summed.keys)
        self._cell, self._pair = (*_CELL, *keys), (*_PAIR, *keys)
        self.rollup = str(summed.rollup._meta.table_name)
        self.total = None if summed.total is None else str(summed.total._meta.table_name)

    def insert(self, calls: str) -> str:
        """Insert what some calls add up to by their cells."""
        return self._insert(self.rollup, self._cell, self._add_up(self._cell, calls))

    def add(self, calls: str, *, one_by_one: bool) -> str:
        """Add the rows of some calls to the sums of their cells, one by one or what they add up to."""
        source = self._each(calls) if one_by_one else self._add_up(self._cell, calls)
        return self._add(self.rollup, self._cell, source)

    def add_new_total(self) -> str:
        """Add what the rows of new calls add up to, to the sums over all runs."""
        return self._add(str(self.total), self._pair, self._add_up(self._pair, _NEW_CALLS))

    def add_total(self, where: str = "true", sign: str = "") -> str:
        """Add sums of cells to those over all runs, or take them away."""
        keys, sums = ", ".join(self._pair), ", ".join(f"{sign}SUM({name})" for name in self._columns)
        source = f"SELECT {keys}, {sums} FROM {self.rollup} WHERE {where} GROUP BY {keys}"
        return self._add(str(self.total), self._pair, source)

    def _each(self, calls: str) -> str:
        """Select what each row of some calls adds to the sums of its cell."""
        row = self._summed.row
        values = ", ".join((*map(self._key, self._cell), *(each.sql(row) for each in self._summed.sums)))
        return f"SELECT {values} FROM {self._rows_of(calls)}"

    def _add_up(self, keys: tuple[str, ...], calls: str) -> str:
        """Select what the rows of some calls add up to by keys."""
        by, row = ", ".join(map(self._key, keys)), self._summed.row
        sums = ", ".join(each.total(row) for each in self._summed.sums)
        return f"SELECT {by}, {sums} FROM {self._rows_of(calls)} GROUP BY {by}"

    def _rows_of(self, calls: str) -> str:
        """Return the calls `c` joined to their rows, without errored ones unless sums distinguish these."""
        rows, row = self._summed.rows._meta.table_name, self._summed.row
        joined = "" if row == "c" else f" CROSS JOIN {rows} {row} ON {row}.conversation_id = c.id"
        some = f" AND {self._summed.some}" if self._summed.some else ""
        return f"{calls}{joined} WHERE {'true' if self._summed.has_errored else 'NOT c.errored'}{some}"

    def _key(self, name: str) -> str:
        return f"{self._summed.row if name in self._summed.rows._meta.columns else 'c'}.{name}"

    def _insert(self, table: str, keys: tuple[str, ...], source: str) -> str:
        return f"INSERT INTO {table} ({', '.join((*keys, *self._columns))}) {source}"

    def _add(self, table: str, keys: tuple[str, ...], source: str) -> str:
        """Insert rows of sums, or add them to those that are there."""
        added = ", ".join(f"{each.name} = {_added(table, each)}" for each in self._summed.sums)
        return f"{self._insert(table, keys, source)} ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {added}"


def _added(table: str, each: Sum) -> str:
    """Return a sum that is in a table with what is added to it."""
    kept, more = f"{table}.{each.name}", f"excluded.{each.name}"
    if each.kind == "first":
        return f"CASE WHEN {kept} IS NULL OR {more} < {kept} THEN {more} ELSE {kept} END"
    return f"{kept} + {more}"
