"""Coverage: what is never touched comes first, a flow's counts in a line, and the filters that rows lead to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.facts import call, fresh, put
from tests.surface.store import Coverage, CoveredItem, DescribedFlow, DescribedState, Store, Touched
from tests.surface.tui import Request, show
from tests.surface.tui import coverage_table as coverage


def item(kind: str, name: str, calls: int = 0, last: str | None = None, *, declared: bool = True) -> CoveredItem:
    return CoveredItem(kind, name, calls, calls, 0, declared, last)  # type: ignore[arg-type]


GROOMING = Coverage(
    {"flow": "dog_grooming"},
    12,
    "n3",
    [
        item("edge", "ask > human"),
        item("terminal", "human", last="n1"),
        item("guard", "failed has_day", 1, "n2"),
        item("state", "ask", 12, "n3"),
        item("edge", "ask > booked", 12, "n3"),
    ],
)
LEARNED = Coverage({"flow": "bank"}, 3, "n3", [item("slot", "pin", 2, "n2", declared=False)])


def test_one_flow_has_its_counts_by_kind_in_the_sentence_to_read_first() -> None:
    table = coverage([GROOMING])
    assert table.title == "Coverage: dog_grooming · 12 calls"
    assert table.lead == "states 1 of 1, edges 1 of 2, guards 1 of 1, terminals 0 of 1; 1 not in n3."
    assert [column.key for column in table.columns if column.shown][:2] == ["kind", "item"]


def test_several_flows_have_a_line_each_and_what_is_never_touched_comes_first_of_all() -> None:
    table = coverage([GROOMING, LEARNED])
    assert table.title == "Coverage: 2 flows"
    assert table.lead == (
        "states 1 of 1, edges 1 of 2, slots 1 of 1, guards 1 of 1, terminals 0 of 1 (1 of 2 without a file);"
        " 2 not in n3."
    )
    assert coverage([LEARNED, LEARNED]).lead == "slots 2 of 2 (without a file); 2 not in n3."
    assert table.notes[1:] == [
        "dog_grooming · 12 calls: states 1 of 1, edges 1 of 2, guards 1 of 1, terminals 0 of 1; 1 not in n3.",
        "bank · 3 calls: slots 1 of 1 (without a file); 1 not in n3.",
    ]
    assert [(row.record["item"], row.display["last"]) for row in table.rows] == [
        ("ask > human", "never"),
        ("human", "n1"),
        ("failed has_day", "n2"),
        ("pin", "n2"),
        ("ask", ""),
        ("ask > booked", ""),
    ]
    assert [row.severity.get("") for row in table.rows] == ["warn", "warn", None, None, None, None]


def test_a_row_leads_to_the_calls_that_touched_it_else_to_those_of_the_last_run_that_has_any() -> None:
    never, before, *_, edge = coverage([GROOMING]).rows
    assert (never.where, never.leads) == ("", "")
    assert before.leads == "flow=dog_grooming visited=human run=n1 errored=false"
    assert (edge.where, edge.leads) == ('flow=dog_grooming edge="ask > booked" errored=false', "")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    states = [DescribedState("ask", "", None), DescribedState("booked", "", "success")]
    way = Touched(["ask", "booked"], 2, [0, 1])
    store = fresh(tmp_path / "calls.db")
    put(store, "flow.toml", [DescribedFlow("viewing", None, states, [("ask", "booked"), ("ask", "ask")])])
    put(
        store,
        "calls.jsonl",
        [call("a", path=way, persona="calm"), call("b", persona="hurried"), call("c", errored=True)],
    )
    return store


def test_the_command_prints_what_was_asked_for(store: Store) -> None:
    rows = [{key: row.record[key] for key in KEYS} for row in show(store, "coverage", Request()).rows]
    assert rows == [
        dict(zip(KEYS, each, strict=True))
        for each in (
            ("viewing", "edge", "ask > ask", 0, 0, 0),
            ("viewing", "state", "ask", 1, 1, 0),
            ("viewing", "edge", "ask > booked", 1, 1, 0),
            ("viewing", "terminal", "booked", 1, 1, 0),
        )
    ]
    found = show(store, "coverage", Request(where="kind=edge calls=0", by=("persona",)))
    assert [(row.record["persona"], row.record["item"]) for row in found.rows] == [
        ("hurried", "ask > ask"),
        ("hurried", "ask > booked"),
        ("calm", "ask > ask"),
    ]
    assert "Excluded: 1 errored call is not counted in averages." in found.notes


KEYS = ("flow", "kind", "item", "calls", "served", "failed")
