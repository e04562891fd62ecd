"""Marked rows: what keeps their marks, how one finds them again, and two of them side by side."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.controls import controls_at
from tests.support.fake_catalog import FakeCatalog, LazyRows, conversation_table, flow_row, flow_table
from tests.support.walker import Walker, walking
from tests.surface.explorer import (
    PAGE,
    SIDE_BY_SIDE,
    START,
    History,
    ListState,
    Location,
    PagedRows,
    SessionFile,
    action,
    decoded,
    encoded,
    list_of,
    load_pair,
    pair_ids,
    pair_location,
    swapped,
)
from tests.surface.store import open_store
from tests.surface.tui import Filter, Request, Table, UsageError, show

STATES = Location("states", scope=Filter("flow=viewing"))


def marks() -> ListState:
    return ListState(SessionFile())


def test_marks_belong_to_a_view_and_what_it_is_narrowed_to_whatever_its_order_and_filter() -> None:
    found = marks()
    assert found.toggle_mark(STATES, flow_row(3), 3)
    assert found.marks(replace(STATES, filter=Filter("stall>0.3"), sort="-stall")) == ("r3",)
    assert found.marks(Location("states")) == found.marks(Location("segments", scope=Filter("flow=viewing"))) == ()
    assert not found.toggle_mark(STATES, flow_row(3), 0)
    assert found.marks(STATES) == ()
    assert list_of(Location("flows")) == "flows"


def test_marks_keep_the_order_in_which_they_were_set_and_go_all_at_once() -> None:
    found = marks()
    for index in (5, 1, 3):
        found.toggle_mark(STATES, flow_row(index), index)
    assert found.marks(STATES) == ("r5", "r1", "r3")
    assert found.clear_marks(STATES) == 3
    assert found.clear_marks(STATES) == 0


def test_the_next_mark_is_below_and_then_from_the_top_again() -> None:
    found, rows = marks(), flow_table(10).rows
    for index in (2, 7):
        found.toggle_mark(STATES, rows[index], index)
    assert [found.next_mark(STATES, rows, at) for at in (0, 2, 7, 9)] == [2, 7, 2, 2]
    assert found.next_mark(STATES, rows[8:], 0) is None
    assert found.next_mark(STATES, list(reversed(rows)), 0) == 2


def test_in_a_long_list_a_mark_is_found_where_it_was_set() -> None:
    found, rows = marks(), PagedRows(LazyRows(PAGE * 40))
    found.toggle_mark(STATES, flow_row(9_000), 9_000)
    rows.load(0)
    assert found.next_mark(STATES, rows, 3) == 9_000
    # In another order nobody knows where it is.
    assert found.next_mark(replace(STATES, sort="-n"), rows, 3) is None
    rows.load(9_000 // PAGE)
    assert found.next_mark(replace(STATES, sort="-n"), rows, 3) == 9_000


def test_marks_and_columns_are_kept_with_the_rest() -> None:
    session = SessionFile()
    list_state = ListState(session)
    list_state.toggle_mark(STATES, flow_row(3), 3)
    list_state.choose_columns(STATES, list_state.columns(STATES)._replace(wide=True))
    kept = decoded(encoded(session.state, "x"))
    assert kept.marks == {"states flow=viewing": ("r3",)}
    assert kept.columns == {"states": ("wide",)}
    assert list_state.columns(Location("states")).wide
    list_state.choose_columns(STATES, list_state.columns(STATES)._replace(wide=False))
    assert session.state.columns == {}


# Two rows side by side


def test_it_takes_two_rows_the_marked_ones_or_the_marked_one_and_the_one_under_the_cursor() -> None:
    assert pair_ids(("r1", "r2"), flow_row(5)) == ("r1", "r2")
    assert pair_ids(("r1",), flow_row(5)) == ("r1", "r5")
    assert pair_ids(("r1",), flow_row(1)) == pair_ids((), flow_row(1)) == pair_ids(("r1", "r2", "r3"), None) == ()


@pytest.mark.parametrize(
    ("at", "reason"),
    [
        ({"table": flow_table(3)}, "mark a row with m first"),
        ({"table": flow_table(3), "marked": ["r0"]}, "go to another one"),
        ({"table": flow_table(3), "marked": ["r0", "r1", "r2"]}, "3 rows are marked, and it takes two"),
        ({"here": "worklist", "table": FakeCatalog().show("worklist", Request())}, "unlike kinds"),
        ({"here": "conversation", "table": conversation_table()}, "only rows of lists"),
        ({"table": flow_table(3), "marked": ["r0", "r1"]}, ""),
        ({"table": flow_table(3), "marked": ["r1"]}, ""),
    ],
)
def test_what_cannot_be_compared_says_why(at: dict[str, Any], reason: str) -> None:
    refusal = action("compare").enabled(controls_at(**at))
    assert reason in refusal
    assert bool(reason) == bool(refusal)


def test_a_pair_is_asked_for_under_the_conditions_on_calls_that_hold_where_it_was_marked() -> None:
    table = FakeCatalog().show("flows", Request())
    place = pair_location(
        Location("flows", filter=Filter("persona=calm operability<9")), table, [row.id for row in table.rows[:2]]
    )
    assert (place.view, place.of, place.scope.text) == (SIDE_BY_SIDE, "flows", "persona=calm")
    assert place.crumb == "gemini | qwen"
    assert swapped(place).pair == place.pair[::-1]
    assert swapped(place).cache_key != place.cache_key
    assert pair_location(Location("flows"), table, ["viewing gemini", "elsewhere"]).crumb == "comparison"


def test_levels_of_a_factor_are_compared_as_they_stand_among_all_others(tiny: Path) -> None:
    with open_store(str(tiny)) as store:
        ask = partial(show, store)
        for aspect in ("", "latency_p95"):
            effects = ask("effects", Request(aspect=aspect or None))
            rows = [row for row in effects.rows if row.record["factor"] == "flow" and row.record["level"]][:2]
            place = pair_location(Location("effects", aspect=aspect), effects, [row.id for row in rows])
            (means,) = (row.record for row in load_pair(ask, place).rows if row.record["metric"] == "mean")
            assert [means["a"], means["b"]] == [row.record["mean"] for row in rows]


def test_a_row_that_is_gone_is_said() -> None:
    with pytest.raises(UsageError, match="cannot be compared"):
        load_pair(FakeCatalog().show, Location(SIDE_BY_SIDE, of="flows", pair=("viewing gemini", "elsewhere")))


def test_a_comparison_lasts_and_one_that_was_forged_does_not() -> None:
    place = Location(SIDE_BY_SIDE, "a | b", of="flows", pair=("flow=a agent=x", "flow=a agent=y"))
    session = SessionFile()
    session.set_stack((*START, place))
    assert decoded(encoded(session.state, "x")).stack[-1] == place
    for forged in (replace(place, of="secrets"), replace(place, pair=("a",)), replace(place, view="flows")):
        session.set_stack((*START, forged))
        assert decoded(encoded(session.state, "x")).stack == ()
    session.set_stack((*START, replace(place, pair=("(", "b"))))
    assert decoded(encoded(session.state, "x")).stack == ()


# The last view


def test_the_last_view_is_one_of_something_else_and_takes_one_back_again() -> None:
    history = History()
    assert history.to_last() is history
    history = history.down(Location("segments", scope=Filter("flow=a"))).instead(
        Location("segments", scope=Filter("flow=a"), filter=Filter("x"))
    )
    assert history.last == START
    there = history.to_last()
    assert there.here.view == "flows"
    assert there.to_last().here == history.here
    assert there.back().here == history.here
    assert there.back().to_last().here.view == "flows"
    assert history.alter(replace(history.here, sort="n")).last == START


# On the screen


def sign(at: Walker, line: int) -> str:
    return at.controls.table.render_line(line).text[0]


async def test_a_mark_is_a_sign_and_a_number_and_stays_through_sort_filter_and_refresh() -> None:
    async with walking() as at:
        await at.press("m", "j", "m")
        assert "2 marked" in at.path
        assert (sign(at, 1), sign(at, 2), sign(at, 3)) == ("●", "●", " ")
        await at.press("l", "s", "S")
        assert sorted(sign(at, line) for line in (1, 2, 3)) == [" ", "●", "●"]
        await at.press("r", "slash", *"qwen", "enter")
        assert "1 of 2 match · 1 hidden · 2 marked" in at.path
        assert "●" in (sign(at, 1), sign(at, 2))
        await at.press("escape", "m")
        assert "2 marked" not in at.path


async def test_the_marks_of_one_list_are_not_those_of_another() -> None:
    async with walking() as at:
        await at.press("m", "2")
        assert "marked" not in at.path
        await at.press("m", "m", "u")
        assert "no row is marked here" in at.bottom
        await at.press("1")
        assert "1 marked" in at.path


async def test_one_goes_from_mark_to_mark_and_clears_them() -> None:
    async with walking() as at:
        await at.press("2", "3", "m", "j", "j", "m", "j", "u")
        assert at.controls.table.cursor == 0
        await at.press("u")
        assert at.controls.table.cursor == 2
        await at.press("slash", *"greet", "enter", "u")
        assert "the only marked row" in at.bottom
        await at.press("escape", "x")
        assert "2 marks cleared" in at.bottom
        assert "marked" not in at.path
        await at.press("x")
        assert "no row is marked" in at.bottom


async def test_a_mark_that_the_filter_hides_is_told_of() -> None:
    async with walking() as at:
        await at.press("3", "m", "slash", *"greet", "enter", "u")
        assert "no marked row is among those that are shown" in at.bottom


async def test_the_line_below_follows_what_was_begun() -> None:
    async with walking() as at:
        assert "compare" not in at.bottom
        await at.press("m")
        assert "= compare" in at.bottom
        assert "x clear marks" in at.bottom


async def test_two_rows_stand_side_by_side_and_escape_goes_back_to_them() -> None:
    async with walking(size=(120, 36)) as at:
        await at.press("m", "G", "equals_sign")
        assert "flows › viewing @ gemini | weather @ qwen" in at.path
        assert "a  viewing @ gemini" in at.head
        assert "b  weather @ qwen" in at.head
        first = at.controls.table.render_line(1).text
        assert first.split()[0] in ("operability", "correctness")
        assert " higher" in first
        await at.press("equals_sign")
        assert "a  weather @ qwen" in at.head
        assert " lower" in at.controls.table.render_line(1).text
        await at.press("slash")
        assert "cannot be filtered" in at.bottom
        await at.press("m")
        assert "Esc goes back" in at.bottom
        await at.press("question_mark")
        text = "\n".join(strip.text for strip in at.app.screen._compositor.render_strips())
        assert "on each metric's own scale" in text
        await at.press("escape", "escape")
        assert at.row == "weather qwen"


@pytest.mark.parametrize("keys", [("1",), ("2",), ("3",), ("4",), ("3", "enter")])
async def test_rows_of_every_list_can_be_compared(keys: tuple[str, ...]) -> None:
    async with walking() as at:
        await at.press(*keys, "m", "G", "m", "equals_sign")
        assert at.screen.history.here.view == SIDE_BY_SIDE
        assert at.screen.loaded is not None
        assert at.screen.loaded.main.rows or keys == ("3",)
        await at.press("escape")
        assert "2 marked" in at.path


async def test_rows_of_the_worklist_are_of_unlike_kinds() -> None:
    async with walking() as at:
        await at.press("0", "m", "j", "m", "equals_sign")
        assert "unlike kinds" in at.bottom


async def test_a_pair_of_which_one_row_is_gone_is_said_and_the_list_stays() -> None:
    class Shrinking(FakeCatalog):
        gone = False

        def show(self, view: str, request: Request) -> Table:
            table = super().show(view, request)
            return table._replace(rows=[row for row in table.rows if not (self.gone and "weather" in row.id)])

    catalog = Shrinking()
    async with walking(catalog=catalog) as at:
        await at.press("m", "G")
        catalog.gone = True
        await at.press("equals_sign")
        assert "so it cannot be compared" in at.bottom
        assert at.screen.history.here.view == "flows"


async def test_minus_goes_to_the_last_view_and_back_with_the_cursor_where_it_was() -> None:
    async with walking() as at:
        await at.press("minus")
        assert "no other view was left" in at.bottom
        await at.press("j", "3", "G", "minus")
        assert (at.screen.history.here.view, at.row) == ("flows", "viewing qwen")
        await at.press("minus")
        assert (at.screen.history.here.view, at.row) == ("states", "viewing triage")
