"""The promise of the gate, measured: it seldom cries wolf, and it finds the flow that got worse and that one only.

`python -m benchmarks.gate_seeds` measures the same through the commands, with as many calls as one likes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.facts import fresh, put
from tests.support.simulated_calls import generate
from tests.surface.ingest import compute_flow_aspects
from tests.surface.runner import custom_run
from tests.surface.store import ConversationFacts, Store, compare
from tests.surface.tui import Decision, decide

SEEDS = 100
TOGETHER = 10  # a comparison reads the scores of every run of its store, so that one store of all takes twice the time
REGRESSED_TOGETHER = 5
QUIET_CALLS = 160
REGRESSED_SEEDS = 10
REGRESSED_CALLS = 960
FLOW = "generic_inquiry"


@pytest.mark.nightly
def test_two_runs_of_the_same_quality_pass_in_95_of_100_seeds(tmp_path: Path) -> None:
    decisions = [found for first in range(0, SEEDS, TOGETHER) for found in quiet(tmp_path / f"{first}.db", first)]
    assert len(decisions) == SEEDS
    assert all(sum(check.kind == "aspect" for check in found.checks) == 24 for found in decisions)
    assert not any(found.of("too few") for found in decisions)
    assert sum(found.passed for found in decisions) >= 95


@pytest.mark.nightly
def test_a_planted_regression_fails_and_no_other_flow_is_named(tmp_path: Path) -> None:
    firsts = range(0, REGRESSED_SEEDS, REGRESSED_TOGETHER)
    decisions = [found for first in firsts for found in regressed(tmp_path / f"{first}.db", 2 * first)]
    assert [found.failing for found in decisions] == [[FLOW]] * REGRESSED_SEEDS


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_the_same_calls_again_are_the_same_whatever_the_rest(tmp_path: Path, share: float) -> None:
    with fresh(tmp_path / "again.db") as store:
        play(store, "one", 1, QUIET_CALLS, {})
        play(store, "two", 1, QUIET_CALLS, {FLOW: share})
        found = decide(compare(store, "one", "two"))
    assert found.failing == [FLOW] * bool(share)
    assert {check.p for check in found.checks if check.flow != FLOW} == {1.0}


def quiet(path: Path, first: int) -> list[Decision]:
    """Decide on runs that differ in their seeds alone, each with the one after it."""
    seeds = range(first, first + TOGETHER)
    with fresh(path) as store:
        for seed in (*seeds, seeds.stop):
            play(store, f"run-{seed}", seed, QUIET_CALLS, {})
        return [decide(compare(store, f"run-{seed}", f"run-{seed + 1}")) for seed in seeds]


def regressed(path: Path, first: int) -> list[Decision]:
    """Decide on runs with one worse flow, each against the run before it and the one after it, which have no worse."""
    seeds = range(first, first + REGRESSED_TOGETHER + 1)
    with fresh(path) as store:
        for seed in seeds:
            play(store, f"run-{seed}", seed, REGRESSED_CALLS, {FLOW: 0.4} if seed % 2 else {})
        pairs = [(one, other) if other % 2 else (other, one) for one, other in pairwise(seeds)]
        return [decide(compare(store, f"run-{before}", f"run-{after}")) for before, after in pairs]


def play(store: Store, name: str, seed: int, calls: int, weaken: dict[str, float]) -> None:
    put(store, name, facts(name, seed, calls, weaken))


def facts(name: str, seed: int, calls: int, weaken: dict[str, float]) -> Iterator[ConversationFacts]:
    """What a gate looks at of simulated calls, and nothing else of them."""
    run = custom_run(name, seed, weaken)
    for line, call in enumerate(generate(conversations=calls, seed=seed, run=run), 1):
        aspects = {} if call.errored else compute_flow_aspects(call)
        yield ConversationFacts(
            run_id=name, conversation_id=call.conversation_id, flow=call.flow, agent_model=call.agent_model,
            persona=call.persona, scenario=call.scenario, trial=call.trial, errored=call.errored, line=line,
            success=all((aspects.get(name) or 0.0) >= 10.0 for name in ("correctness", "completion")), aspects=aspects,
        )  # fmt: skip
