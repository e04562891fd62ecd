"""Hold quality as a linear model: what judge, agent, flow and persona explain of it, and each level's effect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

QUALITY = "quality"
"""The response unless an aspect is asked for: operability of a call in the eyes of one judge."""


@dataclass(frozen=True, slots=True)
class LevelEffect:
    """Hold how far a level lies from the mean of its factor's levels, all else in the model alike.

    `effect` is None where the calls cannot tell it from other factors' effects; `low` and `high` are the 95 %
    interval, None where there is none. `mean` is what was observed, `n` counts calls. `level` is None for
    calls that name none. `p` says how likely such an effect is by chance, `p_adjusted` is corrected across all levels.
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

    `share` is None where other factors say all that this one says, or where nothing varies.
    """

    factor: str
    levels: Sequence[LevelEffect]
    share: float | None
    alone: float | None


@dataclass(frozen=True, slots=True)
class Confounding:
    """Name factors whose effects the calls cannot tell apart, though they could tell fewer of them apart.

    `nested` holds pairs of them of which each level of the first occurs with one level of the second only.
    """

    factors: tuple[str, ...]
    nested: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class LinearModel:
    """Describe a least squares fit: `intercept` is the mean over levels that count alike, `mean` over observations.

    `together` is R², `residual` the rest of 1; both are None where nothing varies. `single` names the factors
    left out for having one level (None: it has no name), `crowded` those left out for having too many, with
    their number.
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


@dataclass(frozen=True, slots=True)
class JudgeOverlap:
    """Say what judges are compared on: `common` counts the calls that all `compared` ones scored.

    `scored` counts the calls of each judge, `apart` holds each two who scored no call in common: they are not
    compared. Nor is anybody where the rest has no call in common.
    """

    common: int
    scored: Mapping[str, int]
    compared: Sequence[str] = ()
    apart: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Effects:
    """Hold the model of a response over the calls that count; `unmeasured` ones have no value, `excluded` are errored.

    Of the excluded ones `caller_failed` are those whose caller failed.
    `aspects` are all responses that the store knows, quality first. `overlap` is there if judges did not all
    score the same calls: the judges that are compared are then of the common calls alone.
    """

    aspect: str
    model: LinearModel
    unmeasured: int
    excluded: int
    aspects: Sequence[str] = ()
    overlap: JudgeOverlap | None = None
    caller_failed: int = 0
