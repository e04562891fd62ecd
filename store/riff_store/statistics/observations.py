"""Reduce calls in the eyes of judges to what a linear model of them needs: sums in cells, and products within calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from riff_store.interruption import check_interrupted
from riff_store.statistics.designs import Cells

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Flags: TypeAlias = NDArray[np.bool_]
    Codes: TypeAlias = NDArray[np.intp]
    Keys: TypeAlias = Sequence[int] | NDArray[np.int64]

JUDGE = "judge"
MOST_LEVELS = 200
_BLOCK = 1 << 16
_NOISE = 1e-12
_MOST_COUNTED = 1 << 20


@dataclass(frozen=True, slots=True)
class Factor:
    """Describe a factor of calls: the key of a level for each call, and the name of each key."""

    name: str
    keys: Keys
    names: Mapping[int, str | None]


@dataclass(frozen=True, slots=True)
class Levels:
    """Hold the levels of a factor in order of name; `codes` has the number of the level for each call, or judge."""

    name: str
    names: Sequence[str | None]
    codes: Codes

    @property
    def is_compared(self) -> bool:
        """Say whether there are levels to compare, and not too many."""
        return 1 < len(self.names) <= MOST_LEVELS


class _Block(NamedTuple):
    """Hold some calls: the number of the cell of each, whom each was judged by, and what they said."""

    cells: Codes
    seen: Flags
    values: Floats
    weights: Floats | float


class Observations:
    """Hold values by judge, and of each judge by call; nan where there is none.

    `weights` say how many observations a value of a call stands for. Calls without any value are left out.
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
        self._judges = [judge for judge, known in seen.items() if known.any()]
        any_judge = np.logical_or.reduce([seen[judge] for judge in self._judges]) if self._judges else np.zeros(0, bool)
        every = bool(any_judge.all())
        self._values = [values[judge] if every else values[judge][any_judge] for judge in self._judges]
        self._weights = weights if weights is None or every else weights[any_judge]
        self.calls = int(any_judge.sum())
        if not self.calls:
            return
        of_calls = [
            _levels(each.name, np.asarray(each.keys) if every else np.asarray(each.keys)[any_judge], each.names)
            for each in factors
        ]
        self.factors = [_levels(JUDGE, np.array(self._judges), judges), *of_calls]
        self.compared = [each for each in self.factors if each.is_compared]
        self._cell, codes = _call_cells([each for each in of_calls if each.is_compared], self.calls)
        self._width = int(self._cell.max()) + 1
        self.mean = self._mean()
        self.largest = max(1.0, *(float(np.nanmax(np.abs(column))) for column in self._values))
        self.cells = self._summed(codes)

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
        found[factor.codes] = [int((~np.isnan(column)).sum()) for column in self._values]
        return found

    def squares_within(self) -> float:
        """Return the squares of what observations differ by from the mean of their cell, added up."""
        return self._products(self.cells.totals / self.cells.counts)[0]

    def products(self, fitted: Floats) -> tuple[Floats, Floats]:
        """Return products of what is left over `fitted` values of cells, with what is left of the whole call.

        First those of each observation with its call, added up in each cell; then those of each two judges of one call,
        in the order of their levels.
        """
        return self._products(fitted)[1:]

    def _mean(self) -> float:
        import numpy as np

        total = count = 0.0
        for block in self._blocks():
            total += float((np.where(block.seen, block.values, 0.0) * block.weights).sum())
            count += float((block.seen * block.weights).sum())
        return total / count

    def _summed(self, codes: Sequence[Codes]) -> Cells:
        """Return the cells that occur, judge by judge, with the sums of what values differ by from their mean."""
        import numpy as np

        size = len(self._judges) * self._width
        counts, totals = np.zeros(size), np.zeros(size)
        for block in self._blocks():
            response = self._cleared(np.where(block.seen, block.values - self.mean, 0.0))
            counts += np.bincount(block.cells, (block.seen * block.weights).ravel(), size)
            totals += np.bincount(block.cells, (response * block.weights).ravel(), size)
        self._there = np.flatnonzero(counts)
        judge, cell = np.divmod(self._there, self._width)
        by_judge = [self.factors[0].codes[judge]] if self.factors[0].is_compared else []
        return Cells(
            tuple(each.name for each in self.compared),
            (*by_judge, *(code[cell] for code in codes)),
            tuple(len(each.names) for each in self.compared),
            counts[self._there],
            totals[self._there],
        )

    def _products(self, fitted: Floats) -> tuple[float, Floats, Floats]:
        import numpy as np

        size = len(self._judges) * self._width
        of_cells = np.zeros(size)
        of_cells[self._there] = fitted
        squares, whole, of_judges = 0.0, np.zeros(size), np.zeros((len(self._judges),) * 2)
        for block in self._blocks():
            expected = of_cells[block.cells].reshape(block.seen.shape)
            left = self._cleared(np.where(block.seen, block.values - self.mean - expected, 0.0))
            weighted = left * block.weights
            squares += float((left * weighted).sum())
            whole += np.bincount(block.cells, (weighted * weighted.sum(axis=0)).ravel(), size)
            # Threads of a matrix product cost more than they bring where a machine is busy.
            of_judges += np.einsum("ic,jc->ij", weighted, weighted)
        order = np.argsort(self.factors[0].codes)
        return squares, whole[self._there], of_judges[np.ix_(order, order)]

    def _cleared(self, values: Floats) -> Floats:
        import numpy as np

        values[np.abs(values) < self.noise] = 0.0
        return values

    def _blocks(self) -> Iterator[_Block]:
        """Yield the observations some calls at a time, a row for each judge, so that no copy of them all is needed."""
        import numpy as np

        rows = np.arange(len(self._judges))[:, None] * self._width
        for start in range(0, self.calls, _BLOCK):
            check_interrupted()
            some = slice(start, start + _BLOCK)
            values = np.stack([column[some] for column in self._values])
            weights = 1.0 if self._weights is None else self._weights[some]
            yield _Block((rows + self._cell[some]).ravel(), ~np.isnan(values), values, weights)


def _levels(name: str, keys: NDArray[np.int64], names: Mapping[int, str | None]) -> Levels:
    import numpy as np

    check_interrupted()
    known, places = np.unique(keys, return_inverse=True)
    named = [names.get(int(key)) for key in known]
    order = sorted(range(len(named)), key=lambda index: (named[index] is None, named[index] or "", int(known[index])))
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return Levels(name, [named[index] for index in order], rank[places])


def _call_cells(factors: Sequence[Levels], calls: int) -> tuple[Codes, list[Codes]]:
    """Return the cell that each call is in, and the level that each factor has in each of these cells."""
    import numpy as np

    key = np.zeros(calls, dtype=np.intp)
    for factor in factors:
        key = key * len(factor.names) + factor.codes
    there = np.flatnonzero(np.bincount(key)) if int(key.max()) < _MOST_COUNTED else np.unique(key)
    found, rest = [], there
    for factor in reversed(factors):
        rest, code = np.divmod(rest, len(factor.names))
        found.append(code)
    return np.searchsorted(there, key), found[::-1]
