"""Fit a linear model of factors: what each explains, and each level's effect with an interval clustered by call.

The definitions are those of docs/metrics.md, section 11 (effects).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, overload

from riff_store.answers.effects import Confounding, FactorEffect, LevelEffect, LinearModel
from riff_store.measure import student_t
from riff_store.statistics.designs import Cells, Design, Solution, confoundings
from riff_store.statistics.distributions import student_tail

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Codes: TypeAlias = NDArray[np.intp]

MOST_LEVELS = 200
_NOISE = 1e-12
_DIGITS = 9
"""Digits behind these depend on the order of observations and on the machine; what is answered does not."""


@dataclass(frozen=True, slots=True)
class Factor:
    """Describe a factor as it was observed: the key of a level for each observation, and the name of each key."""

    name: str
    keys: Sequence[int]
    names: Mapping[int, str | None]


def fit(factors: Sequence[Factor], calls: Sequence[int], values: Sequence[float]) -> LinearModel:
    """Fit values by least squares on all factors that have levels to compare.

    `calls` says which call an observation is of; those of one call are one cluster. Values are finite.
    Neither the order of the observations nor names and keys of levels change a figure but in its last
    digits. Factors come as given, levels in order of their names.
    """
    if not len(values):
        return LinearModel(0, 0, None, None, None, None, ())
    import numpy as np

    clusters = np.unique(np.asarray(calls), return_inverse=True)[1]
    observed = [_coded(factor) for factor in factors]
    kept = [factor for factor in observed if 1 < len(factor.levels) <= MOST_LEVELS]
    model = _Model(kept, clusters, np.asarray(values, dtype=float))
    return LinearModel(
        n=model.calls,
        observations=len(values),
        mean=_settled(model.mean),
        intercept=model.intercept(),
        together=_settled(model.together),
        residual=None if model.together is None else _settled(1 - model.together),
        factors=[model.factor(index) for index in range(len(kept))],
        single=[(factor.name, factor.levels[0]) for factor in observed if len(factor.levels) == 1],
        crowded=[(factor.name, len(factor.levels)) for factor in observed if len(factor.levels) > MOST_LEVELS],
        confounded=model.confounded(),
    )


@dataclass(frozen=True, slots=True)
class _Coded:
    """Describe a factor with its levels in order of name: `codes` has the number of the level for each observation."""

    name: str
    levels: Sequence[str | None]
    codes: Codes


def _coded(factor: Factor) -> _Coded:
    import numpy as np

    keys, places = np.unique(np.asarray(factor.keys), return_inverse=True)
    named = [factor.names.get(int(key)) for key in keys]
    order = sorted(range(len(named)), key=lambda index: (named[index] is None, named[index] or "", int(keys[index])))
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return _Coded(factor.name, [named[index] for index in order], rank[places])


class _Model:
    """Hold the model of all factors, and those without one of them."""

    def __init__(self, factors: Sequence[_Coded], clusters: Codes, values: Floats) -> None:
        import numpy as np

        self._factors = factors
        self._clusters = clusters
        self.calls = int(clusters.max()) + 1
        self.mean = float(values.mean())
        self._response = values - self.mean
        self._noise = _NOISE * max(1.0, float(np.abs(values).max()))
        self._response[np.abs(self._response) < self._noise] = 0.0
        self._squares = float(self._response @ self._response)
        self._cells, self._cell = _cells(factors, self._response)
        self._full = Solution(self._cells, range(len(factors)))
        self._residuals = self._left(self._full)
        self.together = self._explained(self._residuals)
        self._per_level, self._scores = self._clustered()
        # Of factors that do not vary within a call, calls alone can say how sure an effect is.
        spans = [self._full.design.span(index) for index in range(len(factors))]
        self._between = [index for index, span in enumerate(spans) if self._per_level[span].sum() == self.calls]
        between = Design(self._cells, self._between)
        self._between_rank = between.width - between.null_space().shape[1]

    def intercept(self) -> float | None:
        """Return the mean in which every level of a factor counts alike."""
        contrast = sum((self._average(index) for index in range(len(self._factors))), start=self._unit(0))
        return (
            _settled(self.mean + float(contrast @ self._full.coefficients))
            if self._full.is_estimable(contrast)
            else None
        )

    def factor(self, index: int) -> FactorEffect:
        """Return the share that a factor explains, and its levels."""
        import numpy as np

        coded = self._factors[index]
        rest = Solution(self._cells, [other for other in range(len(self._factors)) if other != index])
        before, share = self._explained(self._left(rest)), None
        if self.together is not None and before is not None and rest.rank < self._full.rank:
            share = max(0.0, self.together - before)
        observations = np.bincount(coded.codes)
        means = self.mean + np.bincount(coded.codes, self._response) / observations
        levels = [
            LevelEffect(
                name,
                int(self._per_level[self._full.design.span(index)][level]),
                int(observations[level]),
                _settled(float(means[level])),
                *self._effect(index, level),
            )
            for level, name in enumerate(coded.levels)
        ]
        alone = self._explained(self._left(Solution(self._cells, [index])))
        return FactorEffect(coded.name, levels, _settled(share), _settled(alone))

    def confounded(self) -> Sequence[Confounding]:
        """Return the factors that cannot be told apart, if any."""
        # Each factor has one combination of its levels that the column of ones repeats.
        return confoundings(self._cells) if self._full.null.shape[1] > len(self._factors) else ()

    def _left(self, solution: Solution) -> Floats:
        """Return the residual of each observation; the noise of the arithmetic is nothing."""
        import numpy as np

        left: Floats = self._response - solution.values[self._cell]
        left[np.abs(left) < self._noise] = 0.0
        return left

    def _explained(self, left: Floats) -> float | None:
        return max(0.0, 1 - float(left @ left) / self._squares) if self._squares else None

    def _clustered(self) -> tuple[Codes, Floats]:
        """Return the calls of each column, and the sum over calls of the squares of X'e (the meat of a sandwich)."""
        import numpy as np
        from scipy.sparse import csr_array

        design = self._full.design
        rows = np.tile(self._clusters, 1 + len(self._factors))
        columns = np.concatenate(
            [np.zeros_like(self._clusters)]
            + [factor.codes + design.span(index).start for index, factor in enumerate(self._factors)]
        )
        scores = csr_array(
            (np.tile(self._residuals, 1 + len(self._factors)), (rows, columns)), shape=(self.calls, design.width)
        )
        scores.sum_duplicates()
        return np.bincount(scores.indices, minlength=design.width), (scores.T @ scores).toarray()

    def _effect(self, index: int, level: int) -> tuple[float | None, float | None, float | None, float | None]:
        """Return a level's effect with its interval and its p."""
        contrast = self._unit(self._full.design.span(index).start + level) - self._average(index)
        if not self._full.is_estimable(contrast):
            return None, None, None, None
        effect = float(contrast @ self._full.coefficients)
        error = self._error(index, level, contrast)
        if error is None:
            return _settled(effect), None, None, None
        half = student_t(self.calls - 1) * error
        return _settled(effect), _settled(effect - half), _settled(effect + half), self._p(effect, error)

    def _p(self, effect: float, error: float) -> float:
        if error < self._noise:
            return 1.0 if abs(effect) < self._noise else 0.0
        return _settled(2 * student_tail(abs(effect) / error, self.calls - 1))

    def _error(self, index: int, level: int, contrast: Floats) -> float | None:
        """Return the standard error of an effect: CR1 of Cameron and Miller (2015).

        None where nothing says how much calls vary: see docs/metrics.md, section 11.
        """
        per_level = self._per_level[self._full.design.span(index)]
        n, rank = len(self._response), self._full.rank
        if per_level[level] < 2 or 2 * int((per_level < 2).sum()) >= len(per_level) or n <= rank:
            return None
        if self.calls <= (self._between_rank if index in self._between else 1):
            return None
        weights = self._full.solve(contrast)
        correction = self.calls / (self.calls - 1) * (n - 1) / (n - rank)
        variance = float(weights @ self._scores @ weights) * correction
        return math.sqrt(max(0.0, variance))

    def _unit(self, column: int) -> Floats:
        import numpy as np

        found = np.zeros(self._full.design.width)
        found[column] = 1.0
        return found

    def _average(self, index: int) -> Floats:
        """Return the mean of a factor's coefficients, every level alike."""
        found, span = self._unit(0) * 0, self._full.design.span(index)
        found[span] = 1 / (span.stop - span.start)
        return found


@overload
def _settled(value: float) -> float: ...
@overload
def _settled(value: float | None) -> float | None: ...
def _settled(value: float | None) -> float | None:
    # A negative zero is none.
    return None if value is None else round(value, _DIGITS) + 0.0


def _cells(factors: Sequence[_Coded], response: Floats) -> tuple[Cells, Codes]:
    """Return the combinations of levels that occur, and which of them each observation is in."""
    import numpy as np

    sizes = tuple(len(factor.levels) for factor in factors)
    key = np.zeros(len(response), dtype=np.int64)
    for factor, size in zip(factors, sizes, strict=True):
        key = key * size + factor.codes
    _, first, cell, counts = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    codes = tuple(factor.codes[first] for factor in factors)
    names = tuple(factor.name for factor in factors)
    return Cells(names, codes, sizes, counts.astype(float), np.bincount(cell, response).astype(float)), cell
