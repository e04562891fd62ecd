"""Pack the calls of a row group, and what hangs on them, into a chunk for each column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from riff_store.columns.encoding import Floats, encode
from riff_store.columns.keeping import Ask
from riff_store.columns.layout import CALL_IDS, CALLS, HANGING, keys_of, score_name
from riff_store.columns.rows import all_scores, call_columns, hanging_columns, placed_scores

_JUDGES = 2**24
"""More than there are judges: of an aspect and a judge one number is made."""


class Chunk(NamedTuple):
    """Hold one column of a row group that has `n` rows."""

    name: str
    n: int
    body: bytes


def packed_group(ask: Ask, group: int) -> Iterator[Chunk]:
    """Yield every column of a row group; scores only of judges that were asked about one of its calls."""
    first, last = keys_of(group)
    calls, *columns = call_columns(ask, CALLS, first, last)
    yield _chunk(CALL_IDS, calls)
    for name, column in zip(CALLS, columns, strict=True):
        yield _chunk(f"call.{name}", column)
    yield from _scores(ask, calls, first, last)
    for kind, (names, *_) in HANGING.items():
        keys, *columns = hanging_columns(ask, kind, names, first, last)
        yield _chunk(f"{kind}.call", keys)
        for name, column in zip(names, columns, strict=True):
            yield _chunk(f"{kind}.{name}", column)


def _chunk(name: str, column: Floats) -> Chunk:
    return Chunk(name, column.size, encode(column))


def _scores(ask: Ask, calls: Floats, first: int, last: int) -> Iterator[Chunk]:
    keys, aspects, judges, values = all_scores(ask, first, last)
    pairs = aspects * _JUDGES + judges
    for pair in np.unique(pairs):
        aspect, judge = divmod(int(pair), _JUDGES)
        mine = np.flatnonzero(pairs == pair)
        yield _chunk(score_name(aspect, judge), placed_scores(calls, keys[mine], values[mine]))
