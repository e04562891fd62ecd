"""Fit a linear model of factors: what each explains, and each level's effect with an interval clustered by call.

The definitions are those of docs/statistics.md, Effects.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, overload

from riff_store.interruption import check_interrupted
from riff_store.measure import student_t
from riff_store.statistics.designs import Confounding, Design, Solution, confoundings
from riff_store.statistics.distributions import student_tail
from riff_store.statistics.observations import CANCELLED, JUDGE, MOST_LEVELS, Observations, or_zero

if TYPE_CHECKING:
    from riff_store.statistics import Codes, Flags, Floats


_DIGITS = 9
"""Digits behind these depend on the order of observations and on the machine; what is answered does not."""


@dataclass(frozen=True, slots=True)
class LevelEffect:
    """Describe how far a level is from the mean of its factor's levels, all else in the model alike.

    `effect` is None if the calls cannot distinguish it from other factors' effects; `low` and `high` are the 95 %
    interval, None if there is none. `mean` is what was observed, `n` counts calls. `level` is None for calls that name
    none. `p` shows how likely such an effect is by chance, `p_adjusted` is corrected across all levels.
    """

    level: str | None
    n: int
    observations: int
    mean: float
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None


@dataclass(frozen=True, slots=True)
class FactorEffect:
    """Describe a factor: the `share` of all squares that only it explains, and what it explains `alone`.

    `share` is None if other factors explain all that this one does, or if nothing varies.
    """

    factor: str
    levels: Sequence[LevelEffect]
    share: float | None
    alone: float | None


@dataclass(frozen=True, slots=True)
class LinearModel:
    """Describe a least squares fit: `intercept` is the mean over levels that count alike, `mean` over observations.

    `together` is R², `residual` the rest of 1; both are None if nothing varies. `single` names the factors left out for
    having one level (None: it has no name), `crowded` those left out for having too many, with their number.
    """

    n: int
    observations: int
    mean: float | None
    intercept: float | None
    together: float | None
    residual: float | None
    factors: Sequence[FactorEffect]
    single: Sequence[tuple[str, str | None]] = ()
    crowded: Sequence[tuple[str, int]] = ()
    confounded: Sequence[Confounding] = ()


def fit(observed: Observations) -> LinearModel:
    """Fit values by least squares on all factors that have levels to compare, the judge first among them.

    An observation is a call in the eyes of a judge. What is of one call is one cluster. Neither the order of the calls
    nor names and keys of levels change a figure but in its last digits. Factors come as given, levels in order of their
    names.
    """
    if not observed.calls:
        return LinearModel(0, 0, None, None, None, None, ())
    model = _Model(observed)
    return LinearModel(
        n=observed.calls,
        observations=observed.n,
        mean=settled(observed.mean),
        intercept=model.intercept(),
        together=settled(model.together),
        residual=None if model.together is None else settled(1 - model.together),
        factors=[model.factor(index) for index in range(len(observed.compared))],
        single=[(factor.name, factor.names[0]) for factor in observed.factors if len(factor.names) == 1],
        crowded=[(factor.name, len(factor.names)) for factor in observed.factors if len(factor.names) > MOST_LEVELS],
        confounded=model.confounded(),
    )


class _Model:
    """Keep the model of all factors, and those without one of them."""

    def __init__(self, observed: Observations) -> None:
        import numpy as np

        self._observed = observed
        self._cells = observed.cells
        self._means = self._cells.totals / self._cells.counts
        self._full = Solution(self._cells, range(len(observed.compared)))
        self._left = observed.left_over(self._full.values)
        self._squares = observed.within + self._between(0 * self._means)
        self.together = self._explained(self._full)
        self._per_level: Codes = np.concatenate([[observed.calls], *map(observed.calls_of, observed.compared)])
        self._scores = self._clustered()
        # Of factors that do not vary within a call, calls alone show how sure an effect is.
        spans = [self._full.design.span(index) for index in range(len(observed.compared))]
        self._of_calls = [index for index, span in enumerate(spans) if self._per_level[span].sum() == observed.calls]
        between = Design(self._cells, self._of_calls)
        self._between_rank = between.width - between.null_space().shape[1]

    def intercept(self) -> float | None:
        """Return the mean in which every level of a factor counts alike."""
        compared = range(len(self._observed.compared))
        contrast = sum((self._average(index) for index in compared), start=self._unit(0))
        return (
            settled(self._observed.mean + float(contrast @ self._full.coefficients))
            if self._full.is_estimable(contrast)
            else None
        )

    def factor(self, index: int) -> FactorEffect:
        """Return the share that a factor explains, and its levels."""
        import numpy as np

        factor = self._observed.compared[index]
        rest = Solution(self._cells, [other for other in range(len(self._observed.compared)) if other != index])
        before, share = self._explained(rest), None
        if self.together is not None and before is not None and rest.rank < self._full.rank:
            share = max(0.0, self.together - before)
        codes, counts = self._cells.codes[index], self._cells.counts
        observations = np.bincount(codes, counts)
        means = self._observed.mean + np.bincount(codes, self._cells.totals) / observations
        levels = [
            LevelEffect(
                name,
                int(self._per_level[self._full.design.span(index)][level]),
                int(observations[level]),
                settled(float(means[level])),
                *self._effect(index, level),
            )
            for level, name in enumerate(factor.names)
        ]
        alone = self._explained(Solution(self._cells, [index]))
        return FactorEffect(factor.name, levels, settled(share), settled(alone))

    def confounded(self) -> Sequence[Confounding]:
        """Return the factors that cannot be distinguished, if any."""
        # Each factor has one combination of its levels that the column of ones repeats.
        return confoundings(self._cells) if self._full.null.shape[1] > len(self._observed.compared) else ()

    def _between(self, values: Floats) -> float:
        """Return the squares of what means of cells differ by from these values; the noise of the arithmetic is 0."""
        import numpy as np

        apart = self._means - values
        return float(self._cells.counts @ np.where(np.abs(apart) < self._observed.noise, 0.0, apart) ** 2)

    def _explained(self, solution: Solution) -> float | None:
        left = self._observed.within + self._between(solution.values)
        return max(0.0, 1 - left / self._squares) if self._squares else None

    def _clustered(self) -> Floats:
        """Return the sum over calls of the squares of X'e (the meat of a sandwich).

        Of what is left of a call its judges have a part each; all other columns of the call have the whole.
        """
        found = self._full.design.gram(self._left.of_calls)
        if self._observed.compared and self._observed.compared[0].name == JUDGE:
            span = self._full.design.span(0)
            found[span, span] = self._left.of_judges
        return found

    def _effect(self, index: int, level: int) -> tuple[float | None, float | None, float | None, float | None]:
        """Return a level's effect with its interval and its p."""
        contrast = self._unit(self._full.design.span(index).start + level) - self._average(index)
        if not self._full.is_estimable(contrast):
            return None, None, None, None
        effect, error = float(contrast @ self._full.coefficients), self._error(index, level, contrast)
        return interval(effect, error, self._observed.calls, self._observed.noise)

    def _error(self, index: int, level: int, contrast: Floats) -> float | None:
        """Return the standard error of an effect: CR1 of Cameron and Miller (2015).

        None if nothing shows how much calls vary: see docs/statistics.md, Effects.
        """
        import numpy as np

        per_level = self._per_level[self._full.design.span(index)]
        n, calls, rank = self._observed.n, self._observed.calls, self._full.rank
        if per_level[level] < 2 or 2 * int((per_level < 2).sum()) >= len(per_level) or n <= rank:
            return None
        if calls <= (self._between_rank if index in self._of_calls else 1):
            return None
        weights = self._full.solve(contrast)
        correction = calls / (calls - 1) * (n - 1) / (n - rank)
        variance = float(weights @ self._scores @ weights)
        if variance < CANCELLED * float(np.abs(weights) @ np.abs(self._scores) @ np.abs(weights)):
            return 0.0
        return math.sqrt(variance * correction)

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


