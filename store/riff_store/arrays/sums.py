"""Sum calls, scores, states and steps of calls that a filter leaves, as the statements of `queries.sums` do.

Each function returns the rows that such a statement would: the keys that are grouped by, then the sums, which are
reduced as `models.sums` defines for each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache, partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riff_store import schema as m
from riff_store.arrays.blocks import Block, Flags, Keys, blocks, packed_scores
from riff_store.arrays.encoding import Floats, Places, is_unscored
from riff_store.arrays.grouping import Cell, Cells, Tally
from riff_store.arrays.masks import masks_of, speaks_of_rows
from riff_store.arrays.rows import Chunk, outcome_visits, put_chunks
from riff_store.arrays.spans import ALL, Among, Only, begun, chunks_of, kept_sums, keys_of, sealed
from riff_store.chunks import KINDS_OF_FAILURE, SLICES, STATES, TOOLS, place_of_span
from riff_store.database import Store
from riff_store.engines.engine import Connection
from riff_store.filters.predicates import Predicate
from riff_store.schema.sums import Sum
from riff_store.statistics import different
from riff_store.vocabulary import WAYS

Wanted: TypeAlias = Sequence[Sum]
Rows: TypeAlias = Sequence[tuple[Any, ...]]
_LARGE = 2**61
_Column: TypeAlias = Callable[[str], Floats]
_MOST_PLACES = 2**24
_TOP = 10
_CONDITIONS: Mapping[str, Callable[[_Column], Flags]] = {
    "counts": lambda column: column("errored") == 0,
    "errored": lambda column: column("errored") != 0,
    "caller failed": lambda column: column("caller_ok") == 0,
    "at the top": lambda column: column("value") >= _TOP,
    "unscored": lambda column: is_unscored(column("value")),
    "called": lambda column: column("n") > 0,
}
"""What a sum may ask of its rows, as `models.sums.CONDITIONS` has it in SQL."""


def call_rows(store: Store, calls: Predicate | None, by: Sequence[str], wanted: Wanted, only: Only = None) -> Rows:
    """Sum how calls went, errored ones apart."""
    masks = masks_of(store)
    tally, left = begun(store, m.CALLS, calls, by, wanted, only)
    for block in left:
        chosen = np.flatnonzero(masks.calls(calls, block))
        if chosen.size:
            cells = Cells([block.keys(key, chosen) for key in by], chosen.size)
            column = cache(partial(block.figures, at=chosen))
            tally.add(cells.keys, _sums(wanted, column, cells))
    return tally.rows()


def least_rows(
    store: Store,
    calls: Predicate | None,
    by: Sequence[str],
    of: Callable[[Block, Places], NDArray[np.int64]],
    *,
    errored: bool = False,
) -> Rows:
    """Return the keys of each cell, and the least value that any of its calls has, without `errored` ones or with."""
    found: dict[Cell, int] = {}
    masks = masks_of(store)
    for block in blocks(store):
        chosen = np.flatnonzero((masks.calls if errored else masks.counting)(calls, block))
        if chosen.size:
            cells = Cells([block.keys(key, chosen) for key in by], chosen.size)
            least = np.full(cells.size, np.iinfo(np.int64).max)
            np.minimum.at(least, cells.index, of(block, chosen))
            for cell, value in zip(cells.keys, least.tolist(), strict=True):
                found[cell] = min(found.get(cell, value), value)
    return [(*cell, value) for cell, value in found.items()]


def first_run_rows(store: Store, calls: Predicate | None, by: Sequence[str], places: Mapping[int, int]) -> Rows:
    """Return the keys of each cell, and the first of the places of the runs that have such a call."""
    of_keys = np.zeros(max(places, default=0) + 1, np.int64)
    of_keys[list(places)] = list(places.values())
    return least_rows(store, calls, by, lambda block, chosen: of_keys[block.keys("run", chosen)])


def first_call_rows(store: Store, calls: Predicate | None, by: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield the keys of each cell, whether none of its calls failed, and the key of the first that did or of all."""
    rows = least_rows(
        store, calls, by, lambda block, chosen: block.ids[chosen] + _LARGE * (block.figures("success", chosen) != 0)
    )
    return ((*cell, *divmod(value, _LARGE)) for *cell, value in rows)


