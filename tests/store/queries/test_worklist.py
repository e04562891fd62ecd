"""What to work on: what stands on the lists, why, and in which order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.facts import call, fresh, put, state
from tests.surface.store import (
    ConversationFacts,
    ExpectedStep,
    FirstToMend,
    Measure,
    StateCell,
    Store,
    first_to_mend,
    is_handover,
    loss,
    reasons,
    worklist,
)
from tests.surface.tui import parse


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "store.db") as opened:
        yield opened


def cell(**means: float) -> StateCell:
    n = 10
    measures = {name: Measure(n, round(value * n * 10**9)) for name, value in means.items()}
    return StateCell(keys={"flow": "f", "state": "s"}, segment="other", n=n, measures=measures, to_states={})


@pytest.mark.parametrize(
    ("means", "found"),
    [
        ({"stall": 0.25}, ("stall",)),
        ({"stall": 0.24, "escalation": 0.24}, ()),
        (
            {"stall": 0.36, "escalation": 0.64, "dwell_turns": 3.6, "progress": 0.0},
            ("stall", "escalation", "dwell_turns"),
        ),
        ({"dwell_turns": 3.6, "progress": 0.7}, ()),
        ({"dwell_turns": 3.0, "progress": 0.1}, ()),
        ({"latency_p95": 8.0}, ()),
        ({"latency_p95": 8.1}, ("latency_p95",)),
        ({"guard_error": 0.5}, ("guard_error",)),
        ({"guard_error": 0.49}, ()),
        ({"stall": 0.33, "progress": 0.22, "slot_fill_rate": 0.0}, ("stall", "slot_fill_rate")),
        ({"stall": 0.33, "progress": 0.7, "slot_fill_rate": 0.0}, ("stall",)),
        ({"stall": 0.33, "progress": 0.22, "slot_fill_rate": 1.0}, ("stall",)),
        ({"progress": 0.22, "slot_fill_rate": 0.0}, ("slot_fill_rate",)),
        ({}, ()),
    ],
)
def test_a_state_is_a_root_cause_for_these_reasons(means: dict[str, float], found: tuple[str, ...]) -> None:
    assert reasons(cell(**means)) == found


def test_of_states_that_lost_as_many_calls_a_stall_weighs_twice_an_escalation() -> None:
    handed_over, stalled = cell(escalation=0.4), cell(stall=0.3)
    assert loss(replace(stalled, lost=7)) < loss(replace(handed_over, lost=7)) < loss(replace(stalled, lost=6))
    assert loss(cell()) == (0, 0)


def test_the_state_that_lost_most_calls_comes_first_with_what_mending_it_could_bring(store: Store) -> None:
    def calls(flow: str, name: str, n: int, lost: int, agent: str = "a") -> list[ConversationFacts]:
        return [
            call(f"{flow}-{name}-{number}", flow=flow, agent=agent, states=[state(name, lost=int(number < lost))],
                 aspects={"correctness": 10.0, "completion": 0.0 if number < lost else 10.0})
            for number in range(n)
        ]  # fmt: skip

    put(store, "calls.jsonl", [
        *calls("dog", "listen", 8, 6), *calls("dog", "groom", 4, 1, agent="b"), *calls("cat", "listen", 20, 5),
        *calls("thin", "start", 4, 4), call("x", flow="dog", errored=True),
    ])  # fmt: skip
    assert first_to_mend(store) == FirstToMend("dog", "listen", 6, 12, 5 / 12, 5 / 12 + 6 / 12, ["a"], ["a"])
    thin = first_to_mend(store, parse("flow=thin"))
    assert thin is not None
    assert (thin.state, thin.lost, thin.completion_at_most) == ("start", 4, 1.0)
    assert first_to_mend(store, parse("flow=nowhere")) is None


def test_what_is_to_mend_first_is_of_the_calls_that_a_filter_leaves(store: Store) -> None:
    seen = call("c1", states=[state("greet", lost=0), state("listen", lost=1)])
    put(
        store,
        "calls.jsonl",
        [seen, call("c2", states=[state("greet", lost=1)]), call("c3", states=[state("x", lost=1)])],
    )
    assert first_to_mend(store, parse("!state=greet !state=x")) is None
    named = {
        where: first_to_mend(store, parse(where)) for where in ("!state=greet", "state=listen", "run:night !state=x")
    }
    assert {where: (first.state, first.lost, first.n) for where, first in named.items() if first} == {
        "!state=greet": ("x", 1, 1), "state=listen": ("listen", 1, 1), "run:night !state=x": ("greet", 1, 2),
    }  # fmt: skip


def some(flow: str, n: int, correctness: float = 10.0, **given: object) -> list[ConversationFacts]:
    row = {"name": "collect", **given}
    return [
        call(f"{flow}-{number}", flow=flow, aspects={"correctness": correctness}, states=[state(**row)])  # type: ignore[arg-type]
        for number in range(n)
    ]


def test_the_weakest_flows_come_first_and_thin_ones_last(store: Store) -> None:
    put(
        store,
        "calls.jsonl",
        [
            *some("weak", 5, 6.9),
            *some("weaker", 5, 2.0),
            *some("thin", 4, 0.0),
            *some("well", 5, 7.0),
            *some("also", 5, 2.0),
        ],
    )
    assert [cell.keys["flow"] for cell in worklist(store).flows] == ["also", "weaker", "weak", "thin"]


def test_segments_and_states_that_lose_calls_are_listed(store: Store) -> None:
    put(
        store,
        "calls.jsonl",
        [
            *some("fine", 5),
            *some("stalls", 5, stall=1, progress=0),
            *some("escalates", 5, escalation=1),
            *some("slow", 5, latency_p95_ms=9000.0),
            *some("thin", 1, stall=1, escalation=1),
        ],
    )
    found = worklist(store)
    assert [cell.keys["flow"] for cell in found.segments] == ["stalls", "escalates", "thin"]
    assert [cell.keys["flow"] for cell in found.states] == ["stalls", "escalates", "slow", "thin"]
    assert found.segments[0].worst.keys["state"] == "collect"


def test_each_list_is_cut_at_its_limit(store: Store) -> None:
    put(store, "calls.jsonl", [facts for number in range(12) for facts in some(f"f{number:02}", 5, 0.0, stall=1)])
    found = worklist(store)
    assert [len(found.flows), len(found.segments), len(found.states)] == [10, 10, 10]
    found = worklist(store, limit=2)
    assert [cell.keys["flow"] for cell in found.states] == ["f00", "f01"]


def test_counts_what_is_in_no_mean_and_follows_the_filter(store: Store) -> None:
    put(store, "calls.jsonl", [*some("a", 5, 0.0), *some("b", 5, 0.0), call("broken", flow="b", errored=True)])
    assert worklist(store).excluded == 1
    narrowed = worklist(store, parse("flow=a"))
    assert ([cell.keys["flow"] for cell in narrowed.flows], narrowed.excluded) == (["a"], 0)


def task(
    number: int, called: bool, correctness: float, *, step: str = "enable_roaming", matched: bool = True
) -> ConversationFacts:
    """Return a call of a task that asks for two steps, which ended, as all of them do, in a hand-over."""
    return call(
        f"{step}-{number}", flow="telecom", aspects={"correctness": correctness, "completion": 10.0},
        states=[state("transfer_to_human_agents", stall=1, lost=1, progress=0, latency_p95_ms=9000.0)],
        expected=[
            ExpectedStep(step, "agent", called, matched if called else None),
            ExpectedStep("get_line", "agent", True, True),
        ],
    )  # fmt: skip


def test_where_tasks_ask_for_steps_the_missed_ones_stand_there_and_no_end_of_calls(store: Store) -> None:
    put(store, "calls.jsonl", [task(number, number == 0, 10.0 if number < 2 else 0.0) for number in range(8)])
    found = worklist(store)
    [missed] = found.states
    assert missed.keys["state"] == "enable_roaming"
    assert missed.steps is not None
    assert (missed.steps.missed_failed, missed.steps.failed, missed.steps.expected) == (6, 6, 8)
    assert reasons(missed) == ("missed",)
    assert (found.by_steps, found.handovers) == (["telecom"], [])


def test_a_hand_over_that_tasks_ask_for_is_told_of_and_on_no_list(store: Store) -> None:
    put(store, "calls.jsonl", [task(number, False, 0.0, step="transfer_to_human_agents") for number in range(5)])
    found = worklist(store)
    assert found.states == []
    assert [cell.keys["state"] for cell in found.handovers] == ["transfer_to_human_agents"]
    assert found.first is None


@pytest.mark.parametrize(
    ("state", "hands_over"),
    [
        ("transfer_to_human_agents", True),
        ("transfer_to_agent", True),
        ("user:transfer_to_human_agents", True),
        ("transfer_money_to_savings", False),
        ("list_human_agents", False),
    ],
)
def test_a_hand_over_is_told_by_its_name(state: str, hands_over: bool) -> None:
    assert is_handover(state) is hands_over


def test_first_to_mend_is_the_step_that_most_failed_calls_missed(store: Store) -> None:
    put(store, "calls.jsonl", [
        *(task(number, number > 5, 10.0 if number > 7 else 0.0) for number in range(10)),
        *(task(number, True, 0.0, step="pay", matched=False) for number in range(5)),
    ])  # fmt: skip
    first = first_to_mend(store)
    assert first is not None
    assert (first.flow, first.state, first.lost, first.n) == ("telecom", "enable_roaming", 0, 15)
    assert (first.completion, first.completion_at_most) == (1.0, None)
    assert (first.success_rate, first.success_rate_at_most) == (2 / 15, 8 / 15)
    assert (first.agents, first.losing) == (["model-a"], ["model-a"])
    assert [cell.keys["state"] for cell in worklist(store).states] == ["enable_roaming", "pay"]


def test_states_that_lost_calls_and_missed_steps_are_ranked_side_by_side(store: Store) -> None:
    def lost(n: int) -> list[ConversationFacts]:
        return [call(f"dog-{number}", flow="dog", states=[state("listen", stall=1, lost=1)]) for number in range(n)]

    missed = [task(number, False, 0.0) for number in range(6)]
    put(store, "steps.jsonl", missed)
    put(store, "calls.jsonl", lost(5))
    assert [cell.keys["state"] for cell in worklist(store).states] == ["enable_roaming", "listen"]
    put(store, "calls.jsonl", lost(7), sha256="bb")
    found = worklist(store)
    assert [cell.keys["state"] for cell in found.states] == ["listen", "enable_roaming"]
    assert found.first is not None
    assert (found.first.state, found.first.steps) == ("listen", None)


def test_a_step_missed_in_calls_that_passed_is_no_cause(store: Store) -> None:
    step = ExpectedStep("check", "agent", False, None)
    put(store, "calls.jsonl", [call(f"c{number}", expected=[step]) for number in range(6)])
    assert worklist(store).states == []


def test_where_states_are_tools_and_no_task_names_steps_the_lists_say_where_calls_ended_but_not_in_a_hand_over(
    store: Store,
) -> None:
    def ended(name: str, in_state: str, origin: str = "derived") -> ConversationFacts:
        flow = "tools" if origin == "derived" else "own"
        states = [state("opening", to={in_state: 1}), state(in_state, stall=1, lost=1, progress=0)]
        return call(name, flow=flow, origin=origin, states=states)

    calls = [ended(f"handed-{number}", "transfer_to_human") for number in range(9)]
    calls += [ended(f"ended-{number}", "find_line") for number in range(6)]
    put(store, "calls.jsonl", calls)
    found = worklist(store)
    assert [cell.keys["state"] for cell in found.states] == ["find_line"]
    assert found.first is not None
    assert (found.first.state, found.first.lost) == ("find_line", 6)
    assert (found.by_steps, found.by_ends) == ([], ["tools"])
    put(store, "own.jsonl", [ended(f"own-{number}", "transfer_to_human", "observed") for number in range(7)])
    found = worklist(store)
    assert [cell.keys["flow"] for cell in found.states] == ["own", "tools"]
    assert found.by_ends == ["tools"]
