"""Coverage: what plain Python counts of what calls touched, and what of files and earlier runs none did."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Iterable, Iterator
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
    Coverage,
    DescribedFlow,
    DescribedState,
    Store,
    Touched,
    count_conversations,
    coverage,
)
from tests.surface.tui import parse

FILTERS: dict[str, Callable[[ConversationFacts], bool]] = {
    **CALL_FILTERS,
    "run=night-2": lambda facts: facts.run_id == "night-2",
    "slot=day": lambda facts: facts.path is not None and "day" in facts.path.slots,
}


def touching(seed: int, size: int = 24) -> World:
    """Calls of which most touched something of their flow, in which `booked` is an outcome."""
    made, chance = world(seed, size).copy(), random.Random(seed)
    for facts in made.calls:
        facts.terminals = {"booked": "success"}
        if chance.random() < 0.8:
            names = chance.sample(["greet", "collect", "confirm", "booked"], chance.randint(1, 4))
            edges = [(one, other) for one in range(len(names)) for other in range(len(names)) if chance.random() < 0.3]
            facts.path = Touched(
                names,
                chance.randint(0, len(names)),
                [place for edge in edges for place in edge],
                chance.sample(["day", "name"], chance.randint(0, 2)),
                chance.sample(["passed has_day", "failed has_day", "error x"], chance.randint(0, 2)),
                chance.sample(["book", "look"], chance.randint(0, 1)),
            )
    return World(made.calls, made.verdicts)


def touched_by(facts: ConversationFacts) -> Iterator[tuple[str, str]]:
    path = facts.path
    if path is not None:
        for name in path.names[: path.visited]:
            yield "terminal" if name == "booked" else "state", name
        for start, end in zip(path.edges[::2], path.edges[1::2], strict=True):
            yield "edge", f"{path.names[start]} > {path.names[end]}"
        for kind in ("slot", "guard", "tool"):
            yield from ((kind, name) for name in getattr(path, f"{kind}s"))


def by_hand(
    calls: Iterable[ConversationFacts], keep: Callable[[ConversationFacts], bool], earlier: Any, by: tuple[str, ...]
) -> dict[tuple[Any, ...], Any]:
    """The calls, the last run, and of each item how many touched it, were served, failed, and in which run the last."""
    own = [facts for facts in calls if not facts.errored]
    starts: dict[str, list[int]] = {}
    for facts in calls:
        starts.setdefault(facts.run_id, []).extend([facts.started_at] if facts.started_at else [])
    order = sorted(starts, key=lambda run: (not starts[run], min(starts[run], default=0), run))
    found: dict[tuple[Any, ...], Any] = {}
    places = dict.fromkeys(tuple(grouped_by(facts, name) for name in by) for facts in own if keep(facts))
    for place in places:
        at = dict(zip(by, place, strict=True))
        here = [each for each in own if keep(each) and all(grouped_by(each, name) == at[name] for name in by)]
        last = max((each.run_id for each in here), key=order.index)
        past = [each for each in own if earlier(each) and order.index(each.run_id) <= order.index(last)]
        of_flow = [each for each in past if each.flow == at["flow"]]
        alike = [each for each in past if all(grouped_by(each, name) == at[name] for name in by if name != "run")]
        rows = {}
        for item in {item for each in of_flow for item in touched_by(each)}:
            of_item = [each for each in here if item in touched_by(each)]
            runs = [each.run_id for each in alike if item in touched_by(each)]
            rows[item] = (
                len(of_item),
                sum(each.success is True for each in of_item),
                sum(each.success is False for each in of_item),
                max(runs, key=order.index, default=None),
            )
        found[place] = (len(here), last, rows)
    return found


def in_store(found: list[Coverage]) -> dict[tuple[Any, ...], Any]:
    return {
        tuple(each.keys.values()): (
            each.calls,
            each.last,
            {(row.kind, row.item): (row.calls, row.served, row.failed, row.last) for row in each.items},
        )
        for each in found
    }


def wanted(made: World, expression: str, by: tuple[str, ...]) -> dict[tuple[Any, ...], Any]:
    earlier = FILTERS[expression]
    if "run=" in expression:
        earlier = (lambda facts: facts.agent_model == "gemini") if "agent" in expression else FILTERS[""]
    return by_hand(made.calls, FILTERS[expression], earlier, by)


@settings(max_examples=examples(6))
@given(st.integers(0, 10**6), st.sampled_from(GROUPINGS))
def test_coverage_is_what_plain_python_counts(seed: int, by: tuple[str, ...]) -> None:
    made = touching(seed)
    with tempfile.TemporaryDirectory() as folder, made.store(Path(folder) / "store.db") as store:
        for expression in FILTERS:
            assert in_store(coverage(store, parse(expression), by)) == wanted(made, expression, by), expression


def test_a_store_of_many_calls_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = touching(5, 70)
    set_small_groups(monkeypatch)
    with packed(made, tmp_path / "packed.db") as store:
        for by in GROUPINGS:
            for expression in FILTERS:
                assert in_store(coverage(store, parse(expression), by)) == wanted(made, expression, by), expression


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_filter_finds_the_calls_that_touched_an_item(
    is_packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = touching(7, 40)
    set_small_groups(monkeypatch)
    with packed(made, tmp_path / "a.db") if is_packed else made.store(tmp_path / "a.db") as store:
        for found in coverage(store):
            for row in found.items:
                field = {"state": "visited", "terminal": "visited"}.get(row.kind, row.kind)
                if row.kind != "tool":
                    assert (
                        count(store, f"flow={json.dumps(found.keys['flow'])} {field}={json.dumps(row.item)}")
                        == row.calls
                    )
        by_slots: dict[str, Callable[[list[str]], bool]] = {
            "slot!=day": lambda slots: bool(slots) and "day" not in slots,
            "!slot=day": lambda slots: "day" not in slots,
            "slot=·": lambda slots: not slots,
            "slot:A": lambda slots: bool(slots),
        }
        for expression, keep in by_slots.items():
            own = [facts for facts in made.calls if keep(facts.path.slots if facts.path else [])]
            assert count(store, expression, errored=True) == len(own), expression


def count(store: Store, expression: str, *, errored: bool = False) -> int:
    return count_conversations(store, parse(expression if errored else f"{expression} errored=false"))


# What files declare.


def viewing(**contract: Any) -> DescribedFlow:
    states = [DescribedState("greet", "opening", None), DescribedState("ask", "collect", None)]
    states.append(DescribedState("booked", "closing", "success"))
    return DescribedFlow("viewing", None, states, [("greet", "ask"), ("ask", "booked")], json.dumps(contract))


def path(*names: str, **given: Any) -> Touched:
    edges = [place for at in range(len(names) - 1) for place in (at, at + 1)]
    return Touched([*names], len(names), edges, **given)


def rows_of(found: Coverage) -> list[tuple[str, str, int]]:
    return [(row.kind, row.item, row.calls) for row in found.items]


def test_what_a_file_declares_and_no_call_touched_comes_first(tmp_path: Path) -> None:
    asks = {"required_slots": ["day"], "tool": ["look"]}
    described = viewing(required_slots=["name"], required_tools=["book"], guards=["has_day"], states={"ask": asks})
    way = path("greet", "ask", slots=["day", "other"], guards=["failed has_day", "error odd"], tools=["look", "odd"])
    with fresh(tmp_path / "calls.db") as store:
        put(store, "flow.toml", [described])
        put(store, "calls.jsonl", [call("a", path=way), call("b", errored=True, path=path("greet", "ask", "booked"))])
        (found,) = coverage(store)
    assert rows_of(found) == [
        ("edge", "ask > booked", 0),
        ("slot", "name", 0),
        ("guard", "passed has_day", 0),
        ("terminal", "booked", 0),
        ("tool", "book", 0),
        ("state", "ask", 1),
        ("state", "greet", 1),
        ("edge", "greet > ask", 1),
        ("slot", "day", 1),
        ("guard", "failed has_day", 1),
        ("guard", "error odd", 1),
        ("tool", "look", 1),
    ]
    assert found.is_declared
    assert [row.item for row in found.items if not row.declared] == ["error odd"]
    assert {row.last for row in found.untouched} == {None}


def test_a_kind_of_which_a_file_declares_nothing_is_learned_from_earlier_runs(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "flow.toml", [viewing()])
        put(store, "calls.jsonl", [call("a", run="n1", path=path("greet", slots=["day"])), call("b", run="n2")])
        (found,) = coverage(store, parse("run=n2"))
        assert [(row.kind, row.item, row.declared, row.last) for row in found.items][-2:] == [
            ("slot", "day", False, "n1"),
            ("terminal", "booked", True, None),
        ]
        (whole,) = coverage(store)
    assert [(row.item, row.last) for row in whole.lapsed] == [("greet", "n1"), ("day", "n1")]


def test_a_later_run_is_no_earlier_one(tmp_path: Path) -> None:
    runs = [call(run, run=run, started_at=at, path=path(run)) for at, run in enumerate(("n1", "n2", "n3"), 1)]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "calls.jsonl", runs)
        (found,) = coverage(store, parse("run=n2"))
    assert [(row.item, row.calls, row.last) for row in found.items] == [("n1", 0, "n1"), ("n2", 1, "n2")]


def test_a_flow_that_nobody_called_is_there_unless_the_filter_speaks_of_calls(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "flow.toml", [viewing()])
        put(store, "calls.jsonl", [call("a", flow="other", path=path("greet"))])
        assert [(each.keys["flow"], each.calls, each.last) for each in coverage(store)] == [
            ("viewing", 0, None),
            ("other", 1, "night-1"),
        ]
        assert [each.keys["flow"] for each in coverage(store, parse("flow:view"))] == ["viewing"]
        assert [each.keys["flow"] for each in coverage(store, parse("agent:model"))] == ["other"]
