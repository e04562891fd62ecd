"""A filter finds the same calls in the store as it does in Python."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.support.examples import examples
from tests.support.facts import call, fresh, put
from tests.support.random_predicates import predicates
from tests.support.random_stores import World, selected, world
from tests.surface.store import Predicate, Scope, Store, Term, conversations, count_conversations, needs
from tests.surface.tui import filters_render as render
from tests.surface.tui import parse


@pytest.fixture(scope="module")
def made() -> World:
    return world(7, 60)


@pytest.fixture(scope="module")
def store(made: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with made.store(tmp_path_factory.mktemp("scope") / "store.db") as opened:
        yield opened


@settings(max_examples=examples(60))
@given(predicate=predicates)
def test_the_store_finds_what_python_finds(predicate: Predicate, made: World, store: Store) -> None:
    wanted = sorted((facts.run_id, facts.conversation_id) for facts in selected(made, predicate))
    found = conversations(store, predicate)
    assert sorted((call.run, call.conversation) for call in found) == wanted, render(predicate)
    assert count_conversations(store, predicate) == len(wanted)


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("state=a stall=1", ["stalled in a"]),
        ("(state=a) (stall=1)", ["stalled in a"]),
        ("(state=a stall=1) | flow=x", ["stalled in a"]),
        ("state=a !stall=1", ["in a"]),
        ("(state=a escalation=0) (state=b stall=1)", ["stalled in b"]),
        ("!state=b", ["in a", "stalled in a"]),
        ("!(state=a stall=1)", ["in a", "stalled in b"]),
        ("state!=a", ["stalled in b"]),
        ("(state=a | state=b) stall=1", ["stalled in a", "stalled in b"]),
    ],
)
def test_terms_about_states_side_by_side_speak_of_one_state(expression: str, found: list[str], tmp_path: Path) -> None:
    from tests.support.facts import state

    calls = [
        call("in a", states=[state("a")]),
        call("stalled in a", states=[state("a", stall=1)]),
        call("stalled in b", states=[state("a"), state("b", stall=1)]),
    ]
    with fresh(tmp_path / "store.db") as store:
        put(store, "calls.jsonl", calls)
        assert [call.conversation for call in conversations(store, parse(expression))] == found


def test_thousands_of_names_fit_into_one_question(tmp_path: Path) -> None:
    with fresh(tmp_path / "store.db") as store:
        put(store, "calls.jsonl", [call(f"c{n:05}", persona=f"p{n}", scenario=f"s{n}") for n in range(3000)])
        assert count_conversations(store, parse("persona:p !persona:99 persona:/[0-4]$/ scenario:s")) == 1500 - 15
        assert count_conversations(store, parse("conversation:/1$/ persona:/1$/")) == 300


def test_two_hundred_alternatives_are_no_trouble(tmp_path: Path) -> None:
    with fresh(tmp_path / "store.db") as store:
        put(store, "calls.jsonl", [call(f"c{n:03}") for n in range(300)])
        assert count_conversations(store, parse(" | ".join(f"conversation=c{n:03}" for n in range(200)))) == 200
        assert count_conversations(store, parse(" ".join(f"!conversation=c{n:03}" for n in range(200)))) == 100


@pytest.mark.parametrize("text", ["'; DROP TABLE flow; --", "50%_\\", '"', "\\", "x' OR 1=1 --", "\0", "\ud800"])
def test_a_filter_is_bound_and_never_sql(text: str, store: Store, made: World) -> None:
    wanted = sum(text in facts.flow for facts in made.calls)
    assert count_conversations(store, Term("flow", "contains", text)) == wanted
    query = Scope(store).condition(Term("conversation", "contains", "50%"))
    sql, values = store.engine.compiled(query)
    assert "50" not in sql
    assert values == ["%50\\%%", "\\"]
    count_conversations(store, Term("conversation", "=", text.encode("utf-8", "replace").decode()))


@pytest.mark.parametrize(
    ("expression", "depth"),
    [
        ("", "total"),
        ("flow:dent | agent=x", "total"),
        ("archetype:book", "total"),
        ("flow:dent !run=night-1", "rollup"),
        ("commit:abc", "rollup"),
        ("persona:x", "base"),
        ("dent", "base"),
        ("state=greet", "base"),
        ("flow:dent humanness.codex<3", "base"),
    ],
)
def test_knows_how_deep_a_question_has_to_look(expression: str, depth: str) -> None:
    assert needs(parse(expression)) == depth


def test_rows_by_run_need_the_sums_by_run_and_rows_by_persona_the_calls() -> None:
    assert needs(None, ("flow", "agent")) == "total"
    assert needs(None, ("flow", "run")) == "rollup"
    assert needs(None, ("flow", "persona")) == "base"
    assert needs(parse("state=greet"), ("flow", "state"), state_rows=True) == "total"
    assert needs(parse("segment=collect"), ("flow", "state"), state_rows=True) == "base"
