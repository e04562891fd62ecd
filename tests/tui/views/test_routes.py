"""Routes as a table: what is read where two part, what stands for too many of them, and what programs read."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.facts import call, fresh, put
from tests.support.golden import GOLDEN, printed
from tests.support.hostile import HOSTILE
from tests.surface.ingest import ingest
from tests.surface.store import ConversationFacts, FlowRoutes, Measure, Route, Store, Touched, Writer
from tests.surface.tui import NO_STATES, Request, Table, left_out, routes_routes, show, side_by_side

OUTCOMES = {"booked": "success", "human": "escalation"}
WAYS = (
    ("greet collect confirm booked", 60, 2),
    ("greet collect human", 30, 30),
    ("greet collect", 6, 6),
    ("greet apologize", 1, 1),
    ("", 3, 0),
)


def route(states: str, n: int, failed: int, *, calls: int = 100, **given: Any) -> Route:
    success = Measure(n, (n - failed) * 1_000_000_000, float(n - failed), rate=True)
    settings: dict[str, Any] = {"excluded": 0, "off": None, "is_new": False, "example": 1}
    return Route(tuple(states.split()), n, share=n / calls, success=success, **(settings | given))


def of_flow(found: Sequence[Route], *, flow: str = "viewing", common: Sequence[Route] = (), **given: Any) -> FlowRoutes:
    calls, failed = sum(each.n for each in found), sum(each.failed for each in found)
    settings: dict[str, Any] = {"followed": calls, "off": None, "outcomes": OUTCOMES}
    return FlowRoutes({"flow": flow}, calls, failed, routes=found, beginnings=common, **(settings | given))


def shown(table: Table, **options: Any) -> list[str]:
    return printed(table, "text", **options).splitlines()


def routes_of(table: Table) -> list[str]:
    return [row.display["route"] for row in table.rows]


def test_each_route_says_where_it_parts_from_the_largest_one() -> None:
    found = [route(*way) for way in WAYS]
    table = routes_routes([of_flow(found)])
    assert shown(table, width=80)[:8] == [
        "Routes: viewing · 5 routes of 100 calls · 39 failed",
        "",
        "  Route                                   n  share  success  failed",
        "  greet › collect › confirm › ✓ booked  60     60%      97%       2",
        "! … collect » ↗ human                   30     30%       0%      30",
        "! … collect » (ends)                     6      6%       0%       6",
        "~ greet » apologize                      1~     1%       0%       1",
        "~ (order not known)                      3~     3%     100%       0",
    ]
    text = printed(table, "text", ascii_only=True)
    assert text.isascii()
    assert "... collect >> esc human" in text
    assert "… collect » ↗ human" in printed(table, "markdown")


def test_one_that_goes_on_where_the_largest_ends_parts_there_and_one_without_its_beginning_at_once() -> None:
    table = routes_routes(
        [of_flow([route("greet collect", 9, 0), route("greet collect more", 4, 0), route("x y", 3, 0)])]
    )
    assert routes_of(table) == ["greet › collect", "… collect » more", "» x › y"]


def test_rare_routes_are_folded_where_people_read_but_not_new_ones_or_those_off_the_file() -> None:
    rare = [
        route("greet rare", 2, 2, calls=1000),
        route("greet new", 2, 2, calls=1000, is_new=True),
        route("greet off", 2, 2, calls=1000, off=2),
    ]
    table = routes_routes([of_flow([route("greet collect", 994, 0, calls=1000, off=0), *rare], off=2)])
    text = printed(table, "text")
    assert [name in text for name in ("rare", "» new", "» off", "+ 1 route  ")] == [False, True, True, True]
    assert "Folded: routes that less than 1% of calls took." in table.notes
    assert left_out(table) == ["Thin: 3 rows have n < 5, marked ~, 1 of them folded."]
    assert len(json.loads(printed(table, "json"))["rows"]) == 4


def test_how_many_calls_stay_on_the_file_is_said_where_there_is_one() -> None:
    found = [route("greet collect", 90, 0, off=0), route("greet human", 10, 10, off=8)]
    table = routes_routes([of_flow(found, off=8)])
    assert "Conformance: 92 of 100 calls (92%) stay on the steps of the flow's files." in table.notes
    assert [row.display.get("off", row.record["off"]) for row in table.rows] == ["", 8]
    assert [column.shown for column in table.columns if column.key == "off"] == [True]
    bare = routes_routes([of_flow([route("greet", 5, 0)])])
    assert [column.shown for column in bare.columns if column.key in ("off", "new")] == [False, False]
    several = routes_routes([of_flow(found, off=8), of_flow([route("greet", 5, 0)], flow="dental")])
    assert [note for note in several.notes if " · " in note and note.startswith(("viewing", "dental"))] == [
        "viewing · 2 routes of 100 calls · 10 failed · 92 of 100 calls (92%) stay on the steps of the flow's files.",
        "dental · 1 route of 5 calls · 0 failed.",
    ]


def test_common_beginnings_stand_for_too_many_routes_where_people_read() -> None:
    many = [route(f"greet collect x{number}", 1, 0) for number in range(60)]
    many += [route(f"hello y{number}", 1, 1) for number in range(40)]
    common = [route("greet collect", 60, 0), route("greet collect confirm booked", 20, 0), route("hello", 40, 40)]
    answer = of_flow(many, common=common)
    table = routes_routes([answer], outline=True)
    assert [line for line in shown(table) if "%" in line] == [
        "  greet › collect       60    60%     100%       0",
        "    confirm › ✓ booked  20    20%     100%       0",
        "! hello                 40    40%       0%      40",
    ]
    assert any(note.startswith("Hardly two calls take the same route: the flow has too many") for note in table.notes)
    assert [row.where for row in table.rows][1] == 'flow=viewing beginning="greet > collect > confirm > booked"'
    data = json.loads(printed(routes_routes([answer]), "json"))
    assert len(data["rows"]) == 100
    assert [each["n"] for each in data["beginnings"]] == [60, 20, 40]
    assert data["beginnings"][1]["route"] == ["greet", "collect", "confirm", "booked"]


def test_programs_read_the_states_of_each_route() -> None:
    table = routes_routes([of_flow([route(*way) for way in WAYS])])
    found = json.loads(printed(table, "json"))
    assert set(found["rows"][0]) >= {"flow", "route", "n", "share", "success_rate", "failed", "off", "new", "example"}
    assert [row["route"] for row in found["rows"]] == [way[0].split() or None for way in WAYS]
    assert found["flows"] == [
        {"flow": "viewing", "routes": 5, "calls": 100, "failed": 39, "followed": 100, "off": None, "conformance": None}
    ]
    lines = list(csv.DictReader(printed(table, "csv").splitlines()))
    assert json.loads(lines[1]["route"]) == ["greet", "collect", "human"]


def way(name: str, *states: str, **given: Any) -> ConversationFacts:
    edges = [place for step in range(len(states) - 1) for place in (step, step + 1)]
    return call(name, path=Touched(list(states), len(states), edges), **given)


def listed(store: Store, expression: str) -> list[str]:
    return [row.record["conversation"] for row in show(store, "conversations", Request(where=expression)).rows]


def test_each_row_leads_to_exactly_its_calls_whatever_states_are_called(tmp_path: Path) -> None:
    names = [name for name in HOSTILE.values() if "\0" not in name]
    calls = [way(f"c{at:02}", "a > b", name, f" {name}>") for at, name in enumerate(names)]
    calls += [way(f"e{at:02}", "a > b", name, f" {name}>", errored=True) for at, name in enumerate(names[:9])]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "calls.jsonl", calls)
        for outline in (False, True):
            table = show(store, "routes", Request(outline=outline))
            assert len(table.rows) == (1 if outline else len(set(names)))
            for row in table.rows:
                found = listed(store, row.where)
                assert len(found) == row.record["n"], row.where
                assert listed(store, row.record["example"])[0] in found


def test_nothing_lies_below_a_route_that_no_filter_can_hold() -> None:
    long = [f"a_state_of_which_there_are_many_{number}" for number in range(400)]
    table = routes_routes([of_flow([route(" ".join(long), 5, 0), route(" ".join(long[:9]), 5, 0)])])
    assert [bool(row.where) for row in table.rows] == [False, True]


def test_a_run_or_an_agent_has_routes_of_its_own_and_rows_are_filtered_by_their_figures(tmp_path: Path) -> None:
    calls = [way(f"a{at}", "greet", "collect", agent="a") for at in range(3)]
    calls += [way(f"b{at}", "greet", "human" if at else "collect", agent="b", success=False) for at in range(3)]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "calls.jsonl", calls)
        by_agent = show(store, "routes", Request(by=("agent",)))
        few = show(store, "routes", Request(where="n>2 flow=viewing"))
        loud = show(store, "routes", Request(where="failed=1"))
    assert [
        (row.record["agent"], row.record["route"][-1], row.record["n"], row.record["share"]) for row in by_agent.rows
    ] == [
        ("b", "human", 2, pytest.approx(2 / 3)),
        ("b", "collect", 1, pytest.approx(1 / 3)),
        ("a", "collect", 3, 1.0),
    ]
    assert [row.record["n"] for row in few.rows] == [4]
    assert (few.total, few.matched) == (2, 1)
    assert [(row.record["route"][-1], row.record["n"], row.record["share"]) for row in loud.rows] == [
        ("human", 2, pytest.approx(2 / 3)),
        ("collect", 1, pytest.approx(1 / 3)),
    ]


def test_two_routes_side_by_side_say_where_they_part_and_what_success_is_behind_each() -> None:
    table = routes_routes([of_flow([route(*way) for way in WAYS])])
    notes = [side_by_side(table, table.rows[a], table.rows[b]).notes[0] for a, b in ((0, 1), (1, 2), (0, 3))]
    assert notes == [
        "They part after collect: a goes on to confirm (97% of 60 calls succeed), b goes on to human (0% of 30 calls"
        " succeed).",
        "They part after collect: a goes on to human (0% of 30 calls succeed), b ends (0% of 6 calls succeed).",
        "They part after greet: a goes on to collect (97% of 60 calls succeed), b goes on to apologize (0% of 1 call"
        " succeed).",
    ]


def test_variants_are_those_of_process_mining(tmp_path: Path) -> None:
    """Made once by pm4py from calls whose events come in any order: `made_by` in the file says how."""
    made = json.loads((GOLDEN / "routes/variants.json").read_text(encoding="utf-8"))
    lines = [json.dumps(line) + "\n" for line in made["calls"]]
    (tmp_path / "flow-transcripts-made.jsonl").write_text("".join(lines), encoding="utf-8")
    with fresh(tmp_path / "calls.db") as store:
        ingest([tmp_path], Writer(store))
        rows = show(store, "routes", Request()).rows
    found = {(row.record["flow"], *row.record["route"]): row.record["n"] for row in rows if row.record["route"]}
    assert found == {(flow, *states): n for flow, states, n in made["variants"]}


def test_where_no_call_has_events_that_is_said(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "calls.jsonl", [call("1", errored=True)])
        assert NO_STATES in show(store, "routes", Request()).notes
    with fresh(tmp_path / "none.db") as store:
        assert show(store, "routes", Request()).title == "Routes: 0 flows"