def score_rows(
    store: Store, calls: Predicate | None, by: Sequence[str], aspects: Collection[int], only: Only = None
) -> Rows:
    """Sum scores of some aspects by aspect and judge as well."""
    masks, packed = masks_of(store), packed_scores(store)
    keys = (*by, *m.ASPECTS.keys)
    tally, left = begun(store, m.ASPECTS, calls, keys, m.ASPECTS.sums, only, {"aspect": aspects})
    for block in left:
        chosen = np.flatnonzero(masks.counting(calls, block))
        if not chosen.size:
            continue
        cells = Cells([block.keys(key, chosen) for key in by], chosen.size)
        for pair in sorted(pair for pair in packed | block.judged_rows() if pair[0] in aspects):
            sums = list(_sums(m.ASPECTS.sums, {"value": block.scores(*pair, chosen)}.__getitem__, cells))
            asked = np.flatnonzero(sums[0] + sums[-1])
            tally.add([(*cells.keys[cell], *pair) for cell in asked.tolist()], [column[asked] for column in sums])
    return tally.rows()


def state_rows(
    store: Store,
    rows: Predicate | None,
    by: Sequence[str],
    wanted: Wanted,
    among: Among = ALL,
    only: Only = None,
) -> Rows:
    """Sum rows of states by segment as well."""
    keys = (*by, "segment")
    tally, left = begun(store, m.STATES, rows, keys, wanted, only, among)
    for block, chosen, calls in _chosen_rows(store, left, rows, among):
        cells = Cells([_key_of_row(block, key, calls, chosen) for key in keys], chosen.size)
        # The columns of a block are let go when the next one is begun: memory that is given back between two of them
        # has to be fetched from the system again, which takes a fifth of the time.
        at = None if chosen.size == block.calls_of("state").size else chosen
        column = cache(partial(block.figures_of, "state", at=at))
        tally.add(cells.keys, _sums(wanted, column, cells))
    return tally.rows()


def step_rows(store: Store, rows: Predicate | None, by: Sequence[str], among: Among = ALL, only: Only = None) -> Rows:
    """Count steps by the state that they lead to as well; a filter of states speaks of the one that they start from."""
    tally, left = begun(store, m.STEPS, rows, (*by, "to_state"), m.STEPS.sums, only, among)
    for block, chosen, calls in _chosen_rows(store, left, rows, among):
        steps, of_step, starts = _steps_from(block, chosen, calls)
        keys = [_key_of_row(block, key, of_step, starts) for key in by]
        cells = Cells([*keys, block.keys_of("transition", "to_state", steps)], steps.size)
        tally.add(cells.keys, _sums(m.STEPS.sums, partial(block.figures_of, "transition", at=steps), cells))
    return tally.rows()


def blame_rows(store: Store, asked: Predicate | None, by: Sequence[str], only: Only = None) -> Rows:
    """Count the failed calls that are blamed on states by segment and kind as well.

    What is asked of states is of figures, which the visit of the call to the state must have.
    """
    masks, of_rows = masks_of(store), ("segment", "kind")
    speaks_of_visits = speaks_of_rows(asked)
    tally, left = begun(store, m.BLAMES, asked, (*by, *of_rows), m.BLAMES.sums, only)
    for block, chosen in _counting(store, left, asked):
        rows, of_row = block.rows_of("failure", chosen)
        states = block.keys_of("failure", "state", rows)
        told = states > 0
        if speaks_of_visits:
            visits, radix = np.flatnonzero(masks.rows(asked, block)), int(states.max(initial=0)) + 1
            at = block.keys_of("state", "state", visits)
            near = at < radix
            of_visits = block.calls_of("state")[visits[near]] * radix + at[near]
            told &= np.isin(of_row * radix + states, of_visits)
        rows, of_row = rows[told], of_row[told]
        keys = [block.keys_of("failure", key, rows) if key == "state" else block.keys(key)[of_row] for key in by]
        cells = Cells([*keys, *(block.keys_of("failure", name, rows) for name in of_rows)], rows.size)
        tally.add(cells.keys, [cells.count()])
    return [(*keys, KINDS_OF_FAILURE[kind or 0], n) for *keys, kind, n in tally.rows()]


