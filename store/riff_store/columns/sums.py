"""Sum calls, scores, states and steps of calls that a filter leaves, as the statements of `queries.sums` do.

Each function returns the rows that such a statement would: the keys that are grouped by, then the sums.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riff_store.columns.blocks import Block, Keys, blocks, packed_scores
from riff_store.columns.encoding import Floats, Places, is_unscored
from riff_store.columns.layout import STATES
from riff_store.columns.masks import masks_of
from riff_store.columns.tallies import Cells, Tally
from riff_store.database import Store
from riff_store.predicates import Predicate

_Column: TypeAlias = Callable[[str], Floats]
_TOP = 10
_MOST_PLACES = 2**24


def call_rows(store: Store, calls: Predicate | None, by: Sequence[str], most: int) -> list[tuple[Any, ...]]:
    """Sum how calls went, errored ones apart; the first `most` of the sums."""
    tally, masks = Tally(), masks_of(store)
    for block in blocks(store):
        chosen = np.flatnonzero(masks.calls(calls, block))
        if chosen.size:
            cells = Cells([block.keys(key, chosen) for key in by], chosen.size)
            tally.add(cells.keys, islice(_call_sums(block, chosen, cells), most))
    return tally.rows()


def score_rows(
    store: Store, calls: Predicate | None, by: Sequence[str], aspects: Collection[int]
) -> list[tuple[Any, ...]]:
    """Sum scores of some aspects by aspect and judge as well."""
    tally, masks, packed = Tally(), masks_of(store), packed_scores(store)
    for block in blocks(store):
        chosen = np.flatnonzero(masks.counting(calls, block))
        if not chosen.size:
            continue
        cells = Cells([block.keys(key, chosen) for key in by], chosen.size)
        for pair in sorted(pair for pair in packed | block.judged_rows() if pair[0] in aspects):
            sums = list(_score_sums(block.scores(*pair, chosen), cells))
            asked = np.flatnonzero(sums[0] + sums[-1])
            tally.add([(*cells.keys[cell], *pair) for cell in asked.tolist()], [column[asked] for column in sums])
    return tally.rows()


def state_rows(store: Store, rows: Predicate | None, by: Sequence[str], wanted: Sequence[str]) -> list[tuple[Any, ...]]:
    """Sum rows of states by segment as well; `wanted` are the names of the sums in `StateSums`."""
    tally = Tally()
    for block, chosen, calls in _chosen_rows(store, rows):
        cells = Cells([_key_of_row(block, key, calls, chosen) for key in (*by, "segment")], chosen.size)
        column = cache(_columns_of_rows(block, chosen))
        tally.add(cells.keys, [_STATE_SUMS[name](column, cells) for name in wanted])
    return tally.rows()


def step_rows(store: Store, rows: Predicate | None, by: Sequence[str]) -> list[tuple[Any, ...]]:
    """Count steps by the state that they lead to as well; a filter of states speaks of the one that they start from."""
    tally = Tally()
    for block, chosen, calls in _chosen_rows(store, rows):
        steps, of_step, starts = _steps_from(block, chosen, calls)
        keys = [_key_of_row(block, key, of_step, starts) for key in by]
        cells = Cells([*keys, block.keys_of("transition", "to_state", steps)], steps.size)
        tally.add(cells.keys, [cells.add_whole(block.figures_of("transition", "n", steps))])
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


def _call_sums(block: Block, chosen: Places, cells: Cells) -> Iterator[NDArray[Any]]:
    """Yield what `CallSums` holds."""
    errored = block.figures("errored", chosen) != 0
    yield cells.count(~errored)
    yield cells.count(errored)

    def counting(name: str) -> Floats:
        return np.where(errored, np.nan, block.figures(name, chosen))

    for name in ("success", "lost"):
        values = counting(name)
        yield _known(values, cells)
        yield cells.add_whole(values)
    values = counting("quality")
    yield _known(values, cells)
    yield cells.add_billionths(values)
    yield cells.add(values * values)
    values = counting("computed_quality")
    yield cells.add_billionths(values)
    yield cells.add(values * values)
    failed = block.figures("caller_ok", chosen) == 0
    success = block.figures("success", chosen)
    yield cells.count(failed)
    yield cells.count(failed & ~np.isnan(success))
    yield cells.count(failed & (success == 1))


def _score_sums(scores: Floats, cells: Cells) -> Iterator[NDArray[Any]]:
    """Yield what `AspectSums` holds."""
    yield _known(scores, cells)
    yield cells.add_billionths(scores)
    yield cells.add(scores * scores)
    yield cells.count(scores >= _TOP)
    yield cells.count(is_unscored(scores))


def _known(values: Floats, cells: Cells) -> NDArray[np.int64]:
    return cells.count(~np.isnan(values))


def _squares(values: Floats, cells: Cells) -> Floats:
    return cells.add(values * values)


_STATE_SUMS: Mapping[str, Callable[[_Column, Cells], NDArray[Any]]] = {
    "n": lambda column, cells: cells.count(),
    "progress": lambda column, cells: cells.add_whole(column("progress")),
    "stall_n": lambda column, cells: _known(column("stall"), cells),
    "stall": lambda column, cells: cells.add_whole(column("stall")),
    "lost_n": lambda column, cells: _known(column("lost"), cells),
    "lost": lambda column, cells: cells.add_whole(column("lost")),
    "escalation": lambda column, cells: cells.add_whole(column("escalation")),
    "revisit": lambda column, cells: cells.add_whole(column("revisit")),
    "revisit_squares": lambda column, cells: _squares(column("revisit"), cells),
    "dwell": lambda column, cells: cells.add_billionths(column("dwell_turns")),
    "dwell_squares": lambda column, cells: _squares(column("dwell_turns"), cells),
    "latency_n": lambda column, cells: _known(column("latency_p95_ms"), cells),
    "latency": lambda column, cells: cells.add_billionths(column("latency_p95_ms") / 1000.0),
    "latency_squares": lambda column, cells: _squares(column("latency_p95_ms") / 1000.0, cells),
    "guard_error": lambda column, cells: cells.add_whole(column("guard_error")),
    "guard_error_squares": lambda column, cells: _squares(column("guard_error"), cells),
    "slot_n": lambda column, cells: _known(column("slot_fill_rate"), cells),
    "slot": lambda column, cells: cells.add_billionths(column("slot_fill_rate")),
    "slot_squares": lambda column, cells: _squares(column("slot_fill_rate"), cells),
}
"""How each of `StateSums` is made of columns; latency is in seconds."""
