"""Keep what the calls of many row groups add up to by what they are sliced by: filters on that read no call of these.

A span is summed once all its row groups are packed, and what is kept of it is dropped with any of these. There is a
row for each cell of calls, and for each of its states, scores and the like, packed column by column as calls are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riff_store import schema as m
from riff_store.arrays.blocks import Block, Keys, Span, blocks
from riff_store.arrays.encoding import Places, decode, decode_keys
from riff_store.arrays.grouping import Cells, Tally
from riff_store.arrays.masks import masks_of
from riff_store.arrays.rows import Chunk, UnpackedCalls, chunk
from riff_store.chunks import SLICES, SPAN, place_of_span
from riff_store.database import Store
from riff_store.filters.predicates import Predicate
from riff_store.filters.sql import needs
from riff_store.schema.sums import Sum, Summed

Among: TypeAlias = Mapping[str, Collection[int]]
ALL: Among = {}
Only: TypeAlias = Sequence[Block] | None
_PLACES = "SELECT row_group FROM column_chunk WHERE name = ? AND row_group < 0 ORDER BY 1"
_MOST_EXACT = 2**53


def begun(
    store: Store,
    summed: Summed,
    calls: Predicate | None,
    by: Sequence[str],
    wanted: Sequence[Sum],
    only: Only,
    among: Among = ALL,
) -> tuple[Tally, Sequence[Block]]:
    """Return a tally of the sums that are kept of spans, and the blocks that are left.

    With `only` some blocks these are left, and nothing that is kept is used.
    """
    tally = Tally()
    if only is not None:
        return tally, only
    kept = _kept(store, summed, calls, by)
    if kept is None:
        return tally, blocks(store)
    flags = masks_of(store).calls(calls, kept)
    for key, some in among.items():
        flags = flags & np.isin(kept.keys(key), list(some))
    chosen = np.flatnonzero(flags)
    cells = Cells([kept.keys(key, chosen) for key in by], chosen.size)
    tally.add(cells.keys, kept.sums(wanted, cells, chosen))
    return tally, [block for block in blocks(store) if place_of_span(block.first) not in kept.places]


def _kept(store: Store, summed: Summed, calls: Predicate | None, by: Sequence[str]) -> _Kept | None:
    """Return what is kept that answers a question, `None` if nothing does."""
    for sliced in SLICES:
        if {sliced, "flow", "agent", *keys_of(summed)}.issuperset(by) and needs(calls, sliced=sliced) == "total":
            kind = f"{sliced}.{summed.name}"
            places = [place for (place,) in store.execute_sql(_PLACES, (f"{kind}.flow",))]
            return _Kept(store, kind, places) if places else None
    return None


class _Kept(Block):
    """Read the sums that are kept of some spans, row by row as if each were a call."""

    def __init__(self, store: Store, kind: str, places: Sequence[int]) -> None:
        super().__init__(store, places[0], places[-1] + 1, [Span(place, 0, 0, None) for place in places])
        self.places = frozenset(places)
        self._kind = kind
        # What filters find is held by this number, which no block and no other kind has.
        self.first = -int.from_bytes(kind.encode())

    @cached_property
    def ids(self) -> Keys:
        return self.keys("flow")

    def keys(self, name: str, at: Places | None = None) -> Keys:
        return self._read(f"{self._kind}.{name}", decode_keys, UnpackedCalls.ids, at)

    def sums(self, wanted: Sequence[Sum], cells: Cells, chosen: Places) -> Iterator[NDArray[Any]]:
        """Yield what is wanted of cells, whose rows were chosen."""
        for each in wanted:
            values = self._read(f"{self._kind}.{each.name}", decode, UnpackedCalls.ids, chosen)
            yield cells.add(values) if each.kind == "squares" else cells.add_whole(values)


def keys_of(summed: Summed) -> tuple[str, ...]:
    """Return what the rows of a cell of calls are distinguished by, as blocks call it."""
    return ("state", "to_state") if summed is m.STEPS else summed.keys


def chunks_of(sliced: str, summed: Summed, rows: Sequence[tuple[Any, ...]]) -> Iterator[Chunk]:
    """Yield the columns of the sums of a span; raises `OverflowError` for one that no double has exactly."""
    names = (sliced, "flow", "agent", *keys_of(summed), *(each.name for each in kept_sums(summed)))
    for name, column in zip(names, zip(*rows, strict=True) if rows else ((),) * len(names), strict=True):
        values = np.array([np.nan if each is None else each for each in column], np.float64)
        if np.abs(values[~np.isnan(values)]).max(initial=0) >= _MOST_EXACT and "squares" not in name:
            raise OverflowError(name)
        yield chunk(f"{sliced}.{summed.name}.{name}", values)


def sealed(sums: Iterable[Chunk]) -> list[Chunk]:
    """Return the columns of a span, and one that shows that it is summed, with a digest by which damage is found."""
    chunks = sorted(sums)
    return [*chunks, Chunk(SPAN, len(chunks), blake2b(repr(chunks).encode(), digest_size=16).digest())]


def kept_sums(summed: Summed) -> list[Sum]:
    """Return the sums that are kept of spans."""
    return [each for each in summed.sums if each.kind != "first"]
