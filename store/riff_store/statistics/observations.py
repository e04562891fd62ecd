"""Reduce calls in the eyes of judges to what a linear model of them needs: sums in cells, and products within calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from riff_store.interruption import check_interrupted
from riff_store.scoring import CAP_INCOMPLETE, CAP_INCORRECT, FULL, SLOWEST, WEIGHTS
from riff_store.statistics import different
from riff_store.statistics.designs import Cells, Design

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from riff_store.statistics import Codes, Flags, Floats

    Keys: TypeAlias = Sequence[int] | NDArray[np.int64]


JUDGE = "judge"
MOST_LEVELS = 200
CANCELLED = 1e-12
"""Of sums that cancel out, what is left is noise where it is less than this part of them."""
_BLOCK = 1 << 14
_NOISE = 1e-12
_MOST_COUNTED = 1 << 20
_LARGEST = 1e200
"""More than any figure; and of more one could not tell the squares."""


@dataclass(frozen=True, slots=True)
class Factor:
    """Describe a factor of calls: the key of a level for each call, and the name of each key."""

    name: str
    keys: Keys
    names: Mapping[int, str | None]


@dataclass(frozen=True, slots=True)
class Levels:
    """Describe the levels of a factor in order of name; `codes` has the number of the level for each call, or judge."""

    name: str
    names: Sequence[str | None]
    codes: Codes

    @property
    def is_compared(self) -> bool:
        """Return whether there are levels to compare, and not too many."""
        return 1 < len(self.names) <= MOST_LEVELS


class _Block(NamedTuple):
    """Describe some calls: the number of the cell of each, what each judge said, if any, and for how much it counts."""

    cells: Codes
    values: Floats
    seen: Flags
    weights: Floats | None

    def weighted(self, values: Floats | Flags) -> Floats | Flags:
        """Return values by how many observations they represent."""
        return values if self.weights is None else values * self.weights


class LeftOver(NamedTuple):
    """Describe what observations differ by from fitted values of their cells, as sums of products.

    `of_calls` has for each cell the products of its observations with what is left of their whole call, `of_judges`
    those of each two judges of one call, in the order of their levels.
    """

    of_calls: Floats
    of_judges: Floats


class Observations:
    """Keep values by judge, and of each judge by call; nan if there is none.

    `weights` show how many observations a value of a call represents. Calls without any value are left out.
    """

    def __init__(
        self,
        values: Mapping[int, Floats],
        judges: Mapping[int, str | None],
        factors: Sequence[Factor],
        weights: Floats | None = None,
    ) -> None:
        import numpy as np

        seen = {judge: ~np.isnan(column) for judge, column in values.items()}
        seen = {judge: calls for judge, calls in seen.items() if calls.any()}
        any_judge = np.logical_or.reduce(list(seen.values())) if seen else np.zeros(0, bool)
        every = bool(any_judge.all())
        self.values = {judge: values[judge] if every else values[judge][any_judge] for judge in seen}
        self.seen = {judge: calls if every else calls[any_judge] for judge, calls in seen.items()}
        self._weights = weights if weights is None or every else weights[any_judge]
        self.calls = int(any_judge.sum())
        if not self.calls:
            return
        of_calls = [
            _levels(each.name, np.asarray(each.keys) if every else np.asarray(each.keys)[any_judge], each.names)
            for each in factors
        ]
        self.factors = [_levels(JUDGE, np.array(list(self.values)), judges), *of_calls]
        self.compared = [each for each in self.factors if each.is_compared]
        of_cells = [each for each in of_calls if each.is_compared]
        self._cell, self._codes = _call_cells(of_cells, self.calls)
        self._width = int(self._cell.max()) + 1
        self.cells = self._summed()

    @property
    def n(self) -> int:
        """Return the number of observations."""
        return int(self.cells.counts.sum())

    @property
    def noise(self) -> float:
        """Return below what a difference of values is one of the arithmetic."""
        return _NOISE * self.largest

    def calls_of(self, factor: Levels) -> Codes:
        """Return how many calls each level has."""
        import numpy as np

        if factor.name != JUDGE:
            return np.bincount(factor.codes, minlength=len(factor.names))
        found = np.empty(len(factor.names), dtype=np.intp)
        found[factor.codes] = [int(np.count_nonzero(calls)) for calls in self.seen.values()]
        return found

    def names_of_judges(self) -> dict[int, str | None]:
        """Return the name of each judge, in order of these."""
        of_levels = self.factors[0]
        places = sorted(zip(of_levels.codes.tolist(), self.values, strict=True))
        return {judge: of_levels.names[code] for code, judge in places}

    def design_of(self, calls: Flags) -> Design:
        """Return the columns of factors that are not the judge, of the cells that some calls are in."""
        import numpy as np

        there = np.flatnonzero(np.bincount(self._cell, calls, self._width))
        codes = [np.unique(code[there], return_inverse=True)[1] for code in self._codes]
        sizes = tuple(int(code.max()) + 1 for code in codes)
        names = tuple(each.name for each in self.compared if each.name != JUDGE)
        ones = np.ones(there.size)
        return Design(Cells(names, tuple(codes), sizes, ones, ones), range(len(codes)))

    def left_over(self, fitted: Floats) -> LeftOver:
        """Return what is left of observations over `fitted` values of their cells."""
        import numpy as np

        size = len(self.values) * self._width
        expected = np.zeros(size)
        expected[self._there] = self.mean + fitted
        of_calls, of_judges = np.zeros(size), np.zeros((len(self.values),) * 2)
        for block in self._blocks():
            left = or_zero(block.values - expected.take(block.cells).reshape(block.values.shape), block.seen)
            weighted = block.weighted(left)
            of_calls += np.bincount(block.cells, (weighted * weighted.sum(axis=0)).ravel(), size)
            # Threads of a matrix product cost more than they bring where a machine is busy.
            of_judges += np.einsum("ic,jc->ij", weighted, weighted)
        order = np.argsort(self.factors[0].codes)
        return LeftOver(of_calls[self._there], of_judges[np.ix_(order, order)])

    def _summed(self) -> Cells:
        """Return the cells that occur, judge by judge, with the sums of what values differ by from their mean."""
        import numpy as np

        size = len(self.values) * self._width
        counts, totals, squares = np.zeros(size), np.zeros(size), 0.0
        # Sums about a value in their midst keep the digits that those about 0 lose.
        midst = least = most = float(np.nanmean(next(self._blocks()).values))
        for block in self._blocks():
            apart = or_zero(block.values - midst, block.seen)
            weighted = block.weighted(apart)
            counts += np.bincount(block.cells, block.weighted(block.seen).ravel(), size)
            totals += np.bincount(block.cells, weighted.ravel(), size)
            squares += float(np.einsum("ij,ij->", apart, weighted))
            least, most = min(least, midst + float(apart.min())), max(most, midst + float(apart.max()))
        off = float(totals.sum() / counts.sum())
        self.mean, self.largest = midst + off, max(1.0, abs(least), abs(most))
        self._there = np.flatnonzero(counts)
        of_means = float((totals[self._there] ** 2 / counts[self._there]).sum())
        self.within = self.real_squares(squares - of_means, int(counts.sum()), squares)
        judge, cell = np.divmod(self._there, self._width)
        by_judge = [self.factors[0].codes[judge]] if self.factors[0].is_compared else []
        return Cells(
            tuple(each.name for each in self.compared),
            (*by_judge, *(code[cell] for code in self._codes)),
            tuple(len(each.names) for each in self.compared),
            counts[self._there],
            totals[self._there] - counts[self._there] * off,
        )

    def real_squares(self, squares: float, n: int, among: float = 0.0) -> float:
        """Return the squares of so many differences, 0 if they are noise, be it of larger sums that cancel out."""
        return 0.0 if squares < max(n * self.noise**2, CANCELLED * among) else squares

    def _blocks(self) -> Iterator[_Block]:
        """Yield the observations some calls at a time, a row for each judge, so that no copy of them all is needed."""
        import numpy as np

        rows = np.arange(len(self.values))[:, None] * self._width
        for start in range(0, self.calls, _BLOCK):
            check_interrupted()
            some = slice(start, start + _BLOCK)
            values = np.stack([column[some] for column in self.values.values()])
            weights = None if self._weights is None else self._weights[some]
            seen = np.stack([calls[some] for calls in self.seen.values()])
            yield _Block((rows + self._cell[some]).ravel(), values, seen, weights)


def or_zero(values: Floats, seen: Flags) -> Floats:
    """Return values with 0 if there is none.

    A product takes a fraction of the time of `np.where`, which has a branch for each value.
    """
    import numpy as np

    return np.fmin(values, _LARGEST) * seen


def _levels(name: str, keys: NDArray[np.int64], names: Mapping[int, str | None]) -> Levels:
    import numpy as np

    check_interrupted()
    known = _found(keys)
    named = [names.get(int(key)) for key in known]
    order = sorted(range(len(named)), key=lambda index: (named[index] is None, named[index] or "", int(known[index])))
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order))
    return Levels(name, [named[index] for index in order], _replaced(keys, known, rank))


def _call_cells(factors: Sequence[Levels], calls: int) -> tuple[Codes, list[Codes]]:
    """Return the cell that each call is in, and the level that each factor has in each of these cells."""
    import numpy as np

    key = np.zeros(calls, dtype=np.intp)
    for factor in factors:
        key = key * len(factor.names) + factor.codes
    there = _found(key)
    cells = _replaced(key, there, np.arange(there.size, dtype=np.int32))
    found, rest = [], there
    for factor in reversed(factors):
        rest, code = np.divmod(rest, len(factor.names))
        found.append(code)
    return cells, found[::-1]


def _found(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the keys that there are, in order."""
    import numpy as np

    return np.flatnonzero(np.bincount(keys)) if _are_counted(keys) else different(keys)


