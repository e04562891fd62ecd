"""The state and segment matrices: from sums or from rows the same, and the same as by hand."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.facts import call, fresh, grouped_by, put, state
from tests.support.random_stores import billionths, grouped, selected, world
from tests.support.recorded_queries import recorded_queries
from tests.surface.store import (
    ConversationFacts,
    DescribedFlow,
    DescribedState,
    ExpectedStep,
    Measure,
    StateAspects,
    StateCell,
    StepCounts,
    Store,
    conversations,
    known_names,
    segment_cells,
    state_cells,
    worst_first,
)
from tests.surface.tui import parse

Rows = Iterable[tuple[ConversationFacts, StateAspects]]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "store.db") as opened:
        yield opened


def by_hand(rows: Rows) -> dict[str, tuple[int, int]]:
    """How many values and their sum, of each metric."""
    found = [row for _, row in rows]
    plain = ("progress", "stall", "escalation", "revisit", "dwell_turns", "guard_error", "slot_fill_rate", "slow")
    sums = {name: billionths(getattr(row, name) for row in found) for name in plain}
    latencies = (None if row.latency_p95_ms is None else row.latency_p95_ms / 1000 for row in found)
    return {**sums, "latency_p95": billionths(latencies)}


def in_store(measures: Any) -> dict[str, tuple[int, int]]:
    return {name: (measure.n, measure.total) for name, measure in measures.items()}


def rows_of(calls: Iterable[ConversationFacts]) -> list[tuple[ConversationFacts, StateAspects]]:
    return [(facts, row) for facts in calls if not facts.errored for row in facts.states]


def steps_of(rows: Rows) -> dict[str, int]:
    found: dict[str, int] = {}
    for _, row in rows:
        for target, count in row.to_states.items():
            found[target] = found.get(target, 0) + count
    return dict(sorted(found.items()))


def main_segment(rows: Rows) -> str:
    counts: dict[str, int] = {}
    for _, row in rows:
        counts[row.segment] = counts.get(row.segment, 0) + 1
    return min(counts, key=lambda name: (-counts[name], name))


@settings(max_examples=examples(10))
@given(st.integers(0, 10**6), st.sampled_from([("flow", "state"), ("flow", "state", "run"), ("state",)]))
def test_sums_and_rows_give_the_same_matrix_as_plain_python(seed: int, by: tuple[str, ...]) -> None:
    made = world(seed)

    def key(row: tuple[ConversationFacts, StateAspects]) -> tuple[str, ...]:
        return tuple(row[1].state if name == "state" else grouped_by(row[0], name) for name in by)

    wanted: dict[tuple[Any, ...], list[tuple[ConversationFacts, StateAspects]]] = {}
    for row in rows_of(made.calls):
        wanted.setdefault(key(row), []).append(row)
    with tempfile.TemporaryDirectory() as folder, made.store(Path(folder) / "store.db") as store:
        for expression in ("", "!run=nowhere", "trial>=0"):
            cells = {tuple(cell.keys.values()): cell for cell in state_cells(store, parse(expression), by=by) if cell.n}
            assert {names: in_store(cell.measures) for names, cell in cells.items()} == {
                names: by_hand(rows) for names, rows in wanted.items()
            }, expression
            for names, cell in cells.items():
                assert cell.segment == main_segment(wanted[names])
                assert cell.to_states == steps_of(wanted[names])
                assert cell.n == len(wanted[names])
            few = [0, 3, 1000]
            whole = list(state_cells(store, parse(expression), by=by))
            assert [list(state_cells(store, parse(expression), by=by, first=n)[:n]) for n in few] == [
                whole[:n] for n in few
            ]


FILTERS = [
    "persona:h",
    "run=night-2 flow:dent",
    "state:co",
    "segment=collect",
    "stall=1 persona!=·",
    "state=greet | trial=1",
]


@settings(max_examples=examples(12))
@given(st.integers(0, 10**6), st.sampled_from(FILTERS))
def test_terms_about_states_narrow_the_rows(seed: int, expression: str) -> None:
    made = world(seed)
    keeps: dict[str, Callable[[ConversationFacts, StateAspects], bool]] = {
        "persona:h": lambda facts, row: "h" in (facts.persona or ""),
        "run=night-2 flow:dent": lambda facts, row: facts.run_id == "night-2" and "dent" in facts.flow.lower(),
        "state:co": lambda facts, row: "co" in row.state,
        "segment=collect": lambda facts, row: row.segment == "collect",
        "stall=1 persona!=·": lambda facts, row: row.stall == 1 and facts.persona is not None,
        "state=greet | trial=1": lambda facts, row: row.state == "greet" or facts.trial == 1,
    }
    keep = keeps[expression]
    wanted: dict[tuple[Any, ...], list[tuple[ConversationFacts, StateAspects]]] = {}
    for facts, row in rows_of(made.calls):
        if keep(facts, row):
            wanted.setdefault((facts.flow, row.state), []).append((facts, row))
    with tempfile.TemporaryDirectory() as folder, made.store(Path(folder) / "store.db") as store:
        cells = {tuple(cell.keys.values()): cell for cell in state_cells(store, parse(expression)) if cell.n}
        assert cells.keys() == wanted.keys()
        for names, cell in cells.items():
            assert in_store(cell.measures) == by_hand(wanted[names])
            assert cell.to_states == steps_of(wanted[names])


@settings(max_examples=examples(10))
@given(st.integers(0, 10**6), st.sampled_from(["", "run:night", "trial>=0", "persona:h", "state:co"]))
def test_a_segment_pools_the_rows_of_its_states_and_names_the_worst(seed: int, expression: str) -> None:
    made = world(seed)
    wanted: dict[tuple[Any, ...], list[tuple[ConversationFacts, StateAspects]]] = {}
    narrowed = expression if "state" not in expression else ""
    for facts, row in rows_of(selected(made, parse(narrowed))):
        if narrowed or "state" not in expression or "co" in row.state:
            wanted.setdefault((facts.flow, row.segment), []).append((facts, row))
    with tempfile.TemporaryDirectory() as folder, made.store(Path(folder) / "store.db") as store:
        cells = segment_cells(store, parse(expression))
    found = {tuple(cell.keys.values()): cell for cell in cells}
    assert {names: in_store(cell.measures) for names, cell in found.items()} == {
        names: by_hand(rows) for names, rows in wanted.items()
    }
    for names, cell in found.items():
        members = grouped_by_state(wanted[names])
        assert cell.worst.keys["state"] in members
        assert in_store(cell.worst.measures) == by_hand(members[cell.worst.keys["state"] or ""])
        stalls = [sum(row.stall or 0 for _, row in rows) / len(rows) for rows in members.values()]
        assert cell.worst.measures["stall"].mean == pytest.approx(max(stalls))
    assert cells == sorted(cells, key=worst_first)


def grouped_by_state(rows: Rows) -> dict[str, list[tuple[ConversationFacts, StateAspects]]]:
    found: dict[str, list[tuple[ConversationFacts, StateAspects]]] = {}
    for facts, row in rows:
        found.setdefault(row.state, []).append((facts, row))
    return found


def test_segments_can_be_told_apart_by_agent_or_over_all_flows(store: Store) -> None:
    put(store, "calls.jsonl", [call("c1"), call("c2", agent="model-b", flow="other")])
    by_agent = segment_cells(store, by=("flow", "segment", "agent"))
    assert [cell.keys["agent"] for cell in by_agent] == ["model-b", "model-a"]
    [cell] = segment_cells(store, by=("segment",))
    assert (cell.keys, cell.n) == ({"segment": "collect"}, 4)


def test_the_default_matrices_read_totals_and_never_rows(store: Store) -> None:
    put(store, "calls.jsonl", [call("c1")])
    for question in (state_cells, segment_cells):
        with recorded_queries(store) as statements:
            question(store, parse("flow=viewing state:greet"))
        tables = " ".join(statements)
        assert '"state_total"' in tables
        assert not any(f'"{name}"' in tables for name in ("conversation", "state_score", "state_rollup", "transition"))


def cell(**means: float | None) -> StateCell:
    n = int(means.pop("n", 10) or 0)
    name = str(means.pop("name", "s"))
    measures = {metric: Measure(n, round(value * n * 10**9)) for metric, value in means.items() if value is not None}
    return StateCell(keys={"flow": "f", "state": name}, segment="other", n=n, measures=measures, to_states={})


def test_worst_first_is_stall_then_progress_then_escalation_then_n_then_name() -> None:
    ordered = [
        cell(stall=0.5, progress=0.9, escalation=0.0),
        cell(stall=0.2, progress=0.1, escalation=0.0),
        cell(stall=0.2, progress=0.8, escalation=0.4),
        cell(stall=0.2, progress=0.8, escalation=0.1, n=20),
        cell(stall=0.2, progress=0.8, escalation=0.1, n=10, name=1),
        cell(stall=0.2, progress=0.8, escalation=0.1, n=10, name=2),
        cell(stall=0.0, progress=0.0, escalation=1.0),
        cell(n=0),
    ]
    shuffled = random.Random(5).sample(ordered, len(ordered))
    assert sorted(shuffled, key=worst_first) == ordered


DESCRIBED = DescribedFlow(
    "viewing",
    "booking",
    [
        DescribedState("greet", "opening", None),
        DescribedState("never_seen", "verify", None),
        DescribedState("booked", "closing", "success"),
    ],
    [("greet", "never_seen")],
)


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("", True),
        ("flow=viewing", True),
        ("archetype:book", True),
        ("segment=verify", True),
        ("state:never", True),
        ("flow=other", False),
        ("segment=closing", False),
        ("persona:h", False),
        ("run=night-1", False),
    ],
)
def test_a_described_state_that_no_call_saw_has_no_rows_and_no_means(
    expression: str, shown: bool, store: Store
) -> None:
    put(store, "flow.json", [DESCRIBED])
    put(store, "calls.jsonl", [call("c1", persona="hurried", states=[state("greet")])])
    found = [cell for cell in state_cells(store, parse(expression)) if not cell.n]
    assert [(cell.keys["state"], cell.segment) for cell in found] == ([("never_seen", "verify")] if shown else [])
    assert all(measure.mean is None for cell in found for measure in cell.measures.values())


def test_described_states_are_no_rows_of_single_agents(store: Store) -> None:
    put(store, "flow.json", [DESCRIBED])
    put(store, "calls.jsonl", [call("c1", states=[state("greet")])])
    assert [cell.keys["state"] for cell in state_cells(store, by=("flow", "state", "agent"))] == ["greet"]


def test_of_two_descriptions_the_last_by_path_gives_the_segment(store: Store) -> None:
    put(store, "b.json", [DescribedFlow("viewing", None, [DescribedState("s", "confirm", None)], [])])
    put(store, "a.json", [DescribedFlow("viewing", None, [DescribedState("s", "verify", None)], [])])
    [cell] = state_cells(store)
    assert cell.segment == "confirm"


# expected steps


def task(name: str, correctness: float | None, *steps: ExpectedStep, **given: Any) -> ConversationFacts:
    aspects = {} if correctness is None else {"correctness": correctness}
    return call(name, aspects=aspects, states=[state("opening", to={})], expected=list(steps), **given)


def test_counts_calls_that_missed_a_step_or_took_it_wrongly(store: Store) -> None:
    put(
        store,
        "calls.jsonl",
        [
            task("right", 10.0, ExpectedStep("pay", "agent", True, True)),
            task("missed", 0.0, ExpectedStep("pay", "agent", False, None)),
            task("missed and passed", 10.0, ExpectedStep("pay", "agent", False, None)),
            task("right slots but no success", 10.0, ExpectedStep("pay", "agent", False, None), success=False),
            task("wrong", 0.0, ExpectedStep("pay", "agent", True, False)),
            task("twice", 0.0, ExpectedStep("pay", "agent", True, True), ExpectedStep("pay", "agent", False, None)),
            task("unknown", None, ExpectedStep("pay", "agent", True, None)),
            task("errored", 0.0, ExpectedStep("pay", "agent", False, None), errored=True),
            task("not asked", 0.0),
        ],
    )
    [pay] = [cell for cell in state_cells(store) if cell.keys["state"] == "pay"]
    assert (pay.n, pay.steps) == (0, StepCounts("agent", 7, 3, 1, failed=4, missed_failed=2, wrong_failed=1))
    [opening] = [cell for cell in state_cells(store) if cell.keys["state"] == "opening"]
    assert (opening.steps, opening.asks_steps) == (None, True)


def test_expected_steps_follow_the_filter_and_the_rows(store: Store) -> None:
    step = ExpectedStep("pay", "agent", False, None)
    put(store, "calls.jsonl", [task("a", 0.0, step, persona="p1"), task("b", 0.0, step, agent="model-b")])

    def expected(expression: str, by: tuple[str, ...] = ("flow", "state")) -> list[int | None]:
        cells = state_cells(store, parse(expression), by=by)
        return [cell.steps.expected if cell.steps else None for cell in cells if cell.keys["state"] == "pay"]

    assert expected("persona=p1") == [1]
    assert expected("state=pay") == [2]
    assert expected("state=opening") == []
    assert expected("", ("flow", "state", "agent")) == [1, 1]
    assert expected("run=elsewhere") == []


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("missed_step=pay", ["missed"]),
        ("expected_step=pay", ["missed", "right", "twice", "wrong"]),
        ("wrong_step=pay", ["wrong"]),
        ("missed_step:pa", ["missed"]),
        ("missed_step!=pay", ["other"]),
        ("missed_step=·", ["none", "right", "twice", "wrong"]),
        ("!missed_step=pay", ["none", "other", "right", "twice", "wrong"]),
        ("expected_step=pay correctness<10", ["missed"]),
        ("missed_step=nothing", []),
    ],
)
def test_filters_know_the_steps_that_calls_missed(store: Store, expression: str, found: list[str]) -> None:
    put(
        store,
        "calls.jsonl",
        [
            task("right", 10.0, ExpectedStep("pay", "agent", True, True)),
            task("missed", 0.0, ExpectedStep("pay", "agent", False, None)),
            task("wrong", 10.0, ExpectedStep("pay", "agent", True, False)),
            task("twice", 10.0, ExpectedStep("pay", "agent", True, True), ExpectedStep("pay", "agent", False, None)),
            task("other", 0.0, ExpectedStep("book", "agent", False, None)),
            task("none", 10.0),
        ],
    )
    assert sorted(call.conversation for call in conversations(store, parse(expression))) == found
    assert known_names(store, "missed_step") == ["book", "pay"]


@settings(max_examples=examples(5))
@given(st.integers(0, 10**6))
def test_expected_steps_are_those_of_plain_python(seed: int) -> None:
    made = world(seed)
    calls = grouped((facts for facts in made.calls if not facts.errored), lambda facts: facts.flow)
    with tempfile.TemporaryDirectory() as folder, made.store(Path(folder) / "store.db") as store:
        for cell in state_cells(store):
            steps = [
                [step for step in facts.expected if step.state == cell.keys["state"]]
                for facts in calls.get(cell.keys["flow"], [])
            ]
            expected_steps = [some for some in steps if some]
            assert (cell.steps.expected if cell.steps else 0) == len(expected_steps)
            if cell.steps:
                missed = sum(not any(step.called for step in some) for some in expected_steps)
                assert cell.steps.missed_share == missed / len(expected_steps)


def test_facts_kept_apart_narrow_the_rows_as_well(store: Store) -> None:
    put(store, "calls.jsonl", [call("c1"), call("c2", persona="hurried")])
    [found] = state_cells(store, parse("persona=hurried"), parse("state=greet"))
    assert (found.keys["state"], found.n) == ("greet", 1)
