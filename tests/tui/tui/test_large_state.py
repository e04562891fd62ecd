"""A state that very many calls came through: its graph is there before its calls and before what starves without it."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.walker import LONGEST_S, Walker, running
from tests.surface.explorer import START, Backend, Explorer, Location
from tests.surface.store import Store, open_store
from tests.surface.tui import Filter, Request, Table, catalog, run_steps, show
from tests.surface.tui import views_neighbors as neighbors

WHERE = "flow=viewing state=collect_details"
HERE = (*START, Location("neighbors", "collect_details", scope=Filter(WHERE)))


@pytest.fixture
def store(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(neighbors, "COUNTED_LATER", 0)
    monkeypatch.setattr("riff_tui.tui.controllers.loading._MIN_INTERVAL_S", 0.001)
    with open_store(tiny) as opened:
        yield opened


@asynccontextmanager
async def waiting(store: Store, gate: threading.Event) -> AsyncIterator[Walker]:
    """Look at a state whose calls are read once the gate is open."""

    def answer(view: str, request: Request) -> Table:
        assert view != "conversations" or gate.wait(LONGEST_S)
        return catalog.show(store, view, request)

    app = Explorer(Backend(answer), start=HERE)
    async with running(app, (80, 24)) as pilot:
        at = Walker(app, pilot)
        await at.until(lambda: "reading the conversations · Esc stops it" in at.bottom)
        yield at


def test_what_is_shown_at_first_ends_as_what_is_dumped(store: Store) -> None:
    whole = show(store, "neighbors", Request(where=WHERE))
    first = show(store, "neighbors", Request(where=WHERE, defer=True))
    assert first.deferred is not None
    assert [row.id for row in first.rows] == [row.id for row in whole.rows]
    assert "blast" in whole.extras
    assert "blast" not in first.extras
    assert not any("Blast" in note for note in first.notes)
    assert run_steps(first.deferred()) == whole


async def test_the_graph_is_there_before_the_calls(store: Store) -> None:
    gate = threading.Event()
    async with waiting(store, gate) as at:
        assert "[collect_details]" in at.head
        assert "never reached because of it" not in at.head
        assert at.path == "flows › collect_details"
        gate.set()
        await at.settle()
        assert "never reached because of it" in at.head
        assert "1 of " in at.path
        assert "? help" in at.bottom
        assert at.row


async def test_escape_leaves_the_calls_and_refresh_reads_them(store: Store) -> None:
    gate = threading.Event()
    async with waiting(store, gate) as at:
        await at.pilot.press("escape")
        assert "stopped; r reads it again" in at.bottom
        assert "latencies and what is never reached are not read: r reads them" in at.head
        gate.set()
        await at.settle()
        assert at.path == "flows › collect_details"
        await at.press("r")
        assert "never reached because of it" in at.head
        assert at.row


async def test_the_cursor_returns_to_its_call(store: Store) -> None:
    gate = threading.Event()
    async with waiting(store, gate) as at:
        gate.set()
        await at.settle()
        await at.press("j", "j")
        third = at.row
        at.controls.navigator.forget(None)
        await at.press("0")
        at.controls.navigator.forget(None)
        await at.press("left_square_bracket")
        assert at.row == third
