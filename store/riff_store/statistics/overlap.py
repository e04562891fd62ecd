"""Find out which calls several judges scored, where they did not all score the same ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]


class Overlap(NamedTuple):
    """Hold how many calls each judge `scored`, the pairs who share none, and the values of the others' `common` calls.

    Values are nan outside the common calls, of which there are `n`.
    """

    scored: Mapping[int, int]
    apart: Sequence[tuple[int, int]]
    common: Mapping[int, Floats]
    n: int


def finite(values: Floats) -> Floats:
    """Return values with nan for those that are infinite."""
    import numpy as np

    return np.where(np.isfinite(values), values, np.nan)


def overlap(values: Mapping[int, Floats]) -> Overlap | None:
    """Return how the calls of judges overlap, by call and nan where there is no score; `None` if all have the same."""
    import numpy as np

    seen = {judge: ~np.isnan(column) for judge, column in values.items()}
    seen = {judge: known for judge, known in seen.items() if known.any()}
    known = list(seen.values())
    if all(np.array_equal(known[0], other) for other in known[1:]):
        return None
    apart = [pair for pair in combinations(seen, 2) if not (seen[pair[0]] & seen[pair[1]]).any()]
    rest = [judge for judge in seen if all(judge not in pair for pair in apart)]
    common: dict[int, Floats] = {}
    shared = np.zeros(len(known[0]), dtype=bool)
    if len(rest) > 1:
        shared = np.logical_and.reduce([seen[judge] for judge in rest])
        common = {judge: np.where(shared, values[judge], np.nan) for judge in rest}
    return Overlap({judge: int(calls.sum()) for judge, calls in seen.items()}, apart, common, int(shared.sum()))