def outcome_rows(
    store: Store, calls: Predicate | None, by: Sequence[str], outcomes: Collection[int], only: Only = None
) -> Rows:
    """Count the calls that came to some outcomes, and add up the places at which they did."""
    tally, left = begun(store, m.OUTCOMES, calls, by, m.OUTCOMES.sums, only, {"state": outcomes})
    for block, chosen in _counting(store, left, calls):
        of_row, states, places = _ends_of(store, block, chosen, outcomes)
        cells = Cells([states if key == "state" else block.keys(key)[of_row] for key in by], of_row.size)
        tally.add(cells.keys, [cells.count(), cells.add_whole(places)])
    return tally.rows()


def _ends_of(store: Store, block: Block, chosen: Flags, outcomes: Collection[int]) -> tuple[Places, Keys, Floats]:
    """Return the places of calls that came to some outcomes, these outcomes, and at which of their visits."""
    ids, states, places = outcome_visits(store.execute_sql, outcomes, block.ids[chosen])
    of_row = np.searchsorted(block.ids, ids)
    mine = chosen[of_row]
    return of_row[mine], states[mine].astype(np.int64), places[mine]


def tool_rows(store: Store, calls: Predicate | None, by: Sequence[str], wanted: Wanted, only: Only = None) -> Rows:
    """Sum rows of tools; a filter speaks of calls alone."""
    tally, left = begun(store, m.TOOLS, calls, by, wanted, only)
    for block, chosen in _counting(store, left, calls):
        rows, of_row = block.rows_of("tool", chosen)
        keys = [block.keys_of("tool", key, rows) if key in TOOLS else block.keys(key)[of_row] for key in by]
        cells = Cells(keys, rows.size)
        column = cache(partial(block.figures_of, "tool", at=rows))
        tally.add(cells.keys, _sums(wanted, column, cells))
    return tally.rows()


def _chosen_rows(
    store: Store, left: Iterable[Block], rows: Predicate | None, among: Among
) -> Iterator[tuple[Block, Places, Places]]:
    """Yield blocks with the places of those rows of states that a filter leaves, and of the calls of these.

    Where they are `among` some keys, others are left out.
    """
    masks = masks_of(store)
    for block in left:
        chosen, calls = masks.rows_counting(rows, block)
        for key, some in among.items():
            mine = np.isin(_key_of_row(block, key, calls, chosen), list(some))
            chosen, calls = chosen[mine], calls[mine]
        if chosen.size:
            yield block, chosen, calls


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


def _sums(wanted: Wanted, column: _Column, cells: Cells) -> Iterator[NDArray[Any]]:
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


# Sum what is kept of spans.
FEWEST_ALIKE = 8
"""Sums are kept if so many calls share a cell on average; of fewer, columns are read as quickly."""


def keep_sums(store: Store, connection: Connection, place: int) -> None:
    """Keep what the calls of a span add up to, by all that they are sliced by."""
    put_chunks(connection, place, sealed(sums_of_span(store, place)))


