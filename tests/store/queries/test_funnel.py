"""Funnels: what plain Python counts over the calls, from wherever the sums of it are read."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.facts import call, fresh, grouped_by, put, state
from tests.support.packed_stores import packed, set_small_groups
from tests.support.random_stores import CALL_FILTERS, GROUPINGS, World, world
from tests.support.recorded_queries import recorded_queries
from tests.surface.store import (
    Annotation,
    ConversationFacts,
    Failure,
    Funnel,
    FunnelRow,
    Shift,
    add_notes,
    compared_states,
    fisher,
    funnels,
)
from tests.surface.tui import parse

FILTERS: dict[str, Callable[[ConversationFacts], bool]] = {
    **CALL_FILTERS,
    "duration_s>1": lambda facts: facts.duration_s is not None,
    "correctness<5": lambda facts: (9.0 if (score := facts.aspects.get("correctness")) is None else score) < 5,
    "state=greet": lambda facts: any(row.state == "greet" for row in facts.states),
}


def placed(seed: int, size: int = 24) -> World:
    """Calls that say at which of their visits they came to a state or to an outcome, most of them."""
    made, chance = world(seed, size).copy(), random.Random(seed)
    for facts in made.calls:
        for at, row in enumerate(facts.states):
            row.position = chance.choice((None, at, at, at + 1))
        if chance.random() < 0.6:
            facts.outcome_positions = {"booked": len(facts.states)}
    return made


def by_hand(calls: Iterable[ConversationFacts], by: tuple[str, ...]) -> dict[tuple[Any, ...], Any]:
    """The calls and the failed ones of each funnel, and of each state who came, at which visit, who failed, and on."""
    found: dict[tuple[Any, ...], list[ConversationFacts]] = {}
    for facts in calls:
        if not facts.errored:
            found.setdefault(tuple(grouped_by(facts, name) for name in by), []).append(facts)
    return {names: (len(own), *_failed(own), _rows(own)) for names, own in found.items()}


def _failed(calls: list[ConversationFacts]) -> tuple[int, int]:
    failed = [facts.failure for facts in calls if facts.failure is not None]
    return len(failed), sum(each.first_failed is None for each in failed)


def _rows(calls: list[ConversationFacts]) -> dict[str, Any]:
    reached, failed, places = Counter[str](), Counter[str](), dict[str, list[int]]()
    steps: dict[str, Counter[str]] = {}
    for facts in calls:
        came = [(row.state, row.position) for row in facts.states]
        for name, at in (*came, *facts.outcome_positions.items()):
            reached[name] += 1
            places.setdefault(name, []).extend([] if at is None else [at])
        for row in facts.states:
            steps.setdefault(row.state, Counter()).update(row.to_states)
        if facts.failure is not None and facts.failure.first_failed is not None:
            failed[facts.failure.first_failed] += 1
    return {
        name: (
            reached[name],
            reached[name] / len(calls),
            failed[name],
            sum(places[name]) / len(places[name]) if places.get(name) else None,
            dict(steps.get(name, {})),
        )
        for name in reached | failed
    }


def in_store(found: list[Funnel]) -> dict[tuple[Any, ...], Any]:
    return {
        tuple(each.keys.values()): (
            each.calls, each.failed, each.nowhere,
            {row.state: (row.reached, row.share, row.failed, row.position, dict(row.next)) for row in each.rows},
        )
        for each in found
    }  # fmt: skip


@settings(max_examples=examples(6))
@given(st.integers(0, 10**6), st.sampled_from(GROUPINGS))
def test_funnels_are_what_plain_python_counts_from_wherever_they_are_read(seed: int, by: tuple[str, ...]) -> None:
    made = placed(seed)
    with tempfile.TemporaryDirectory() as folder, made.store(Path(folder) / "store.db") as store:
        for expression, keep in FILTERS.items():
            wanted = by_hand(filter(keep, made.calls), by)
            assert in_store(funnels(store, parse(expression), by)) == wanted, expression


def test_a_store_of_many_calls_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = placed(5, 70)
    set_small_groups(monkeypatch)
    with packed(made, tmp_path / "packed.db") as store:
        for by in GROUPINGS:
            for expression, keep in FILTERS.items():
                wanted = by_hand(filter(keep, made.calls), by)
                assert in_store(funnels(store, parse(expression), by)) == wanted, (by, expression)


@pytest.mark.parametrize("expression", ["", "flow=viewing", "run=night-1"])
def test_no_call_is_looked_at_where_sums_say_it(expression: str, tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "calls.jsonl", [call(name, outcome_positions={"booked": 2}) for name in ("a", "b")])
        with recorded_queries(store) as asked:
            (found,) = funnels(store, parse(expression))
        assert [row.state for row in found.rows][-1] == "booked"
        assert not any(
            f'"{table}"' in sql for sql in asked for table in ("conversation", "state_score", "outcome_visit")
        )


def test_states_stand_in_the_order_in_which_calls_first_come_and_outcomes_last(tmp_path: Path) -> None:
    ends = {"booked": "success", "human": "escalation"}
    way = [state("confirm", position=2), state("collect", position=1), state("greet", position=0)]
    calls = [
        call("1", states=way, terminals=ends, outcome_positions={"booked": 3}),
        call("2", states=[state("collect", position=1), state("repeat", position=1)], terminals=ends),
        call("3", states=[], terminals=ends, outcome_positions={"human": 0}),
        call("4", states=[state("unplaced")], terminals=ends),
    ]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "calls.jsonl", calls)
        (found,) = funnels(store)
    assert [row.state for row in found.rows] == ["greet", "collect", "repeat", "confirm", "unplaced", "human", "booked"]
    assert [row.outcome for row in found.rows] == [None] * 5 + ["escalation", "success"]
    assert [row.position for row in found.rows] == [0.0, 1.0, 1.0, 2.0, None, 0.0, 3.0]


def test_what_a_person_marked_moves_the_blame_and_no_state_is_blamed_twice(tmp_path: Path) -> None:
    blame = Failure("greet", "collect", "dead end", segment="collect")
    way = [state("greet", position=0), state("collect", position=1)]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "calls.jsonl", [call(name, success=False, failure=blame, states=way) for name in ("a", "b")])
        add_notes(store, [Annotation("1", "a", "ann", state="greet", code="rude", verdict="fail")])
        (found,) = funnels(store)
    assert {row.state: (row.failed, row.kinds) for row in found.rows} == {
        "greet": (1, {"marked": 1}),
        "collect": (1, {"dead end": 1}),
    }
    assert (found.failed, found.nowhere) == (2, 0)


def test_the_flow_of_most_failed_calls_comes_first_and_one_without_events_has_no_rows(tmp_path: Path) -> None:
    nowhere = Failure(None, None, "none")
    failed = [call(f"f-{number}", flow="silent", success=False, failure=nowhere, states=[]) for number in range(2)]
    with fresh(tmp_path / "calls.db") as store:
        assert funnels(store) == []
        put(store, "calls.jsonl", [call("a"), *failed, call("x", flow="broken", errored=True)])
        found = [(each.keys["flow"], each.calls, each.failed, each.nowhere, len(each.rows)) for each in funnels(store)]
    assert found == [("silent", 2, 2, 2, 0), ("viewing", 1, 0, 0, 2)]


def of_side(run: str, *rows: FunnelRow, flow: str = "viewing", calls: int = 40) -> Funnel:
    return Funnel({"flow": flow, "run": run}, calls, sum(row.failed for row in rows), 0, rows)


def test_states_of_two_sides_stand_in_the_order_of_all_of_their_calls_and_outcomes_last() -> None:
    late = FunnelRow("repeat", 30, 0.75, 0, 3.0)
    a = of_side(
        "a", FunnelRow("greet", 40, 1.0, 0, 0.0), FunnelRow("booked", 9, 0.225, 0, 4.0, outcome="success"), late
    )
    b = of_side("b", FunnelRow("repeat", 10, 0.25, 0, 1.0), FunnelRow("collect", 40, 1.0, 0, 2.0))
    found = compared_states([b, a], "run", ("a", "b"))
    # repeat: (30 × 3 + 10 × 1) / 40 = 2.5
    assert [state.state for state in found] == ["greet", "collect", "repeat", "booked"]
    rows = [[side and (side[1].reached, side[1].outcome) for side in state.sides] for state in found]
    assert rows[1] == [(0, None), (40, None)]
    assert rows[3] == [(9, "success"), (0, "success")]


def test_a_difference_is_tested_by_fisher_and_corrected_across_all_states() -> None:
    a = of_side("a", FunnelRow("greet", 40, 1.0, 0, 0.0), FunnelRow("collect", 36, 0.9, 2, 1.0))
    b = of_side("b", FunnelRow("greet", 50, 1.0, 0, 0.0), FunnelRow("collect", 30, 0.6, 20, 1.0), calls=50)
    greet, collect = compared_states([a, b], "run", ("a", "b"))
    assert greet.came == greet.failed == Shift(0.0, 1.0, 1.0)
    came, failed = fisher(36, 40, 30, 50), fisher(2, 40, 20, 50)
    assert collect.came == Shift(30 / 50 - 36 / 40, came, 2 * came)
    assert collect.failed == Shift(20 / 50 - 2 / 40, failed, 2 * failed)
    assert collect.came.is_sure
    (swapped,) = (each for each in compared_states([a, b], "run", ("b", "a")) if each.state == "collect")
    assert swapped.came is not None
    assert swapped.came.difference == pytest.approx(-collect.came.difference)


def test_a_flow_that_one_side_alone_called_is_compared_with_nothing_and_corrects_nothing() -> None:
    both = [of_side(run, FunnelRow("greet", n, n / 40, 0, 0.0)) for run, n in (("a", 40), ("b", 20))]
    alone = of_side("b", FunnelRow("ask", 40, 1.0, 9, 0.0), flow="dental")
    greet, ask = sorted(compared_states([*both, alone], "run", ("a", "b")), key=lambda state: state.state, reverse=True)
    assert (ask.sides[0], ask.came, ask.failed) == (None, None, None)
    assert greet.came is not None
    assert greet.came.p_adjusted == greet.came.p == fisher(40, 40, 20, 40)
