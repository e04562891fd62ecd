"""Solve least squares on levels: a column of ones, then one for each level of each factor.

Such a design is its counts, how many observations fall on each pair of levels, which are whole numbers; what it cannot
distinguish is the null space of its columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any

from riff_store.statistics import different

if TYPE_CHECKING:
    from riff_store.statistics import Codes, Floats


NIL = 1e-9
"""Below it an eigenvalue of scaled counts is none; of 200 levels in a chain the least real one is above 1e-5."""
_DEFINITE = 1e-7


@dataclass(frozen=True, slots=True)
class Confounding:
    """Name factors whose effects the calls cannot distinguish, though they could distinguish fewer of them.

    `nested` has pairs of them of which each level of the first occurs with one level of the second only.
    """

    factors: tuple[str, ...]
    nested: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Cells:
    """Describe the combinations of levels that occur: of each factor the number of the level, and how many there are.

    `counts` are the observations in each cell, `totals` the sums of their response.
    """

    names: tuple[str, ...]
    codes: tuple[Codes, ...]
    sizes: tuple[int, ...]
    counts: Floats
    totals: Floats


class Design:
    """Keep the columns of some factors of the cells."""

    def __init__(self, cells: Cells, chosen: Sequence[int]) -> None:
        self._cells = cells
        self.chosen = tuple(chosen)
        sizes = [cells.sizes[index] for index in chosen]
        self.width = 1 + sum(sizes)
        self._spans = [slice(1 + sum(sizes[:at]), 1 + sum(sizes[: at + 1])) for at in range(len(sizes))]

    def span(self, index: int) -> slice:
        """Return the columns of a factor."""
        return self._spans[self.chosen.index(index)]

    def gram(self, weights: Floats) -> Floats:
        """Return X'WX: the weight on each pair of columns."""
        import numpy as np

        found = np.zeros((self.width, self.width))
        found[0, 0] = weights.sum()
        for at, index in enumerate(self.chosen):
            codes, size, span = self._cells.codes[index], self._cells.sizes[index], self._spans[at]
            once = np.bincount(codes, weights, size)
            found[0, span] = found[span, 0] = once
            found[span, span] = np.diag(once)
            for other, partner in zip(self.chosen[:at], self._spans, strict=False):
                width = self._cells.sizes[other]
                pairs = np.bincount(codes * width + self._cells.codes[other], weights, size * width)
                found[span, partner] = pairs.reshape(size, width)
                found[partner, span] = found[span, partner].T
        return found

    def sums(self, totals: Floats) -> Floats:
        """Return X'y, from the sum of the response in each cell."""
        import numpy as np

        parts = [np.bincount(self._cells.codes[index], totals, self._cells.sizes[index]) for index in self.chosen]
        return np.concatenate([[totals.sum()], *parts])

    def values(self, coefficients: Floats) -> Floats:
        """Return the value in each cell."""
        import numpy as np

        found = np.full(len(self._cells.counts), coefficients[0])
        for index, span in zip(self.chosen, self._spans, strict=True):
            found += coefficients[span][self._cells.codes[index]]
        return found

    def null_space(self) -> Floats:
        """Return the changes of coefficients that change no value, as orthonormal columns.

        It hangs on which cells there are and not on how full they are: one call that links two
        groups counts next to a hundred thousand that do not.
        """
        import numpy as np

        gram = self.gram(np.ones(len(self._cells.counts)))
        scale = 1 / np.sqrt(np.diag(gram))
        eigenvalues, vectors = np.linalg.eigh(gram * scale[:, None] * scale)
        return np.linalg.qr(scale[:, None] * vectors[:, eigenvalues < NIL])[0]


class Solution:
    """Keep the least squares solution on some factors; `values` are those of the cells."""

    def __init__(self, cells: Cells, chosen: Sequence[int]) -> None:
        import numpy as np

        self.design = Design(cells, chosen)
        self.null = self.design.null_space()
        self.rank = self.design.width - self.null.shape[1]
        gram, sums = self.design.gram(cells.counts), self.design.sums(cells.totals)
        self._scale = 1 / np.sqrt(np.diag(gram))
        # In coordinates in which every column has length one, on the space that the null space leaves.
        idle = self.null / self._scale[:, None]
        self._basis = np.linalg.qr(idle, mode="complete")[0][:, self.null.shape[1] :] * self._scale[:, None]
        self._inverse = np.linalg.inv(self._basis.T @ gram @ self._basis)
        self.coefficients = self.solve(sums)
        # One step of refinement wins back what unequal cells cost.
        self.coefficients += self.solve(sums - gram @ self.coefficients)
        self.values = self.design.values(self.coefficients)

    def solve(self, sums: Floats) -> Floats:
        """Return coefficients whose values give these sums, of the many that do."""
        found: Floats = self._basis @ (self._inverse @ (self._basis.T @ sums))
        return found

    def is_estimable(self, contrast: Floats) -> bool:
        """Return whether a combination of coefficients is the same in every least squares solution."""
        import numpy as np

        return bool(np.linalg.norm(contrast @ self.null) < _DEFINITE * np.linalg.norm(contrast))


def confoundings(cells: Cells) -> list[Confounding]:
    """Return the smallest groups of factors whose effects cannot be distinguished.

    The null space of a group has those of its parts; where it has more, the group as a whole is confounded.
    """
    import numpy as np

    found: list[Confounding] = []
    spaces: list[tuple[set[int], Floats]] = []
    everything = Design(cells, range(len(cells.sizes)))
    for size in range(1, len(cells.sizes) + 1):
        for group in combinations(range(len(cells.sizes)), size):
            space = _embedded(Design(cells, group), everything)
            parts = [known for members, known in spaces if members < set(group)]
            known = int(np.linalg.matrix_rank(np.hstack(parts), tol=1e-6)) if parts else 1
            if space.shape[1] > known:
                found.append(_confounding(cells, group))
            spaces.append((set(group), space))
    return found


def _embedded(design: Design, whole: Design) -> Floats:
    """Return a design's null space among the columns of another that has all of its factors."""
    import numpy as np

    places: Any = np.r_[0, *(whole.span(index) for index in design.chosen)]
    space = design.null_space()
    found = np.zeros((whole.width, space.shape[1]))
    found[places] = space
    return found


def _confounding(cells: Cells, group: Sequence[int]) -> Confounding:

    nested = []
    for inner, outer in permutations(group) if len(group) == 2 else ():
        pairs = different(cells.codes[inner] * cells.sizes[outer] + cells.codes[outer])
        if len(pairs) == cells.sizes[inner]:
            nested.append((cells.names[inner], cells.names[outer]))
    return Confounding(tuple(cells.names[index] for index in group), tuple(nested))
