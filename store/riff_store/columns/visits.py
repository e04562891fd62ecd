"""Count the calls that came to states and to the ends of calls, and in which order, on columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TypeAlias

import numpy as np

from riff_store.columns.blocks import Block, Flags, Keys, blocks
from riff_store.columns.encoding import Floats, Places
from riff_store.columns.masks import masks_of
from riff_store.columns.rows import outcome_visits
from riff_store.columns.tallies import Cells, Tally
from riff_store.database import Store
from riff_store.predicates import Predicate

_Counts: TypeAlias = dict[int, int]
_Visits: TypeAlias = tuple[int, int, int, int, int, dict[int, tuple[int, int]], _Counts]


def read_visits(
    store: Store, calls: Predicate | None, state: int, ends: Collection[int], behind: Collection[int]
) -> _Visits:
    """Return the fields of `Visits`."""
    in_state, later, ended = Tally(), Tally(), Tally()
    for block, chosen in _counting(store, calls):
        left, position = np.zeros(block.n), np.full(block.n, np.nan)
        rows, of_row = block.rows_of("state", chosen)
        there = block.keys_of("state", "state", rows) == state
        here, of_here = rows[there], of_row[there]
        lost, progress, places = (block.figures_of("state", name, here) for name in ("lost", "progress", "position"))
        left[of_here], position[of_here] = progress, places
        one = Cells([], here.size)
        counted = [one.count(), one.count(~np.isnan(places)), one.count(~np.isnan(lost))]
        in_state.add(one.keys, [*counted, one.add_whole(lost), one.add_whole(progress)])
        others, of_other = block.rows_of("state", ~np.isnan(position))
        after = block.figures_of("state", "position", others) > position[of_other]
        _add(later, block.keys_of("state", "state", others[after]), left[of_other[after]])
        end, of_end, places = _outcomes(store, block, ends, chosen)
        _add(ended, end)
        after = (places > position[of_end]) & np.isin(end, list(behind)) & (end != state)
        _add(later, end[after], left[of_end[after]])
    ((n, ordered, known, lost_calls, left_calls),) = in_state.rows() or [(0, 0, 0, 0, 0)]
    after_it = {key: (n, left) for key, n, left in later.rows()}
    return n, ordered, known, lost_calls, left_calls, after_it, dict(ended.rows())


def read_calls_stepping_to(store: Store, calls: Predicate | None, states: Collection[int]) -> _Counts:
    """Count what `calls_stepping_to` does."""
    found = Tally()
    for block, chosen in _counting(store, calls):
        steps, of_step = block.rows_of("transition", chosen)
        ends = block.keys_of("transition", "to_state", steps)
        wanted = np.isin(ends, list(states))
        _add(found, np.unique(ends[wanted] * block.n + of_step[wanted]) // block.n)
    return dict(found.rows())


def _counting(store: Store, calls: Predicate | None) -> Iterator[tuple[Block, Flags]]:
    """Yield the blocks that have calls that match and are not errored, with these."""
    masks = masks_of(store)
    for block in blocks(store):
        chosen = masks.counting(calls, block)
        if chosen.any():
            yield block, chosen


def _outcomes(store: Store, block: Block, states: Collection[int], chosen: Flags) -> tuple[Keys, Places, Floats]:
    """Return the states in which calls that were chosen ended, the places of these calls, and those in their order."""
    calls, ends, places = outcome_visits(store.execute_sql, states, block.ids[chosen])
    of_call = np.searchsorted(block.ids, calls)
    mine = chosen[of_call]
    return ends[mine].astype(np.int64), of_call[mine], places[mine]


def _add(tally: Tally, states: Keys, *sums: Floats) -> None:
    cells = Cells([states], states.size)
    tally.add(cells.keys, [cells.count(), *map(cells.add_whole, sums)])