def interval(
    effect: float, error: float | None, calls: int, noise: float
) -> tuple[float, float | None, float | None, float | None]:
    """Return an effect with its 95 % interval and its p, by Student's t of so many calls; `error` is the standard one.

    Below `noise` a difference is one of the arithmetic.
    """
    if error is None:
        return settled(effect), None, None, None
    half = student_t(calls - 1) * error
    if error < noise:
        p = 1.0 if abs(effect) < noise else 0.0
    else:
        p = settled(2 * student_tail(abs(effect) / error, calls - 1))
    return settled(effect), settled(effect - half), settled(effect + half), p


@overload
def settled(value: float) -> float: ...
@overload
def settled(value: float | None) -> float | None: ...
def settled(value: float | None) -> float | None:
    # A negative zero is none.
    return None if value is None else round(value, _DIGITS) + 0.0


# Compare judges on the calls that all of them scored: each of these calls is a block that has every judge once.
#
# The definitions are those of docs/statistics.md, Effects. What else there is to say of a call cancels out of
# the differences of its judges, so that the other factors have no part in their effects.

_BLOCK = 1 << 14


class Overlap(NamedTuple):
    """Describe how many calls each judge `scored`, the pairs who share none, and the calls that all others `shared`.

    Those others are `compared`, on `n` calls. All are in order of their names.
    """

    scored: Mapping[int, int]
    apart: Sequence[tuple[int, int]]
    compared: Sequence[int]
    shared: Flags
    n: int


