"""Explorers in this process, and one who presses their keys."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from textual.pilot import Pilot
from textual.worker import WorkerCancelled

from riff_tui import catalog
from riff_tui.cases.query import case_text_at
from riff_tui.notes.kept_notes import open_to_read
from riff_tui.notes.notebook import Notebook
from riff_tui.tui.actions.controls import Controls
from riff_tui.tui.app import Explorer
from riff_tui.tui.data.notes_of_calls import NotesOfCalls
from riff_tui.tui.navigation.location import START, Stack
from riff_tui.tui.screens.explorer import ExplorerScreen
from tests.support.fake_catalog import FakeCatalog

LONGEST_S = 300.0


class Walker:
    """Press keys, and read the screen once every answer has come."""

    def __init__(self, app: Explorer, pilot: Pilot[None], catalog: FakeCatalog | None = None) -> None:
        self.app, self.pilot = app, pilot
        self.catalog = catalog or FakeCatalog()

    @property
    def screen(self) -> ExplorerScreen:
        screen = self.app.screen_stack[0]
        assert isinstance(screen, ExplorerScreen)
        return screen

    @property
    def controls(self) -> Controls:
        return self.screen.controls

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.pilot.press(key)
            await self.settle()

    async def settle(self) -> None:
        """Wait for every answer, also for those that others led to; what was given up has none."""
        while pending := [worker for worker in self.app.workers if not worker.is_finished]:
            with contextlib.suppress(WorkerCancelled):
                await self.app.workers.wait_for_complete(pending)
        await self.pilot.pause()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a state of the screen; a busy machine may take its time to get there."""
        async with asyncio.timeout(LONGEST_S):
            while not condition():
                await self.pilot.pause(0.01)
        await self.pilot.pause()

    @property
    def path(self) -> str:
        return "".join(text for text, _ in self.controls.top.lines[0]).strip()

    @property
    def bottom(self) -> str:
        return "\n".join("".join(text for text, _ in line) for line in self.controls.bottom.lines)

    @property
    def head(self) -> str:
        return "\n".join("".join(text for text, _ in line) for line in self.controls.header.lines)

    @property
    def row(self) -> str:
        row = self.screen.body.row
        return row.id if row else ""


@asynccontextmanager
async def walking(
    start: Stack = START, *, size: tuple[int, int] = (100, 30), catalog: FakeCatalog | None = None
) -> AsyncIterator[Walker]:
    catalog = catalog or FakeCatalog()
    app = Explorer(catalog.show, lambda: "3 min ago", start=start)
    async with app.run_test(size=size) as pilot:
        at = Walker(app, pilot, catalog)
        await at.settle()
        yield at


@asynccontextmanager
async def exploring(
    store: Path, size: tuple[int, int] = (100, 30), start: Stack = START, *, author: str = ""
) -> AsyncIterator[Walker]:
    """Explore a store; an `author` takes notes on its calls."""
    with open_to_read(str(store)) as opened:
        app = Explorer(
            lambda view, request: catalog.show(opened, view, request),
            start=start,
            case_text=partial(case_text_at, str(store)),
            notes=NotesOfCalls(opened),
            notebook=Notebook(str(store), author) if author else None,
        )
        async with app.run_test(size=size) as pilot:
            at = Walker(app, pilot)
            await at.settle()
            yield at
