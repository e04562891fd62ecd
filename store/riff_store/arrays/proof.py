"""Prove quickly that what is packed, and what is summed, equals the rows.

The engine adds up, in one statement for each table and row group, what every column of every row adds; the same is
added up of what is packed. Factors are drawn again each time, so that no store can be made for its sums to be alike. A
proof that fails shows nothing: what is wrong is found by those who compare everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import SystemRandom
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riff_store import schema as m
from riff_store.arrays.blocks import Block, Keys
from riff_store.arrays.encoding import MOST_ROWS, Floats, Places, decode, is_unscored
from riff_store.arrays.rows import Chunk
from riff_store.arrays.spans import sealed
from riff_store.arrays.sums import call_rows, least_rows, score_rows, state_rows, step_rows, sums_of_span, tool_rows
from riff_store.chunks import CALL_IDS, CALLS, ROWS_OF_CALLS, SPAN, Ask, keys_of, keys_of_span
from riff_store.database import Store
from riff_store.errors import StoreError
from riff_store.schema.sums import Sum, Summed

_SCORE = "score."
_REAL = {each.column_name for model in m.ALL for each in model._meta.sorted_fields if each.field_type == "DOUBLE"}
_SMALL = 2**26
"""Whole numbers below it are multiplied; others, and real ones, are scaled and then divided with a rest."""
_TERM = 2**36
"""Bounds what a column adds: a row has fewer than 32 and is weighted with 20 bits, so that 63 hold it."""
_KEPT = 2**40 - 1
"""What is kept of a row; as many of these as a row group may have rows add up to less than 63 bits as well."""
_WEIGHT = 2**20 - 1
_DRAW = SystemRandom()
_CELL = ("flow", "agent", "run")
_NO_TIME = int(np.iinfo(np.int64).max)


class _Packed(NamedTuple):
    """Keep what is packed of a table: columns, as SQL and array, with as many `keys` first as distinguish its rows."""

    table: str
    columns: Sequence[tuple[str, Floats]]
    keys: int = 1


def is_as_rows(ask: Ask, group: int) -> bool:
    """Return whether a packed row group is proved to be what its rows are."""
    kept = ask("SELECT name, n, body FROM column_chunk WHERE row_group = ?", (group,))
    try:
        columns = {name: decode(body, n) for name, n, body in kept if 0 <= n <= MOST_ROWS}
        tables = list(_tables(columns))
    except (StoreError, LookupError, ValueError, TypeError):
        return False
    return len(columns) == len(kept) and all(_is_alike(ask, each, *keys_of(group)) for each in tables)


def _tables(columns: dict[str, Floats]) -> Iterator[_Packed]:
    """Yield what is packed, table by table; raises `LookupError` unless that is what there has to be."""
    left = dict(columns)
    calls = left.pop(CALL_IDS)
    yield _Packed("conversation", [("id", calls), *((sql, left.pop(f"call.{name}")) for name, sql in CALLS.items())])
    for kind, (names, table, order) in ROWS_OF_CALLS.items():
        found = {"conversation_id": left.pop(f"{kind}.call")} | {
            sql: left.pop(f"{kind}.{name}") for name, sql in names.items()
        }
        keys = ["conversation_id", *order.split(", ")]
        in_order = sorted(found.items(), key=lambda each: keys.index(each[0]) if each[0] in keys else len(keys))
        yield _Packed(table, in_order, 1 if kind == "failure" else len(keys))
    scores = [np.empty((4, 0))]
    for name, values in left.items():
        if not name.startswith(_SCORE) or values.size != calls.size:
            raise LookupError(name)
        aspect, judge = map(int, name.removeprefix(_SCORE).split("."))
        asked = np.flatnonzero(~np.isnan(values) | is_unscored(values))
        keys_of_all = (np.full(asked.size, float(key)) for key in (aspect, judge))
        scores.append(np.stack([calls[asked], *keys_of_all, values[asked]]))
    all_scores = np.concatenate(scores, axis=1)
    all_scores = all_scores[:, np.lexsort(all_scores[2::-1])]
    names_of_scores = ("conversation_id", "aspect_id", "judge_id", "value")
    yield _Packed("aspect_score", list(zip(names_of_scores, all_scores, strict=True)), 3)


def _is_alike(ask: Ask, packed: _Packed, first: int, last: int) -> bool:
    """Return whether rows are packed in order, and add up to the same as those of the table."""
    n, (call, _) = packed.columns[0][1].size, packed.columns[0]
    if any(column.size != n for _, column in packed.columns) or not _ascends(
        [each for _, each in packed.columns[: packed.keys]]
    ):
        return False
    weight, weights = "0", np.zeros(n, np.int64)
    for sql, column in packed.columns[: packed.keys]:
        factor = _DRAW.randrange(2**20, 2**30)
        weight += f" + {sql} * {factor}"
        weights += column.astype(np.int64) * factor
    terms, scales, total = [], [], np.zeros(n, np.int64)
    for sql, column in packed.columns:
        term, scale, added = _term(sql, column)
        terms.append(term)
        scales += scale
        total += added
    of_rows = int((total * ((weights >> 10 & _WEIGHT) | 1) & _KEPT).sum())
    each = f"({' + '.join(terms)}) * ((({weight}) >> 10 & {_WEIGHT}) | 1) & {_KEPT}"
    statement = f"SELECT COUNT(*), COALESCE(SUM({each}), 0) FROM {packed.table} WHERE {call} BETWEEN ? AND ?"
    return list(ask(statement, (*scales, first, last))) == [(n, of_rows)]


def _ascends(keys: Sequence[Floats]) -> bool:
    """Return whether rows are in the order of keys, and no two have the same ones."""
    later, tied = np.zeros(max(keys[0].size - 1, 0), np.bool_), np.ones(max(keys[0].size - 1, 0), np.bool_)
    for key in keys:
        later |= tied & (key[1:] > key[:-1])
        tied &= key[1:] == key[:-1]
    return bool(later.all())


def _term(sql: str, column: Floats) -> tuple[str, list[float], NDArray[np.int64]]:
    """Return what a column adds, as SQL with a scale for its `?`, and as an array."""
    known = ~np.isnan(column)
    largest = float(np.abs(column[known]).max(initial=1.0))
    is_real = sql in _REAL
    if not known.all():
        nothing = _DRAW.randrange(1, 2**10)
        column, largest = np.where(known, column, -nothing), max(largest, nothing)
        sql = f"COALESCE({sql}, {-nothing})"
    if not is_real and largest < _SMALL and ((whole := column.astype(np.int64)) == column).all():
        factor = _DRAW.randrange(1, int(_TERM / largest))
        return f"{sql} * {factor}", [], whole * factor
    # A power of two, so that nothing is rounded but what is cut off.
    scale, divisor = 2.0 ** (61 - int(np.ceil(np.log2(largest)))), _DRAW.randrange(_TERM // 2, _TERM)
    cut = np.fmod((column * scale).astype(np.int64), divisor)
    return f"CAST({sql} * ? AS INTEGER) % {divisor}", [scale], cut


def proved_sums(store: Store) -> Iterator[Summed]:
    """Yield the kinds of sums of which the rollups are proved to be what columns of calls add up to."""
    firsts = least_rows(store, None, _CELL, _started, errored=True)
    if _is_kept(store, m.CALLS, [(*cell, None if at == _NO_TIME else at) for *cell, at in firsts], ["first_at"]):
        yield from _proved(store, m.CALLS, call_rows(store, None, _CELL, _whole(m.CALLS)))
    aspects = {key for (key,) in store.execute(m.Aspect.select(m.Aspect.id))}
    squares = [each.kind for each in m.ASPECTS.sums].index("squares") - len(m.ASPECTS.sums)
    scores = [(*row[:squares], *row[squares + 1 :]) for row in score_rows(store, None, _CELL, aspects)]
    yield from _proved(store, m.ASPECTS, scores)
    yield from _proved(store, m.STATES, state_rows(store, None, (*_CELL, "state"), _whole(m.STATES)))
    yield from _proved(store, m.TOOLS, tool_rows(store, None, (*_CELL, "tool", "state"), _whole(m.TOOLS)))
    yield from _proved(store, m.STEPS, step_rows(store, None, (*_CELL, "state")))


def wrong_spans(store: Store, *, add_up: bool) -> Iterator[range]:
    """Yield the keys of the calls of spans whose sums are damaged, or are not what these calls add up to.

    The latter is found of one span that is drawn, if what is packed can be made to `add_up`.
    """
    kept: dict[int, list[Chunk]] = {}
    for place, *found in store.execute_sql("SELECT row_group, name, n, body FROM column_chunk WHERE row_group < 0"):
        name, n, body = found
        kept.setdefault(place, []).append(Chunk(name, n, bytes(body)))
    drawn = _DRAW.choice(list(kept)) if kept and add_up else None
    for place, chunks in sorted(kept.items(), reverse=True):
        sums = [each for each in chunks if each.name != SPAN]
        if place == drawn:
            sums = list(sums_of_span(store, place))
        if set(sealed(sums)) != set(chunks):
            yield keys_of_span(place)


def _started(block: Block, chosen: Places) -> Keys:
    at = block.figures("started_at", chosen)
    return np.where(np.isnan(at), _NO_TIME, np.nan_to_num(at).astype(np.int64))


def _whole(summed: Summed) -> list[Sum]:
    """Return the sums that are whole numbers, and so the same in whatever order rows are added."""
    return [each for each in summed.sums if each.kind not in ("squares", "first")]


def _proved(store: Store, summed: Summed, rows: Sequence[tuple[Any, ...]]) -> Iterator[Summed]:
    if summed.has_total:
        cell = m.CALLS.rollup
        of_many = cell.n + cell.excluded >= m.FEWEST_SUMMED
        many = set(store.execute(cell.select(cell.flow, cell.agent, cell.run).where(of_many)))
        rows = [row for row in rows if row[:3] in many]
    if _is_kept(store, summed, rows, [each.name for each in _whole(summed)]):
        yield summed


def _is_kept(store: Store, summed: Summed, rows: Sequence[tuple[Any, ...]], sums: Sequence[str]) -> bool:
    """Return whether a rollup has these cells, with these sums, and no others."""
    columns = summed.rollup._meta.fields
    keys = [f"NULLIF({columns[key].column_name}, 0)" for key in (*_CELL, *summed.keys)]
    kept = store.execute_sql(f"SELECT {', '.join((*keys, *sums))} FROM {summed.rollup._meta.table_name}")
    return len(kept) == len(rows) and set(kept) == set(rows)
