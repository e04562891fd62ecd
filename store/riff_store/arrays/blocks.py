"""Read columns block by block: packed ones if there are, else the rows, in the order of the calls' keys.

A block is a few row groups, so that what looks at all calls keeps only a part of them in memory. Read within one
snapshot of the store, since each column is asked for by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riff_store.arrays import rows
from riff_store.arrays.encoding import DAMAGED, MOST_ROWS, Floats, Places, decode, decode_keys, joined
from riff_store.arrays.rows import UnpackedCalls
from riff_store.chunks import (
    CALL_IDS,
    ENDS,
    ROWS,
    ROWS_OF_CALLS,
    Ask,
    groups_between,
    keys_of,
    packed_groups,
    score_name,
)
from riff_store.database import Store
from riff_store.errors import StoreError

Keys: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
Counts: TypeAlias = NDArray[np.int32]
_FromRows: TypeAlias = Callable[[UnpackedCalls], NDArray[Any]]
_Unpack: TypeAlias = Callable[[bytes, int, Places | None], NDArray[Any]]

BLOCK_GROUPS = 16
_ROWS_OF_CALLS = tuple(f"{kind}." for kind in ROWS_OF_CALLS)
_CHUNKS = "SELECT row_group, n, body FROM column_chunk WHERE name = ? AND row_group BETWEEN ? AND ?"


class Span(NamedTuple):
    """Keep a range of keys, and what reads the rows of its calls, `None` if they are a row group that is packed."""

    group: int
    """The first row group of the range."""
    first: int
    last: int
    rows: UnpackedCalls | None


def blocks(store: Store, ahead: Sequence[str] = ()) -> Sequence[Block]:
    """Return the blocks of a store that have calls, the same ones within a snapshot.

    Those columns of calls that are named are read `ahead` if they are not packed.
    """
    found = store.once(blocks, lambda: list(_blocks(store, ahead)))
    for block in found if ahead else ():
        block.read_ahead(ahead)
    return found


def _blocks(store: Store, ahead: Sequence[str]) -> Iterator[Block]:
    ((first, last),) = store.execute_sql(ENDS)
    if first is None:
        return
    packed, groups = set(packed_groups(store.execute_sql)), groups_between(first, last)
    for start in range(groups.start - groups.start % BLOCK_GROUPS, groups.stop, BLOCK_GROUPS):
        start, end = max(start, groups.start), min(start + BLOCK_GROUPS, groups.stop)
        block = Block(store, start, end, list(_spans(store.execute_sql, start, end, packed, groups[-1])))
        if ahead:
            block.read_ahead(ahead)
        if block.n:
            yield block


def packed_scores(store: Store) -> set[tuple[int, int]]:
    """Return the (aspect, judge) of the scores that are packed."""
    listed = store.execute_sql("SELECT DISTINCT name FROM column_chunk WHERE name >= 'score.' AND name < 'score/'")
    parts = (name.split(".") for (name,) in listed)
    return {(int(aspect), int(judge)) for _, aspect, judge in parts}


class Block:
    """Read columns of the calls of some row groups, and of their rows."""

    def __init__(self, store: Store, first: int, end: int, spans: Sequence[Span]) -> None:
        self._ask = store.execute_sql
        self.first = first
        """The first of its row groups, which no other block of the store has."""
        self._groups = first, end - 1
        self._spans = spans
        self._packed = sum(span.rows is None for span in spans)
        self._rows_before: dict[str, Counts] = {}

    @property
    def n(self) -> int:
        """Return how many calls there are, errored ones too."""
        return self.ids.size

    @cached_property
    def ids(self) -> Keys:
        """Return the keys of the calls."""
        return self._read(CALL_IDS, decode_keys, lambda calls: _keys(calls.ids()))

    def read_ahead(self, names: Sequence[str], kind: str = "") -> None:
        """Read some columns of calls and all scores, or columns of rows of a `kind`, at once if they are not packed.

        One by one takes longer.
        """
        for span in self._spans:
            if span.rows is not None:
                span.rows.read_ahead(names, kind)

    def figures(self, name: str, at: Places | None = None) -> Floats:
        """Return a column of calls as numbers, all or those `at` some places; nan is not measured."""
        return self._read(f"call.{name}", decode, lambda calls: calls.figures(name), at)

    def keys(self, name: str, at: Places | None = None) -> Keys:
        """Return a column of calls as keys, 0 if a call names none."""
        if name == "id":
            return self.ids if at is None else self.ids[at]
        return self._read(f"call.{name}", decode_keys, lambda calls: _keys(calls.figures(name)), at)

    def scores(self, aspect: int, judge: int, at: Places | None = None) -> Floats:
        """Return a judge's scores of calls; nan is not scored, and `UNSCORED` if the judge was asked."""

        def from_rows(calls: UnpackedCalls) -> Floats:
            return rows.placed_scores(_keys(calls.ids()), *calls.scores(aspect, judge))

        return self._read(score_name(aspect, judge), decode, from_rows, at, absent=True)

    def figures_of(self, kind: str, name: str, at: Places | None = None) -> Floats:
        """Return a column of rows of calls (`state` or `transition`) as numbers; nan is not measured."""
        return self._of_rows(kind, name, decode, lambda calls: calls.figures_of(kind, name), at)

    def keys_of(self, kind: str, name: str, at: Places | None = None) -> Keys:
        """Return a column of rows of calls as keys."""
        return self._of_rows(kind, name, decode_keys, lambda calls: _keys(calls.figures_of(kind, name)), at)

    def _of_rows(self, kind: str, name: str, unpack: _Unpack, from_rows: _FromRows, at: Places | None) -> NDArray[Any]:
        return self._read(f"{kind}.{name}", unpack, from_rows, at, total=int(self._before(kind)[-1]))

    def calls_of(self, kind: str) -> Places:
        """Return of each row of a call the place of that call in this block."""
        return np.repeat(np.arange(self.n), np.diff(self._before(kind)))

    def rows_of(self, kind: str, calls: Flags) -> tuple[Places, Places]:
        """Return the places of the rows of some calls, and of each the place of its call."""
        before, chosen = self._before(kind), np.flatnonzero(calls)
        first, end = before[chosen], before[chosen + 1]
        sizes = end - first
        skipped = first - np.cumsum(sizes) + sizes
        return np.arange(sizes.sum()) + np.repeat(skipped, sizes), np.repeat(chosen, sizes)

    def _before(self, kind: str) -> Counts:
        """Return how many rows the calls before each have, and on all of them."""
        found = self._rows_before.get(kind)
        if found is None:
            sizes = self._read(f"{kind}.{ROWS}", decode_keys, lambda calls: _keys(calls.row_counts(kind)))
            if sizes.min(initial=0) < 0 or sizes.max(initial=0) > MOST_ROWS or sizes.sum() > MOST_ROWS * BLOCK_GROUPS:
                raise StoreError(*DAMAGED)
            found = self._rows_before[kind] = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
        return found

    def judged_rows(self) -> set[tuple[int, int]]:
        """Return the (aspect, judge) of the scores that are not packed."""
        return {pair for span in self._spans if span.rows is not None for pair in span.rows.judged()}

    def _read(
        self,
        name: str,
        unpack: _Unpack,
        from_rows: _FromRows,
        at: Places | None = None,
        absent: bool = False,
        total: int | None = None,
    ) -> NDArray[Any]:
        """Return a column, all or `at` some places in ascending order; one that may be `absent` is nan there.

        It has to have a `total` of rows, if that is known.
        """
        if at is not None and at.size == self.n and not name.startswith(_ROWS_OF_CALLS):
            at = None
        chunks = {}
        if self._packed:
            chunks = {group: (body, n) for group, n, body in self._ask(_CHUNKS, (name, *self._groups))}
        pieces: list[NDArray[Any] | tuple[bytes, int]] = []
        if len(chunks) == self._packed == len(self._spans):
            pieces += joined([chunks[span.group] for span in self._spans])
        else:
            for is_read, spans in groupby(self._spans, lambda span: span.rows is not None or span.group not in chunks):
                if is_read:
                    for span in spans:
                        if span.rows is None and not absent:
                            raise StoreError(*DAMAGED)
                        pieces.append(self._nothing(span) if span.rows is None else from_rows(span.rows))
                else:
                    pieces += joined([chunks[span.group] for span in spans])
        parts, start = [], 0
        for piece in pieces:
            size = piece[1] if isinstance(piece, tuple) else piece.size
            mine = None if at is None else at[slice(*np.searchsorted(at, (start, start + size)))] - start
            start += size
            if isinstance(piece, tuple):
                parts.append(unpack(*piece, mine))
            else:
                parts.append(piece if mine is None else piece[mine])
        if total is not None and start != total:
            raise StoreError(*DAMAGED)
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def _nothing(self, span: Span) -> Floats:
        """Return what a column is in a row group that does not have it."""
        start, end = np.searchsorted(self.ids, (span.first, span.last + 1))
        return np.full(end - start, np.nan)


def _spans(ask: Ask, first: int, end: int, packed: Set[int], last: int) -> Iterator[Span]:
    """Yield the packed groups one by one, and those between them that are not packed as one range."""
    start = first
    for group in range(first, end + 1):
        if group == end or group in packed:
            if start < group:
                keys = keys_of(start)[0], keys_of(group - 1)[1]
                # The last group is filled still: its rows are read in every store, and are few.
                yield Span(start, *keys, UnpackedCalls(ask, *keys, at_once=start == last))
            if group < end:
                yield Span(group, *keys_of(group), None)
            start = group + 1


def _keys(values: Floats) -> Keys:
    # What no key can be, in a damaged store, is one of nothing.
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(values).astype(np.int64)