def sums_of_span(store: Store, place: int) -> Iterator[Chunk]:
    """Yield what is kept of a span."""
    only = [block for block in blocks(store) if place_of_span(block.first) == place]
    aspects = [key for (key,) in store.execute_sql("SELECT id FROM aspect")]
    ends = [state for (state,) in store.execute_sql("SELECT DISTINCT state_id FROM outcome_total")]
    for sliced in SLICES:
        by = (sliced, "flow", "agent")
        calls = call_rows(store, None, by, kept_sums(m.CALLS), only)
        if len(calls) * FEWEST_ALIKE > sum(block.n for block in only):
            continue
        blames = blame_rows(store, None, (*by, "state"), only)
        found = (
            (m.CALLS, calls),
            (m.ASPECTS, score_rows(store, None, by, aspects, only)),
            (m.STATES, state_rows(store, None, (*by, "state"), m.STATES.sums, only=only)),
            (m.TOOLS, tool_rows(store, None, (*by, *keys_of(m.TOOLS)), m.TOOLS.sums, only)),
            (m.STEPS, step_rows(store, None, (*by, "state"), only=only)),
            (m.OUTCOMES, outcome_rows(store, None, (*by, "state"), ends, only)),
            (m.BLAMES, [(*keys, KINDS_OF_FAILURE.index(kind), n) for *keys, kind, n in blames]),
        )
        with suppress(OverflowError):
            yield from [each for summed, rows in found for each in chunks_of(sliced, summed, rows)]


# Count the calls that came to states and to the ends of calls, and in which order, on columns.
_Counts: TypeAlias = dict[int, int]
_Visits: TypeAlias = tuple[int, int, int, int, int, dict[int, tuple[int, int]], _Counts]


def read_visits(
    store: Store, calls: Predicate | None, state: int, ends: Collection[int], behind: Collection[int]
) -> _Visits:
    """Return the fields of `Visits`."""
    in_state, later, ended = Tally(), Tally(), Tally()
    for block, chosen in _counting(store, blocks(store), calls):
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
        of_end, end, places = _ends_of(store, block, chosen, ends)
        _add(ended, end)
        after = (places > position[of_end]) & np.isin(end, list(behind)) & (end != state)
        _add(later, end[after], left[of_end[after]])
    ((n, ordered, known, lost_calls, left_calls),) = in_state.rows() or [(0, 0, 0, 0, 0)]
    after_it = {key: (n, left) for key, n, left in later.rows()}
    return n, ordered, known, lost_calls, left_calls, after_it, dict(ended.rows())


def read_calls_stepping_to(store: Store, calls: Predicate | None, states: Collection[int]) -> _Counts:
    """Count what `calls_stepping_to` does."""
    found = Tally()
    for block, chosen in _counting(store, blocks(store), calls):
        steps, of_step = block.rows_of("transition", chosen)
        ends = block.keys_of("transition", "to_state", steps)
        wanted = np.isin(ends, list(states))
        _add(found, different(ends[wanted] * block.n + of_step[wanted]) // block.n)
    return dict(found.rows())


def read_calls_at_end(
    store: Store, calls: Predicate | None, way: str, state: int
) -> dict[int | None, tuple[int, int, int]]:
    """Count what `calls_at_end` does."""
    found = Tally()
    for block, chosen in _counting(store, blocks(store), calls):
        rows, of_row = block.rows_of("state", chosen)
        there = block.keys_of("state", "state", rows) == state
        rows, of_row = rows[there], of_row[there]
        steps, of_step = block.rows_of("transition", chosen)
        near = block.keys_of("transition", WAYS[way][0], steps) == state
        taken = np.bincount(of_step[near], block.figures_of("transition", "n", steps[near]), block.n)
        at_end = block.figures_of("state", "revisit", rows) + 1 > taken[of_row]
        rows, of_row = rows[at_end], of_row[at_end]
        stalled = block.figures_of("state", "stall", rows)
        cells = Cells([block.keys("stop_reason")[of_row]], rows.size)
        found.add(cells.keys, [cells.count(), cells.count(~np.isnan(stalled)), cells.add_whole(stalled)])
    return {key: (n, known, stalled) for key, n, known, stalled in found.rows()}


def _counting(store: Store, left: Iterable[Block], calls: Predicate | None) -> Iterator[tuple[Block, Flags]]:
    """Yield those blocks that have calls that match and are not errored, with these."""
    masks = masks_of(store)
    for block in left:
        chosen = masks.counting(calls, block)
        if chosen.any():
            yield block, chosen


def _add(tally: Tally, states: Keys, *sums: Floats) -> None:
    cells = Cells([states], states.size)
    tally.add(cells.keys, [cells.count(), *map(cells.add_whole, sums)])
