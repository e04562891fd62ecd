"""Find the pairs of calls of one task of which either failed, and count them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from riff_store.statistics.pairing import Places

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Flags: TypeAlias = NDArray[np.bool_]


class FailedPairs(NamedTuple):
    """Hold the `places` of the calls of pairs that failed, and count those that are looked at.

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
    """Return the correctness of calls where it is below the top, else how complete they are, as far as that is known.

    A call failed where this is below the top; nan is not measured.
    """
    import numpy as np

    return np.where((correct < top) | np.isnan(complete), correct, complete)


def failed_pairs(
    scores: tuple[Floats, Floats], pairs: Places, looked_at: tuple[Flags, Flags], top: float
) -> FailedPairs:
    """Choose the pairs of which either failed, by the scores of the calls of both sides, nan where there is none.

    Counted are the calls that are looked at, and the pairs of which both are.
    """
    import numpy as np

    first, second = scores[0][pairs.first], scores[1][pairs.second]
    known, one, other = ~np.isnan(first) & ~np.isnan(second), first < top, second < top
    failed = known & (one | other)
    counted = known & looked_at[0][pairs.first] & looked_at[1][pairs.second]
    n, both = int(np.count_nonzero(counted)), int(np.count_nonzero(counted & one & other))
    of_first, of_second = (int(np.count_nonzero(counted & flags)) for flags in (one, other))
    alone = []
    for values, places, flags in zip(scores, pairs, looked_at, strict=True):
        apart = flags & (values < top)
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
