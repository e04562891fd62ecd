"""Find how far apart the judges of calls are, for very many calls at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from riff_store.statistics.agreement import Scores, places_of, scores_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riff_store.statistics import Flags, Floats, Keys


_DIGITS = 1e9
_MOST_PAIRS = 1 << 16


class Spreads(NamedTuple):
    """Hold by call how far the highest score lies above the lowest, and the places of the judges who gave these.

    `spreads` has no score where fewer than two judges gave one; of several judges with one score the first counts.
    """

    spreads: Scores
    highest: NDArray[Any]
    lowest: NDArray[Any]


def spreads_of(judges: Sequence[Scores], calls: Keys, without: Iterable[int] = ()) -> Spreads:
    """Return how far the judges of some calls, of which these are the sorted keys, are apart; some may be left out."""
    import numpy as np

    n, bits = len(calls), len(judges).bit_length()
    last = (1 << bits) - 1
    given = np.zeros(n, np.int16)
    values = np.unique(np.concatenate([np.empty(0), *(scores.values for scores in judges)]))
    # A number that orders scores and, of equal ones, prefers the judge that comes first; none is less than any score,
    # and without its sign more. A few operations on numbers take a fraction of what assigning to some places does.
    signed, unsigned = ("i4", "u4") if len(values) << bits < 1 << 31 else ("i8", "u8")
    high, low = np.full(n, -1, signed), np.full(n, -1, signed).view(unsigned)
    for place, scores in enumerate(judges):
        ranks = np.append(np.searchsorted(values, scores.values), -1).astype(signed) << bits
        key = ranks.take(scores.codes)
        given += scores.codes >= 0
        np.maximum(high, key + (last - place), out=high)
        np.minimum(low, (key + place).view(unsigned), out=low)
    highest, lowest = (last - (high & last)).astype(np.int16), (low & last).astype(np.int16)
    nobody = given == 0
    highest[nobody] = lowest[nobody] = -1
    given[places_of(calls, without)[1]] = 0
    several = given > 1
    return Spreads(_apart(values, several, high >> bits, low >> bits), highest, lowest)


def _apart(values: Floats, several: Flags, high: NDArray[Any], low: NDArray[Any]) -> Scores:
    """Return by how much the values at some places are apart, where there are several of them."""
    import numpy as np

    n = len(values)
    if n * n > _MOST_PAIRS:
        apart = np.full(len(several), np.nan)
        apart[several] = _difference(values[high[several]], values[low[several]])
        return scores_of(apart)
    pairs = np.where(several, high.astype(np.int64) * n + low.astype(np.int64), n * n)
    there = np.flatnonzero(np.bincount(pairs, minlength=n * n + 1)[:-1])
    of_pairs = scores_of(_difference(values[there // n], values[there % n]))
    codes = np.full(n * n + 1, -1, of_pairs.codes.dtype)
    codes[there] = of_pairs.codes
    return Scores(of_pairs.values, codes.take(pairs))


def _difference(high: Floats, low: Floats) -> Floats:
    import numpy as np

    # Scores have few digits, and so has their difference: what is left of binary fractions is cut off.
    found: Floats = np.rint((high - low) * _DIGITS) / _DIGITS
    return found


def disputed(spreads: Scores, where: Flags | None) -> Floats:
    """Return the spreads of calls that were scored apart, as far as they are wanted; nan elsewhere."""
    import numpy as np

    found: Floats = np.append(np.where(spreads.values > 0, spreads.values, np.nan), np.nan)[spreads.codes]
    return found if where is None else np.where(where, found, np.nan)


def flagged(flags: Sequence[bool], codes: NDArray[Any]) -> Flags:
    """Return the flag of each code; of -1 it is false."""
    import numpy as np

    found: Flags = np.append(np.array(flags, bool), False)[codes]
    return found


def everywhere(flag: bool, calls: int) -> Flags:
    """Return a flag for each call."""
    import numpy as np

    return np.full(calls, flag)


def count(column: Floats) -> int:
    """Return how many values there are; nan is none."""
    import numpy as np

    return int(np.count_nonzero(~np.isnan(column)))


def gave_any(scores: Scores, wanted: Floats) -> bool:
    """Return whether a judge gave a score to any call that has a value; nan is none."""
    import numpy as np

    return bool((~np.isnan(wanted) & (scores.codes >= 0)).any())


def among(calls: Keys, some: Keys) -> Flags:
    """Return of each call whether it is one of some; both are sorted keys."""
    import numpy as np

    found = np.zeros(len(calls), bool)
    found[np.searchsorted(calls, some)] = True
    return found
