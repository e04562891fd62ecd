"""A filter that asks for a name that nothing has is told what is called nearly so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.surface.store import Store, open_store
from tests.surface.tui import Request, UsageError, show


@pytest.fixture
def store(tiny: Path) -> Iterator[Store]:
    with open_store(str(tiny)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("flow=vewing", "flow=vewing: no flow of that name; viewing?"),
        ("flow=VIEWING", "flow=VIEWING: no flow of that name; viewing?"),
        ("agent:gemni", "agent:gemni: no agent with that in its name; gemini?"),
        ("persona=patent", "persona=patent: no persona of that name; patient?"),
        ("run=run1", "run=run1: no run of that name; run-1 or run-2?"),
        ("state=colect_details", "state=colect_details: no state of that name; collect_details?"),
        ("failure=gaurd", "failure=gaurd: no failure of that name; guard error?"),
        ("segment=colect", "segment=colect: no segment of that name; collect?"),
        ("detials", "detials: nothing is called that; state collect_details?"),
        ("flow=viewing agent=nobody", "agent=nobody: no agent of that name."),
        ("flow=vewing | flow=wether", "flow=vewing: no flow of that name; viewing?"),
        ("conversation=c-00006", "conversation=c-00006: no conversation of that name; c-0006"),
    ],
)
@pytest.mark.parametrize("view", ["flows", "conversations", "states"])
def test_the_nearest_names_stand_before_the_notes(store: Store, view: str, where: str, said: str) -> None:
    table = show(store, view, Request(where=where))
    assert not len(table.rows)
    assert table.notes[0].startswith(said)


@pytest.mark.parametrize(
    "where",
    [
        "flow=viewing agent=qwen persona=nobody",
        "conversation=c-0006 flow=viewing persona=nobody",
        "flow=viewing",
        "!flow=vewing",
        "errors>11",
    ],
)
def test_names_that_are_there_are_not_asked_about(store: Store, where: str) -> None:
    said = [note for note in show(store, "flows", Request(where=where)).notes if "of that name" in note]
    assert said == (["persona=nobody: no persona of that name."] if "nobody" in where else [])


def test_judges_choose_columns_and_are_asked_about_where_there_are_rows(store: Store) -> None:
    table = show(store, "flows", Request(where="judge=codecs"))
    assert table.rows
    assert table.notes[0] == "judge=codecs: no judge of that name; codex?"


def test_a_call_that_is_not_there_is_refused_with_what_is_near(store: Store) -> None:
    with pytest.raises(UsageError, match=r"no call matches this filter; flow=vewing: no flow of that name; viewing[?]"):
        show(store, "conversation", Request(where="flow=vewing"))


def test_a_state_without_neighbours_is_asked_about(store: Store) -> None:
    notes = show(store, "neighbors", Request(where="flow=viewing state=greeet")).notes
    assert notes[0].startswith("state=greeet: no state of that name; greet?")


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("verdict=wors", "verdict=wors: no row has that verdict"),
        ("verdict:noice", "verdict:noice: no row has that in its verdict; noise?"),
        ("aspect=correctnes", "aspect=correctnes: no row has that aspect; correctness?"),
    ],
)
def test_a_value_that_no_row_has_is_told_what_rows_have(store: Store, where: str, said: str) -> None:
    table = show(store, "compare", Request(where=where, sides=("run-1", "run-2")))
    assert not len(table.rows)
    assert table.notes[0].startswith(said)
