"""Two sides of a failure matrix: what changed beyond chance, in pairs where calls are of the same task."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.facts import call, fresh, put
from tests.surface.store import ConversationFacts, Failure, SideError, Store, failure_shifts
from tests.surface.tui import Request, show

STALL, TOOL = Failure("greet", "collect", "stall"), Failure("collect", "book", "tool error", "find")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "calls.db") as opened:
        yield opened


def run_of(run: str, stalls: int, tools: int, calls: int, *, tasks: bool) -> list[ConversationFacts]:
    """A run of which so many calls stall, then so many fail with a tool, and the others are good."""
    kinds = [STALL] * stalls + [TOOL] * tools + [None] * (calls - stalls - tools)
    return [
        call(f"c-{place}", run=run, failure=kind, scenario=f"task-{place}" if tasks else None)
        for place, kind in enumerate(kinds)
    ]


def test_pairs_are_tested_by_what_differs_in_them(store: Store) -> None:
    put(store, "calls.jsonl", [*run_of("a", 2, 3, 40, tasks=True), *run_of("b", 2, 23, 40, tasks=True)])
    first, second = failure_shifts(store, "a", "b").cells
    assert (first.last_ok, first.first_failed, first.n_a, first.n_b, first.pairs) == ("collect", "book", 3, 23, 40)
    assert first.test == "McNemar"
    assert first.difference == pytest.approx(0.5)
    assert first.p == pytest.approx(2**-19)
    assert first.p_adjusted == pytest.approx(2**-18)
    assert (second.first_failed, second.p_adjusted) == ("collect", 1.0)


def test_calls_without_tasks_are_compared_as_they_are(store: Store) -> None:
    put(store, "calls.jsonl", [*run_of("a", 0, 10, 20, tasks=False), *run_of("b", 0, 0, 30, tasks=False)])
    (cell,) = failure_shifts(store, "a", "b").cells
    assert (cell.test, cell.pairs, cell.calls_a, cell.calls_b, cell.difference) == ("Fisher", None, 20, 30, -0.5)
    assert cell.p < 0.001


def test_a_verdict_takes_a_test_and_leads_to_the_calls(store: Store) -> None:
    calls = [*run_of("a", 1, 3, 40, tasks=True), *run_of("b", 2, 23, 40, tasks=True)]
    put(store, "calls.jsonl", [*calls, call("x", run="a", flow="alone", failure=STALL)])
    worse, noise = show(store, "failure-shifts", Request(sides=("a", "b"))).rows
    assert (worse.record["verdict"], worse.severity) == ("worse", {"verdict": "bad", "": "bad"})
    assert (noise.record["verdict"], noise.severity) == ("noise", {})
    assert worse.where == "run=b flow=viewing last_ok=collect first_failed=book"
    assert len(show(store, "conversations", Request(where=worse.where)).rows) == 23
    (better,) = show(store, "failure-shifts", Request(sides=("b", "a"), where="verdict=better")).rows
    assert better.record["difference"] == pytest.approx(-0.5)


def test_a_side_that_is_not_there_is_refused(store: Store) -> None:
    put(store, "calls.jsonl", run_of("a", 1, 0, 2, tasks=True))
    with pytest.raises(SideError):
        failure_shifts(store, "a", "gone")
