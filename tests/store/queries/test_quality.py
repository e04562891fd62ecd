"""Quality on the timeline and in the flow table, against figures that plain Python takes from the raw facts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import pytest

from riff_store.answers.quality import COMPUTED
from riff_store.facts import ConversationFacts
from riff_store.predicates import Predicate
from riff_store.queries.quality import flow_table, timeline
from riff_tui.filters import parse
from tests.support.facts import call, fresh, put, verdict
from tests.support.random_stores import World, close, grouped, quality, selected, world

FILTERS = ("", "flow=dental", "run:night-1 | run=night-3", "persona=hurried", "archetype:book agent:gem")


def judges_of(made: World, calls: Sequence[ConversationFacts]) -> list[str]:
    return [COMPUTED, *sorted({name for facts in calls if not facts.errored for name in made.judged(facts)})]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("expression", FILTERS)
def test_the_timeline_means_what_the_calls_say(seed: int, expression: str, tmp_path: Path) -> None:
    made, predicate = world(seed, 60), parse(expression)
    left = selected(made, predicate)
    by_run = grouped(left, lambda facts: facts.run)
    with made.store(tmp_path / "world.db") as store:
        found = {run.run: run for run in timeline(store, predicate)}
    assert found.keys() == by_run.keys()
    judges = judges_of(made, left)
    for name, calls in by_run.items():
        rows = grouped(calls, lambda facts: (facts.flow, facts.agent))
        run = found[name]
        assert run.n == sum(not facts.errored for facts in calls)
        assert run.excluded == len(calls) - run.n
        assert run.flows == len({facts.flow for facts in calls})
        assert list(run.quality) == judges
        for judge in judges:
            measured = [value for row in rows.values() if (value := quality(made, row, judge)) is not None]
            assert run.rows[judge] == len(measured)
            assert close(run.quality[judge], fmean(measured) if measured else None), (name, judge)


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
        by_agent = grouped(calls, lambda facts: facts.agent)
        assert [(cell.agent, cell.judge) for cell in found[name].cells] == [
            (agent, judge) for agent in sorted(by_agent) for judge in judges
        ]
        for cell in found[name].cells:
            counted = [facts for facts in by_agent[cell.agent] if not facts.errored]
            assert cell.n == len(counted)
            assert close(cell.quality, quality(made, counted, cell.judge)), cell
            if cell.judge != COMPUTED:
                assert cell.scored == sum(made.judged(facts).get(cell.judge) is not None for facts in counted)


def test_runs_stand_in_order_of_time_and_those_without_a_time_last(tmp_path: Path) -> None:
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
        found = timeline(store)
    assert [(run.run, run.started_at, run.commit) for run in found] == [
        ("z-first", 1_000_000, None),
        ("b-second", 2_000_000, "c2"),
        ("a-never", None, None),
    ]


def test_a_run_of_nothing_but_errored_calls_has_no_quality(tmp_path: Path) -> None:
    with fresh(tmp_path / "few.db") as store:
        put(store, "calls.jsonl", [call("a", errored=True)])
        put(store, "verdicts.jsonl", [verdict("a", 9.0)])
        (run,), (flow,) = timeline(store), flow_table(store)
    assert (run.n, run.excluded, run.quality, run.rows) == (0, 1, {COMPUTED: None}, {COMPUTED: 0})
    assert [(cell.judge, cell.quality, cell.n) for cell in flow.cells] == [(COMPUTED, None, 0)]


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
        assert list(timeline(store, judges=judges)[0].quality) == left
        assert list(dict.fromkeys(cell.judge for cell in flow_table(store, judges=judges)[0].cells)) == left
