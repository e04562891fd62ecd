"""A store full of names and words that try to act: nothing live leaves it, and every row still leads to its calls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.golden import printed
from tests.support.hostile import LIVE
from tests.support.hostile_store import WORDS
from tests.surface.store import Store, open_store
from tests.surface.tui import FORMATS, Request, show, views


@pytest.fixture(scope="module")
def store(hostile: Path) -> Iterator[Store]:
    with open_store(hostile) as opened:
        yield opened


LISTS = [view.name for view in views() if view.name not in ("neighbors", "conversation") and not view.sides]
CASES = [*((view, "text") for view in LISTS), *(("conversations", format) for format in FORMATS if format != "text")]


@pytest.mark.parametrize(("view", "format"), [*CASES, ("flow-table", "markdown")])
def test_no_view_and_no_sink_lets_a_name_act(store: Store, view: str, format: str) -> None:
    text = printed(show(store, view, Request()), format)
    assert not LIVE.search(text.replace("\r\n", "\n"))


def test_no_call_lets_a_word_act(store: Store) -> None:
    for row in show(store, "conversations", Request()).rows:
        for text in (True, False):
            table = show(store, "conversation", Request(where=row.where, text=text))
            assert table.extras["call"]["conversation"] == row.record["conversation"]
            for format in FORMATS:
                assert not LIVE.search(printed(table, format).replace("\r\n", "\n"))


def test_a_row_leads_to_its_calls_whatever_it_is_called(store: Store) -> None:
    for view in ("flows", "states"):
        for row in show(store, view, Request(by=("flow", "run", "persona"))).rows:
            found = show(store, "conversations", Request(where=f"{row.where} errored=no")).rows
            assert len(found) == row.record["n"], row.where


def test_judges_that_differ_are_found_whatever_they_are_called(store: Store) -> None:
    every = show(store, "disputes", Request(limit=1000))
    assert {row.record["spread"] for row in every.rows} == {3.5}
    # The first call was errored, and nobody's score of it counts.
    assert len(every.rows) == len(WORDS) - 1
    pairs = show(store, "agreement", Request(where="n>0")).rows
    shared = [row for row in pairs if row.record["second"] != "correctness"]
    assert len(shared) == len(WORDS) - 1
    for row in shared:
        calls = show(store, "disputes", Request(where=row.where)).rows
        assert row.record["first"] in {name for call in calls for name in call.record["scores"]}


def test_a_state_has_its_neighbours_whatever_it_is_called(store: Store) -> None:
    for row in show(store, "states", Request(where="state:after")).rows:
        table = show(store, "neighbors", Request(where=row.where))
        ways = [(step.record["direction"], step.record["state"] is None) for step in table.rows]
        assert ways == [("in", False), ("out", True)], row.where
        assert not LIVE.search(printed(table, "text"))


def test_the_store_is_left_as_it_was(store: Store) -> None:
    before = Path(store.location).read_bytes()
    show(store, "flows", Request(where='flow:"\'; DROP TABLE flow; --"'))
    assert Path(store.location).read_bytes() == before


def test_a_call_of_the_reading_list_is_found_again_whatever_it_is_called(store: Store) -> None:
    table = show(store, "sample", Request())
    assert (len(table.rows), table.extras["gone"]) == (len(WORDS) - 1, 0)
    for row in table.rows[:5]:
        assert show(store, "conversation", Request(where=row.where)).extras["call"]["run"] == row.record["run"]
