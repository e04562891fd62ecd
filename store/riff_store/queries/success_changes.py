"""Test whether success rates changed by more than chance, from sums alone (docs/metrics.md, section 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from riff_store.filters.dimensions import Names
from riff_store.measure import Measure
from riff_store.schema.sums import CallSums
from riff_store.statistics import significance
from riff_store.statistics.strata import Stratum, rate_change, stratified_fisher

Cells: TypeAlias = Mapping[Names, CallSums]

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


def success_change(before: Cells, after: Cells) -> SuccessChange | None:
    """Return the change between calls of the cells that both sides have, `None` where they share none."""
    strata = [
        Stratum(cell.success, cell.success_n, after[names].success, after[names].success_n)
        for names, cell in before.items()
        if names in after and cell.success_n and after[names].success_n
    ]
    effect = rate_change(strata)
    if effect is None:
        return None
    first, second = sum(one.first_n for one in strata), sum(one.second_n for one in strata)
    p = stratified_fisher(strata)
    return SuccessChange(effect, first, second, p, p, _verdict(effect, p))


def corrected(changes: Sequence[SuccessChange | None]) -> list[SuccessChange | None]:
    """Return changes with p corrected across all of them (Benjamini-Hochberg), and what it says then."""
    adjusted = iter(significance.benjamini_hochberg([change.p for change in changes if change is not None]))
    return [change and _corrected(change, next(adjusted)) for change in changes]


def _corrected(change: SuccessChange, p: float) -> SuccessChange:
    return replace(change, p_adjusted=p, verdict=_verdict(change.effect, p))


def _verdict(effect: float, p: float) -> ChangeVerdict:
    if p > significance.SIGNIFICANT or not effect:
        return "noise"
    return "better" if effect > 0 else "worse"
