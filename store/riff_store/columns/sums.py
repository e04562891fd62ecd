"""Sum calls, scores, states and steps of calls that a filter leaves, as the statements of `queries.sums` do.

Each function returns the rows that such a statement would: the keys that are grouped by, then the sums, which are
reduced as `models.sums` says of each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riff_store.columns.blocks import Block, Flags, Keys, blocks, packed_scores
from riff_store.columns.encoding import Floats, Places, is_unscored
from riff_store.columns.layout import STATES
from riff_store.columns.masks import masks_of
from riff_store.columns.tallies import Cells, Tally
from riff_store.database import Store
from riff_store.models import ASPECTS, STEPS, Sum
from riff_store.predicates import Predicate

_Column: TypeAlias = Callable[[str], Floats]
_MOST_PLACES = 2**24
_TOP = 10
_CONDITIONS: Mapping[str, Callable[[_Column], Flags]] = {
    "counts": lambda column: column("errored") == 0,
    "errored": lambda column: column("errored") != 0,
    "caller failed": lambda column: column("caller_ok") == 0,
    "at the top": lambda column: column("value") >= _TOP,
    "unscored": lambda column: is_unscored(column("value")),
}
"""What a sum may ask of its rows, as `models.sums.CONDITIONS` has it in SQL."""


def call_rows(
    store: Store, calls: Predicate | None, by: Sequence[str], wanted: Sequence[Sum]
) -> Sequence[tuple[Any, ...]]:
    """Sum how calls went, errored ones apart."""
    tally, masks = Tally(), masks_of(store)
    for block in blocks(store):
        chosen = np.flatnonzero(masks.calls(calls, block))
        if chosen.size:
            cells = Cells([block.keys(key, chosen) for key in by], chosen.size)
            column = cache(partial(block.figures, at=chosen))
            tally.add(cells.keys, _sums(wanted, column, cells))
    return tally.rows()


def score_rows(
    store: Store, calls: Predicate | None, by: Sequence[str], aspects: Collection[int]
) -> Sequence[tuple[Any, ...]]:
    """Sum scores of some aspects by aspect and judge as well."""
    tally, masks, packed = Tally(), masks_of(store), packed_scores(store)
    for block in blocks(store):
        chosen = np.flatnonzero(masks.counting(calls, block))
        if not chosen.size:
            continue
        cells = Cells([block.keys(key, chosen) for key in by], chosen.size)
        for pair in sorted(pair for pair in packed | block.judged_rows() if pair[0] in aspects):
            sums = list(_sums(ASPECTS.sums, {"value": block.scores(*pair, chosen)}.__getitem__, cells))
            asked = np.flatnonzero(sums[0] + sums[-1])
            tally.add([(*cells.keys[cell], *pair) for cell in asked.tolist()], [column[asked] for column in sums])
    return tally.rows()


def state_rows(
    store: Store, rows: Predicate | None, by: Sequence[str], wanted: Sequence[Sum]
) -> Sequence[tuple[Any, ...]]:
    """Sum rows of states by segment as well."""
    tally = Tally()
    for block, chosen, calls in _chosen_rows(store, rows):
        cells = Cells([_key_of_row(block, key, calls, chosen) for key in (*by, "segment")], chosen.size)
        # The columns of a block are let go when the next one is begun: memory that is given back between two of them
        # has to be fetched from the system again, which takes a fifth of the time.
        column = cache(_columns_of_rows(block, chosen))
        tally.add(cells.keys, _sums(wanted, column, cells))
    return tally.rows()


def step_rows(store: Store, rows: Predicate | None, by: Sequence[str]) -> Sequence[tuple[Any, ...]]:
    """Count steps by the state that they lead to as well; a filter of states speaks of the one that they start from."""
    tally = Tally()
    for block, chosen, calls in _chosen_rows(store, rows):
        steps, of_step, starts = _steps_from(block, chosen, calls)
        keys = [_key_of_row(block, key, of_step, starts) for key in by]
        cells = Cells([*keys, block.keys_of("transition", "to_state", steps)], steps.size)
        tally.add(cells.keys, _sums(STEPS.sums, partial(block.figures_of, "transition", at=steps), cells))
    return tally.rows()


def _chosen_rows(store: Store, rows: Predicate | None) -> Iterator[tuple[Block, Places, Places]]:
    """Yield the blocks with the places of those rows of states that a filter leaves, and of the calls of these."""
    masks = masks_of(store)
    for block in blocks(store):
        chosen, calls = masks.rows_counting(rows, block)
        if chosen.size:
            yield block, chosen, calls


def _columns_of_rows(block: Block, chosen: Places) -> _Column:
    at = None if chosen.size == block.calls_of("state").size else chosen
    return lambda name: block.figures_of("state", name, at)


def _key_of_row(block: Block, key: str, calls: Places, rows: Places) -> Keys:
    """Return a key of rows of states, or of their calls."""
    return block.keys_of("state", key, rows) if key in STATES else block.keys(key)[calls]


def _steps_from(block: Block, rows: Places, calls: Places) -> tuple[Places, Places, Places]:
    """Return the places of the steps from some rows of states, of their calls, and of the row that each starts from."""
    chosen = np.zeros(block.n, np.bool_)
    chosen[calls] = True
    steps, of_step = block.rows_of("transition", chosen)
    states, starts = block.keys_of("state", "state", rows), block.keys_of("transition", "from_state", steps)
    number, radix = np.cumsum(chosen) - 1, int(max(states.max(initial=0), starts.max(initial=0))) + 1
    codes, wanted = number[calls] * radix + states, number[of_step] * radix + starts
    if radix * int(number[-1] + 1) <= _MOST_PLACES:
        places = np.full(radix * int(number[-1] + 1), -1, np.int32)
        places[codes] = np.arange(rows.size)
        found = places.take(wanted).astype(np.intp)
    else:
        found = np.minimum(np.searchsorted(codes, wanted), rows.size - 1)
        found[codes[found] != wanted] = -1
    if found.min(initial=0) < 0:
        there = found >= 0
        steps, of_step, found = steps[there], of_step[there], found[there]
    return steps, of_step, rows[found]


def _sums(wanted: Sequence[Sum], column: _Column, cells: Cells) -> Iterator[NDArray[Any]]:
    """Yield sums of rows by their cells."""
    holds = cache(lambda where: _CONDITIONS[where](column))

    @lru_cache(maxsize=1)
    def values(of: str, where: str, per: float) -> Floats:
        found = column(of) if per == 1.0 else column(of) / per
        return np.where(holds(where), found, np.nan) if where else found

    for each in wanted:
        if each.kind == "count":
            yield cells.count(holds(each.where) if each.where else None)
        else:
            yield _REDUCED[each.kind](cells, values(each.of, each.where, each.per))


_REDUCED: Mapping[str, Callable[[Cells, Floats], NDArray[Any]]] = {
    "known": lambda cells, values: cells.count(~np.isnan(values)),
    "total": Cells.add_whole,
    "billionths": Cells.add_billionths,
    "squares": lambda cells, values: cells.add(values * values),
}
"""How values of a kind of sums are added up; a value that is not known is nan."""
