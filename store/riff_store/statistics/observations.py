"""Reduce calls in the eyes of judges to what a linear model of them needs: sums in cells, and products within calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from riff_store.interruption import check_interrupted
from riff_store.statistics.designs import Cells

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Flags: TypeAlias = NDArray[np.bool_]
    Codes: TypeAlias = NDArray[np.signedinteger[Any]]
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
    """Hold some calls: the number of the cell of each, what each judge said, and for how much it counts."""

    cells: Codes
    values: Floats
    weights: Floats | None

    def seen(self) -> Flags:
        """Return whom each call was judged by."""
        import numpy as np

        return ~np.isnan(self.values)

    def weighted(self, values: Floats | Flags) -> Floats | Flags:
        """Return values by how many observations they stand for."""
        return values if self.weights is None else values * self.weights


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
        squares = 0.0
        for block, left in self._left_over(self.cells.totals / self.cells.counts):
            squares += float((left * block.weighted(left)).sum())
        return squares

    def products(self, fitted: Floats) -> tuple[Floats, Floats]:
        """Return products of what is left over `fitted` values of cells, with what is left of the whole call.

        First those of each observation with its call, added up in each cell; then those of each two judges of one call,
        in the order of their levels.
        """
        import numpy as np

        whole, of_judges = np.zeros(len(self._judges) * self._width), np.zeros((len(self._judges),) * 2)
        for block, left in self._left_over(fitted):
            weighted = block.weighted(left)
            whole += np.bincount(block.cells, (weighted * weighted.sum(axis=0)).ravel(), whole.size)
            # Threads of a matrix product cost more than they bring where a machine is busy.
            of_judges += np.einsum("ic,jc->ij", weighted, weighted)
        order = np.argsort(self.factors[0].codes)
        return whole[self._there], of_judges[np.ix_(order, order)]

    def _mean(self) -> float:
        import numpy as np

        total = count = 0.0
        for block in self._blocks():
            seen = block.seen()
            total += float(block.weighted(np.where(seen, block.values, 0.0)).sum())
            count += float(block.weighted(seen).sum())
        return total / count

    def _summed(self, codes: Sequence[Codes]) -> Cells:
        """Return the cells that occur, judge by judge, with the sums of what values differ by from their mean."""
        import numpy as np

        size = len(self._judges) * self._width
        counts, totals = np.zeros(size), np.zeros(size)
        for block in self._blocks():
            counts += np.bincount(block.cells, block.weighted(block.seen()).ravel(), size)
            totals += np.bincount(block.cells, block.weighted(self._cleared(block.values - self.mean)).ravel(), size)
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

    def _left_over(self, fitted: Floats) -> Iterator[tuple[_Block, Floats]]:
        """Yield the blocks with what is left of their values over those that are `fitted` to cells."""
        import numpy as np

        of_cells = np.zeros(len(self._judges) * self._width)
        of_cells[self._there] = fitted
        for block in self._blocks():
            expected = of_cells.take(block.cells).reshape(block.values.shape)
            yield block, self._cleared(block.values - self.mean - expected)

    def _cleared(self, differences: Floats) -> Floats:
        """Return differences with 0 for what is missing or noise."""
        import numpy as np

        return np.where(np.abs(differences) >= self.noise, differences, 0.0)

    def _blocks(self) -> Iterator[_Block]:
        """Yield the observations some calls at a time, a row for each judge, so that no copy of them all is needed."""
        import numpy as np

        rows = np.arange(len(self._judges))[:, None] * self._width
        for start in range(0, self.calls, _BLOCK):
            check_interrupted()
            some = slice(start, start + _BLOCK)
            values = np.stack([column[some] for column in self._values])
            weights = None if self._weights is None else self._weights[some]
            yield _Block((rows + self._cell[some]).ravel(), values, weights)


def _levels(name: str, keys: NDArray[np.int64], names: Mapping[int, str | None]) -> Levels:
    import numpy as np

    check_interrupted()
    known, places = _numbered(keys)
    named = [names.get(int(key)) for key in known]
    order = sorted(range(len(named)), key=lambda index: (named[index] is None, named[index] or "", int(known[index])))
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order))
    return Levels(name, [named[index] for index in order], rank[places])


def _call_cells(factors: Sequence[Levels], calls: int) -> tuple[Codes, list[Codes]]:
    """Return the cell that each call is in, and the level that each factor has in each of these cells."""
    import numpy as np

    key = np.zeros(calls, dtype=np.intp)
    for factor in factors:
        key = key * len(factor.names) + factor.codes
    there, cells = _numbered(key)
    found, rest = [], there
    for factor in reversed(factors):
        rest, code = np.divmod(rest, len(factor.names))
        found.append(code)
    return cells, found[::-1]


def _numbered(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], Codes]:
    """Return the keys that there are, in order, and of each key its place among them."""
    import numpy as np

    if not 0 <= int(keys.min()) <= int(keys.max()) < _MOST_COUNTED:
        return np.unique(keys, return_inverse=True)
    there = np.bincount(keys) > 0
    return np.flatnonzero(there), (np.cumsum(there, dtype=np.int32) - 1).take(keys)
