"""Hold how a success rate changed, and whether it was by more than chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from riff_store.measure import Measure

ChangeVerdict: TypeAlias = Literal["better", "worse", "noise"]


@dataclass(frozen=True, slots=True)
class SuccessChange:
    """Describe how the success rate of the calls of the same flows and agents changed.

    `effect` is the second rate less the first within each flow and agent, `n_before` and `n_after` count the
    calls that this compares. `p_adjusted` is corrected across all changes that were tested together.
    """

    effect: float
    n_before: int
    n_after: int
    p: float
    p_adjusted: float
    verdict: ChangeVerdict


@dataclass(frozen=True, slots=True)
class FlowChange:
    """Describe the change of one flow, whose rates are over all of its calls."""

    flow: str
    before: Measure
    after: Measure
    change: SuccessChange