def _replaced(keys: NDArray[np.int64], known: NDArray[np.int64], numbers: Codes) -> Codes:
    """Return for each key the number that is at its place among the `known` ones."""
    import numpy as np

    if not _are_counted(known):
        return numbers.take(np.searchsorted(known, keys))
    table = np.zeros(int(known[-1]) + 1, dtype=numbers.dtype)
    table[known] = numbers
    return table.take(keys)


def _are_counted(keys: NDArray[np.int64]) -> bool:
    """Return whether keys are few enough numbers to count each of them."""
    return 0 <= int(keys.min()) <= int(keys.max()) < _MOST_COUNTED


# Blend operability of very many calls at once, digit by digit as `riff_store.scoring` does of one.
_DIGITS = 1e12
_CAPS = (FULL, CAP_INCOMPLETE, CAP_INCORRECT, CAP_INCORRECT)
"""By whether a call is incomplete, and two places on by whether it is incorrect."""


class Blends(NamedTuple):
    """Describe operability without humanness, by call: weighted scores, their weights, and the cap of the result."""

    scores: Floats
    weights: Floats
    caps: Floats


def computed_blends(correctness: Floats, completion: Floats, errors: Floats, latency_p95: Floats) -> Blends:
    """Blend the part of operability that is without judges; nan is not measured, and all is without correctness."""
    import numpy as np

    latency = np.clip(FULL * (1 - latency_p95 / SLOWEST), 0.0, FULL)
    scores, weights = WEIGHTS["correctness"] * correctness, np.full(len(correctness), WEIGHTS["correctness"])
    for part, values in (("completion", completion), ("errors", errors), ("latency", latency)):
        measured = ~np.isnan(values)
        scores += or_zero(WEIGHTS[part] * values, measured)
        weights += WEIGHTS[part] * measured
    caps = np.array(_CAPS).take(2 * (correctness < FULL) + (completion < FULL))
    return Blends(scores, weights, caps)


def blended(blends: Blends, humanness: Floats | None) -> Floats:
    """Return operability with scores of humanness, nan if there is none, or without any."""
    import numpy as np

    scores, weights, caps = blends
    if humanness is not None:
        scores, weights = scores + WEIGHTS["humanness"] * humanness, weights + WEIGHTS["humanness"]
    # In place, since memory for a million figures takes as long to get as they take to compute.
    found = scores / weights
    found *= _DIGITS
    np.rint(found, out=found)
    found /= _DIGITS
    return np.minimum(found, caps, out=found)
