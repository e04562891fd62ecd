"""Choose the first of very many disputes in an order, so that only these are named and listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from riff_store import models as m
from riff_store.columns.blocks import Keys
from riff_store.columns.encoding import Floats, Places
from riff_store.columns.reading import CallColumns
from riff_store.database import Store
from riff_store.queries.dimensions import DIMENSIONS, names_of
from riff_store.queries.disputes import Order
from riff_store.queries.spread_filter import AspectSpreads
from riff_store.statistics.agreement import Scores
from riff_store.vocabulary import split_name

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
        values = _Values(store, columns, [each for each, _ in found], correctness, order.key)
        asked = np.concatenate([values.of(each, column, at) for (each, column), at in zip(found, places, strict=True)])
        missing = np.isnan(asked)
        keys = [missing.astype(np.float64), np.where(missing, 0.0, -asked if order.down else asked), *keys]
    first = np.sort(_first(keys, limit))
    ends = np.cumsum([len(at) for at in places])
    return [
        at[some - (end - len(at))]
        for at, end, some in zip(places, ends, np.split(first, np.searchsorted(first, ends[:-1])), strict=True)
    ]


class _Values:
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
        """Return the values of the disputes of one aspect, nan where there is none."""
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


def _ranks(names: Mapping[int, str], *, folded: bool = False) -> Floats:
    """Return the place of each name in order by its key; equal names share it."""
    order = sorted(set(names.values()), key=lambda name: (name.casefold(), name) if folded else (name, ""))
    place = {name: float(rank) for rank, name in enumerate(order)}
    found = np.full(max(names, default=0) + 1, np.nan)
    found[list(names)] = [place[name] for name in names.values()]
    return found


def _named_calls(store: Store, keys: Keys) -> Floats:
    """Return the place of each call's id in order; equal ids share it."""
    call, names = m.Conversation, list[str]()
    for start in range(0, keys.size, _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        query = call.select(call.id, call.name).where(call.id.between(int(some[0]), int(some[-1])))
        named = dict(store.execute(query))
        names += [named[key] for key in some.tolist()]
    return _ranks(dict(enumerate(names)), folded=True)
