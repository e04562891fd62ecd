"""The comparison of judges on common calls against the linear model of these calls alone, which knows no shortcut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from tests.surface.store import Factor, Observations, compare_judges, fit, overlap

NAMES = {7: "strict", 8: "mild", 9: "careless", 4: "(computed)"}
FLOWS, AGENTS = {1: "dental", 2: "towing", 3: "vet"}, {5: "gemini", 6: "qwen"}


def scored(seed: int, calls: int, judges: Sequence[int] = (7, 8, 9, 4), share: float = 0.7) -> Mapping[int, Any]:
    """Scores of calls that differ by call and judge, of which each judge gave a share."""
    chance = np.random.default_rng(seed)
    of_calls = chance.normal(5, 2, calls)
    columns = {judge: of_calls + chance.normal(place, 1, calls) for place, judge in enumerate(judges)}
    return {judge: np.where(chance.random(calls) < share, column, np.nan) for judge, column in columns.items()}


def factors(seed: int, calls: int) -> list[Factor]:
    chance = np.random.default_rng(seed)
    return [
        Factor(name, chance.choice(list(names), calls), names) for name, names in (("flow", FLOWS), ("agent", AGENTS))
    ]


@pytest.mark.parametrize("seed", range(12))
def test_judges_are_what_a_model_of_the_common_calls_says_of_them(seed: int) -> None:
    calls = (12, 40, 150)[seed % 3]
    values, of_calls = scored(seed, calls), factors(seed, calls)
    observed = Observations(values, NAMES, of_calls)
    found = overlap(observed)
    assert found is not None
    compared = compare_judges(observed, found)
    assert compared is not None

    common = np.logical_and.reduce([~np.isnan(column) for column in values.values()])
    model = fit(
        Observations(
            {judge: column[common] for judge, column in values.items()},
            NAMES,
            [Factor(each.name, np.asarray(each.keys)[common], each.names) for each in of_calls],
        )
    )
    (expected,) = (factor for factor in model.factors if factor.factor == "judge")
    assert (compared.share, compared.alone) == pytest.approx((expected.share, expected.alone), abs=3e-9)
    for level, same in zip(compared.levels, expected.levels, strict=True):
        assert (level.level, level.n, level.observations) == (same.level, common.sum(), common.sum())
        figures = [(each.mean, each.effect, each.low, each.high, each.p) for each in (level, same)]
        assert figures[0] == pytest.approx(figures[1], abs=3e-9)


def test_what_else_is_known_of_a_call_moves_no_judge() -> None:
    values = scored(3, 60)
    alone, among = (Observations(values, NAMES, of_calls) for of_calls in ([], factors(3, 60)))
    for observed in (alone, among):
        assert overlap(observed) is not None
    found = [compare_judges(each, overlap(each)) for each in (alone, among)]  # type: ignore[arg-type]
    assert [level.effect for level in found[0].levels] == [level.effect for level in found[1].levels]  # type: ignore[union-attr]


def test_judges_who_always_lie_as_far_apart_differ_without_any_doubt() -> None:
    of_calls = np.round(np.random.default_rng(5).uniform(0, 8, 50), 1)
    some = np.where(np.arange(50) < 45, of_calls + 1.7, np.nan)
    observed = Observations({7: of_calls, 8: some}, NAMES, factors(5, 50))
    found = overlap(observed)
    assert found is not None
    compared = compare_judges(observed, found)
    assert compared is not None
    assert [(each.level, each.effect, each.low, each.high, each.p) for each in compared.levels] == [
        ("mild", 0.85, 0.85, 0.85, 0.0),
        ("strict", -0.85, -0.85, -0.85, 0.0),
    ]


def test_one_common_call_compares_without_any_certainty() -> None:
    observed = Observations({7: np.array([4.0, np.nan, 3.0]), 8: np.array([6.0, 5.0, np.nan])}, NAMES, [])
    found = overlap(observed)
    assert found is not None
    compared = compare_judges(observed, found)
    assert compared is not None
    assert [(each.effect, each.low, each.high, each.p) for each in compared.levels] == [
        (1.0, None, None, None),
        (-1.0, None, None, None),
    ]


def test_judges_that_give_the_same_one_score_leave_nothing_to_explain() -> None:
    observed = Observations({7: np.array([4.1, 4.1, np.nan]), 8: np.array([4.1, 4.1, 3.0])}, NAMES, [])
    found = overlap(observed)
    assert found is not None
    compared = compare_judges(observed, found)
    assert compared is not None
    assert (compared.share, compared.alone, [each.effect for each in compared.levels]) == (None, None, [0.0, 0.0])


def test_without_a_common_call_nobody_is_compared() -> None:
    nan = np.nan
    three = {7: np.array([1.0, 2.0, nan]), 8: np.array([nan, 3.0, 4.0]), 9: np.array([5.0, nan, 6.0])}
    observed = Observations(three, NAMES, [])
    found = overlap(observed)
    assert found is not None
    assert (found.n, found.apart, compare_judges(observed, found)) == (0, [], None)


def test_who_shares_no_call_with_another_one_is_apart() -> None:
    nan = np.nan
    observed = Observations({7: np.array([1.0, nan]), 8: np.array([nan, 3.0])}, NAMES, [])
    found = overlap(observed)
    assert found is not None
    assert (found.apart, compare_judges(observed, found)) == ([(8, 7)], None)


def test_judges_of_the_same_calls_have_nothing_to_overlap() -> None:
    assert overlap(Observations({7: np.array([1.0, np.nan]), 8: np.array([2.0, np.nan])}, NAMES, [])) is None
    assert overlap(Observations({7: np.array([np.nan])}, NAMES, [])) is None
