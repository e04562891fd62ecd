"""Quality on the timeline and in the flow table, against figures that plain Python takes from the raw facts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import pytest

from tests.support.facts import call, fresh, grouped_by, put, verdict
from tests.support.random_stores import World, close, grouped, quality, selected, successes, world
from tests.surface.store import VOCABULARY_COMPUTED as COMPUTED
from tests.surface.store import (
    ConversationFacts,
    Measure,
    Predicate,
    Stratum,
    SuccessChange,
    flow_cells,
    flow_table,
    rate_change,
    runs,
    stratified_fisher,
    timeline,
)
from tests.surface.tui import parse

FILTERS = ("", "flow=dental", "run:night-1 | run=night-3", "persona=hurried", "archetype:book agent:gem")
DAY = 86_400_000_000
FAILED = {"correctness": 0.0, "completion": 10.0}


def judges_of(made: World, calls: Sequence[ConversationFacts]) -> list[str]:
    return [COMPUTED, *sorted({name for facts in calls if not facts.errored for name in made.judged(facts)})]


def is_mean(found: Measure, values: Sequence[float]) -> bool:
    return found.n == len(values) and close(found.mean, fmean(values) if values else None)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("expression", FILTERS)
def test_the_timeline_means_what_the_calls_say(seed: int, expression: str, tmp_path: Path) -> None:
    made, predicate = world(seed, 60), parse(expression)
    left = selected(made, predicate)
    by_run = grouped(left, lambda facts: facts.run_id)
    with made.store(tmp_path / "world.db") as store:
        found = {run.run: run for run in timeline(store, predicate).runs}
    assert found.keys() == by_run.keys()
    judges = judges_of(made, left)
    for name, calls in by_run.items():
        run = found[name]
        assert run.n == sum(not facts.errored for facts in calls)
        assert run.excluded == len(calls) - run.n
        assert run.flows == len({facts.flow for facts in calls})
        assert list(run.quality) == judges
        assert is_mean(run.success, successes(calls))
        assert all(is_mean(run.quality[judge], quality(made, calls, judge)) for judge in judges), name


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("expression", FILTERS)
def test_a_run_is_compared_with_the_one_before_in_what_both_called(seed: int, expression: str, tmp_path: Path) -> None:
    made, predicate = world(seed, 120), parse(expression)
    cells = grouped(selected(made, predicate), lambda facts: (facts.run_id, facts.flow, facts.agent_model))
    with made.store(tmp_path / "world.db") as store:
        found = [run for run in timeline(store, predicate).runs if run.started_at is not None]
    assert not found or found[0].change is None
    for before, after in pairwise(found):
        strata = [
            Stratum(sum(one), len(one), sum(other), len(other))
            for (run, *cell), calls in cells.items()
            if run == before.run and (after.run, *cell) in cells
            and (one := successes(calls)) and (other := successes(cells[after.run, cell[0], cell[1]]))
        ]  # fmt: skip
        effect = rate_change(strata)
        if effect is None:
            assert after.change is None
            continue
        assert after.change is not None
        assert after.change.effect == pytest.approx(effect)
        assert after.change.p == pytest.approx(stratified_fisher(strata))
        assert after.change.n_before == sum(one.first_n for one in strata)
        assert after.change.n_after == sum(one.second_n for one in strata)


def runs_of(path: Path, passing: Sequence[int], n: int = 40) -> list[SuccessChange | None]:
    """The change of each run of a flow of which so many of `n` calls pass, beside a flow that stays as it is."""
    with fresh(path) as store:
        for day, good in enumerate(passing):
            calls = [
                call(f"{flow}-{day}-{number}", run=f"r-{day}", started_at=day * DAY, flow=flow,
                     **({} if number < passed else {"aspects": FAILED}))
                for flow, passed in (("edited", good), ("other", n // 2))
                for number in range(n)
            ]  # fmt: skip
            put(store, f"/in/{day}.jsonl", calls)
        found = timeline(store).runs
    assert all([flow.flow for flow in run.moved] in ([], ["edited"]) for run in found)
    return [run.moved[0].change if run.moved else None for run in found]


def test_a_fall_of_one_flow_is_found_among_the_others_and_so_is_its_rise(tmp_path: Path) -> None:
    changes = runs_of(tmp_path / "r.db", (38, 37, 15, 36))
    assert [change and change.verdict for change in changes] == [None, None, "worse", "better"]


def test_what_may_be_chance_moves_nothing(tmp_path: Path) -> None:
    assert runs_of(tmp_path / "r.db", (20, 24, 19, 25, 21)) == [None] * 5


def test_more_of_a_hard_flow_is_no_change(tmp_path: Path) -> None:
    with fresh(tmp_path / "r.db") as store:
        for day, (easy, hard) in enumerate(((40, 10), (10, 40))):
            calls = [
                call(f"{flow}-{day}-{number}", run=f"r-{day}", started_at=day * DAY, flow=flow,
                     **({} if number < n * share else {"aspects": FAILED}))
                for flow, n, share in (("easy", easy, 0.9), ("hard", hard, 0.1))
                for number in range(n)
            ]  # fmt: skip
            put(store, f"/in/{day}.jsonl", calls)
        first, second = timeline(store).runs
    assert (first.success.mean, second.success.mean) == (0.74, 0.26)
    assert second.change is not None
    assert second.change.effect == pytest.approx(0, abs=1e-9)
    assert second.change.verdict == "noise"


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("expression", FILTERS)
def test_the_flow_table_means_what_the_calls_say(seed: int, expression: str, tmp_path: Path) -> None:
    made, predicate = world(seed, 60), parse(expression)
    left = selected(made, predicate)
    with made.store(tmp_path / "world.db") as store:
        found = {flow.flow: flow for flow in flow_table(store, predicate)}
    by_flow = grouped(left, lambda facts: facts.flow)
    assert found.keys() == by_flow.keys()
    judges = judges_of(made, left)
    for name, calls in by_flow.items():
        by_agent = grouped(calls, lambda facts: facts.agent_model)
        assert [(cell.agent, cell.judge) for cell in found[name].cells] == [
            (agent, judge) for agent in sorted(by_agent) for judge in judges
        ]
        for cell in found[name].cells:
            assert is_mean(cell.quality, quality(made, by_agent[cell.agent], cell.judge)), cell
        assert [cell.judge for cell in found[name].pooled] == judges
        assert all(is_mean(cell.quality, quality(made, calls, cell.judge)) for cell in found[name].pooled)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("expression", ["", "run:night-1 | run=night-3", "persona=hurried"])
@pytest.mark.parametrize("by", [("commit",), ("archetype",), ("commit", "archetype"), ("persona", "run")])
def test_any_row_has_the_success_and_quality_of_its_calls(
    seed: int, expression: str, by: tuple[str, ...], tmp_path: Path
) -> None:
    made, predicate = world(seed, 90), parse(expression)
    with made.store(tmp_path / "world.db") as store:
        found = {tuple(cell.keys.values()): cell for cell in flow_cells(store, predicate, by)}
        commits = {run.run: run.commit for run in runs(store)}
    rows = grouped(
        selected(made, predicate),
        lambda facts: tuple(commits[facts.run_id] if name == "commit" else grouped_by(facts, name) for name in by),
    )
    assert found.keys() == rows.keys()
    for names, calls in rows.items():
        assert is_mean(found[names].success, successes(calls))
        assert is_mean(found[names].quality, quality(made, calls)), names
        assert is_mean(found[names].computed_quality, quality(made, calls, COMPUTED))


def test_a_judge_that_is_two_points_harsher_is_seen_to_be(tmp_path: Path) -> None:
    with fresh(tmp_path / "few.db") as store:
        put(store, "calls.jsonl", [call(f"c-{number}") for number in range(6)])
        for judge, score in (("mild", 7.0), ("strict", 5.0)):
            put(
                store,
                f"{judge}.jsonl",
                [verdict(f"c-{number}", score, judge=judge, line=number) for number in range(6)],
            )
        (flow,), (run,) = flow_table(store), timeline(store).runs
    assert {cell.judge: cell.quality.mean for cell in flow.pooled if cell.judge != COMPUTED} == {
        "mild": 7.0, "strict": 5.0,
    }  # fmt: skip
    assert (run.quality["mild"].mean, run.quality["strict"].mean) == (7.0, 5.0)


def test_runs_stand_in_order_of_time_and_those_without_a_time_last_compared_with_none(tmp_path: Path) -> None:
    with fresh(tmp_path / "few.db") as store:
        put(
            store,
            "calls.jsonl",
            [
                call("a", run="b-second", started_at=2_000_000, commit="c2"),
                call("b", run="a-never"),
                call("c", run="z-first", started_at=1_000_000),
            ],
        )
        found = timeline(store).runs
    assert [(run.run, run.started_at, run.commit, run.change is not None) for run in found] == [
        ("z-first", 1_000_000, None, False),
        ("b-second", 2_000_000, "c2", True),
        ("a-never", None, None, False),
    ]


def test_a_run_of_nothing_but_errored_calls_has_no_quality(tmp_path: Path) -> None:
    with fresh(tmp_path / "few.db") as store:
        put(store, "calls.jsonl", [call("a", errored=True)])
        put(store, "verdicts.jsonl", [verdict("a", 9.0)])
        (run,), (flow,) = timeline(store).runs, flow_table(store)
    assert (run.n, run.excluded, run.success.mean) == (0, 1, None)
    assert {judge: measure.mean for judge, measure in run.quality.items()} == {COMPUTED: None}
    assert [(cell.judge, cell.quality.mean, cell.quality.n) for cell in flow.cells] == [(COMPUTED, None, 0)]


def test_the_flow_in_the_worst_state_comes_first_and_what_is_not_measured_last(tmp_path: Path) -> None:
    with fresh(tmp_path / "few.db") as store:
        put(
            store,
            "calls.jsonl",
            [
                call("a", flow="fine"),
                call("b", flow="a-silent", aspects={}),
                call("c", flow="weak", aspects={"correctness": 2.0}),
                call("d", flow="weak", agent="model-b"),
            ],
        )
        assert [flow.flow for flow in flow_table(store)] == ["weak", "fine", "a-silent"]


@pytest.mark.parametrize(
    ("chosen", "left"),
    [
        ("judge=codex", [COMPUTED, "codex"]),
        ("!judge:codex", [COMPUTED, "gemini#aaaaaa1", "gemini#aaaaaa2", "gemini#b7"]),
    ],
)
def test_judges_can_be_chosen_and_versions_are_never_merged(chosen: str, left: list[str], tmp_path: Path) -> None:
    judges: Predicate | None = parse(chosen)
    with world(1, 60).store(tmp_path / "world.db") as store:
        assert list(timeline(store, judges=judges).runs[0].quality) == left
        assert list(dict.fromkeys(cell.judge for cell in flow_table(store, judges=judges)[0].cells)) == left
