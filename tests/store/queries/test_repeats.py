"""Repeats, against every choice of k trials from a group, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.support.facts import call, fresh, grouped_by, put
from tests.support.random_stores import grouped, selected, world
from tests.surface.store import LISTED, ConversationFacts, Store, all_pass, repeats
from tests.surface.tui import parse

BY = [("flow", "agent"), ("flow", "agent", "scenario"), ("flow", "agent", "persona"), ("flow", "agent", "run")]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "store.db") as opened:
        yield opened


def drawn(passed: Sequence[bool], k: int, wanted: Callable[[Sequence[bool]], bool]) -> float:
    """The share of all choices of k trials that are as wanted."""
    choices = list(combinations(passed, k))
    return sum(wanted(choice) for choice in choices) / len(choices)


@given(st.lists(st.booleans(), min_size=1, max_size=9), st.integers(1, 9))
def test_the_chance_that_all_pass_is_the_share_of_all_choices(passed: list[bool], k: int) -> None:
    k = min(k, len(passed))
    assert all_pass(sum(passed), len(passed), k) == pytest.approx(drawn(passed, k, all))
    assert 1 - all_pass(passed.count(False), len(passed), k) == pytest.approx(drawn(passed, k, any))


def correctness_of(calls: Sequence[ConversationFacts]) -> list[float]:
    found = [facts.aspects.get("correctness") for facts in calls if not facts.errored]
    return [value for value in found if value is not None]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("by", BY, ids=" ".join)
@pytest.mark.parametrize("expression", ["", "run=night-1", "trial<2"])
def test_rows_are_what_a_walk_over_their_groups_finds(
    seed: int, by: tuple[str, ...], expression: str, tmp_path: Path
) -> None:
    made = world(seed, size=150)
    chosen = selected(made, parse(expression))

    def names(facts: ConversationFacts, keys: Sequence[str]) -> tuple[str | None, ...]:
        return tuple(grouped_by(facts, key) for key in keys)

    with made.store(tmp_path / "store.db") as store:
        found = {tuple(cell.keys.values()): cell for cell in repeats(store, parse(expression), by)}
        two = {tuple(cell.keys.values()): cell for cell in repeats(store, parse(expression), by, k=2)}
    rows = grouped(chosen, lambda facts: names(facts, by))
    assert set(found) == set(rows)
    for row, calls in rows.items():
        cell = found[row]
        members = grouped(calls, lambda facts: names(facts, (*by, "scenario", "persona")))
        measured = {key: correctness_of(group) for key, group in members.items()}
        groups = [[value == 10.0 for value in values] for values in measured.values() if len(values) > 1]
        assert (cell.groups, cell.trials) == (len(groups), sum(map(len, groups)))
        assert cell.single == len(measured) - len(groups)
        assert cell.excluded == sum(facts.errored for facts in calls)
        assert cell.unmeasured == sum(not facts.errored and "correctness" not in facts.aspects for facts in calls)
        if not groups:
            assert (cell.flaky.mean, cell.pass_one.mean, cell.pass_all) == (None, None, {})
            continue
        smallest = min(map(len, groups))
        for k in range(1, smallest + 1):
            assert cell.pass_all[k] == pytest.approx(fmean(drawn(group, k, all) for group in groups))
            assert cell.pass_any[k] == pytest.approx(fmean(drawn(group, k, any) for group in groups))
        assert list(cell.pass_all) == list(cell.pass_any) == list(range(1, smallest + 1))
        assert cell.pass_one.mean == pytest.approx(cell.pass_all[1])
        long = [drawn(group, 3, all) for group in groups if len(group) >= 3]
        assert (cell.k, cell.pass_k.n) == (3, len(long))
        assert cell.pass_k.mean == (pytest.approx(fmean(long)) if long else None)
        assert (two[row].k, two[row].pass_k.n) == (2, len(groups))
        assert two[row].pass_k.mean == pytest.approx(two[row].pass_all[2])
        assert cell.flaky.mean == pytest.approx(fmean(any(group) and not all(group) for group in groups))
        assert cell.always_passed.mean == pytest.approx(fmean(all(group) for group in groups))
        assert cell.always_failed.mean == pytest.approx(fmean(not any(group) for group in groups))
        spreads = [max(values) - min(values) for values in measured.values() if len(values) > 1]
        assert cell.spread.mean == pytest.approx(fmean(spreads))


def test_the_flakiest_row_comes_first(tmp_path: Path) -> None:
    with world(2, size=200).store(tmp_path / "store.db") as store:
        found = [cell for cell in repeats(store) if cell.groups]
    shares = [cell.flaky.mean or 0.0 for cell in found]
    assert shares == sorted(shares, reverse=True)


def trials(*passed: bool, scenario: str, run: str = "night-1", persona: str | None = None) -> list[ConversationFacts]:
    return [
        call(f"{run}-{scenario}-{number}", run=run, scenario=scenario or None, persona=persona, trial=number,
             aspects={"correctness": 10.0 if good else 4.0})
        for number, good in enumerate(passed)
    ]  # fmt: skip


def test_repeats_count_across_runs_unless_rows_are_by_run(store: Store) -> None:
    put(store, "calls.jsonl", [*trials(True, scenario="s"), *trials(False, False, scenario="s", run="night-2")])
    [cell] = repeats(store)
    assert (cell.groups, cell.trials, cell.k, cell.runs, cell.flaky.mean) == (1, 3, 3, 2, 1.0)
    assert cell.pass_all == pytest.approx({1: 1 / 3, 2: 0.0, 3: 0.0})
    assert cell.pass_any == pytest.approx({1: 1 / 3, 2: 2 / 3, 3: 1.0})
    first, second = sorted(repeats(store, by=("flow", "agent", "run")), key=lambda cell: str(cell.keys["run"]))
    assert (first.groups, first.single, second.groups, second.always_failed.mean) == (0, 1, 1, 1.0)


def test_chances_are_listed_up_to_the_smallest_group_and_shares_have_wilsons_interval(store: Store) -> None:
    put(
        store,
        "calls.jsonl",
        [*trials(True, True, True, scenario="a"), *trials(True, False, scenario="b"), *trials(False, scenario="c")],
    )
    [cell] = repeats(store)
    assert (cell.groups, cell.single, cell.k, cell.spread.mean) == (2, 1, 3, 3.0)
    assert (cell.pass_k.n, cell.pass_k.mean) == (1, 1.0)
    assert cell.pass_all == {1: 0.75, 2: 0.5}
    low, high = stats.binomtest(1, 2).proportion_ci(method="wilson")
    assert cell.flaky.interval() == pytest.approx((low, high))


def test_groups_that_name_neither_scenario_nor_persona_are_counted(store: Store) -> None:
    put(
        store, "calls.jsonl", [*trials(True, True, scenario=""), *trials(True, True, scenario="", run="x", persona="p")]
    )
    [cell] = repeats(store)
    assert (cell.groups, cell.nameless) == (2, 1)


def test_of_very_many_trials_only_the_first_chances_are_listed(store: Store) -> None:
    put(store, "calls.jsonl", trials(*([True] * (LISTED + 5)), scenario="s"))
    [cell] = repeats(store, k=LISTED + 1)
    assert (cell.k, len(cell.pass_all), cell.pass_k.mean) == (LISTED + 1, LISTED, 1.0)


def test_an_empty_store_repeats_nothing(store: Store) -> None:
    assert repeats(store) == []
