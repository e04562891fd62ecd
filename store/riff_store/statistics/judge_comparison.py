"""Compare judges on the calls that all of them scored: each of these calls is a block that has every judge once.

The definitions are those of docs/metrics.md, section 11 (effects). What else there is to say of a call cancels out of
the differences of its judges, so that the other factors have no part in their effects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from riff_store.interruption import check_interrupted
from riff_store.statistics.linear_model import FactorEffect, LevelEffect, interval, settled
from riff_store.statistics.observations import JUDGE, MOST_LEVELS, Observations, or_zero

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Flags: TypeAlias = NDArray[np.bool_]
    Floats: TypeAlias = NDArray[np.float64]

_BLOCK = 1 << 14


class Overlap(NamedTuple):
    """Hold how many calls each judge `scored`, the pairs who share none, and the calls that all others `shared`.

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
    """Return what judges explain of the values of common calls, and the effect of each; `None` where there are none."""
    import numpy as np

    names, judges = observed.names_of_judges(), found.compared
    if not found.n or len(judges) > MOST_LEVELS:
        return None
    # Differences from about the means lose no digits where those are taken from sums at the end.
    midst = _about_means(observed, found)
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

    None where nothing says how much calls vary.
    """
    calls, n = found.n, found.n * squares.size
    design = observed.design_of(found.shared)
    rank = squares.size - 1 + design.width - design.null_space().shape[1]
    if calls < 2 or n <= rank:
        return None
    correction = calls / (calls - 1) * (n - 1) / (n - rank)
    errors: Floats = (squares * correction) ** 0.5 / calls
    return errors


def _about_means(observed: Observations, found: Overlap) -> Floats:
    """Return what each judge gave the first common calls on average."""
    import numpy as np

    some = found.shared.nonzero()[0][:_BLOCK]
    return np.array([float(observed.values[judge][some].mean()) for judge in found.compared])


def _blocks(observed: Observations, found: Overlap) -> Iterator[tuple[Floats, Flags]]:
    """Yield values some calls at a time, a row for each judge, and which of these calls are common ones."""
    import numpy as np

    for start in range(0, observed.calls, _BLOCK):
        check_interrupted()
        some = slice(start, start + _BLOCK)
        yield np.stack([observed.values[judge][some] for judge in found.compared]), found.shared[some]
