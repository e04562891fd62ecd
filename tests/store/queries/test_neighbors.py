"""Around a state: where calls come from, where they go, and what lies ahead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.facts import call, fresh, put, state
from tests.support.neighborhoods import neighborhood
from tests.surface.store import (
    ConversationFacts,
    DescribedFlow,
    DescribedState,
    ExpectedStep,
    Neighbor,
    StepCounts,
    Store,
    Terminus,
    Victim,
    conversations,
)
from tests.surface.tui import parse


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "store.db") as opened:
        yield opened


def test_a_step_that_no_call_took_is_counted_by_the_tasks_that_ask_for_it(store: Store) -> None:
    missed = ExpectedStep("user:toggle", "caller", False, None)
    put(store, "calls.jsonl", [call("c1", aspects={"correctness": 0.0}, expected=[missed]), call("c2")])
    found = neighborhood(store, "viewing", "user:toggle")
    assert (found.cell, found.steps) == (None, StepCounts("caller", 1, 1, 0, failed=1, missed_failed=1, wrong_failed=0))
    assert neighborhood(store, "viewing", "greet").steps is None


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


def test_the_blast_radius_is_what_calls_came_to_after_the_state(store: Store) -> None:
    def way(name: str, *states: str, lost: str = "", booked: bool = False, agent: str = "a") -> ConversationFacts:
        return call(
            name,
            agent=agent,
            states=[
                state(each, progress=int(each != lost), lost=int(each == lost), position=place, to={})
                for place, each in enumerate(states)
            ],
            terminals={"booked": "success", "escalated": "escalation"},
            outcome_positions={"booked": len(states)} if booked else {"escalated": len(states)},
        )

    put(store, "calls.jsonl", [
        way("c1", "greet", "listen", "groom", booked=True),
        way("c2", "greet", "listen", "groom", lost="groom"),
        way("c3", "greet", "listen", lost="listen"),
        way("c4", "greet", "listen", lost="listen"),
        way("c5", "greet", "groom", booked=True),
        way("c6", "greet", "listen", lost="listen", agent="b"),
    ])  # fmt: skip
    found = neighborhood(store, "viewing", "listen").blast
    assert (found.basis, found.is_ordered) == ("calls", True)
    assert found.victims == [Victim("groom", 2 / 3, 1.0, 3.0, 3), Victim("booked", 1 / 2, 1 / 2, 1.5, 2)]
    assert [victim.state for victim in neighborhood(store, "viewing", "booked").blast.victims] == []
    others = neighborhood(store, "viewing", "listen", parse("agent=b")).blast
    assert others.basis == "agents"
    assert neighborhood(store, "viewing", "listen", parse("agent=nobody")).blast.victims == []
    assert others.victims == [Victim("groom", 2 / 3, 1.0, 1.0, 3), Victim("booked", 1 / 2, 1 / 2, 0.5, 2)]


def test_where_no_call_went_on_the_files_of_the_flow_say_what_lies_behind(store: Store) -> None:
    described = DescribedFlow(
        "viewing", None,
        [DescribedState("collect", "collect", None), DescribedState("confirm", "confirm", None),
         DescribedState("booked", "other", "success"), DescribedState("human", "other", "escalation")],
        [("collect", "confirm"), ("confirm", "booked"), ("confirm", "human"), ("confirm", "collect")],
    )  # fmt: skip
    put(store, "flow.toml", [described])
    put(store, "calls.jsonl", [call("c1", states=[state("collect", progress=0, lost=1, position=0)], terminals={})])
    found = neighborhood(store, "viewing", "collect").blast
    assert found.basis == "files"
    assert found.victims == [Victim(name, None, None, None, None) for name in ("booked", "confirm")]


def test_calls_whose_order_of_visits_is_not_known_have_no_blast_radius(walked: Store) -> None:
    found = neighborhood(walked, "viewing", "collect").blast
    assert (found.victims, found.is_ordered) == ([], False)


def test_a_terminal_stands_between_its_predecessors_and_nothing(walked: Store) -> None:
    found = neighborhood(walked, "viewing", "booked")
    assert found.cell is None
    assert [(one.state, one.count, one.share) for one in found.predecessors] == [("confirm", 2, 1.0)]
    assert found.successors == []
    [terminal] = [one for one in neighborhood(walked, "viewing", "confirm").successors if one.state == "booked"]
    assert (terminal.outcome, terminal.n) == ("success", 2)


def test_a_filter_narrows_the_calls(walked: Store) -> None:
    found = neighborhood(walked, "viewing", "greet", parse("persona=hurried"))
    assert (found.calls, found.successors, found.blast.victims) == (1, [], [])
    found = neighborhood(walked, "viewing", "collect", parse("run=night-1"))
    assert (found.calls, found.loops) == (4, 1)


def test_names_that_are_not_there_have_no_neighbours(walked: Store) -> None:
    for flow, name in (("viewing", "nowhere"), ("no flow", "collect")):
        found = neighborhood(walked, flow, name)
        assert (found.cell, found.predecessors, found.successors, found.blast.victims) == (None, [], [], [])


def test_a_described_state_that_no_call_took_shows_its_edges(walked: Store) -> None:
    states = [DescribedState("verify", "verify", None), DescribedState("greet", "opening", None)]
    edges = [("greet", "verify"), ("verify", "collect"), ("verify", "verify"), ("greet", "collect")]
    put(walked, "flow.json", [DescribedFlow("viewing", None, states, edges)])
    found = neighborhood(walked, "viewing", "verify")
    assert found.cell is None
    assert found.predecessors == [Neighbor("greet", 0, None, 0.0, 4, None)]
    assert found.successors == [Neighbor("collect", 0, None, 0.0, 3, None)]
    assert found.loops == 0
    around = neighborhood(walked, "viewing", "collect")
    assert [(one.state, one.count) for one in around.predecessors] == [("greet", 3), ("confirm", 1), ("verify", 0)]
    assert around.predecessors[2].share == 0.0


def test_calls_begin_and_end_in_states(store: Store) -> None:
    def way(name: str, *states: str, stop: str = "hangup", **given: object) -> ConversationFacts:
        rows = []
        for each in dict.fromkeys(states):
            steps = [after for before, after in pairwise(states) if before == each]
            stalled = int(each == states[-1])
            rows.append(
                state(each, to=dict(Counter(steps)), revisit=states.count(each) - 1, stall=stalled, lost=stalled)
            )
        return call(name, states=rows, stop_reason=stop, **given)

    put(store, "calls.jsonl", [
        way("c1", "greet", "ask", "greet", "ask"),
        way("c2", "greet", "ask", stop="max_turns"),
        way("c3", "ask", "ask", "close"),
        way("c4", "greet"),
        way("gone", "ask", errored=True),
    ])  # fmt: skip
    found = neighborhood(store, "viewing", "ask")
    assert found.starts == Terminus(1, 1 / 5, None, 1, {"hangup": 1})
    assert found.ends == Terminus(2, 2 / 5, 1.0, 2, {"hangup": 1, "max_turns": 1})
    assert [(one.state, one.count, one.share) for one in found.successors] == [("close", 1, 1 / 5), ("greet", 1, 1 / 5)]
    assert (found.loops, found.predecessors[0].count) == (1, 3)
    narrowed = neighborhood(store, "viewing", "ask", parse("stop_reason=max_turns"))
    assert (narrowed.starts, narrowed.ends) == (None, Terminus(1, 1.0, 1.0, 1, {"max_turns": 1}))
    assert neighborhood(store, "viewing", "close").starts is None


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("(state=collect went_to=confirm)", {"c1", "c2"}),
        ("(state=collect went_to=collect)", {"c1"}),
        ("(state=collect went_to:CONF)", {"c1", "c2"}),
        ("(state=collect went_to!=confirm)", {"c3"}),
        ("(state=collect !went_to=confirm)", {"c3"}),
        ("(state=collect came_from=greet)", {"c1", "c2", "c3"}),
        ("(state=collect came_from=·)", set()),
        ("(state=greet went_to=·)", {"c4"}),
        ("(state=greet came_from=·)", {"c1", "c2", "c3", "c4"}),
        ("(state=greet came_from!=·)", set()),
        ("went_to=escalated", {"c3"}),
        ("went_to=nowhere", set()),
    ],
)
def test_a_filter_finds_the_calls_that_took_a_step(walked: Store, expression: str, names: set[str]) -> None:
    found = conversations(walked, parse(f"flow=viewing errored=no ({expression})"))
    assert {each.conversation for each in found} == names
