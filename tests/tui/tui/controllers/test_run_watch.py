"""The line above the flows that says where the run stands that is being made."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.pty_terminal import COMMAND, Terminal
from tests.support.run_directories import RunDirectory
from tests.support.walker import Walker, running
from tests.surface.explorer import Backend, Explorer, StoreWatcher, refresh
from tests.surface.ingest import ingest
from tests.surface.runner import RunReader
from tests.surface.store import Writer, open_store
from tests.surface.tui import GrowingRun


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look when the test says so."""
    monkeypatch.setattr(refresh, "PERIOD_S", 3600.0)
    monkeypatch.setattr(refresh, "QUIET_S", 0.0)
    monkeypatch.setattr(refresh, "PAUSE_PER_LOAD", 0.0)


@pytest.fixture
def growing(tmp_path: Path) -> RunDirectory:
    """A run of a process as old as the system, with one call that is over."""
    now = time.time()
    found = RunDirectory(tmp_path / "nightly", planned=40, began=now - 60, pid=1)
    found.progress("d-1", "running", now - 60)
    found.finish("d-1", now - 30)
    found.progress("d-2", "running", now)
    return found


def stored(run: RunDirectory) -> Path:
    """Bring what is there of a run into a store beside it."""
    store = run.path.parent / "grows.db"
    with open_store(store, write=True, create=True) as opened:
        ingest(sorted(run.path.glob("flow-transcripts-*")), Writer(opened))
    return store


@asynccontextmanager
async def exploring_it(store: Path, *, paused: bool = False, width: int = 100) -> AsyncIterator[Walker]:
    with open_store(store) as opened:
        watcher = StoreWatcher(opened)
        app = Explorer(Backend(watcher.show, watcher.age, watcher=watcher, growing=GrowingRun(opened), paused=paused))
        async with running(app, (width, 24)) as pilot:
            at = Walker(app, pilot)
            await at.settle()
            yield at


async def look(at: Walker) -> None:
    at.controls.auto_refresh.tick()
    await at.settle()
    at.controls.run_watch.tick()
    await at.settle()


async def test_a_run_that_is_being_made_stands_above_the_flows(growing: RunDirectory) -> None:
    async with exploring_it(stored(growing)) as at:
        assert at.head == ""
        await look(at)
        assert at.head.strip().startswith("run nightly  1/40 calls · 1 running · ")
        assert at.head.strip().endswith("caller scripted")
        growing.finish("d-2", time.time(), errored=True)
        growing.progress("d-3", "retrying", time.time(), why="429")
        await look(at)
        assert at.head.strip().startswith("run nightly  2/40 calls · 0 running · 1 errored · 1 retrying · ")


async def test_it_is_the_line_of_the_flows_alone(growing: RunDirectory) -> None:
    async with exploring_it(stored(growing)) as at:
        await look(at)
        await at.press("enter")
        await look(at)
        assert "run nightly" not in at.head
        await at.press("escape")
        assert "run nightly" in at.head


async def test_it_goes_when_the_run_ends_and_comes_when_it_goes_on(growing: RunDirectory) -> None:
    store = stored(growing)
    async with exploring_it(store) as at:
        await look(at)
        growing.end(time.time(), "interrupted")
        await look(at)
        assert at.head == ""
        growing.document.invocations[-1].ended = growing.document.invocations[-1].ended_at = None
        growing._write()
        await look(at)
        assert at.head == "", "nothing tells of it but calls in the store"
        growing.finish("d-2", time.time())
        stored(growing)
        await look(at)
        assert at.head.strip().startswith("run nightly  2/40 calls")


async def test_nothing_is_read_where_no_run_grows(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path | None] = []
    find = GrowingRun.find

    def ask(growing: GrowingRun) -> Path | None:
        asked.append(find(growing))
        return asked[-1]

    monkeypatch.setattr(GrowingRun, "find", ask)
    monkeypatch.setattr(GrowingRun, "look", lambda self, directory, now: pytest.fail("files were read"))
    async with exploring_it(tiny) as at:
        for _ in range(3):
            await look(at)
        assert at.head == ""
        assert asked == [None]


async def test_the_calls_of_a_run_that_has_ended_are_not_read(
    growing: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    growing.end(time.time())
    monkeypatch.setattr(RunReader, "read", lambda self, now: pytest.fail("calls were read"))
    async with exploring_it(stored(growing)) as at:
        await look(at)
        assert at.head == ""


async def test_a_run_that_says_nonsense_of_itself_is_passed_over(growing: RunDirectory) -> None:
    store = stored(growing)
    (growing.path / "run.json").write_text("{}")
    async with exploring_it(store) as at:
        await look(at)
        assert (at.head, at.bottom.startswith("!")) == ("", False)


async def test_paused_it_does_not_come(growing: RunDirectory) -> None:
    async with exploring_it(stored(growing), paused=True) as at:
        await look(at)
        assert at.head == ""
        await at.press("z")
        await look(at)
        assert "run nightly" in at.head


async def test_it_has_room_on_a_narrow_screen(growing: RunDirectory) -> None:
    async with exploring_it(stored(growing), width=60) as at:
        await look(at)
        assert len(at.head) <= 60
        assert "1/40 calls" in at.head


def test_a_terminal_shows_it_while_the_run_grows(growing: RunDirectory) -> None:
    store = stored(growing)
    with Terminal([*COMMAND, "flows", "--store", str(store)]) as terminal:
        terminal.wait_for("run nightly  1/40 calls")
        growing.finish("d-2", time.time())
        terminal.wait_for("run nightly  2/40 calls")
        assert terminal.lines[1].startswith(" run nightly  2/40 calls · 0 running")
        growing.end(time.time())
        terminal.wait(lambda: "run nightly" not in terminal.text)
        terminal.send("q")
        assert terminal.end() == 0
