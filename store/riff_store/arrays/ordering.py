"""Sort very many calls by a column, and choose the first of very many disputes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from riff_store import schema as m
from riff_store.arrays.blocks import Block, Flags, Keys, blocks
from riff_store.arrays.encoding import Floats, Places, is_unscored
from riff_store.arrays.masks import Masks, masks_of
from riff_store.arrays.reading import CallColumns
from riff_store.database import Store
from riff_store.filters.conditions import one_of
from riff_store.filters.dimensions import DIMENSIONS, names_of, run_order
from riff_store.filters.disputes import AspectSpreads, Order
from riff_store.filters.predicates import Predicate
from riff_store.statistics.agreement import Scores
from riff_store.vocabulary import split_name

_KEPT = 64


@dataclass(frozen=True, slots=True)
class SortKey:
    """Describe what calls are sorted by; exactly one of these is given.

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
    """Keep the keys of the calls of a filter in an order, then by run start, run, flow, id, agent and trial.

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
        flows = _ranks(dict(store.execute(m.Flow.select(m.Flow.id, m.Flow.name))))[flows]
        missing = np.isnan(values)
        values = np.where(missing, 0.0, -values if down else values)
        placed = np.lexsort((flows, runs, values, missing))
        differs = np.zeros(max(0, placed.size - 1), np.bool_)
        for column in (flows, runs, values, missing):
            differs |= np.diff(column[placed]) != 0
        self._ids: Keys = ids[placed]
        self._begins: NDArray[np.intp] = np.concatenate(([0], np.flatnonzero(differs) + 1, [placed.size]))

    def place_of(self, key: int) -> int | None:
        """Return where a call is, `None` if it is not listed."""
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
        ranks = _ranks(key.names)
        return lambda block: ranks[block.keys(key.dimension)]
    if key.scores is None:
        return lambda block: _highest_of_states(block, key.state, masks.rows(key.about, block))

    def highest_score(block: Block) -> Floats:
        found = np.full(block.n, np.nan)
        for pair in key.scores or ():
            scores = block.scores(*pair)
            found = np.fmax(found, np.where(is_unscored(scores), np.nan, scores))
        return found

    return highest_score


def _highest_of_states(block: Block, name: str, rows: Flags) -> Floats:
    """Return the highest figure of a call's rows; of an errored call none is measured."""
    at = np.flatnonzero(rows)
    calls, values = block.calls_of("state")[at], block.figures_of("state", name, at)
    known = ~np.isnan(values)
    found = np.full(block.n, -np.inf)
    np.maximum.at(found, calls[known], values[known])
    return np.where((block.figures("errored") == 1) | (found == -np.inf), np.nan, found)


def _ranked(places: Mapping[int, float]) -> Floats:
    """Return places as an array by key, for which 0 represents none."""
    found = np.full(max(places, default=0) + 1, np.nan)
    found[list(places)] = list(places.values())
    return found


# Choose the first of very many disputes in an order, so that only these are named and listed.
_AT_ONCE = 20_000


def first_disputes(
    store: Store,
    columns: CallColumns,
    found: Sequence[tuple[AspectSpreads, Floats]],
    correctness: Scores,
    limit: int | None,
    order: Order | None,
) -> list[Places]:
    """Return of each aspect the places of the calls that may be among the first disputes of all.

    Of each come how far the judges are apart and the spreads that are found, nan elsewhere. After the order the widest
    are first, then the earliest run by its name; those that are alike in all of these are all there.
    """
    places = [np.flatnonzero(~np.isnan(spreads)) for _, spreads in found]
    if limit is None or limit >= sum(map(len, places)):
        return places
    runs = _ranks({key: name or "" for key, name in names_of(store, DIMENSIONS["run"]).items()})[columns.keys("run")]
    spreads = [column[at] for (_, column), at in zip(found, places, strict=True)]
    keys = [-np.concatenate(spreads), np.concatenate([runs[at] for at in places])]
    if order is not None:
        values = _DisputeValues(store, columns, [each for each, _ in found], correctness, order.key)
        asked = np.concatenate([values.of(each, column, at) for (each, column), at in zip(found, places, strict=True)])
        missing = np.isnan(asked)
        keys = [missing.astype(np.float64), np.where(missing, 0.0, -asked if order.down else asked), *keys]
    first = np.sort(_first(keys, limit))
    ends = np.cumsum([len(at) for at in places])
    return [
        at[some - (end - len(at))]
        for at, end, some in zip(places, ends, np.split(first, np.searchsorted(first, ends[:-1])), strict=True)
    ]


class _DisputeValues:
    """Read the values of a column of disputes: figures, or the places of names in order without regard to case."""

    def __init__(
        self, store: Store, columns: CallColumns, every: Sequence[AspectSpreads], correctness: Scores, key: str
    ) -> None:
        self._key = key
        self._correctness = correctness
        names = [each.aspect for each in every] + [judge for each in every for judge in each.judges]
        self._place = dict(zip(names, _ranks(dict(enumerate(names)), folded=True).tolist(), strict=True))
        self._of_calls: Floats | None = None
        if key in ("run", "flow", "agent"):
            of_keys = {known: name or "" for known, name in names_of(store, DIMENSIONS[key]).items()}
            self._of_calls = _ranks(of_keys, folded=True)[columns.keys(key)]
        elif key == "conversation":
            self._of_calls = _named_calls(store, columns.keys("id"))

    def of(self, each: AspectSpreads, spreads: Floats, places: Places) -> Floats:
        """Return the values of the disputes of one aspect, nan if there is none."""
        key, judge = split_name(self._key)
        if self._of_calls is not None:
            return self._of_calls[places]
        if key == "spread":
            return spreads[places]
        if key == "correctness":
            return self._correctness.at(places)
        if key == "scores":
            of_judges = dict(zip(each.judges, each.scores, strict=True))
            return of_judges[judge].at(places) if judge in of_judges else np.full(len(places), np.nan)
        if key == "aspect":
            return np.full(len(places), self._place[each.aspect])
        whose = (each.spreads.highest if key == "highest" else each.spreads.lowest)[places]
        found: Floats = np.array([self._place[judge] for judge in each.judges])[whose]
        return found


def _first(keys: Sequence[Floats], limit: int) -> Places:
    """Return the places of the first by some keys, the least first, with all that are like the last of them."""
    chosen, rest = [], np.arange(keys[0].size)
    for key in keys:
        if rest.size <= limit:
            break
        values = key[rest]
        bound = np.partition(values, limit - 1)[limit - 1]
        better = values < bound
        chosen.append(rest[better])
        limit -= int(better.sum())
        rest = rest[values == bound]
    return np.concatenate([*chosen, rest])


def _ranks(names: Mapping[int, str | None], *, folded: bool = False) -> Floats:
    """Return the place of each name in order by its key; equal names share it, and what names nothing has nan."""
    known = {name for name in names.values() if name is not None}
    order = sorted(known, key=lambda name: (name.casefold(), name) if folded else (name, ""))
    place: dict[str | None, float] = {name: float(rank) for rank, name in enumerate(order)}
    return _ranked({key: place.get(name, np.nan) for key, name in names.items()})


def _named_calls(store: Store, keys: Keys) -> Floats:
    """Return the place of each call's id in order; equal ids share it."""
    call, names = m.Conversation, list[str]()
    for start in range(0, keys.size, _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        query = call.select(call.id, call.name).where(call.id.between(int(some[0]), int(some[-1])))
        named = dict(store.execute(query))
        names += [named[key] for key in some.tolist()]
    return _ranks(dict(enumerate(names)), folded=True)
