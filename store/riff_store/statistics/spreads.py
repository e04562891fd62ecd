"""Find how far apart the judges of calls are, for very many calls at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from riff_store.statistics.agreement import Scores, places_of, scores_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Flags: TypeAlias = NDArray[np.bool_]
    Floats: TypeAlias = NDArray[np.float64]
    Keys: TypeAlias = NDArray[np.int64]

_DIGITS = 1e9


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

    n = len(calls)
    given = np.zeros(n, np.int16)
    high, low = np.full(n, -np.inf), np.full(n, np.inf)
    highest, lowest = np.full(n, -1, np.int16), np.full(n, -1, np.int16)
    for place, scores in enumerate(judges):
        column = np.append(scores.values, np.nan)[scores.codes]
        given += scores.codes >= 0
        # Nothing is above or below nan.
        for better, best, whose in ((column > high, high, highest), (column < low, low, lowest)):
            best[better], whose[better] = column[better], place
    given[places_of(calls, without)[1]] = 0
    several = given > 1
    apart = np.full(n, np.nan)
    # Scores have few digits, and so has their difference: what is left of binary fractions is cut off.
    apart[several] = np.rint((high[several] - low[several]) * _DIGITS) / _DIGITS
    return Spreads(scores_of(apart), highest, lowest)


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
    """Say whether a judge gave a score to any call that has a value; nan is none."""
    import numpy as np

    return bool((~np.isnan(wanted) & (scores.codes >= 0)).any())


def among(calls: Keys, some: Keys) -> Flags:
    """Say of each call whether it is one of some; both are sorted keys."""
    import numpy as np

    found = np.zeros(len(calls), bool)
    found[np.searchsorted(calls, some)] = True
    return found
