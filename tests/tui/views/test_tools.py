"""The tools as a table: what a row says, how it is marked, and to which calls it leads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.facts import call, fresh, put, state
from tests.support.golden import assert_golden, printed
from tests.support.postgresql_server import Server
from tests.support.walker import exploring
from tests.surface.explorer import open_link as stack_of
from tests.surface.store import UNIT, ConversationFacts, Failure, Measure, ToolAspects, ToolCell, open_store
from tests.surface.tui import NO_TOOLS, Request, show, tools

CELL = ToolCell(
    {"flow": "viewing", "tool": "find", "state": "collect", "agent": "gemini"},
    n=20, calls=10, errors=5, unrecovered=3, bad_arguments=None, latency_p95=Measure(2, 12 * UNIT, 80.0), failed=2,
)  # fmt: skip
VISITED = [state("greet", position=0), state("collect", position=1), state("book", position=2)]


def failed(name: str, blame: Failure, *rows: ToolAspects) -> ConversationFacts:
    return call(name, success=False, completed=False, failure=blame, tools=list(rows), states=VISITED, terminals={})


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Calls in which a tool failed, took other arguments than its schema has, or was never called."""
    error = Failure("greet", "collect", "tool error", "find", "timeout", tool="find", segment="collect")
    missing = Failure("collect", "book", "missing action", "create | booking", tool="create | booking", segment="book")
    path = tmp_path_factory.mktemp("tools") / "calls.db"
    with fresh(path) as store:
        put(store, "calls.jsonl", [
            failed("e-1", error, ToolAspects("find", "collect", 3, 3, 3, 0, 6100.0, 1)),
            failed("e-2", error, ToolAspects("find", "collect", 1, 1, 1, 0, 900.0, 1), ToolAspects("find", None, 1)),
            failed("m-1", missing, ToolAspects("create | booking", "book", failed=1)),
            call("g-1", tools=[ToolAspects("find", "collect", 2, 1, 0, 1, 1200.0), ToolAspects("user:pay", "book", 1)]),
            call("g-2", tools=[ToolAspects("create | booking", "book", 1), ToolAspects("find", "greet", 9, 1)]),
            call("x-1", tools=[ToolAspects("find", "collect", 7, 7, 7)], errored=True),
        ])  # fmt: skip
    return path


def test_a_row_says_what_was_called_and_what_of_it_failed() -> None:
    (row,) = tools([CELL]).rows
    assert row.where == "flow=viewing tool=find state=collect agent=gemini"
    assert row.record == {
        "flow": "viewing", "tool": "find", "state": "collect", "agent": "gemini", "n": 20, "calls": 10, "errors": 5,
        "unrecovered": 3, "bad_arguments": None, "latency_p95": 6.0, "failed": 2, "intervals": row.record["intervals"],
    }  # fmt: skip
    assert row.severity == {
        "errors": "bad", "unrecovered": "warn", "failed": "warn", "latency_p95": "warn", "": "bad"
    }  # fmt: skip


@pytest.mark.parametrize(("format", "suffix"), [("markdown", "md"), ("json", "json"), ("text", "txt")])
def test_dumps_are_what_they_were(calls: Path, format: str, suffix: str) -> None:
    with open_store(calls) as store:
        assert_golden(printed(show(store, "tools", Request()), format), f"dumps/tools.{suffix}")


def test_a_server_shows_the_same(calls: Path, postgresql: Server) -> None:
    for where in ("", "persona=· stall=0", "run=night-1 tool=collect/find"):
        with open_store(calls) as here, open_store(postgresql.copy_of(calls)) as there:
            found, wanted = (show(store, "tools", Request(where=where)) for store in (there, here))
            assert [row.record for row in found.rows] == [row.record for row in wanted.rows]
            assert found.rows


def test_each_row_leads_to_exactly_its_calls(calls: Path) -> None:
    with open_store(calls) as store:
        found = {
            (row.record["tool"], row.record["state"]): [
                call.record["conversation"] for call in show(store, "conversations", Request(where=row.leads)).rows
            ]
            for row in show(store, "tools", Request()).rows
        }
    assert found == {
        ("find", "collect"): ["e-1", "e-2"],  # which failed for it
        ("create | booking", "book"): ["m-1"],  # which never called it
        ("find", "greet"): ["g-2"],  # in which it failed, and that was made good
        ("find", None): ["e-2"],  # which called it
        ("user:pay", "book"): ["g-1"],
    }


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ("tool:pay", ["user:pay"]),
        ("tool=greet/find", ["find"]),
        ("state=book", ["create | booking", "user:pay"]),
        ("bad_arguments>0", ["find"]),
        ("failed=1", ["create | booking", "find", "find"]),
        ("tool_error=find errors=0", ["create | booking", "find", "user:pay"]),
    ],
)
def test_filters_choose_tools_and_the_calls_behind_them(calls: Path, where: str, wanted: list[str]) -> None:
    with open_store(calls) as store:
        assert sorted(row.record["tool"] for row in show(store, "tools", Request(where=where)).rows) == wanted


def test_a_store_without_tools_says_so(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        assert any("riff-tui ingest" in note for note in show(store, "tools", Request()).notes)
        put(store, "calls.jsonl", [call("1")])
        assert NO_TOOLS in show(store, "tools", Request()).notes


async def test_one_key_leads_from_a_state_to_its_tools_and_on_to_the_calls_that_failed(calls: Path) -> None:
    async with exploring(calls, start=stack_of("states", "flow=viewing")) as at:
        while at.controls.table.row is None or at.controls.table.row.record["state"] != "book":
            await at.press("j")
        await at.press("enter", "X")
        loaded = at.screen.loaded
        assert loaded is not None
        assert [row.record["tool"] for row in loaded.main.rows] == ["create | booking", "user:pay"]
        await at.press("enter")
        loaded = at.screen.loaded
        assert loaded is not None
        assert [row.record["conversation"] for row in loaded.main.rows] == ["m-1"]
        await at.press("X")
        loaded = at.screen.loaded
        assert loaded is not None
        assert [(row.record["tool"], row.record["n"]) for row in loaded.main.rows] == [("create | booking", 0)]
        assert loaded.main.rows[0].display["n"] == "never"
        assert any(note.startswith("n never: no call here called it") for note in loaded.main.notes)


def test_states_come_last_where_tools_are_told_apart_without_them() -> None:
    elsewhere = CELL._replace(keys={**CELL.keys, "state": "greet"})
    assert tools([CELL]).last == ("state",)
    assert tools([CELL, elsewhere]).last == ()


async def test_errors_are_seen_at_80_columns_and_why_they_are_marked(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        row = ToolAspects("look_up_service_area", "check_coverage", 9, 9, 9, 0, 900.0, 0)
        named = {"flow": "property_trouble_ticket", "agent": "agent-of-some-length"}
        put(store, "calls.jsonl", [call("1", tools=[row], **named), call("2", tools=[row], **named)])
    async with exploring(tmp_path / "calls.db", (80, 24), start=stack_of("tools", "")) as at:
        assert "blamed" in at.controls.table.render_line(0).text
        assert "errs" in at.controls.table.render_line(0).text
        await at.press("p")
        told = "\n".join(at.controls.detail.pane.render_line(y).text for y in range(9))
        assert "! errors, unrecovered: 25% or more of the calls of the tool" in told
