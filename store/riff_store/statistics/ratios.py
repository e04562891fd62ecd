"""Compare ratios of sums over calls, such as events that went well ÷ events, which come several in a call.

Events of one call have much in common, so calls are what is permuted and what varies, never single events. With the
common ratio R of both samples, x − R·y of a call says by how much its part x is more than its whole y would have it
(Cochran, *Sampling Techniques*, 1977, chapter 6). Over a sample these add up to more than 0 exactly where its ratio is
above that of the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from riff_store.statistics.distributions import student_tail
from riff_store.statistics.intervals import Interval, around

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

MOST_EXACT = 2**16
"""Permutations up to which all are counted out; beyond, the normal curve is as good."""
_TIED = 1e-9


class CallSum(NamedTuple):
    """Hold what one call adds to both sums: its part and its whole."""

    part: float
    whole: float


class RatioTest(NamedTuple):
    """Hold the two-sided p of a difference of two ratios, and its 95 % interval, `None` where calls do not vary.

    p is the larger of two: that of a permutation of calls, exact where both samples are of one kind, and that of
    Student's t by the delta method, which holds too where calls of one sample have more events than those of the other.
    """

    p: float
    interval: Interval | None


def paired(first: Sequence[CallSum], second: Sequence[CallSum]) -> RatioTest:
    """Test two ratios over paired calls: by swapping the calls of each pair (Fisher 1935), and by t of the pairs.

    Each sample has a whole that is not 0.
    """
    pairs = [(one, other) for one, other in zip(first, second, strict=True) if any(one) or any(other)]
    before, after = (list(calls) for calls in zip(*pairs, strict=True))
    moves = [b - a for a, b in zip(_moves(before), _moves(after), strict=True)]
    return _test(_ratio(after) - _ratio(before), _variance(moves), len(pairs) - 1, _swapped(before, after))


def unpaired(first: Sequence[CallSum], second: Sequence[CallSum]) -> RatioTest:
    """Test two ratios over different calls: by dealing all of them out anew (Pitman 1937), and by Welch's t.

    Each sample has a whole that is not 0.
    """
    before, after = ([call for call in calls if any(call)] for calls in (first, second))
    parts = [(_variance(_moves(calls)), len(calls) - 1) for calls in (before, after)]
    variance = sum(part for part, _ in parts) if len(before) > 1 and len(after) > 1 else 0.0
    degrees = 1 / sum((part / variance) ** 2 / rest for part, rest in parts) if variance else 0.0
    return _test(_ratio(after) - _ratio(before), variance, degrees, _dealt(before, after))


def spread(calls: Sequence[CallSum]) -> float:
    """Return the squares of what each call's part is more than the ratio of all would have it, added up."""
    ratio = _ratio(calls)
    return math.fsum((call.part - ratio * call.whole) ** 2 for call in calls)


def _test(change: float, variance: float, degrees: float, permuted: float) -> RatioTest:
    if not variance:
        return RatioTest(permuted, None)
    by_t = 2 * student_tail(abs(change) / math.sqrt(variance), degrees)
    return RatioTest(min(1.0, max(permuted, by_t)), around(change, variance, degrees))


def _ratio(calls: Sequence[CallSum]) -> float:
    return math.fsum(call.part for call in calls) / math.fsum(call.whole for call in calls)


def _moves(calls: Sequence[CallSum]) -> list[float]:
    """Return by how much each call moves the ratio of all."""
    ratio, whole = _ratio(calls), math.fsum(call.whole for call in calls)
    return [(call.part - ratio * call.whole) / whole for call in calls]


def _variance(moves: Sequence[float]) -> float:
    """Return the variance of what calls add up to by such moves; they have no mean but that of rounding."""
    n = len(moves)
    squares = math.fsum(move * move for move in moves)
    return n / (n - 1) * squares if n > 1 and squares > _TIED**2 else 0.0


def _swapped(first: Sequence[CallSum], second: Sequence[CallSum]) -> float:
    before, after = _surplus(first, second)
    changes = [change for change in (b - a for a, b in zip(before, after, strict=True)) if change]
    if 2 ** len(changes) > MOST_EXACT:
        return _normal(math.fsum(changes), math.fsum(change * change for change in changes))
    import numpy as np

    sums = np.zeros(1)
    for change in changes:
        sums = np.concatenate((sums - change, sums + change))
    return _share(sums, math.fsum(changes))


def _dealt(first: Sequence[CallSum], second: Sequence[CallSum]) -> float:
    before, after = _surplus(first, second)
    every, fewer = [*before, *after], min(before, after, key=len)
    n, size = len(every), len(fewer)
    if math.comb(n, size) > MOST_EXACT:
        squares = math.fsum(value * value for value in every)
        return _normal(math.fsum(fewer), size * (n - size) / (n * (n - 1)) * squares)
    return _share(_sums_of_subsets(every, size), math.fsum(fewer))


def _surplus(first: Sequence[CallSum], second: Sequence[CallSum]) -> tuple[list[float], list[float]]:
    """Return what each call's part is more than the common ratio would have it; rounding counts as nothing."""
    ratio = _ratio([*first, *second])
    before, after = ([call.part - ratio * call.whole for call in calls] for calls in (first, second))
    noise = _TIED * max(call.part + ratio * call.whole for call in (*first, *second))
    return _cleared(before, noise), _cleared(after, noise)


def _cleared(values: Sequence[float], noise: float) -> list[float]:
    return [0.0 if abs(value) <= noise else value for value in values]


def _sums_of_subsets(values: Sequence[float], size: int) -> Floats:
    """Return the sum of each subset of a size."""
    import numpy as np

    sums = [np.zeros(1), *(np.zeros(0) for _ in range(size))]
    for value in values:
        for taken in range(size, 0, -1):
            sums[taken] = np.concatenate((sums[taken], sums[taken - 1] + value))
    return sums[size]


def _share(sums: Floats, seen: float) -> float:
    """Return the share of sums that lie as far from 0 as the one that was seen."""
    import numpy as np

    far = np.abs(sums)
    return float((far >= abs(seen) - _TIED * float(far.max())).mean())


def _normal(total: float, variance: float) -> float:
    return math.erfc(abs(total) / math.sqrt(2 * variance)) if variance else 1.0


def shares(keys: NDArray[np.int64], calls: Sequence[tuple[int, float, int]]) -> tuple[Floats, Floats]:
    """Return the ratio and the whole of each call by its sorted key, from (key, part, whole); nan without events."""
    import numpy as np

    found, wholes = np.full(len(keys), np.nan), np.zeros(len(keys))
    known = np.array([call for call in calls if call[2]], dtype=float).reshape(-1, 3)
    places = np.searchsorted(keys, known[:, 0].astype(np.int64))
    found[places], wholes[places] = known[:, 1] / known[:, 2], known[:, 2]
    return found, wholes
