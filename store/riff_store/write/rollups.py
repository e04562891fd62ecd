"""Sum over the cells of (flow, agent, run), in the transaction that changes a cell.

What new calls add up to is added to what is there; a cell that lost a call is summed again, and takes the place of what
it was in the sums of the (flow, agent) above it. `models.sums` defines what is summed.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from typing import TypeAlias

from riff_store.engines.engine import Connection
from riff_store.schema import ASPECTS, CALLS, FEWEST_SUMMED, SUMMED, Sum, Summed
from riff_store.scoring import Blend

Cell: TypeAlias = tuple[int, int, int]
"""The keys of a flow, an agent and a run."""

Verdict: TypeAlias = tuple[Cell, tuple[int, str, int], float | None]
"""The keys of a call, an aspect and a judge; when it was judged and where that is told; the score."""


@dataclass(slots=True)
class Changes:
    """Describe what a batch has changed so far.

    Calls from the key `first` on are new, and `next` is the key of the next one; `blends` are of the first of these.
    `shrunk` cells have lost calls. `judged` has the verdicts on new calls by the keys of their files, and `None` for a
    file that judges others as well, or many.
    """

    first: int
    next: int
    shrunk: set[Cell] = field(default_factory=set)
    judged: dict[int, list[Verdict] | None] = field(default_factory=dict)
    blends: dict[int, Blend | None] = field(default_factory=dict)

    @property
    def last(self) -> int:
        """Return the key of the last new call, one less than `first` if there is none."""
        return self.next - 1

    def copy(self) -> Changes:
        """Return what to come back to where a file does not go in."""
        return Changes(self.first, self.next, set(self.shrunk), dict(self.judged), self.blends)


def no_changes(connection: Connection) -> Changes:
    """Return what a batch begins with."""
    first = int(connection.execute("SELECT coalesce(max(id), 0) + 1 FROM conversation").fetchone()[0])
    return Changes(first, first)


def shrink(connection: Connection, changed: Changes, cells: Iterable[Cell]) -> None:
    """Note the cells that are about to lose calls."""
    more = set(cells) - changed.shrunk
    changed.shrunk |= more
    leave_totals(connection, more, changed.first, SUMMED)


_PAIR = ("flow_id", "agent_id")
_CELL = (*_PAIR, "run_id")
_OF_CELLS = "(flow_id, agent_id, run_id) IN (SELECT flow_id, agent_id, run_id FROM changed_cell)"
_OF_PAIRS = "(flow_id, agent_id) IN (SELECT flow_id, agent_id FROM changed_cell)"
_OF_CELL = "{0}.flow_id = k.flow_id AND {0}.agent_id = k.agent_id AND {0}.run_id = k.run_id"
_CALLS_OF_CELLS = f"changed_cell k CROSS JOIN conversation c ON {_OF_CELL.format('c')}"
_NEW_CALLS = "new_call c"
_SIZE = "k.n + k.excluded"
_SUMMED_CALLS = f"call_rollup k CROSS JOIN conversation c ON {_OF_CELL.format('c')} AND {_SIZE} >= {FEWEST_SUMMED}"
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
_OF_MANY = f"SELECT 1 FROM call_rollup k WHERE {_OF_CELL} AND {_SIZE} >= {FEWEST_SUMMED}"
_DROP_CELLS_OF_MANY = f"DELETE FROM changed_cell WHERE EXISTS ({_OF_MANY.format('changed_cell')})"
_DROP_CELLS_OF_FEW = f"DELETE FROM changed_cell WHERE NOT EXISTS ({_OF_MANY.format('changed_cell')})"
_KEEP_CELLS_OF_MANY = (
    _DROP_CELLS_OF_FEW,
    "INSERT INTO changed_cell SELECT k.flow_id, k.agent_id, k.run_id FROM"
    " (SELECT flow_id, agent_id, run_id, COUNT(*) AS n FROM new_call GROUP BY flow_id, agent_id, run_id) x"
    f" CROSS JOIN call_rollup k ON {_OF_CELL.format('x')}"
    f" WHERE {_SIZE} >= {FEWEST_SUMMED} AND {_SIZE} - x.n BETWEEN 1 AND {FEWEST_SUMMED - 1}",
    f"DELETE FROM new_call WHERE {_OF_CELLS} OR NOT EXISTS ({_OF_MANY.format('new_call')})",
)
"""Keep the cells and new calls that are summed by run; a cell that only now has the calls for it is summed whole."""


def recompute_all(connection: Connection) -> None:
    """Sum every cell again, and the totals above them."""
    for sums in map(_Statements, SUMMED):
        connection.execute(f"DELETE FROM {sums.rollup}")
        connection.execute(sums.insert("conversation c" if sums.total is None else _SUMMED_CALLS))
        if sums.total is not None:
            connection.execute(f"DELETE FROM {sums.total}")
            connection.execute(sums.add_total("conversation c"))


def leave_totals(connection: Connection, cells: Set[Cell], end: int, kinds: Iterable[Summed]) -> None:
    """Take those of some cells that have few calls, with keys before `end`, out of the totals before they change."""
    if cells:
        _take_cells(connection, cells)
        connection.execute(_DROP_CELLS_OF_MANY)
        for sums in map(_Statements, kinds):
            if sums.total is not None:
                connection.execute(sums.add_total(_before(end), sign="-"))


def add_calls(connection: Connection, first: int, last: int, shrunk: Set[Cell], *, one_by_one: bool) -> None:
    """Add the calls of these keys, of which no sum knows yet, to the sums of their cells, and sum `shrunk` cells again.

    Adding rows `one_by_one` is quicker than to sum them before, and not every engine can (`Engine.adds_twice`).
    """
    if last < first and not shrunk:
        return
    _take_cells(connection, shrunk)
    for statement in _KEEP_NEW_CALLS:
        connection.execute(statement)
    connection.execute(_TAKE_NEW_CALLS, (first, last))
    if shrunk:
        _take_away(connection, SUMMED)
        _add(connection, SUMMED, _CALLS_OF_CELLS, one_by_one=one_by_one)
    _add(connection, SUMMED, _NEW_CALLS, one_by_one=one_by_one)
    for statement in _KEEP_CELLS_OF_MANY:
        connection.execute(statement)
    for calls in (_CALLS_OF_CELLS, _NEW_CALLS):
        _add_by_run(connection, SUMMED, calls, one_by_one=one_by_one)


def judge_anew(connection: Connection, cells: Set[Cell], end: int, *, one_by_one: bool) -> None:
    """Sum again what judges say about calls of these cells with keys before `end`, which were summed before.

    Those of cells with few calls have left the totals.
    """
    if cells:
        _take_cells(connection, cells)
        _take_away(connection, (CALLS, ASPECTS))
        _add(connection, (CALLS, ASPECTS), _before(end), one_by_one=one_by_one)
        connection.execute(_DROP_CELLS_OF_FEW)
        _add_by_run(connection, (ASPECTS,), _before(end), one_by_one=one_by_one)


def _before(end: int) -> str:
    return f"{_CALLS_OF_CELLS} AND c.id < {end}"


def _take_cells(connection: Connection, cells: Set[Cell]) -> None:
    for statement in _KEEP_CELLS:
        connection.execute(statement)
    connection.executemany(_TAKE_CELL, sorted(cells))


def _take_away(connection: Connection, kinds: Iterable[Summed]) -> None:
    """Drop the sums of the cells that were taken, and take them out of the totals above them."""
    for sums in map(_Statements, kinds):
        if sums.total is not None:
            connection.execute(sums.take_cells())
            connection.execute(sums.drop_empty())
        connection.execute(f"DELETE FROM {sums.rollup} WHERE {_OF_CELLS}")


def _add(connection: Connection, kinds: Iterable[Summed], calls: str, *, one_by_one: bool) -> None:
    """Add some calls to the totals, and if there are none to the sums by run."""
    for sums in map(_Statements, kinds):
        connection.execute(sums.add(calls, one_by_one=one_by_one) if sums.total is None else sums.add_total(calls))


def _add_by_run(connection: Connection, kinds: Iterable[Summed], calls: str, *, one_by_one: bool) -> None:
    """Add some calls to the sums by run below the totals."""
    for sums in map(_Statements, kinds):
        if sums.total is not None:
            connection.execute(sums.add(calls, one_by_one=one_by_one))


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

    def add_total(self, calls: str, sign: str = "") -> str:
        """Add what the rows of some calls add up to, to the sums over all runs, or take it away."""
        return self._add(str(self.total), self._pair, self._add_up(self._pair, calls, sign))

    def take_cells(self) -> str:
        """Take the sums of the cells that were taken away from those over all runs."""
        keys, sums = ", ".join(self._pair), ", ".join(f"-SUM({name})" for name in self._columns)
        source = f"SELECT {keys}, {sums} FROM {self.rollup} WHERE {_OF_CELLS} GROUP BY {keys}"
        return self._add(str(self.total), self._pair, source)

    def drop_empty(self) -> str:
        """Drop those sums over all runs that are of nothing by now."""
        return f"DELETE FROM {self.total} WHERE {_OF_PAIRS} AND {self._summed.empty}"

    def _each(self, calls: str) -> str:
        """Select what each row of some calls adds to the sums of its cell."""
        row = self._summed.row
        values = ", ".join((*map(self._key, self._cell), *(each.sql(row) for each in self._summed.sums)))
        return f"SELECT {values} FROM {self._rows_of(calls)}"

    def _add_up(self, keys: tuple[str, ...], calls: str, sign: str = "") -> str:
        """Select what the rows of some calls add up to by keys."""
        by, row = ", ".join(map(self._key, keys)), self._summed.row
        sums = ", ".join(f"{sign}{each.total(row)}" for each in self._summed.sums)
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
