"""Read columns block by block: packed ones where there are, else the rows, in the order of the calls' keys.

A block is a few row groups, so that what looks at all calls holds but a part of them at a time. Read within one
snapshot of the store, since each column is asked for by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riff_store.columns import rows
from riff_store.columns.encoding import DAMAGED, Floats, Places, decode, decode_keys, joined
from riff_store.columns.keeping import ENDS, packed_groups
from riff_store.columns.layout import CALL_IDS, HANGING, groups_between, keys_of, score_name
from riff_store.database import Store
from riff_store.errors import StoreError

Keys: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

BLOCK_GROUPS = 8
_HANGING = tuple(f"{kind}." for kind in HANGING)
_IDS = "id"
_CHUNKS = "SELECT row_group, n, body FROM column_chunk WHERE name = ? AND row_group BETWEEN ? AND ?"


class _Span(NamedTuple):
    """Hold a range of keys, and the row group that is packed of it, `None` where its rows are read."""

    first: int
    last: int
    group: int | None


class _Ahead(NamedTuple):
    """Hold columns of rows that were read at once: those of calls by name, and scores by aspect and judge."""

    calls: dict[str, Floats]
    scores: dict[tuple[int, int], tuple[Floats, Floats]]


def blocks(store: Store, ahead: Sequence[str] = ()) -> Iterator[Block]:
    """Yield the blocks of a store that have calls, those columns of calls that are not packed read `ahead`."""
    ((first, last),) = store.execute_sql(ENDS)
    if first is None:
        return
    packed, groups = set(packed_groups(store.execute_sql)), groups_between(first, last)
    for group in groups[::BLOCK_GROUPS]:
        block = Block(store, group, min(group + BLOCK_GROUPS, groups.stop), packed)
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
    """Read columns of the calls of some row groups, and of the rows that hang on them."""

    def __init__(self, store: Store, first: int, end: int, packed: Set[int]) -> None:
        self._ask = store.execute_sql
        self.first = first
        """The first of its row groups, which no other block of the store has."""
        self._groups = first, end - 1
        self._spans = list(_spans(first, end, packed))
        self._calls_of_rows: dict[str, Places] = {}
        self._is_packed = any(span.group is not None for span in self._spans)
        self._ahead: dict[_Span, _Ahead] = {}

    @property
    def n(self) -> int:
        """Return how many calls there are, errored ones too."""
        return self.ids.size

    @cached_property
    def ids(self) -> Keys:
        """Return the keys of the calls."""
        return self._read(CALL_IDS, decode_keys, lambda span: _keys(self._of_calls((), span)[0]))

    def read_ahead(self, names: Sequence[str]) -> None:
        """Read some columns of calls and all scores at once where they are not packed: one by one takes longer."""
        for span in self._spans:
            if span.group is None:
                columns = rows.call_columns(self._ask, names, span.first, span.last)
                calls = dict(zip((_IDS, *names), columns, strict=True))
                self._ahead[span] = _Ahead(calls, rows.scores_by_judge(self._ask, span.first, span.last))

    def figures(self, name: str, at: Places | None = None) -> Floats:
        """Return a column of calls as numbers, all or those `at` some places; nan is not measured."""
        return self._read(f"call.{name}", decode, lambda span: self._of_calls((name,), span)[1], at)

    def keys(self, name: str, at: Places | None = None) -> Keys:
        """Return a column of calls as keys, 0 where a call names none."""
        if name == "id":
            return self.ids if at is None else self.ids[at]
        return self._read(f"call.{name}", decode_keys, lambda span: _keys(self._of_calls((name,), span)[1]), at)

    def scores(self, aspect: int, judge: int, at: Places | None = None) -> Floats:
        """Return a judge's scores of calls; nan is not scored, and `UNSCORED` where the judge was asked."""

        def from_rows(span: _Span) -> Floats:
            if span in self._ahead:
                scored = self._ahead[span].scores.get((aspect, judge), (np.empty(0), np.empty(0)))
            else:
                scored = rows.scores(self._ask, aspect, judge, span.first, span.last)
            return rows.placed_scores(self._calls_of(span), *scored)

        return self._read(score_name(aspect, judge), decode, from_rows, at, absent=True)

    def figures_of(self, kind: str, name: str, at: Places | None = None) -> Floats:
        """Return a column of what hangs on calls (`state` or `transition`) as numbers; nan is not measured."""
        return self._read(f"{kind}.{name}", decode, lambda span: self._hanging(kind, (name,), span)[1], at)

    def keys_of(self, kind: str, name: str, at: Places | None = None) -> Keys:
        """Return a column of what hangs on calls as keys."""
        return self._read(f"{kind}.{name}", decode_keys, lambda span: _keys(self._hanging(kind, (name,), span)[1]), at)

    def calls_of(self, kind: str) -> Places:
        """Return of each row that hangs on a call the place of that call in this block."""
        known = self._calls_of_rows.get(kind)
        if known is not None:
            return known
        keys = self._read(f"{kind}.call", decode_keys, lambda span: _keys(self._hanging(kind, (), span)[0]))
        first = keys_of(self._groups[0])[0]
        places = np.zeros(keys_of(self._groups[1])[1] + 1 - first, np.intp)
        places[self.ids - first] = np.arange(self.n)
        found: Places = places.take(keys - first)
        self._calls_of_rows[kind] = found
        return found

    def judged_rows(self) -> set[tuple[int, int]]:
        """Return the (aspect, judge) of the scores that are not packed."""
        spans = (span for span in self._spans if span.group is None)
        return {pair for span in spans for pair in self._judged(span)}

    def _read(
        self,
        name: str,
        unpack: Callable[[bytes, int, Places | None], NDArray[Any]],
        from_rows: Callable[[_Span], NDArray[Any]],
        at: Places | None = None,
        absent: bool = False,
    ) -> NDArray[Any]:
        """Return a column, all or `at` some places in ascending order; one that may be `absent` is nan there."""
        if at is not None and at.size == self.n and not name.startswith(_HANGING):
            at = None
        chunks = {}
        if self._is_packed:
            chunks = {group: (body, n) for group, n, body in self._ask(_CHUNKS, (name, *self._groups))}
        pieces: list[NDArray[Any] | tuple[bytes, int]] = []
        for is_read, spans in groupby(self._spans, key=lambda span: span.group not in chunks):
            if is_read:
                pieces += [from_rows(span) if span.group is None else self._absent(span, absent) for span in spans]
            else:
                pieces += joined(chunks[span.group] for span in spans)
        parts, start = [], 0
        for piece in pieces:
            size = piece[1] if isinstance(piece, tuple) else piece.size
            mine = None if at is None else at[slice(*np.searchsorted(at, (start, start + size)))] - start
            start += size
            if isinstance(piece, tuple):
                parts.append(unpack(*piece, mine))
            else:
                parts.append(piece if mine is None else piece[mine])
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def _judged(self, span: _Span) -> Iterable[tuple[int, int]]:
        return self._ahead[span].scores if span in self._ahead else rows.judged(self._ask, span.first, span.last)

    def _absent(self, span: _Span, absent: bool) -> Floats:
        """Return what a column is in a row group that does not have it."""
        if not absent:
            raise StoreError(*DAMAGED)
        return np.full(self._calls_of(span).size, np.nan)

    def _of_calls(self, names: tuple[str, ...], span: _Span) -> list[Floats]:
        ahead = self._ahead[span].calls if span in self._ahead else {}
        if all(name in ahead for name in (_IDS, *names)):
            return [ahead[name] for name in (_IDS, *names)]
        return rows.call_columns(self._ask, names, span.first, span.last)

    def _hanging(self, kind: str, names: tuple[str, ...], span: _Span) -> list[Floats]:
        return rows.hanging_columns(self._ask, kind, names, span.first, span.last)

    def _calls_of(self, span: _Span) -> Keys:
        start, end = np.searchsorted(self.ids, (span.first, span.last + 1))
        return self.ids[start:end]


def _spans(first: int, end: int, packed: Set[int]) -> Iterator[_Span]:
    """Yield the packed groups one by one, and those between them that are not packed as one range."""
    start = first
    for group in range(first, end + 1):
        if group == end or group in packed:
            if start < group:
                yield _Span(keys_of(start)[0], keys_of(group - 1)[1], None)
            if group < end:
                yield _Span(*keys_of(group), group)
            start = group + 1


def _keys(values: Floats) -> Keys:
    # What no key can be, in a damaged store, is one of nothing.
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(values).astype(np.int64)
