"""Routes: what plain Python counts over the calls, wherever it is read, and filters that list exactly their calls."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.facts import call, fresh, grouped_by, put
from tests.support.packed_stores import packed, set_small_groups
from tests.support.random_stores import CALL_FILTERS, GROUPINGS, World, world
from tests.surface.store import (
    ConversationFacts,
    DescribedFlow,
    FlowRoutes,
    Grouping,
    Route,
    Store,
    Touched,
    beginnings,
    call_counts,
    route_text,
    routes,
    run_order,
    suspicions,
)
from tests.surface.tui import parse, where

FILTERS: dict[str, Callable[[ConversationFacts], bool]] = {
    **CALL_FILTERS,
    "duration_s>1": lambda facts: facts.duration_s is not None,
    "state=greet": lambda facts: any(row.state == "greet" for row in facts.states),
    'route="greet > collect"': lambda facts: states_of(facts) == ("greet", "collect"),
    'beginning="greet > collect"': lambda facts: states_of(facts)[:2] == ("greet", "collect"),
    "route=·": lambda facts: not states_of(facts),
}
NAMES = ("greet", "collect", "book", "a > b", "", " ", 'say "no"', "\\", ">", "x\ny")


def states_of(facts: ConversationFacts) -> tuple[str, ...]:
    return () if facts.path is None else facts.path.states


def walked(seed: int, size: int = 24) -> World:
    """Calls that took some way, most of them in an order that is known."""
    made, chance = world(seed, size).copy(), random.Random(seed)
    for facts in made.calls:
        names = chance.sample(NAMES[:3] if chance.random() < 0.7 else NAMES, chance.randrange(1, 4))
        edges = [place for _ in range(chance.randrange(3)) for place in chance.choices(range(len(names)), k=2)]
        in_order = chance.random() < 0.9
        facts.path = None if chance.random() < 0.1 else Touched(names, len(names), edges, in_order=in_order)
    return made


def by_hand(calls: Iterable[ConversationFacts], by: tuple[str, ...]) -> dict[tuple[Any, ...], Any]:
    found: dict[tuple[Any, ...], list[ConversationFacts]] = {}
    for facts in calls:
        if not facts.errored:
            found.setdefault(tuple(grouped_by(facts, name) for name in by), []).append(facts)
    return {names: (len(own), _rows(own)) for names, own in found.items()}


def _rows(calls: list[ConversationFacts]) -> dict[tuple[str, ...], Any]:
    found: dict[tuple[str, ...], list[ConversationFacts]] = {}
    for facts in calls:
        found.setdefault(states_of(facts), []).append(facts)
    return {
        route: (
            len(own),
            len(own) / len(calls),
            sum(facts.success is True for facts in own),
            sum(facts.success is False for facts in own),
        )
        for route, own in found.items()
    }


def in_store(found: list[FlowRoutes]) -> dict[tuple[Any, ...], Any]:
    return {
        tuple(each.keys.values()): (
            each.calls,
            {
                row.states: (row.n, row.share, round((row.success.mean or 0) * row.success.n), row.failed)
                for row in each.routes
            },
        )
        for each in found
    }


@settings(max_examples=examples(6))
@given(st.integers(0, 10**6), st.sampled_from(GROUPINGS))
def test_routes_are_what_plain_python_counts(seed: int, by: tuple[str, ...]) -> None:
    made = walked(seed)
    with tempfile.TemporaryDirectory() as folder, made.store(Path(folder) / "store.db") as store:
        for expression, keep in FILTERS.items():
            wanted = by_hand(filter(keep, made.calls), by)
            found = routes(store, parse(expression), by)
            assert in_store(found) == wanted, expression
            assert all(sorted(each.routes, key=lambda row: -row.n) == list(each.routes) for each in found)
        assert_examples(store, made, by)


def assert_examples(store: Store, made: World, by: tuple[str, ...]) -> None:
    """Each route names one of its calls, one that failed if any did."""
    calls = dict(store.execute_sql("SELECT id, name FROM conversation"))
    facts_of = {facts.conversation_id: facts for facts in made.calls}
    for each in routes(store, None, by):
        for row in each.routes:
            facts = facts_of[calls[row.example]]
            assert (states_of(facts), facts.errored) == (row.states, False)
            assert tuple(grouped_by(facts, name) for name in by) == tuple(each.keys.values())
            assert facts.success is False or not row.failed


def test_a_store_of_many_calls_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = walked(5, 70)
    set_small_groups(monkeypatch)
    with packed(made, tmp_path / "packed.db") as store:
        for by in GROUPINGS:
            for expression, keep in FILTERS.items():
                wanted = by_hand(filter(keep, made.calls), by)
                assert in_store(routes(store, parse(expression), by)) == wanted, (by, expression)
            assert_examples(store, made, by)


def test_the_name_of_a_route_lists_its_calls_whatever_its_states_are_called(tmp_path: Path) -> None:
    ways = [(one, other) for one in NAMES for other in NAMES if one != other] + [(one,) for one in NAMES]
    calls = [call(f"c{at}", path=Touched(list(way), len(way))) for at, way in enumerate(ways)]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "calls.jsonl", calls)
        for way in ways:
            assert listed(store, where({"route": route_text(way)})) == 1
            begun = sum(each[: len(way)] == way for each in ways)
            assert listed(store, where({"beginning": route_text(way)})) == begun, way
        assert listed(store, 'route:"say"') == sum(any("say" in name for name in way) for way in ways)


def listed(store: Store, expression: str) -> int:
    return sum(n for n, _ in call_counts(store, parse(expression), Grouping(())).values())


@given(st.lists(st.text(st.sampled_from('a >\\"'), max_size=4), min_size=1, max_size=4))
def test_a_route_begins_with_what_its_states_begin_with(states: list[str]) -> None:
    wanted = [route_text(states[: end + 1]) for end in range(len(states))]
    assert beginnings(str(route_text(states))) == wanted


def way(name: str, *states: str, run: str = "night-1", day: int = 1, **given: Any) -> ConversationFacts:
    edges = [place for step in range(len(states) - 1) for place in (step, step + 1)]
    started = day * 86_400_000_000
    return call(name, run=run, started_at=started, path=Touched(list(states), len(states), edges), **given)


def only(store: Store, expression: str = "", by: tuple[str, ...] = ("flow",)) -> FlowRoutes:
    (found,) = routes(store, parse(expression), by)
    return found


def by_states(found: FlowRoutes, of: Callable[[Route], Any]) -> dict[tuple[str, ...], Any]:
    return {row.states: of(row) for row in found.routes}


def test_a_route_is_new_where_no_run_that_began_earlier_took_it(tmp_path: Path) -> None:
    calls = [
        way("1", "a", "b", run="z-first", day=1),
        way("2", "a", "b", run="a-last", day=9),
        way("3", "a", "c", run="a-last", day=9),
        way("4", "a", "d", run="m-middle", day=5),
        way("5", "a", "e", run="z-first", day=1, errored=True),
        way("6", "a", "e", run="a-last", day=9, persona="h"),
    ]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "calls.jsonl", calls)
        assert sorted(run_order(store), key=run_order(store).__getitem__) == ["z-first", "m-middle", "a-last"]
        news = by_states(only(store), lambda row: row.is_new)
        assert news == {("a", "b"): False, ("a", "c"): True, ("a", "d"): False, ("a", "e"): True}
        # Earlier runs tell, also where the filter leaves them out.
        alone = by_states(only(store, "run=a-last"), lambda row: row.is_new)
        assert alone == {("a", "b"): False, ("a", "c"): True, ("a", "e"): True}
        assert by_states(only(store, "persona=h"), lambda row: row.is_new) == {("a", "e"): True}
        assert by_states(only(store, "run=m-middle"), lambda row: row.is_new) == {("a", "d"): True}
        assert by_states(only(store, "run=z-first"), lambda row: row.is_new) == {("a", "b"): None}


def test_calls_that_leave_the_steps_of_the_flows_file_are_counted(tmp_path: Path) -> None:
    calls = [
        way("1", "a", "b", "c"),
        way("2", "a", "c"),
        call("3", path=Touched(["a", "b"], 2, [0, 1, 1, 0, 0, 1])),
        call("4", path=Touched(["a", "b"], 2, [0, 1])),
        call("5", path=Touched([], 0, slots=["name"])),
        way("6", "a", "z", errored=True),
        way("7", "a", "z", flow="unknown"),
    ]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "calls.jsonl", calls)
        put(store, "flow.yaml", [DescribedFlow("viewing", None, [], [("a", "b"), ("b", "c")])])
        found = {each.keys["flow"]: each for each in routes(store)}
    known, other = found["viewing"], found["unknown"]
    assert by_states(known, lambda row: row.off) == {("a", "b"): 1, ("a", "b", "c"): 0, ("a", "c"): 1, (): 0}
    assert (known.off, known.followed, known.calls, known.conformance) == (2, 4, 5, 0.5)
    assert (other.off, other.conformance, by_states(other, lambda row: row.off)) == (None, None, {("a", "z"): None})


def test_flows_with_too_many_routes_have_what_is_common_to_some(tmp_path: Path) -> None:
    calls = [way(f"b{at}", "a", "b", "c", f"x{at}") for at in range(40)]
    calls += [way(f"d{at}", "a", "d", f"x{at}", success=False) for at in range(20)]
    calls += [way(f"e{at}", f"e{at}") for at in range(40)]
    calls += [way(f"f{at}", "f", "g") for at in range(2)]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "calls.jsonl", calls)
        found = only(store)
        few = only(store, 'beginning="f"')
    assert len(found.routes) == 101
    assert [(row.states, row.n, row.failed) for row in found.beginnings] == [
        (("a",), 60, 20),
        (("a", "b", "c"), 40, 0),
        (("a", "d"), 20, 20),
    ]
    assert (few.beginnings, [row.states for row in few.routes]) == ([], [("f", "g")])


def test_a_step_that_goes_with_failing_is_suspicious(tmp_path: Path) -> None:
    calls = [way(f"f{at}", "a", "b", success=False) for at in range(8)]
    calls += [way(f"g{at}", "a", "c", success=at > 1) for at in range(10)]
    calls += [way("u", "a", "b", success=None), way("e", "a", "b", success=False, errored=True)]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "calls.jsonl", calls)
        found = suspicions(store, parse("flow=viewing"))
        none = suspicions(store, parse("success=1"))
    assert found["a", "b"].ochiai == pytest.approx(8 / (8 * 10) ** 0.5)
    assert found["a", "c"].ochiai == pytest.approx(2 / (10 * 10) ** 0.5)
    assert found["a", "b"].p == pytest.approx(found["a", "c"].p) == pytest.approx(46 / 43758)
    assert none == {}
