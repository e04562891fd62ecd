"""Sort very many calls by a column, and read their keys from wherever one looks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from riff_store import models as m
from riff_store.columns.blocks import Block, Flags, Keys, blocks
from riff_store.columns.encoding import Floats, is_unscored
from riff_store.columns.masks import Masks, masks_of
from riff_store.database import Store
from riff_store.predicates import Predicate
from riff_store.queries.conditions import one_of
from riff_store.queries.dimensions import run_order

_KEPT = 64


@dataclass(frozen=True, slots=True)
class SortKey:
    """Say what calls are sorted by; exactly one of these is given.

    A `figure` of calls, the names of a `dimension` by their keys, the highest of the `scores` of these (aspect, judge),
    or the highest figure of a `state` in the rows of states that a filter is `about`.
    """

    figure: str = ""
    dimension: str = ""
    names: Mapping[int, str | None] | None = None
    scores: Sequence[tuple[int, int]] | None = None
    state: str = ""
    about: Predicate | None = None


_Values: TypeAlias = Callable[[Block], Floats]


class SortedCalls(Sequence[int]):
    """Hold the keys of the calls of a filter in an order, then by run start, run, flow, id, agent and trial.

    What is not measured comes last. Calls that are alike but for the last three are put in order when they are touched.
    """

    def __init__(self, store: Store, calls: Predicate | None, key: SortKey, *, down: bool) -> None:
        self._store = store
        self._resolved: OrderedDict[int, list[int]] = OrderedDict()
        masks, parts = masks_of(store), []
        read = _reader(key, masks)
        for block in blocks(store):
            chosen = np.flatnonzero(masks.calls(calls, block))
            if chosen.size:
                parts.append(
                    (block.ids[chosen], read(block)[chosen], block.keys("run", chosen), block.keys("flow", chosen))
                )
        ids, values, runs, flows = map(np.concatenate, zip(*parts, strict=True)) if parts else _NOTHING
        order = run_order(store)
        known = dict(store.execute(m.Run.select(m.Run.id, m.Run.name)))
        runs = _ranked({run: order.get(name, len(order)) for run, name in known.items()})[runs]
        flows = _ranked(_places(dict(store.execute(m.Flow.select(m.Flow.id, m.Flow.name)))))[flows]
        missing = np.isnan(values)
        values = np.where(missing, 0.0, -values if down else values)
        placed = np.lexsort((flows, runs, values, missing))
        differs = np.zeros(max(0, placed.size - 1), np.bool_)
        for column in (flows, runs, values, missing):
            differs |= np.diff(column[placed]) != 0
        self._ids: Keys = ids[placed]
        self._begins: NDArray[np.intp] = np.concatenate(([0], np.flatnonzero(differs) + 1, [placed.size]))

    def place_of(self, key: int) -> int | None:
        """Return where a call stands, `None` where it is not listed."""
        found = np.flatnonzero(self._ids == key)
        if not found.size:
            return None
        begin, end = self._stretch(int(found[0]))
        return begin + self._in_order(begin, end).index(key)

    def __len__(self) -> int:
        return self._ids.size

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            return self._between(start, stop) if step == 1 else [self[place] for place in range(start, stop, step)]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(index)
        return self._between(place, place + 1)[0]

    def _between(self, start: int, stop: int) -> list[int]:
        found: list[int] = []
        while start < stop:
            begin, end = self._stretch(start)
            if end - begin == 1:
                found.append(int(self._ids[start]))
            else:
                found += self._in_order(begin, end)[start - begin : stop - begin]
            start = end
        return found

    def _stretch(self, place: int) -> tuple[int, int]:
        """Return from where to where calls are alike around a place."""
        number = int(np.searchsorted(self._begins, place, "right"))
        return int(self._begins[number - 1]), int(self._begins[number])

    def _in_order(self, begin: int, end: int) -> list[int]:
        keys = self._resolved.get(begin)
        if keys is None:
            call = m.Conversation
            query = call.select(call.id).where(one_of(call.id, self._ids[begin:end].tolist()))
            rows = self._store.execute(query.order_by(call.name, call.agent, call.trial))
            keys = self._resolved[begin] = [key for (key,) in rows]
            if len(self._resolved) > _KEPT:
                self._resolved.popitem(last=False)
        return keys


_NOTHING = (np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))


def _reader(key: SortKey, masks: Masks) -> _Values:
    """Return what reads the values of the calls of a block; nan is not measured."""
    if key.figure:
        return lambda block: block.figures(key.figure)
    if key.names is not None:
        ranks = _ranked(_places(key.names))
        return lambda block: ranks[block.keys(key.dimension)]
    if key.scores is not None:
        return lambda block: _highest_score(block, key.scores or ())
    return lambda block: _highest_of_states(block, key.state, masks.rows(key.about, block))


def _highest_score(block: Block, pairs: Sequence[tuple[int, int]]) -> Floats:
    found = np.full(block.n, np.nan)
    for pair in pairs:
        scores = block.scores(*pair)
        found = np.fmax(found, np.where(is_unscored(scores), np.nan, scores))
    return found


def _highest_of_states(block: Block, name: str, rows: Flags) -> Floats:
    """Return the highest figure of a call's rows; of an errored call none is measured."""
    at = np.flatnonzero(rows)
    calls, values = block.calls_of("state")[at], block.figures_of("state", name, at)
    known = ~np.isnan(values)
    found = np.full(block.n, -np.inf)
    np.maximum.at(found, calls[known], values[known])
    return np.where((block.figures("errored") == 1) | (found == -np.inf), np.nan, found)


def _places(names: Mapping[int, str | None]) -> dict[int, float]:
    """Return the place of each name in order, the same for keys of one name; nan where a key names nothing."""
    order = {name: place for place, name in enumerate(sorted({name for name in names.values() if name is not None}))}
    return {key: np.nan if name is None else order[name] for key, name in names.items()}


def _ranked(places: Mapping[int, float]) -> Floats:
    """Return places as an array by key, for which 0 stands for none."""
    found = np.full(max(places, default=0) + 1, np.nan)
    found[list(places)] = list(places.values())
    return found
