"""Prove quickly that what is packed, and what is summed, equals the rows.

The engine adds up, in one statement for each table and row group, what every column of every row adds; the same is
added up of what is packed. Factors are drawn again each time, so that no store can be made for its sums to be alike.
Nor are they alike where a value is of another kind than its column. A proof that fails shows nothing: what is wrong is
found by those who compare everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import SystemRandom
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riff_store import schema as m
from riff_store.arrays.blocks import Block, Keys
from riff_store.arrays.encoding import MOST_ROWS, Floats, Places, decode, is_unscored
from riff_store.arrays.rows import Chunk
from riff_store.arrays.spans import sealed
from riff_store.arrays.sums import call_rows, least_rows, score_rows, state_rows, step_rows, sums_of_span, tool_rows
from riff_store.chunks import CALL_IDS, CALLS, ROWS, ROWS_OF_CALLS, SPAN, Ask, keys_of, keys_of_span, score_name
from riff_store.database import Store
from riff_store.errors import StoreError
from riff_store.schema.sums import Sum, Summed

_WHOLLY = (m.StateScore, m.Transition, m.ToolScore, m.AspectScore)
WHOLLY_PACKED = [model._meta.table_name for model in _WHOLLY]
"""The tables of which every column is packed; their rows are of calls."""
_CALL = "conversation_id"
_REAL = {each.column_name for model in m.ALL for each in model._meta.sorted_fields if each.field_type == "DOUBLE"}
_SMALL = 2**26
"""Whole numbers below it are multiplied; others are divided with a rest, real ones after they are scaled."""
_TERM = 2**36
"""Bounds what a column adds: a row has fewer than 32 and is weighted with 20 bits, so that 63 hold it."""
_KEPT = 2**40
"""Less than it is kept of a row; as many of these as a row group may have rows add up to less than 63 bits as well."""
_WEIGHT = 2**20 - 1
_DRAW = SystemRandom()
_CELL = ("flow", "agent", "run")
_LARGEST = int(np.iinfo(np.int64).max)


class _Packed(NamedTuple):
    """Keep what is packed of a table: columns, as SQL and array, with as many `keys` first as distinguish its rows.

    The rows may have to be `in_order` of these.
    """

    table: str
    columns: Sequence[tuple[str, Floats]]
    keys: int = 1
    in_order: bool = True


Known: TypeAlias = Mapping[str, NDArray[np.bool_]]
"""Which keys there are, by the column that points to them."""


def known_keys(ask: Ask) -> Known:
    """Return the keys to which wholly packed rows can point, but for those of calls."""
    pointing = {field.column_name: other for model in _WHOLLY for field, other in model._meta.refs.items()}
    return {
        column: _there(np.array(ask(f"SELECT id FROM {other._meta.table_name}", ()), np.float64), MOST_ROWS)
        for column, other in pointing.items()
        if column != _CALL
    }


def _there(keys: Floats, most: int) -> NDArray[np.bool_]:
    found = np.zeros(most, np.bool_)
    found[keys[(keys >= 0) & (keys < most)].astype(np.int64)] = True
    return found


def is_as_rows(ask: Ask, group: int, known: Known) -> bool:
    """Return whether a packed row group is proved to be what its rows are.

    What the rows of wholly packed tables point to is there then as well.
    """
    kept = ask("SELECT name, n, body FROM column_chunk WHERE row_group = ?", (group,))
    try:
        columns = {name: decode(body, n) for name, n, body in kept if 0 <= n <= MOST_ROWS}
        tables = list(_tables(columns))
        return (
            len(columns) == len(kept)
            and _points_well(tables, known, *keys_of(group))
            and all(_is_alike(ask, each, *keys_of(group)) for each in tables)
        )
    except (StoreError, LookupError, ValueError, TypeError):
        return False


def _points_well(tables: Sequence[_Packed], known: Known, first: int, last: int) -> bool:
    """Return whether what wholly packed rows point to is there; raises `LookupError` if no key is as large."""
    known = {**known, _CALL: _there(tables[0].columns[0][1] - first, last - first + 1)}
    for table in tables:
        for sql, column in table.columns if table.table in WHOLLY_PACKED else ():
            if sql in known:
                keys = (column - first if sql == _CALL else column).astype(np.int64)
                if keys.min(initial=0) < 0 or not known[sql][keys].all():
                    return False
    return True


def _tables(columns: dict[str, Floats]) -> Iterator[_Packed]:
    """Yield what is packed, table by table; raises `LookupError` unless that is what there has to be."""
    left = dict(columns)
    calls = left.pop(CALL_IDS)
    yield _Packed("conversation", [("id", calls), *((sql, left.pop(f"call.{name}")) for name, sql in CALLS.items())])
    for kind, (names, table, order) in ROWS_OF_CALLS.items():
        counts = left.pop(f"{kind}.{ROWS}")
        if not counts.min(initial=0) >= 0 or counts.sum() > MOST_ROWS:
            raise LookupError(kind)
        found = {_CALL: np.repeat(calls, counts.astype(np.intp))}
        found |= {sql: left.pop(f"{kind}.{name}") for name, sql in names.items()}
        keys = ["conversation_id", *order.split(", ")]
        in_order = sorted(found.items(), key=lambda each: keys.index(each[0]) if each[0] in keys else len(keys))
        yield _Packed(table, in_order, 1 if kind == "failure" else len(keys))
    scores = [np.empty((4, 0))]
    for name, values in left.items():
        aspect, judge = map(int, name.split(".")[1:])
        if name != score_name(aspect, judge) or values.size != calls.size:
            raise LookupError(name)
        asked = np.flatnonzero(~np.isnan(values) | is_unscored(values))
        keys_of_all = (np.full(asked.size, float(key)) for key in (aspect, judge))
        scores.append(np.stack([calls[asked], *keys_of_all, values[asked]]))
    names_of_scores = (_CALL, "aspect_id", "judge_id", "value")
    # No score is packed twice, since calls are in order.
    of_scores = list(zip(names_of_scores, np.concatenate(scores, axis=1), strict=True))
    yield _Packed("aspect_score", of_scores, 3, in_order=False)


def _is_alike(ask: Ask, packed: _Packed, first: int, last: int) -> bool:
    """Return whether rows are packed in order, and add up to the same as those of the table.

    Raises `ValueError` for what no column of its kind can have.
    """
    n, (call, _) = packed.columns[0][1].size, packed.columns[0]
    keys, others = packed.columns[: packed.keys], packed.columns[packed.keys :]
    if any(column.size != n for _, column in packed.columns):
        return False
    if packed.in_order and not _ascends([column for _, column in keys]):
        return False
    weight, weights = "0", np.zeros(n, np.int64)
    for sql, column in keys:
        factor = _DRAW.randrange(2**20, 2**30)
        weight += f" + {sql} * {factor}"
        weights += _as_whole(column) * factor
    base = _DRAW.randrange(_TERM // 2, _TERM)
    terms, values, scales, total = [str(base)], [sql for sql, _ in keys], [], np.full(n, base, np.int64)
    for sql, column in others:
        value, term, scale, added = _term(sql, column)
        values.append(value)
        terms.append(term)
        scales += scale
        total += added
    of_rows = int(np.fmod(total * ((weights >> 10 & _WEIGHT) | 1), _KEPT).sum())
    # A rest by what is not whole is not, nor is a sum with it; text and bytes are more than any number.
    each = f"({' + '.join(terms)}) * ((({weight}) >> 10 & {_WEIGHT}) | 1) % {_KEPT}"
    fits = f"MAX({', '.join(values)}) <= {_LARGEST}" if packed.table in WHOLLY_PACKED else "TRUE"
    statement = f"SELECT COALESCE(SUM({each}), 0) FROM {packed.table} WHERE {call} >= ? AND {call} < ? AND {fits}"
    [(kept,)] = ask(statement, (*scales, first, last + 1))
    return type(kept) is int and kept == of_rows


def _ascends(keys: Sequence[Floats]) -> bool:
    """Return whether rows are in the order of keys, and no two have the same ones."""
    later, tied = np.zeros(max(keys[0].size - 1, 0), np.bool_), np.ones(max(keys[0].size - 1, 0), np.bool_)
    for key in keys:
        later |= tied & (key[1:] > key[:-1])
        tied &= key[1:] == key[:-1]
    return bool(later.all())


def _as_whole(column: Floats) -> NDArray[np.int64]:
    with np.errstate(invalid="ignore"):
        whole = column.astype(np.int64)
    if (whole != column).any():
        raise ValueError("not whole")
    return whole


def _term(sql: str, column: Floats) -> tuple[str, str, list[float], NDArray[np.int64]]:
    """Return a column's value and what it adds, as SQL with a scale for its `?`, and what it adds as an array."""
    known, is_real = ~np.isnan(column), sql in _REAL
    largest = float(np.abs(column[known]).max(initial=1.0))
    if not known.all():
        nothing = _DRAW.randrange(1, 2**10)
        column, largest = np.where(known, column, -nothing), max(largest, nothing)
        sql = f"COALESCE({sql}, {-nothing})"
    divisor = _DRAW.randrange(_TERM // 2, _TERM)
    if is_real and np.isfinite(largest):
        # A power of two, so that nothing is rounded but what is cut off.
        scale = 2.0 ** (61 - int(np.ceil(np.log2(largest))))
        cut = np.fmod((column * scale).astype(np.int64), divisor)
        return sql, f"CAST({sql} * ? AS INTEGER) % {divisor}", [scale], cut
    whole = _as_whole(column)
    if largest >= _SMALL:
        return sql, f"{sql} % {divisor}", [], np.fmod(whole, divisor)
    factor = _DRAW.randrange(1, int(_TERM / largest))
    return sql, f"{sql} * {factor}", [], whole * factor


def proved_sums(store: Store) -> Iterator[Summed]:
    """Yield the kinds of sums of which the rollups are proved to be what columns of calls add up to."""
    firsts = least_rows(store, None, _CELL, _started, errored=True)
    if _is_kept(store, m.CALLS, [(*cell, None if at == _LARGEST else at) for *cell, at in firsts], ["first_at"]):
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
    sql = "SELECT row_group, name, n, body FROM column_chunk WHERE row_group < 0"
    for place, name, n, body in store.execute_sql(sql):
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
    return np.where(np.isnan(at), _LARGEST, np.nan_to_num(at).astype(np.int64))


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
