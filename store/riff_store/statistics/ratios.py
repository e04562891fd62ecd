"""Compare ratios of sums over calls, such as events that went well ÷ events, which come several in a call.

Events of one call have much in common, so calls are what is permuted and what varies, never single events. With the
common ratio R of both samples, x − R·y of a call reports by how much its part x is more than its whole y would have it
(Cochran, *Sampling Techniques*, 1977, chapter 6). Over a sample these add up to more than 0 exactly where its ratio is
above that of the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from riff_store.statistics.distributions import signed_sums, sums_of_subsets
from riff_store.statistics.intervals import Estimate
from riff_store.statistics.significance import MOST_EXACT

if TYPE_CHECKING:
    from riff_store.statistics import Floats


_TIED = 1e-9


class CallSums(NamedTuple):
    """Describe what calls add to both sums: their parts and their wholes."""

    parts: Floats
    wholes: Floats

    def at(self, places: Any) -> CallSums:
        """Return the sums of some calls."""
        return CallSums(self.parts[places], self.wholes[places])

    def nonzero(self) -> CallSums:
        """Return the sums of the calls that add anything."""
        return self.at((self.parts != 0) | (self.wholes != 0))


class RatioTest(NamedTuple):
    """Describe the two-sided p of a difference of two ratios, and its estimate, `None` if calls do not vary.

    p is the larger of two: that of a permutation of calls, exact where both samples are of one kind, and that of
    Student's t by the delta method, which has too where calls of one sample have more events than those of the other.
    """

    p: float
    estimate: Estimate | None


def paired(first: CallSums, second: CallSums) -> RatioTest:
    """Test two ratios over paired calls: by swapping the calls of each pair (Fisher 1935), and by t of the pairs.

    Each sample has a whole that is not 0.
    """
    counted = (first.parts != 0) | (first.wholes != 0) | (second.parts != 0) | (second.wholes != 0)
    before, after = first.at(counted), second.at(counted)
    moves = _moves(after) - _moves(before)
    return _test(_ratio(after) - _ratio(before), _variance(moves), len(moves) - 1, _swapped(before, after))


def unpaired(first: CallSums, second: CallSums) -> RatioTest:
    """Test two ratios over different calls: by dealing all of them out again (Pitman 1937), and by Welch's t.

    Each sample has a whole that is not 0.
    """
    before, after = first.nonzero(), second.nonzero()
    parts = [(_variance(_moves(calls)), len(calls.parts) - 1) for calls in (before, after)]
    variance = sum(part for part, _ in parts) if all(rest for _, rest in parts) else 0.0
    degrees = 1 / sum((part / variance) ** 2 / rest for part, rest in parts) if variance else 0.0
    return _test(_ratio(after) - _ratio(before), variance, degrees, _dealt(before, after))


def less(calls: CallSums, margin: float) -> CallSums:
    """Return sums of which the ratio is less by a margin."""
    return CallSums(calls.parts - margin * calls.wholes, calls.wholes)


def spread(calls: CallSums) -> float:
    """Return the squares of what each call's part is more than the ratio of all would have it, added up."""
    return _sum((calls.parts - _ratio(calls) * calls.wholes) ** 2)


def added(columns: Sequence[Floats]) -> Floats:
    """Return the sum of some columns."""
    import numpy as np

    found: Floats = np.sum(columns, axis=0)
    return found


def _test(change: float, variance: float, degrees: float, permuted: float) -> RatioTest:
    if not variance:
        return RatioTest(permuted, None)
    by_t = Estimate(change, variance, degrees)
    return RatioTest(min(1.0, max(permuted, by_t.p)), by_t)


def _sum(values: Floats) -> float:
    """Return a sum that does not depend on the order of the values."""
    import numpy as np

    return float(np.sort(values).sum())


def _ratio(calls: CallSums) -> float:
    return _sum(calls.parts) / _sum(calls.wholes)


def _moves(calls: CallSums) -> Floats:
    """Return by how much each call moves the ratio of all."""
    return (calls.parts - _ratio(calls) * calls.wholes) / _sum(calls.wholes)


def _variance(moves: Floats) -> float:
    """Return the variance of what calls add up to by such moves; they have no mean but that of rounding."""
    n, squares = len(moves), _sum(moves**2)
    return n / (n - 1) * squares if n > 1 and squares > _TIED**2 else 0.0


def _swapped(first: CallSums, second: CallSums) -> float:
    before, after = _surplus(first, second)
    changes = (after - before)[after != before]
    if len(changes) > math.log2(MOST_EXACT):
        return _normal(_sum(changes), _sum(changes**2))
    return _share(signed_sums(changes), _sum(changes))


def _dealt(first: CallSums, second: CallSums) -> float:
    import numpy as np

    before, after = _surplus(first, second)
    every, fewer = np.concatenate((before, after)), min(before, after, key=len)
    n, size = len(every), len(fewer)
    if size > math.log2(MOST_EXACT) or math.comb(n, size) > MOST_EXACT:
        return _normal(_sum(fewer), size * (n - size) / (n * (n - 1)) * _sum(every**2))
    return _share(sums_of_subsets(every.tolist(), size), _sum(fewer))


def _surplus(first: CallSums, second: CallSums) -> tuple[Floats, Floats]:
    """Return what each call's part is more than the common ratio would have it; rounding counts as nothing."""
    import numpy as np

    every = CallSums(*(np.concatenate(sums) for sums in zip(first, second, strict=True)))
    ratio = _ratio(every)
    noise = _TIED * float((every.parts + ratio * every.wholes).max())
    before, after = (calls.parts - ratio * calls.wholes for calls in (first, second))
    return _cleared(before, noise), _cleared(after, noise)


def _cleared(values: Floats, noise: float) -> Floats:
    import numpy as np

    return np.where(np.abs(values) <= noise, 0.0, values)


def _share(sums: Floats, seen: float) -> float:
    """Return the share of sums that are as far from 0 as the one that was seen."""
    import numpy as np

    far = np.abs(sums)
    return float((far >= abs(seen) - _TIED * float(far.max())).mean())


def _normal(total: float, variance: float) -> float:
    return math.erfc(abs(total) / math.sqrt(2 * variance)) if variance else 1.0


def shares(part: Floats, whole: Floats) -> tuple[Floats, Floats]:
    """Return the ratio and the whole of each call; nan if a call has no events, or none are known."""
    import numpy as np

    found, wholes = np.full(len(part), np.nan), np.zeros(len(part))
    known = np.flatnonzero(~np.isnan(whole) & (whole != 0))
    found[known], wholes[known] = part[known] / whole[known], whole[known]
    return found, wholes
