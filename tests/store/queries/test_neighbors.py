"""Around a state: where calls come from, where they go, and what lies ahead."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from riff_store.answers.cells import Neighbor
from riff_store.database import Store
from riff_store.facts import DescribedFlow, DescribedState
from riff_store.queries.neighbors import neighborhood
from riff_tui.filters import parse
from tests.support.facts import call, fresh, put, state


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "store.db") as opened:
        yield opened


def walk(name: str, *steps: tuple[str, dict[str, int]], **given: object) -> object:
    return call(name, states=[state(start, to=ends) for start, ends in steps], terminals={"booked": "success"}, **given)


@pytest.fixture
def walked(store: Store) -> Store:
    calls = [
        walk(
            "c1",
            ("greet", {"collect": 1}),
            ("collect", {"confirm": 2, "collect": 1}),
            ("confirm", {"collect": 1, "booked": 1}),
        ),
        walk("c2", ("greet", {"collect": 1}), ("collect", {"confirm": 1}), ("confirm", {"booked": 1})),
        walk("c3", ("greet", {"collect": 1}), ("collect", {"escalated": 1})),
        walk("c4", ("greet", {}), persona="hurried"),
        walk("gone", ("greet", {"collect": 9}), errored=True),
        walk("other", ("collect", {"elsewhere": 5}), flow="other"),
    ]
    put(store, "calls.jsonl", calls)  # type: ignore[arg-type]
    return store


def test_counts_the_steps_on_both_sides_and_their_shares(walked: Store) -> None:
    found = neighborhood(walked, "viewing", "collect")
    assert found.calls == 4
    assert found.loops == 1
    assert found.predecessors == [
        Neighbor("greet", 3, 3 / 5, 0.0, 4, None),
        Neighbor("confirm", 1, 1 / 5, 0.0, 2, None),
    ]
    assert found.successors == [
        Neighbor("confirm", 3, 3 / 5, 0.0, 2, None),
        Neighbor("escalated", 1, 1 / 5, None, 1, None),
    ]
    assert found.cell is not None
    assert (found.cell.n, dict(found.cell.to_states)) == (3, {"collect": 1, "confirm": 3, "escalated": 1})


def test_the_blast_radius_is_what_lies_ahead_with_the_calls_that_came_there(walked: Store) -> None:
    assert neighborhood(walked, "viewing", "greet").reach == {
        "collect": 3 / 4, "booked": 2 / 4, "confirm": 2 / 4, "escalated": 1 / 4,
    }  # fmt: skip
    assert neighborhood(walked, "viewing", "confirm").reach == {"collect": 3 / 4, "booked": 2 / 4, "escalated": 1 / 4}
    assert neighborhood(walked, "viewing", "booked").reach == {}


def test_a_terminal_stands_between_its_predecessors_and_nothing(walked: Store) -> None:
    found = neighborhood(walked, "viewing", "booked")
    assert found.cell is None
    assert [(one.state, one.count, one.share) for one in found.predecessors] == [("confirm", 2, 1.0)]
    assert found.successors == []
    [terminal] = [one for one in neighborhood(walked, "viewing", "confirm").successors if one.state == "booked"]
    assert (terminal.outcome, terminal.n) == ("success", 2)


def test_a_filter_narrows_the_calls(walked: Store) -> None:
    found = neighborhood(walked, "viewing", "greet", parse("persona=hurried"))
    assert (found.calls, found.successors, found.reach) == (1, [], {})
    found = neighborhood(walked, "viewing", "collect", parse("run=night-1"))
    assert (found.calls, found.loops) == (4, 1)


def test_names_that_are_not_there_have_no_neighbours(walked: Store) -> None:
    for flow, name in (("viewing", "nowhere"), ("no flow", "collect")):
        found = neighborhood(walked, flow, name)
        assert (found.cell, found.predecessors, found.successors, found.reach) == (None, [], [], {})


def test_a_described_state_that_no_call_took_shows_its_edges(walked: Store) -> None:
    states = [DescribedState("verify", "verify", None), DescribedState("greet", "opening", None)]
    edges = [("greet", "verify"), ("verify", "collect"), ("verify", "verify"), ("greet", "collect")]
    put(walked, "flow.json", [DescribedFlow("viewing", None, states, edges)])
    found = neighborhood(walked, "viewing", "verify")
    assert found.cell is None
    assert found.predecessors == [Neighbor("greet", 0, None, 0.0, 4, None)]
    assert found.successors == [Neighbor("collect", 0, None, 0.0, 3, None)]
    assert found.loops == 0
    assert [one.state for one in neighborhood(walked, "viewing", "collect").predecessors] == ["greet", "confirm"]
