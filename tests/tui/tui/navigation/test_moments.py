"""A moment of a call has a name that a link carries, and the explorer begins with the cursor there."""

from __future__ import annotations

import shlex
from functools import cache
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.fake_catalog import conversation_table, walked
from tests.support.hostile import HOSTILE
from tests.support.walker import walking
from tests.surface.explorer import (
    START,
    Location,
    Stack,
    begins_at,
    is_place,
    link,
    link_to,
    open_link,
    place_of,
    row_at,
)
from tests.surface.tui import ExitCode, Filter, Row, build, run
from tests.surface.tui import where as where_of

NAMES = st.sampled_from([name for name in HOSTILE.values() if name.strip()]) | st.text(min_size=1, max_size=20)
CALL = Location("conversation", crumb="c-1", scope=Filter("run=r conversation=c-1"))


def moments(*kinds: tuple[str, str | None]) -> list[Row]:
    return [Row(str(number), {"kind": kind, "state": state}) for number, (kind, state) in enumerate(kinds, 1)]


@cache
def ui_program() -> click.Group:
    return build(("ui",))


def given_by(command: str) -> dict[str, Any]:
    """What the command line takes a command for."""
    words = shlex.split(command)
    assert words[:2] == ["riff-tui", "ui"]
    with ui_program().commands["ui"].make_context("ui", words[2:]) as context:
        return {name: value for name, value in context.params.items() if value}


def test_a_moment_is_a_turn_a_state_or_the_turn_before() -> None:
    rows = conversation_table().rows
    places = ["state:greet", "turn:1", "turn:2", "state:collect_details", "turn:2", "turn:2", "turn:2", "turn:3"]
    assert [place_of(rows, index) for index in range(len(rows))] == places
    assert [found.id if (found := row_at(rows, place)) else None for place in places] == list("01232227")


def test_a_state_that_comes_back_is_found_where_it_came_first() -> None:
    rows = moments(("slot", None), ("state", "a"), ("turn", "a"), ("state", "b"), ("state", "a"), ("tool", "a"))
    assert [place_of(rows, index) for index in range(len(rows))] == [
        "",
        "state:a",
        "turn:1",
        "state:b",
        "turn:1",
        "turn:1",
    ]
    found = row_at(rows, "state:a")
    assert found is not None
    assert found.id == "2"
    assert row_at(rows, "turn:2") is None
    assert row_at(rows, "state:c") is None


def test_a_turn_is_found_by_its_number_however_that_is_written() -> None:
    rows = moments(("turn", "a"))
    assert row_at(rows, "turn:001") == rows[0]
    assert row_at(rows, "turn:0") is None
    assert row_at(rows, f"turn:{'9' * 5000}") is None


@given(st.lists(st.tuples(st.sampled_from(["turn", "state", "slot"]), NAMES), min_size=1, max_size=8), st.data())
def test_the_name_of_a_moment_leads_to_it_or_to_a_turn_before(kinds: list[tuple[str, str]], data: Any) -> None:
    rows = moments(*kinds)
    index = data.draw(st.integers(0, len(rows) - 1))
    place = place_of(rows, index)
    if place:
        found = row_at(rows, place)
        assert found is not None
        assert is_place(place)
        assert rows.index(found) == index or (rows.index(found) < index and found.record["kind"] == "turn")


@pytest.mark.parametrize("text", ["", "turn:", "turn:x", "turn:-1", "turn:²", "state:", "7", "moment:7", "turn"])
def test_what_is_no_moment_is_refused(text: str) -> None:
    assert not is_place(text)


async def test_the_explorer_begins_at_the_moment_that_a_link_names() -> None:
    for at, row in (("turn:2", "2"), ("state:collect_details", "3"), ("turn:03", "7")):
        async with walking(open_link("conversation", "run=r1 conversation=c-0001", at=at)) as there:
            assert there.row == row
            assert "no turn" not in there.bottom


async def test_a_moment_that_is_not_there_is_said_and_the_call_opens() -> None:
    for at, said in (("turn:99", "no turn 99"), ("state:nowhere", "no state nowhere")):
        async with walking(open_link("conversation", "run=r1 conversation=c-0001", at=at)) as there:
            assert there.row == "0"
            assert said in there.bottom
            await there.press("j")
            assert there.screen.location.row == "1"


async def test_the_link_of_a_call_names_the_turn_under_the_cursor() -> None:
    async with walking(walked(0, 0, 0, 0)) as at:
        await at.press("j", "j", "d", "d")
        assert "--at turn:2" in at.bottom
        await at.press("q", "d", "d")
        assert "riff-tui ui neighbors" in at.bottom
        assert "--at" not in at.bottom


