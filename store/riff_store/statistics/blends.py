"""Blend operability of very many calls at once, digit by digit as `riff_store.scoring` does of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from riff_store.scoring import CAP_INCOMPLETE, CAP_INCORRECT, FULL, SLOWEST, WEIGHTS
from riff_store.statistics.observations import or_zero

if TYPE_CHECKING:
    from riff_store.statistics.observations import Floats

_DIGITS = 1e12
_CAPS = (FULL, CAP_INCOMPLETE, CAP_INCORRECT, CAP_INCORRECT)
"""By whether a call is incomplete, and two places on by whether it is incorrect."""


class Blends(NamedTuple):
    """Hold operability without humanness, by call: weighted scores, their weights, and the cap of the result."""

    scores: Floats
    weights: Floats
    caps: Floats


def computed_blends(correctness: Floats, completion: Floats, errors: Floats, latency_p95: Floats) -> Blends:
    """Blend the part of operability that no judge has a say in; nan is not measured, and all is without correctness."""
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
    """Return operability with scores of humanness, nan where there is none, or without any."""
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
