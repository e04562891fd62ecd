"""Read calls as columns: what an analysis of very many calls works on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riff_store.arrays.blocks import Block, Flags, Keys, blocks, packed_scores
from riff_store.arrays.encoding import Floats, Places, is_unscored
from riff_store.arrays.masks import masks_of
from riff_store.database import Store
from riff_store.filters.predicates import Predicate
from riff_store.interaction import EVENTS
from riff_store.schema import COMPUTED_JUDGE
from riff_store.scoring import PARTS
from riff_store.statistics.observations import blended, computed_blends

_PART_BLOCKS = 2


def read_calls(store: Store, calls: Predicate | None, *, errored: bool = False) -> CallColumns:
    """Return the calls that match, the errored ones only where asked for, as columns in the order of their keys.

    Columns are read when they are asked for: ask within the same snapshot of the store.
    """
    return CallReader(store).read(calls, errored=errored)


class CallReader:
    """Read calls of one snapshot of a store several times; names of columns that are wanted each time may be given.

    If these are not packed, rows are read once, and all scores with them.
    """

    def __init__(self, store: Store, ahead: Sequence[str] = ()) -> None:
        self._store = store
        self._masks = masks_of(store)
        self._ahead = ahead
        self._blocks: list[Block] | None = None

    def read(self, calls: Predicate | None, *, errored: bool = False) -> CallColumns:
        """Return the calls that match as `read_calls` does."""
        if self._blocks is None:
            self._blocks = list(blocks(self._store, self._ahead))
        found = []
        for block in self._blocks:
            chosen = (self._masks.calls if errored else self._masks.counting)(calls, block)
            if chosen.any():
                found.append((block, np.flatnonzero(chosen)))
        return CallColumns(self._store, found)


class CallColumns:
    """Keep the columns of some calls, each read when it is asked for."""

    def __init__(self, store: Store, chosen: Sequence[tuple[Block, Places]]) -> None:
        self._store = store
        self._chosen = chosen
        self.n = sum(places.size for _, places in chosen)
        """How many calls there are."""

    def keys(self, name: str) -> Keys:
        """Return keys (`id`, `flow`, `run`, `persona`, …) or whole numbers (`trial`); 0 if there is none."""
        return self._column(lambda block, at: block.keys(name, at), np.int64)

    def values(self, name: str) -> Floats:
        """Return figures of the calls (`success`, `quality`, `duration_s`, `started_at`, …); nan is not measured."""
        return self._column(lambda block, at: block.figures(name, at), np.float64)

    def scores(self, aspect: int, judge: int) -> Floats:
        """Return the scores of a judge in one aspect, those that were computed too; nan is not scored."""
        return self._column(lambda block, at: block.scores(aspect, judge, at), np.float64)

    def unscored(self, aspect: int, judge: int) -> Flags:
        """Return which calls the judge was asked about without giving a score."""
        return self._column(lambda block, at: is_unscored(block.scores(aspect, judge, at)), np.bool_)

    def judged(self) -> list[tuple[int, int]]:
        """Return the (aspect, judge) that may have scores of these calls, computed ones included."""
        from_rows = {pair for block, _ in self._chosen for pair in block.judged_rows()}
        return sorted(from_rows | packed_scores(self._store))

    def parts(self) -> Iterator[CallColumns]:
        """Yield the same calls in parts, so that what is worked out of them on the way takes little memory."""
        for start in range(0, len(self._chosen), _PART_BLOCKS):
            yield CallColumns(self._store, self._chosen[start : start + _PART_BLOCKS])

    def _column(self, read: Callable[[Block, Places], NDArray[Any]], dtype: type[Any]) -> NDArray[Any]:
        column, start = np.empty(self.n, dtype), 0
        for block, places in self._chosen:
            column[start : start + places.size] = read(block, places)
            start += places.size
        return column


# Read what each judge thinks of calls: one aspect, or the operability that follows from their humanness.
def qualities(columns: CallColumns, judges: Iterable[int], aspects: Mapping[str, int]) -> dict[int, Floats]:
    """Return the operability of each call, as each judge alone sees it (docs/metrics.md, section 8)."""
    humanness = aspects.get("humanness", 0)
    found = {judge: np.empty(columns.n) for judge in judges if judge == COMPUTED_JUDGE}
    found |= {judge: np.empty(columns.n) for judge in _asked(columns, judges, humanness) if judge != COMPUTED_JUDGE}
    start = 0
    for part in columns.parts():
        some = slice(start, start + part.n)
        blends = computed_blends(*(part.scores(aspects.get(name, 0), COMPUTED_JUDGE) for name in PARTS))
        for judge, values in found.items():
            of_judge = None if judge == COMPUTED_JUDGE else _finite(part.scores(humanness, judge))
            values[some] = blended(blends, of_judge)
        start = some.stop
    return found


def aspect_scores(columns: CallColumns, judges: Iterable[int], aspect: int) -> dict[int, Floats]:
    """Return one aspect of each call by each of some judges."""
    return {judge: _finite(columns.scores(aspect, judge)) for judge in _asked(columns, judges, aspect)}


def _asked(columns: CallColumns, judges: Iterable[int], aspect: int) -> list[int]:
    """Return those of some judges who may have scored an aspect."""
    chosen = set(judges)
    return [judge for key, judge in columns.judged() if key == aspect and judge in chosen]


def _finite(values: Floats) -> Floats:
    """Return values with nan for those that are infinite."""
    infinite = np.isinf(values)
    return np.where(infinite, np.nan, values) if infinite.any() else values


# Read how the sides of calls shared the line, as columns.
_AT_ONCE = 20_000


def read_interactions(
    store: Store, keys: NDArray[np.int64], names: Sequence[str] = EVENTS
) -> Mapping[str, NDArray[np.float64]]:
    """Return sums of calls, by their sorted keys; nan is a call without a record of who spoke when."""
    columns = tuple(dict.fromkeys(names))
    query = (
        f"SELECT conversation_id, {', '.join(columns)} FROM call_interaction"
        " WHERE conversation_id BETWEEN ? AND ? ORDER BY conversation_id"
    )
    found = np.full((len(columns), len(keys)), np.nan)
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        rows = np.array(store.execute_sql(query, (int(some[0]), int(some[-1]))), float).reshape(-1, 1 + len(columns))
        _, here, there = np.intersect1d(some, rows[:, 0].astype(np.int64), assume_unique=True, return_indices=True)
        found[:, start + here] = rows[there, 1:].T
    return dict(zip(columns, found, strict=True))