@pytest.mark.parametrize(
    "place",
    [
        Location("states", filter=Filter("stall>0.3"), sort="-stall", by=("agent",)),
        Location("flows", by=("flow", "agent")),
        Location("effects", aspect="errors"),
        Location("compare", "significance", Filter("flow=dental"), sides=("a", "agent:x y")),
        Location("failures", "failures", sides=("run:latest", "-b")),
    ],
)
def test_a_link_carries_all_that_a_place_has(place: Location) -> None:
    found = given_by(link(place))
    sides = found.get("sides") or []
    stack = open_link(
        found["view"], found.get("where", ""), found.get("aspect", ""), sides=sides, by=found.get("by", ())
    )
    assert stack[0] == START[0] or len(stack) == 1
    assert stack[-1].view == place.view
    assert stack[-1].where == place.where
    assert [side.removeprefix("run:") for side in stack[-1].sides] == [
        side.removeprefix("run:") for side in place.sides
    ]
    assert (stack[-1].aspect, stack[-1].by) == (place.aspect, place.by)
    assert found.get("sort", "") == place.chosen_order


def test_two_rows_side_by_side_link_to_the_list_that_they_come_from() -> None:
    stack: Stack = (*START, Location("states"), Location("side-by-side", of="states", pair=("1", "2")))
    assert link_to(stack, "") == "riff-tui ui states"


@given(NAMES, NAMES, st.integers(1, 99))
def test_no_name_gives_a_link_another_meaning(run: str, state: str, turn: int) -> None:
    run, state = (name.encode("utf-8", "replace").decode() for name in (run, state))
    where = where_of({"run": run, "conversation": state})
    place = Location("conversation", scope=Filter(where))
    assert given_by(link(place, f"{run}.db", f"turn:{turn}")) == {
        "view": "conversation", "where": place.where.text, "at": f"turn:{turn}", "store": f"{run}.db",
    }  # fmt: skip
    assert given_by(link(place, at=f"state:{state}"))["at"] == f"state:{state}"


def test_a_state_whose_name_cannot_be_shown_as_it_is_gives_way_to_the_turn_before() -> None:
    rows = moments(("turn", "a"), ("state", "b\x1b[2J"), ("state", "c"))
    assert [place_of(rows, index) for index in range(3)] == ["turn:1", "turn:1", "state:c"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["states", "a", "b"], "states is not about two sides; riff-tui ui compare a b is"),
        (["compare", "a"], "a comparison takes two sides"),
        (["compare"], "riff-tui ui compare A B"),
        (["states", "--at", "turn:7"], "--at is a moment of one call"),
        (["states", "--by", "weather"], "rows cannot be split by 'weather'"),
        (["runs", "--by", "agent"], "the rows of runs cannot be split"),
    ],
)
def test_what_a_screen_cannot_begin_with_is_refused(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["ui", *words]) == ExitCode.USAGE
    assert said in capsys.readouterr().err


CALLED = {"kind": "tool", "state": "confirm", "detail": "find({}) failed: timeout"}
FAILED_AT_THE_END = conversation_table()._replace(
    rows=[
        Row("1", {"kind": "state", "state": "greet"}),
        Row("2", {"kind": "state", "state": "confirm"}),
        Row("3", CALLED | {"detail": "find({})"}),
        Row("4", CALLED, severity={"": "bad"}),
        Row("5", {"kind": "state", "state": "confirm"}, severity={"": "bad"}),
        Row("6", {"kind": "step", "state": "refuel", "detail": "1 refuel: never called, asked {}"}),
        Row("7", {"kind": "step", "state": "confirm", "detail": "2 confirm: called with wrong arguments"}),
    ],
    begin="5",
    extras={"blame": {"state": "confirm"}},
)


@pytest.mark.parametrize(
    ("listed", "begun"),
    [
        ("", "5"),
        ("failed=true", "5"),
        ("flow=f missed_step=refuel failed=true", "6"),
        ("flow=f wrong_step=confirm", "7"),
        ("flow=f wrong_step=refuel", "5"),
        ("tool_error=confirm/find errored=false", "4"),
        ("tool_error=greet/find", "5"),
        ("flow=f state=confirm", "5"),
        ("flow=f state=greet", "1"),
        ("(state=greet went_to=confirm)", "1"),
        ("state!=greet", "5"),
        ("state=greet first_failed=confirm", "5"),
    ],
)
def test_a_call_opens_at_what_its_list_is_about(listed: str, begun: str) -> None:
    assert begins_at(FAILED_AT_THE_END, Filter(listed).predicate) == begun
