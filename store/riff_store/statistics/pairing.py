"""Pair calls of two sides that are of the same task, choose what is compared of their values, and count these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from riff_store.measure import UNIT, Measure
from riff_store.statistics import different

if TYPE_CHECKING:
    from riff_store.statistics import Flags, Floats, Keys


_MOST = 1 << 62
_FEW = 1 << 17
"""So many numbers more than there are calls are counted without sorting the calls."""


class Tasks(NamedTuple):
    """Keep for each call of a side by keys what makes two calls one task: 0 is a scenario or persona without a name.

    `within` is what has to be alike beside the task.
    """

    flow: Keys
    scenario: Keys
    trial: Keys
    within: Keys
    persona: Keys


class Places(NamedTuple):
    """Describe places of calls of either side; those of pairs are as many, one beside the other."""

    first: Keys
    second: Keys


class Chosen(NamedTuple):
    """Describe the places of what is compared: of `pairs`, one beside the other, or `None` and all that is measured.

    `alone` counts what a paired comparison leaves out of either side.
    """

    first: Keys
    second: Keys
    pairs: int | None
    alone: tuple[int, int]


class Compared(NamedTuple):
    """Describe the values of both sides that are compared, with `pairs` and `alone` as in `Chosen`."""

    first: Floats
    second: Floats
    pairs: int | None
    alone: tuple[int, int]


def paired(first: Tasks, second: Tasks) -> Places:
    """Pair calls of the same task; one takes part where it alone is of its task on its side.

    The persona distinguishes tasks only if a side has several calls of one flow, scenario and trial, or none is known.
    """
    import numpy as np

    named = [np.flatnonzero((tasks.scenario != 0) | (tasks.persona != 0)) for tasks in (first, second)]
    split = len(named[0])
    flow, scenario, trial, within, persona = (
        np.concatenate([column[places] for column, places in zip(columns, named, strict=True)])
        for columns in zip(first, second, strict=True)
    )
    task = _coded([flow, scenario, trial, within])
    several = (np.bincount(task[:split], minlength=1) > 1, np.bincount(task[split:], minlength=1) > 1)
    apart = np.zeros(int(task.max(initial=0)) + 1, bool)
    for side in several:
        apart[: len(side)] |= side
    told = _coded([task, np.where(apart[task] | (scenario == 0), persona + 1, 0)])
    alone = np.ones(int(told.max(initial=-1)) + 1, bool)
    places = []
    for codes in (told[:split], told[split:]):
        alone[np.bincount(codes, minlength=len(alone)) != 1] = False
        place = np.zeros(len(alone), np.int64)
        place[codes] = np.arange(len(codes))
        places.append(place)
    return Places(*(calls[place[alone]] for calls, place in zip(named, places, strict=True)))


def _coded(columns: Sequence[Keys]) -> Keys:
    """Return a number from 0 on for each combination of values."""
    import numpy as np

    found, size = columns[0] - columns[0].min(initial=0), 1
    size = int(found.max(initial=0)) + 1
    for column in columns[1:]:
        low = int(column.min(initial=0))
        width = int(column.max(initial=0)) - low + 1
        if size * width >= _MOST:
            found = np.unique(found, return_inverse=True)[1]
            column, low = np.unique(column, return_inverse=True)[1], 0
            size, width = int(found.max(initial=0)) + 1, int(column.max(initial=0)) + 1
        found = found * width + (column - low)
        size *= width
    if size <= len(found) + _FEW:
        numbers = np.cumsum(np.bincount(found, minlength=size) > 0) - 1
        coded: Keys = numbers[found]
        return coded
    return np.unique(found, return_inverse=True)[1]


def by_key(keys: Keys) -> dict[int, Keys]:
    """Return the places of each key, in ascending order."""
    import numpy as np

    order = np.argsort(keys, kind="stable")
    known, starts = np.unique(keys[order], return_index=True)
    ends = [*starts[1:].tolist(), len(order)][: len(known)]
    spans = zip(known.tolist(), starts.tolist(), ends, strict=True)
    return {key: order[start:end] for key, start, end in spans}


def chosen(known: tuple[Flags, Flags], calls: Places, pairs: Places | None) -> Chosen:
    """Choose what is compared of some calls: the pairs, if those that are known are half of the smaller side."""
    first, second = (places[flags[places]] for flags, places in zip(known, calls, strict=True))
    if pairs is not None:
        both = known[0][pairs.first] & known[1][pairs.second]
        n = int(both.sum())
        if n and 2 * n >= min(len(first), len(second)):
            return Chosen(pairs.first[both], pairs.second[both], n, (len(first) - n, len(second) - n))
    return Chosen(first, second, None, (0, 0))


def compared(
    values: tuple[Floats, Floats], known: tuple[Flags, Flags], calls: Places, pairs: Places | None
) -> Compared:
    """Choose what is compared of some calls and their values, of which these are known."""
    found = chosen(known, calls, pairs)
    return Compared(values[0][found.first], values[1][found.second], found.pairs, found.alone)


def distinct(keys: Keys) -> list[int]:
    """Return the keys that occur."""

    found: list[int] = different(keys).tolist()
    return found


def shared(first: Keys, second: Keys) -> Keys:
    """Return the keys that occur on both sides."""
    import numpy as np

    return np.intersect1d(different(first), different(second), assume_unique=True)


def among(keys: Keys, others: Keys) -> Flags:
    """Return which keys are among others."""
    import numpy as np

    return np.isin(keys, others)


def within(keys: Keys, known: Keys) -> Keys:
    """Return keys, with 0 for those that are not among the known ones."""
    import numpy as np

    return np.where(among(keys, known), keys, 0)


def pairs_by_key(keys: Keys, pairs: Places) -> dict[int, Places]:
    """Return the pairs of each key, where `keys` are those of the calls of the first side."""
    return {key: Places(pairs.first[these], pairs.second[these]) for key, these in by_key(keys[pairs.first]).items()}


# Find the pairs of calls of one task of which either failed, and count them.


class FailedPairs(NamedTuple):
    """Describe the `places` of the calls of pairs that failed, and count those that are looked at.

    `only_first`, `only_second`, `both` and `neither` count measured pairs by whose call failed, `unknown` the others,
    and `alone` the failed calls of each side without a partner.
    """

    places: Places
    only_first: int
    only_second: int
    both: int
    neither: int
    unknown: int
    alone: tuple[int, int]


def scores_of_calls(complete: Floats, correct: Floats, top: float) -> Floats:
    """Return the correctness of calls where it is below the top, else how complete they are; nan is not measured."""
    import numpy as np

    return np.where((correct < top) | np.isnan(complete), correct, complete)


def failed_pairs(succeeded: tuple[Floats, Floats], pairs: Places, looked_at: tuple[Flags, Flags]) -> FailedPairs:
    """Choose the pairs of which either failed, by the success (0 or 1) of the calls of both sides; nan is not known.

    Counted are the calls that are looked at, and the pairs of which both are.
    """
    import numpy as np

    first, second = succeeded[0][pairs.first], succeeded[1][pairs.second]
    known, one, other = ~np.isnan(first) & ~np.isnan(second), first == 0, second == 0
    failed = known & (one | other)
    counted = known & looked_at[0][pairs.first] & looked_at[1][pairs.second]
    n, both = int(np.count_nonzero(counted)), int(np.count_nonzero(counted & one & other))
    of_first, of_second = (int(np.count_nonzero(counted & flags)) for flags in (one, other))
    alone = []
    for values, places, flags in zip(succeeded, pairs, looked_at, strict=True):
        apart = flags & (values == 0)
        apart[places] = False
        alone.append(int(np.count_nonzero(apart)))
    return FailedPairs(
        places=Places(pairs.first[failed], pairs.second[failed]),
        only_first=of_first - both,
        only_second=of_second - both,
        both=both,
        neither=n - of_first - of_second + both,
        unknown=int(np.count_nonzero(looked_at[0][pairs.first])) - n,
        alone=(alone[0], alone[1]),
    )


# Add up and count the values of a sample; but for `known`, none of them is nan.

_LARGEST_SUM = 2.0**62


class HitPairs(NamedTuple):
    """Count pairs by whose side was a hit."""

    both: int
    only_first: int
    only_second: int
    neither: int


def known(values: Floats) -> Flags:
    """Return which values are measured."""
    import numpy as np

    return ~np.isnan(values)


def mean_of(values: Floats) -> Measure:
    """Return the mean of values with its interval; none is below 0."""
    return Measure(len(values), billionths(values), float((values * values).sum()))


def hits(values: Floats, top: float) -> int:
    """Count the values that are at the top."""
    import numpy as np

    return int(np.count_nonzero(values >= top))


def hit_pairs(first: Floats, second: Floats, top: float) -> HitPairs:
    """Count pairs by whether their values are at the top."""
    import numpy as np

    one, other = first >= top, second >= top
    both, of_first, of_second = (int(np.count_nonzero(each)) for each in (one & other, one, other))
    return HitPairs(both, of_first - both, of_second - both, len(first) - of_first - of_second + both)


def signs(changes: Floats) -> tuple[int, int]:
    """Count what is above and what is below 0."""
    import numpy as np

    return int(np.count_nonzero(changes > 0)), int(np.count_nonzero(changes < 0))


def billionths(values: Floats) -> int:
    """Return the sum in billionths, each rounded by itself, as the sums of the store are."""
    import numpy as np

    scaled = np.trunc(values * UNIT + 0.5)
    if not len(values) or float(np.abs(scaled).max()) < _LARGEST_SUM / len(values):
        return int(scaled.astype(np.int64).sum())
    return sum(map(int, scaled.tolist()))
