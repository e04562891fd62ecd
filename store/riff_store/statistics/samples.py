"""Add up and count the values of a sample; but for `known`, none of them is nan."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from riff_store.measure import UNIT, Measure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Flags: TypeAlias = NDArray[np.bool_]

_MOST = 2.0**62


class HitPairs(NamedTuple):
    """Count pairs by whose side was a hit."""

    both: int
    only_first: int
    only_second: int
    neither: int


def known(values: Floats) -> Flags:
    """Say which values are measured."""
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
    if not len(values) or float(np.abs(scaled).max()) < _MOST / len(values):
        return int(scaled.astype(np.int64).sum())
    return sum(map(int, scaled.tolist()))
