"""The linear model against textbook least squares: dense columns of contrasts, formulas of balanced designs, loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.support.contrasts import clustered, contrasts
from tests.support.examples import examples
from tests.surface.store import (
    MOST_LEVELS,
    Confounding,
    Factor,
    FactorEffect,
    LevelEffect,
    LinearModel,
    Observations,
    fit,
)

NAMES = ("judge", "agent", "flow", "persona")


def fitted(frame: Any) -> LinearModel:
    """The model of a frame with a column for each factor, the call and y."""
    order = {call: place for place, call in enumerate(frame["call"].unique())}
    judges = frame["judge"] if "judge" in frame else pd.Series("alone", index=frame.index)
    keys = {judge: key for key, judge in enumerate(judges.unique(), 7)}
    values = {key: np.full(len(order), np.nan) for key in keys.values()}
    for call, judge, y in zip(frame["call"], judges, frame["y"], strict=True):
        values[keys[judge]][order[call]] = y
    factors, of_calls = [], frame.drop_duplicates("call")
    for name in NAMES[1:]:
        if name in frame:
            levels = {level: key for key, level in enumerate(frame[name].unique(), 7)}
            known = {key: level for level, key in levels.items()}
            factors.append(Factor(name, [levels[level] for level in of_calls[name]], known))
    return fit(Observations(values, {key: judge for judge, key in keys.items()}, factors))


def calls(seed: int, n: int = 60, *, agents: int = 3, flows: int = 4, personas: int = 3, judges: int = 3) -> Any:
    """Unbalanced observations in which everything has an effect, calls among them, and some were not judged."""
    chance = np.random.default_rng(seed)
    rows = []
    for call in range(n):
        agent, flow = int(chance.integers(agents) ** 2 // max(1, agents - 1)), int(chance.integers(flows))
        persona, luck = int(chance.integers(personas)), chance.normal(0, 1.5)
        for judge in range(judges):
            if judge == 0 or chance.random() < 0.7:
                y = 5 + agent - 0.5 * flow + 0.3 * persona + judge + luck + chance.normal(0, 0.7)
                rows.append((call, f"j{judge}", f"a{agent}", f"f{flow}", f"p{persona}", y))
    return pd.DataFrame(rows, columns=["call", *NAMES, "y"])


def squares_left(frame: Any, names: Sequence[str]) -> float:
    columns, _ = contrasts(frame, names)
    solution = np.linalg.lstsq(columns, frame["y"].to_numpy(), rcond=None)[0]
    return float(((frame["y"].to_numpy() - columns @ solution) ** 2).sum())


def effect_of(model: LinearModel, factor: str, level: str | None) -> LevelEffect:
    return next(each for each in factor_of(model, factor).levels if each.level == level)


def factor_of(model: LinearModel, name: str) -> FactorEffect:
    return next(each for each in model.factors if each.factor == name)


def figures(model: LinearModel) -> list[float | None]:
    """Every number of a model, in an order that names have no part in."""
    found = [model.intercept, model.together, model.residual]
    for factor in model.factors:
        found += [factor.share, factor.alone]
        levels = [(each.n, each.observations, each.mean, each.effect, each.low, each.high) for each in factor.levels]
        found += [number for level in sorted(levels, key=lambda each: each[2]) for number in level]
    return found


@pytest.mark.parametrize("seed", range(8))
def test_effects_are_those_of_least_squares_with_sum_to_zero_contrasts(seed: int) -> None:
    frame = calls(seed)
    model = fitted(frame)
    columns, effects = contrasts(frame, NAMES)
    solution = np.linalg.lstsq(columns, frame["y"].to_numpy(), rcond=None)[0]
    assert model.intercept == pytest.approx(solution[0], abs=1e-9)
    assert model.mean == pytest.approx(frame["y"].mean(), abs=1e-9)
    for (name, level), vector in effects.items():
        found = effect_of(model, name, level)
        assert found.effect == pytest.approx(vector @ solution, abs=1e-9)
        of_level = frame[frame[name] == level]
        assert found.mean == pytest.approx(of_level["y"].mean(), abs=1e-9)
        assert (found.n, found.observations) == (of_level["call"].nunique(), len(of_level))
    for name in NAMES:
        assert sum(each.effect or 0 for each in factor_of(model, name).levels) == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_intervals_know_which_observations_are_of_one_call(seed: int) -> None:
    frame = calls(seed)
    model, groups = fitted(frame), frame["call"].nunique()
    effects, halves = clustered(frame, NAMES)
    for level, effect in effects.items():
        found, half = effect_of(model, *level), halves[level]
        assert found.effect is not None
        assert found.low == pytest.approx(found.effect - half, abs=1e-8)
        assert found.high == pytest.approx(found.effect + half, abs=1e-8)
        error = half / stats.t.ppf(0.975, groups - 1)
        assert found.p == pytest.approx(2 * stats.t.sf(abs(effect) / error, groups - 1), abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_a_share_is_what_dropping_the_factor_costs(seed: int) -> None:
    frame = calls(seed)
    model = fitted(frame)
    whole = float(((frame["y"] - frame["y"].mean()) ** 2).sum())
    every = squares_left(frame, NAMES)
    assert model.together == pytest.approx(1 - every / whole, abs=1e-9)
    assert model.residual == pytest.approx(every / whole, abs=1e-9)
    for name in NAMES:
        without = squares_left(frame, [other for other in NAMES if other != name])
        assert factor_of(model, name).share == pytest.approx((without - every) / whole, abs=1e-9)
        assert factor_of(model, name).alone == pytest.approx(1 - squares_left(frame, [name]) / whole, abs=1e-9)


def test_in_a_balanced_design_everything_is_a_difference_of_means() -> None:
    chance = np.random.default_rng(5)
    rows = [
        (call, f"j{judge}", f"a{call % 3}", f"f{call // 3 % 4}", chance.normal(call % 3 + judge, 1))
        for call in range(48)
        for judge in range(2)
    ]
    frame = pd.DataFrame(rows, columns=["call", "judge", "agent", "flow", "y"])
    model, grand = fitted(frame), frame["y"].mean()
    whole = ((frame["y"] - grand) ** 2).sum()
    assert model.intercept == pytest.approx(grand)
    for name in ("judge", "agent", "flow"):
        means = frame.groupby(name)["y"].agg(["mean", "size"])
        between = (means["size"] * (means["mean"] - grand) ** 2).sum()
        found = factor_of(model, name)
        assert found.share == pytest.approx(between / whole)
        assert found.alone == pytest.approx(found.share)
        for each in found.levels:
            assert each.effect == pytest.approx(means.loc[each.level, "mean"] - grand)


def test_a_strong_agent_on_easy_flows_gets_no_credit_for_them() -> None:
    rows = []
    for call in range(80):
        strong, easy = call % 2, (call % 10 < 8) == (call % 2 == 1)
        rows.append((call, "strong" if strong else "weak", "easy" if easy else "hard", 4.0 + 1 * strong + 4 * easy))
    model = fitted(pd.DataFrame(rows, columns=["call", "agent", "flow", "y"]))
    best = effect_of(model, "agent", "strong")
    assert best.effect == pytest.approx(0.5)
    assert best.mean - effect_of(model, "agent", "weak").mean > 2
    assert factor_of(model, "agent").share < factor_of(model, "agent").alone  # type: ignore[operator]
    assert model.together == pytest.approx(1)
    assert [best.low, best.high] == pytest.approx([0.5, 0.5])


@settings(max_examples=examples(25), deadline=None)
@given(st.data())
def test_neither_order_nor_names_matter(data: st.DataObject) -> None:
    frame = calls(data.draw(st.integers(0, 50)), n=data.draw(st.integers(2, 25)))
    shuffled = frame.sample(frac=1, random_state=data.draw(st.integers(0, 99)))
    for name in NAMES:
        levels = sorted(frame[name].unique())
        others = data.draw(st.permutations([f"\x1b[2J{level}é" for level in levels]))
        shuffled[name] = shuffled[name].map(dict(zip(levels, others, strict=True)))
    shuffled["call"] = 1000 - shuffled["call"]
    assert figures(fitted(shuffled)) == [
        number if number is None else pytest.approx(number, abs=1e-7) for number in figures(fitted(frame))
    ]


@settings(max_examples=examples(20), deadline=None)
@given(st.integers(0, 50), st.floats(-1e4, 1e4))
def test_a_constant_added_moves_means_alone(seed: int, constant: float) -> None:
    frame = calls(seed, n=20)
    before, after = fitted(frame), fitted(frame.assign(y=frame["y"] + constant))
    assert after.together == pytest.approx(before.together)
    assert (before.intercept is None) is (after.intercept is None)
    if before.intercept is not None:
        assert after.intercept == pytest.approx(before.intercept + constant)
    for factor in before.factors:
        for each in factor.levels:
            moved = effect_of(after, factor.factor, each.level)
            assert moved.mean == pytest.approx(each.mean + constant)
            for was, now in zip((each.effect, each.low, each.high), (moved.effect, moved.low, moved.high), strict=True):
                assert now == (was if was is None else pytest.approx(was, abs=1e-7))


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=1, max_size=14))
def test_an_effect_is_told_exactly_where_the_design_fixes_it(cells: list[tuple[int, ...]]) -> None:
    chance = np.random.default_rng(len(cells))
    rows = [(at, *(f"{name}{level}" for name, level in zip(NAMES, cell, strict=True)), chance.normal())
            for at, cell in enumerate(cells)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["call", *NAMES, "y"])
    varying = [name for name in NAMES if frame[name].nunique() > 1]
    model = fitted(frame)
    assert [factor.factor for factor in model.factors] == varying
    assert [name for name, _ in model.single] == [name for name in NAMES if name not in varying]
    columns, effects = contrasts(frame, varying)
    rank = np.linalg.matrix_rank(columns)
    unclear = set()
    for (name, level), vector in effects.items():
        definite = np.linalg.matrix_rank(np.vstack([columns, vector])) == rank
        assert (effect_of(model, name, level).effect is not None) is bool(definite)
        if not definite:
            unclear.add(name)
    for name in varying:
        others = contrasts(frame, [other for other in varying if other != name])[0]
        assert (factor_of(model, name).share is None) is bool(np.linalg.matrix_rank(others) == rank)
    assert {name for group in model.confounded for name in group.factors} == unclear


def crossed(**levels: Sequence[Any]) -> Any:
    frame = pd.DataFrame(levels)
    return frame.assign(call=range(len(frame)), y=np.linspace(0, 9, len(frame)) ** 1.5)


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ({"agent": "aabbcc", "flow": "uvwxyz"}, Confounding(("agent", "flow"), (("flow", "agent"),))),
        ({"agent": "ab" * 4, "flow": "uv" * 4}, Confounding(("agent", "flow"), (("agent", "flow"), ("flow", "agent")))),
        ({"agent": "ababcdcd", "flow": "uuvvwwxx"}, Confounding(("agent", "flow"))),
        ({"agent": "aabb" * 2, "flow": "uvuv" * 2, "persona": "xyyz" * 2}, Confounding(("agent", "flow", "persona"))),
    ],
    ids=["nested", "one and the same", "two islands", "three together"],
)
def test_factors_that_cannot_be_told_apart_are_named(levels: Mapping[str, str], expected: Confounding) -> None:
    model = fitted(crossed(**{name: list(text) for name, text in levels.items()}))
    assert list(model.confounded) == [expected]
    for factor in model.factors:
        assert any(each.effect is None for each in factor.levels) is (factor.factor in expected.factors)


def test_what_is_confounded_leaves_the_others_alone() -> None:
    frame = calls(3)
    frame["flow"] = frame["agent"].map({"a0": "f0", "a1": "f1", "a2": "f2"})
    model = fitted(frame)
    assert [group.factors for group in model.confounded] == [("agent", "flow")]
    assert {each.effect for name in ("agent", "flow") for each in factor_of(model, name).levels} == {None}
    assert factor_of(model, "agent").share is factor_of(model, "flow").share is None
    assert factor_of(model, "agent").alone == pytest.approx(factor_of(model, "flow").alone)
    simpler = fitted(frame.drop(columns="flow"))
    for name in ("judge", "persona"):
        assert factor_of(model, name).share == pytest.approx(factor_of(simpler, name).share)
        for each in factor_of(simpler, name).levels:
            assert effect_of(model, name, each.level).effect == pytest.approx(each.effect)


def test_one_call_links_two_islands_however_large_they_are() -> None:
    frame = pd.DataFrame({"agent": list("abcd" * 5000), "flow": list("uuvv" * 5000)})
    frame = pd.concat([frame, pd.DataFrame({"agent": ["a"], "flow": ["v"]})], ignore_index=True)
    true = {"a": 0, "b": 1, "c": 2, "d": 3, "u": 0.0, "v": 5.0}
    frame = frame.assign(
        call=range(len(frame)), y=[true[a] + true[f] for a, f in zip(frame.agent, frame.flow, strict=True)]
    )
    model = fitted(frame)
    assert not model.confounded
    assert effect_of(model, "flow", "v").effect == pytest.approx(2.5, abs=1e-9)
    assert effect_of(model, "agent", "d").effect == pytest.approx(1.5, abs=1e-9)


def test_a_chain_of_as_many_levels_as_may_be_holds_together() -> None:
    links = [(at, at + step) for at in range(MOST_LEVELS) for step in (0, 1) if at + step < MOST_LEVELS]
    frame = pd.DataFrame(links, columns=["a", "f"])
    frame = frame.assign(agent=frame["a"].astype(str), flow=frame["f"].astype(str), call=range(len(frame)))
    frame["y"] = np.sin(frame["a"]) + np.cos(frame["f"])
    model = fitted(frame)
    assert not model.confounded
    sines = np.sin(np.arange(MOST_LEVELS))
    for at in (0, MOST_LEVELS // 2, MOST_LEVELS - 1):
        assert effect_of(model, "agent", str(at)).effect == pytest.approx(sines[at] - sines.mean(), abs=1e-8)


def test_a_level_with_one_call_has_no_interval() -> None:
    frame = calls(1, judges=2)
    alone = frame[frame["call"] == 0].assign(call=1000, flow="f9")
    model = fitted(pd.concat([frame, alone], ignore_index=True))
    lonely = effect_of(model, "flow", "f9")
    assert lonely.n == 1
    assert lonely.effect is not None
    assert lonely.low is lonely.high is None
    assert effect_of(model, "flow", "f1").low is not None


def test_where_every_level_but_one_has_one_call_nothing_is_sure() -> None:
    rows = [(call, f"j{judge}", "a" if call < 5 else "b", call + judge * 0.3) for call in range(6) for judge in (0, 1)]
    model = fitted(pd.DataFrame(rows, columns=["call", "judge", "agent", "y"]))
    assert {(each.low, each.high) for each in factor_of(model, "agent").levels} == {(None, None)}
    assert all(each.low is not None for each in factor_of(model, "judge").levels)


def test_no_more_calls_than_levels_need_say_nothing_of_how_calls_vary() -> None:
    cells = [("a", "u"), ("b", "u"), ("b", "v"), ("c", "v")]
    rows = [(call, f"j{judge}", *cells[call], call**2 + judge) for call in range(4) for judge in (0, 1)]
    model = fitted(pd.DataFrame(rows, columns=["call", "judge", "agent", "flow", "y"]))
    assert all(each.n == 2 and each.effect is not None for each in factor_of(model, "flow").levels)
    assert {each.low for name in ("agent", "flow") for each in factor_of(model, name).levels} == {None}


def test_nothing_to_explain_is_said_and_not_divided_by() -> None:
    frame = calls(2, n=12).assign(y=0.1 + 0.2)
    model = fitted(frame)
    assert (model.together, model.residual) == (None, None)
    for factor in model.factors:
        assert (factor.share, factor.alone) == (None, None)
        assert all(each.effect in (None, pytest.approx(0, abs=1e-12)) for each in factor.levels)


def column(*values: float) -> Any:
    return np.array(values)


ALONE = {0: "alone"}


def test_without_observations_there_is_no_model() -> None:
    nothing = LinearModel(0, 0, None, None, None, None, ())
    assert fit(Observations({}, {}, [Factor("flow", [], {})])) == nothing
    assert fit(Observations({0: column(np.nan, np.nan)}, ALONE, [Factor("flow", [1, 2], {})])) == nothing


def test_one_call_is_a_mean_and_nothing_else() -> None:
    model = fit(Observations({0: column(4.5)}, ALONE, [Factor("flow", [3], {3: "dental"}), Factor("persona", [0], {})]))
    assert (model.n, model.observations, model.mean, model.intercept) == (1, 1, 4.5, 4.5)
    assert model.single == [("judge", "alone"), ("flow", "dental"), ("persona", None)]
    assert not model.factors


def test_one_call_and_two_judges_compare_the_judges_without_any_certainty() -> None:
    model = fit(Observations({1: column(4.0), 2: column(5.0)}, {1: "a", 2: "b"}, []))
    assert [(each.effect, each.low) for each in model.factors[0].levels] == [(-0.5, None), (0.5, None)]


def test_a_factor_of_countless_levels_is_left_out() -> None:
    n = MOST_LEVELS + 1
    keys = [call // 2 for call in range(2 * n)]
    crowded = Factor("persona", keys, {key: f"caller {key}" for key in keys})
    sides = [call % 2 for call in range(2 * n)]
    model = fit(
        Observations({0: column(*sides).astype(float)}, ALONE, [Factor("agent", sides, {0: "a", 1: "b"}), crowded])
    )
    assert model.crowded == [("persona", n)]
    assert [factor.factor for factor in model.factors] == ["agent"]


def test_of_countless_judges_all_count_and_none_is_compared() -> None:
    chance = np.random.default_rng(2)
    values = {key: column(*chance.normal(size=6)) for key in range(MOST_LEVELS + 1)}
    agents = Factor("agent", [0, 1] * 3, {0: "a", 1: "b"})
    model = fit(Observations(values, {key: f"j{key}" for key in values}, [agents]))
    assert (model.n, model.observations) == (6, 6 * len(values))
    assert model.crowded == [("judge", len(values))]
    means = np.mean([each.reshape(3, 2).mean(axis=0) for each in values.values()], axis=0)
    assert [each.effect for each in model.factors[0].levels] == [
        pytest.approx(mean - means.mean(), abs=1e-9) for mean in means
    ]


def test_names_that_are_alike_stay_levels_of_their_own() -> None:
    model = fit(Observations({1: column(1.0, 1.0), 2: column(2.0, 2.0)}, {1: "same", 2: "same"}, []))
    assert [each.effect for each in model.factors[0].levels] == [pytest.approx(-0.5), pytest.approx(0.5)]


def test_a_value_that_stands_for_several_observations_counts_as_often() -> None:
    chance = np.random.default_rng(7)
    agent, flow, times = (chance.integers(high, size=40) for high in (3, 4, 5))
    y = chance.normal(size=40)
    model = fit(
        Observations(
            {0: np.where(times > 0, y, np.nan)},
            ALONE,
            [Factor("agent", agent, dict(enumerate("abc"))), Factor("flow", flow, dict(enumerate("uvwx")))],
            times.astype(float),
        )
    )
    each = np.repeat(np.arange(40), times)
    frame = pd.DataFrame({"call": each, "agent": agent[each], "flow": flow[each], "y": y[each]})
    frame = frame.assign(agent=frame["agent"].map("abc".__getitem__), flow=frame["flow"].map("uvwx".__getitem__))
    effects, halves = clustered(frame, ("agent", "flow"))
    assert model.observations == len(frame)
    assert model.mean == pytest.approx(frame["y"].mean())
    for level, effect in effects.items():
        found = effect_of(model, *level)
        assert found.effect == pytest.approx(effect, abs=1e-8)
        assert found.high == pytest.approx(effect + halves[level], abs=1e-8)
