"""Long lists of calls: wherever one looks, the same calls at the same places."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from tests.support.facts import call, fresh, put
from tests.support.recorded_queries import recorded_queries
from tests.surface.store import CallList, ConversationFacts, Predicate, Store, call_list
from tests.surface.tui import parse

AGENTS = ("model-b", "model-a")
STARTED = {"late": 900, "early": 100, "undated": None, "first": 50}
FILTERS = {
    "": lambda one: True,
    "agent=model-a": lambda one: one.agent_model == "model-a",
    "flow=dental run!=first": lambda one: one.flow == "dental" and one.run_id != "first",
    "persona=calm": lambda one: one.persona == "calm",
    "persona=calm flow=dental": lambda one: one.persona == "calm" and one.flow == "dental",
    "persona=nobody": lambda one: False,
    "conversation=c-3": lambda one: one.conversation_id == "c-3",
}


def facts() -> list[ConversationFacts]:
    return [
        call(
            f"c-{number}", run=run, flow=flow, agent=agent, trial=trial, started_at=STARTED[run], errored=number == 5,
            persona="calm" if number % 3 else "hurried",
        )
        for run, flow, agent, number, trial in product(
            STARTED, ("viewing", "dental"), AGENTS, range(6), (2, 1)
        )
    ]  # fmt: skip


def ordered(wanted: str) -> list[tuple[str, ...]]:
    """Names in the order of lists; agents in that in which they came into the store."""

    def place(one: ConversationFacts) -> tuple[object, ...]:
        started = STARTED[one.run_id]
        agent = AGENTS.index(one.agent_model)
        return started is None, started or 0, one.run_id, one.flow, one.conversation_id, agent, one.trial

    return [
        (one.run_id, one.flow, one.conversation_id, one.agent_model, str(one.trial))
        for one in sorted(filter(FILTERS[wanted], facts()), key=place)
    ]


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with fresh(tmp_path_factory.mktemp("list") / "store.db") as opened:
        put(opened, "calls.jsonl", facts())
        yield opened


@pytest.fixture(params=[(20_000, 2048), (0, 5), (0, 2)], ids=["runs at once", "pieces", "small pieces"])
def _sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once, piece = request.param
    monkeypatch.setattr(call_list, "AT_ONCE", at_once)
    monkeypatch.setattr(call_list, "PIECE", piece)


def named(store: Store, keys: list[int]) -> list[tuple[str, ...]]:
    rows = store.execute_sql(
        "SELECT c.id, r.name, f.name, c.name, a.name, c.trial FROM conversation c JOIN run r ON r.id = c.run_id"
        " JOIN flow f ON f.id = c.flow_id JOIN agent a ON a.id = c.agent_id"
    )
    names = {row[0]: (*row[1:5], str(row[5])) for row in rows}
    return [names[key] for key in keys]


def predicate(expression: str) -> Predicate | None:
    return parse(expression) if expression else None


@pytest.mark.usefixtures("_sizes")
@pytest.mark.parametrize("expression", FILTERS)
def test_calls_stand_where_they_stand_in_the_whole_list(full: Store, expression: str) -> None:
    expected, listed = ordered(expression), CallList(full, predicate(expression))
    assert named(full, listed.first(7)) == expected[:7]
    assert len(listed) == len(expected)
    assert named(full, listed[len(expected) // 2 :]) == expected[len(expected) // 2 :]
    assert named(full, list(listed)) == expected
    assert [listed.place_of(key) for key in listed] == list(range(len(expected)))


@pytest.mark.usefixtures("_sizes")
def test_a_call_that_is_not_listed_has_no_place(full: Store) -> None:
    listed, hurried = CallList(full, parse("persona=calm")), CallList(full, parse("persona=hurried"))
    assert listed.place_of(hurried[0]) is None
    assert listed.place_of(10**9) is None


def test_the_last_calls_are_read_without_those_before(full: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_list, "AT_ONCE", 0)
    monkeypatch.setattr(call_list, "PIECE", 4)
    listed = CallList(full)
    with recorded_queries(full) as queries:
        assert named(full, [listed[-1]]) == ordered("")[-1:]
    assert len(queries) == 1


def test_the_first_calls_are_there_before_all_are_counted(full: Store) -> None:
    listed = CallList(full, parse("persona=calm"))
    assert not listed.is_counted
    assert listed.at_most == len(ordered(""))
    assert named(full, listed.first(1000, among=1)) == [each for each in ordered("persona=calm") if each[0] == "first"]
    assert not listed.is_counted
    assert len(listed) == len(ordered("persona=calm"))


def test_a_filter_that_sums_can_answer_is_counted_at_once(full: Store) -> None:
    assert CallList(full, parse("agent=model-a run!=first")).is_counted


def test_a_call_is_found_by_its_id_at_once_in_however_many_runs(tmp_path: Path) -> None:
    with fresh(tmp_path / "store.db") as store:
        put(store, "calls.jsonl", [call(f"c-{number}", run=f"run-{number:03d}") for number in range(300)])
        with recorded_queries(store) as queries:
            listed = CallList(store, parse("conversation=c-277"))
            (key,) = listed.first(2)
        assert named(store, [key])[0][0] == "run-277"
        assert (list(listed), listed[0], listed.place_of(key), listed.place_of(key + 1)) == ([key], key, 0, None)
        assert len(queries) == 1


def test_few_calls_of_many_runs_take_few_statements(tmp_path: Path) -> None:
    with fresh(tmp_path / "store.db") as store:
        facts = [call(f"c-{n}", run=f"run-{n:03d}", persona="calm" if n == 277 else "hurried") for n in range(300)]
        put(store, "calls.jsonl", facts)
        listed = CallList(store, parse("persona=calm"))
        with recorded_queries(store) as queries:
            (key,) = listed.first(2)
        assert named(store, [key])[0][0] == "run-277"
        assert len(queries) <= 10
