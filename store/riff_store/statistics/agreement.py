"""Measure how far two columns of scores for the same calls agree (docs/statistics.md).

Everything is `None` if it is not defined: below `FEWEST` pairs, and without the variance it needs. Figures come from
the pairs of values that occur and how often each does, so that they take no longer where many calls have few values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from riff_store.alignment import FEWEST
from riff_store.measure import UNIT, Measure
from riff_store.statistics import different

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riff_store.statistics import Flags, Floats, Keys


if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riff_store.statistics import Floats, Keys

    Categories: TypeAlias = NDArray[Any]

Weights: TypeAlias = Literal["none", "quadratic"]
_STEP = 10
"""Scores have one digit as a rule, which makes their codes quick to find."""
_MOST_COUNTED = 1 << 20


class Scores(NamedTuple):
    """Describe the scores that one judge gave: `values` are those that occur, from the least to the greatest.

    `codes` has the place of each call's score among them, -1 if there is none: of all calls, or of those at `places`
    alone, in ascending order.
    """

    values: Floats
    codes: NDArray[Any]
    places: Keys | None = None

    @property
    def n(self) -> int:
        """Return how many calls have a score."""
        return int((self.codes >= 0).sum())

    def at(self, places: Keys) -> Floats:
        """Return the scores of some calls; nan if there is none."""
        import numpy as np

        codes = _codes_at(self, places)
        found = np.full(len(places), np.nan)
        found[codes >= 0] = self.values[codes[codes >= 0]]
        return found


class Pairs(NamedTuple):
    """Describe the pairs of scores that occur on the same calls, and how often each does."""

    first: Floats
    second: Floats
    counts: Keys

    @property
    def n(self) -> int:
        """Return the number of calls."""
        return int(self.counts.sum())


def scores_of(column: Floats, places: Keys | None = None) -> Scores:
    """Return the scores of a column, in which nan is none."""
    import numpy as np

    points = np.rint(column * _STEP)
    low, high = np.fmin.reduce(points, initial=np.inf), np.fmax.reduce(points, initial=-np.inf)
    if high < low:
        return Scores(np.empty(0), np.full(len(column), -1, np.int16), places)
    known = ~np.isnan(column)
    if high - low < _MOST_COUNTED and ((points / _STEP == column) | ~known).all():
        # Calls without a score come last.
        last = int(high - low) + 1
        steps = np.fmin(points - low, last).astype(np.intp)
        there = np.flatnonzero(np.bincount(steps, minlength=last + 1)[:last])
        values = (there + low) / _STEP
        return Scores(values, _ranked(there, last + 1).take(steps), places)
    values, ranked = np.unique(column[known], return_inverse=True)
    codes = np.full(len(column), -1, _dtype(len(values)))
    codes[known] = ranked
    return Scores(values, codes, places)


def _ranked(places: Keys, n: int) -> NDArray[Any]:
    """Return of n numbers the rank of those that are at some places, -1 of the others."""
    import numpy as np

    found = np.full(n, -1, _dtype(len(places)))
    found[places] = np.arange(len(places))
    return found


def _dtype(codes: int) -> Any:
    import numpy as np

    return np.int16 if codes < 1 << 15 else np.int32


def scores_at(keys: Keys, given: Mapping[int, float]) -> Scores:
    """Return the scores of few calls, given by their keys, among all calls, whose keys are sorted; others drop out."""
    import numpy as np

    known, places = places_of(keys, given)
    return scores_of(np.array([given[call] for call in known]), places)


def given_to(calls: Iterable[int], keys: Keys, scores: Scores) -> dict[int, float]:
    """Return those scores that were given to some of the calls, whose keys are sorted, by the key of the call."""
    known, places = places_of(keys, calls)
    found = scores.at(places)
    return {call: float(score) for call, score in zip(known, found, strict=True) if score == score}


def places_of(keys: Keys, calls: Iterable[int]) -> tuple[list[int], Keys]:
    """Return which calls there are among all, and their places, in ascending order."""
    import numpy as np

    wanted = np.array(sorted(calls), np.int64)
    at = np.searchsorted(keys, wanted)
    there = np.flatnonzero(at < len(keys))
    there = there[keys[at[there]] == wanted[there]]
    return [int(key) for key in wanted[there]], at[there]


def pairs_of(first: Scores, second: Scores) -> Pairs:
    """Return the pairs of scores of the calls that both scored."""
    import numpy as np

    one, other = _codes_of_both(first, second)
    width = len(second.values) + 1
    # One more than the code, so that those without a score have a row and a column of their own, which is left out.
    key = (one.astype(np.int64) + 1) * width + (other + 1)
    if (len(first.values) + 1) * width <= _MOST_COUNTED:
        every = np.bincount(key, minlength=1)
        cells = np.flatnonzero(every)
        counts = every[cells]
    else:
        cells, counts = np.unique(key, return_counts=True)
    row, column = np.divmod(cells, width)
    both = (row > 0) & (column > 0)
    return Pairs(first.values[row[both] - 1], second.values[column[both] - 1], counts[both])


def _codes_of_both(first: Scores, second: Scores) -> tuple[NDArray[Any], NDArray[Any]]:
    import numpy as np

    if first.places is None and second.places is None:
        return first.codes, second.codes
    if first.places is None or second.places is None:
        places = first.places if second.places is None else second.places
        assert places is not None
        return _codes_at(first, places), _codes_at(second, places)
    places = np.intersect1d(first.places, second.places, assume_unique=True)
    return _codes_at(first, places), _codes_at(second, places)


def _codes_at(scores: Scores, places: Keys) -> NDArray[Any]:
    import numpy as np

    if scores.places is None:
        return scores.codes[places]
    at = np.searchsorted(scores.places, places)
    there = at < len(scores.places)
    there[there] = scores.places[at[there]] == places[there]
    return np.where(there, scores.codes[np.where(there, at, 0)], -1) if len(scores.codes) else np.full(len(places), -1)


def rounded(scores: Floats) -> Floats:
    """Round scores to whole numbers, halves up."""
    import numpy as np

    return np.floor(scores + 0.5)


def equal_share(first: Categories, second: Categories, counts: Keys) -> float | None:
    """Return the share of pairs whose members are equal."""
    n = int(counts.sum())
    return int(counts[first == second].sum()) / n if n >= FEWEST else None


def kappa(first: Categories, second: Categories, counts: Keys, weights: Weights = "quadratic") -> float | None:
    """Return Cohen's kappa of paired categories, with quadratic weights (Cohen 1968) or unweighted (Cohen 1960).

    1 − observed ÷ expected disagreement, where expected is that of all values of the one against all of the other.
    `None` if nothing else than agreement was to be expected: both always said the same.
    """
    import numpy as np

    n = int(counts.sum())
    if n < FEWEST:
        return None
    known, places = np.unique(np.concatenate((first, second)), return_inverse=True)
    one, other = places[: len(first)], places[len(first) :]
    rows, columns = (_sums(place, counts, len(known)) for place in (one, other))
    if weights == "none":
        observed = n - int(counts[one == other].sum())
        expected = n * n - sum(a * b for a, b in zip(rows, columns, strict=True))
    else:
        points = [int(value) for value in known]
        observed = int(counts @ ((first.astype(np.int64) - second.astype(np.int64)) ** 2))
        (sum_1, squares_1), (sum_2, squares_2) = (
            (
                sum(c * v for c, v in zip(of, points, strict=True)),
                sum(c * v * v for c, v in zip(of, points, strict=True)),
            )
            for of in (rows, columns)
        )
        expected = n * (squares_1 + squares_2) - 2 * sum_1 * sum_2
    return 1 - observed * n / expected if expected else None


def spearman(pairs: Pairs) -> float | None:
    """Return the rank correlation of paired values, ties ties alike; `None` below three pairs and without variance."""
    if pairs.n < FEWEST:
        return None
    first, second = (_ranks_from_middle(values, pairs.counts) for values in (pairs.first, pairs.second))
    shared = float((pairs.counts * first * second).sum())
    spread = float((pairs.counts * first**2).sum()) * float((pairs.counts * second**2).sum())
    return max(-1.0, min(1.0, shared / spread**0.5)) if spread else None


def difference(pairs: Pairs) -> Measure:
    """Return the mean of the first scores less the second, with its interval."""
    import numpy as np

    apart = pairs.first - pairs.second
    total = int(pairs.counts @ np.rint(apart * UNIT).astype(np.int64))
    return Measure(pairs.n, total, float((pairs.counts * apart**2).sum()))


def _sums(places: Keys, counts: Keys, size: int) -> list[int]:
    import numpy as np

    return [int(found) for found in np.bincount(places, counts, size)]


def _ranks_from_middle(values: Floats, counts: Keys) -> Floats:
    """Return how far the rank of each value is from the middle; equal values share the mean of their ranks."""
    import numpy as np

    known, places = np.unique(values, return_inverse=True)
    tied = np.bincount(places, counts, len(known))
    ranks = np.cumsum(tied) - (tied - 1) / 2
    found: Floats = (ranks - (tied.sum() + 1) / 2)[places]
    return found


# Find how far apart the judges of calls are, for very many calls at once.
_PLACES = 1e9
_MOST_PAIRS = 1 << 16


class Spreads(NamedTuple):
    """Describe by call how far the highest score is above the lowest, and the places of the judges who gave these.

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
    values = different(np.concatenate([np.empty(0), *(scores.values for scores in judges)]))
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
    """Return by how much the values at some places are apart, if there are several of them."""
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
    found: Floats = np.rint((high - low) * _PLACES) / _PLACES
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