def overlap(observed: Observations) -> Overlap | None:
    """Return how the calls of judges overlap; `None` if all have the same."""
    import numpy as np

    if not observed.calls:
        return None
    seen = {judge: observed.seen[judge] for judge in observed.names_of_judges()}
    scored = {judge: int(calls.sum()) for judge, calls in seen.items()}
    if all(n == observed.calls for n in scored.values()):
        return None
    apart = [pair for pair in combinations(seen, 2) if not (seen[pair[0]] & seen[pair[1]]).any()]
    rest = [judge for judge in seen if all(judge not in pair for pair in apart)]
    shared = np.logical_and.reduce([seen[judge] for judge in rest]) if len(rest) > 1 else np.zeros(observed.calls, bool)
    return Overlap(scored, apart, rest, shared, int(shared.sum()))


def compare_judges(observed: Observations, found: Overlap) -> FactorEffect | None:
    """Return what judges explain of the values of common calls, and the effect of each; `None` if there are none."""
    import numpy as np

    names, judges = observed.names_of_judges(), found.compared
    if not found.n or len(judges) > MOST_LEVELS:
        return None
    # Differences from about the means lose no digits where those are taken from sums at the end.
    some = found.shared.nonzero()[0][:_BLOCK]
    midst = np.array([float(observed.values[judge][some].mean()) for judge in judges])
    totals, squares, of_judges = np.zeros(len(judges)), 0.0, np.zeros(len(judges))
    for values, shared in _blocks(observed, found):
        apart = or_zero(values - midst[:, None], shared)
        totals += apart.sum(axis=1)
        squares += float(np.einsum("ij,ij->", apart, apart))
        apart -= apart.mean(axis=0)
        of_judges += np.einsum("ij,ij->i", apart, apart)
    off, n = totals / found.n, found.n * len(judges)
    means = midst + off
    effects = means - means.mean()
    within = observed.real_squares(squares - found.n * float((off**2).sum()), n, squares)
    between = observed.real_squares(found.n * float((effects**2).sum()), n)
    of_judges -= found.n * (off - off.mean()) ** 2
    share = settled(between / (within + between)) if within + between else None
    errors = _errors(np.maximum(of_judges, 0.0), observed, found)
    levels = [
        LevelEffect(
            names[judge],
            found.n,
            found.n,
            settled(float(means[place])),
            *interval(float(effects[place]), None if errors is None else float(errors[place]), found.n, observed.noise),
        )
        for place, judge in enumerate(judges)
    ]
    return FactorEffect(JUDGE, levels, share, share)


def _errors(squares: Floats, observed: Observations, found: Overlap) -> Floats | None:
    """Return the standard error of each effect, from the squares of what judges differ by from others of the call.

    None if nothing shows how much calls vary.
    """
    calls, n = found.n, found.n * squares.size
    design = observed.design_of(found.shared)
    rank = squares.size - 1 + design.width - design.null_space().shape[1]
    if calls < 2 or n <= rank:
        return None
    correction = calls / (calls - 1) * (n - 1) / (n - rank)
    errors: Floats = (squares * correction) ** 0.5 / calls
    return errors


def _blocks(observed: Observations, found: Overlap) -> Iterator[tuple[Floats, Flags]]:
    """Yield values some calls at a time, a row for each judge, and which of these calls are common ones."""
    import numpy as np

    for start in range(0, observed.calls, _BLOCK):
        check_interrupted()
        some = slice(start, start + _BLOCK)
        yield np.stack([observed.values[judge][some] for judge in found.compared]), found.shared[some]
