"""Explorers in this process, and one who presses their keys."""

from __future__ import annotations

import asyncio
import contextlib
import unicodedata
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from textual import events
from textual.app import App
from textual.cache import LRUCache
from textual.css.model import RuleSet
from textual.keys import REPLACED_KEYS, _character_to_key, _get_unicode_name_from_key
from textual.pilot import Pilot
from textual.worker import WorkerCancelled

from tests.support.fake_catalog import FakeCatalog
from tests.surface.explorer import (
    BY_ID,
    START,
    Action,
    Backend,
    Controls,
    Explorer,
    ExplorerScreen,
    InputParser,
    KnownNames,
    NotesOfCalls,
    Stack,
)
from tests.surface.tui import Notebook, case_text_at, catalog, open_to_read

LONGEST_S = 300.0


_MOST_DRAWN = 50
_PARSED: LRUCache[tuple[Any, ...], list[RuleSet]] = LRUCache(500)
"""The styles of explorers, which are the same in all."""


async def rest(app: App[None]) -> None:
    """Wait until an application has drawn all that it was told, and waits for a time, a thread or a key.

    A pilot asks every widget instead, and waits for the processor to be idle, which costs more than most keys.
    """
    loop: Any = asyncio.get_running_loop()
    for drawn in range(_MOST_DRAWN):
        await asyncio.sleep(0)
        while loop._ready:
            await asyncio.sleep(0)
        screen = app.screen
        if drawn > 1 and not (screen._layout_required or screen._repaint_required or screen._dirty_widgets):
            return
        screen._on_timer_update()
        # What is still to be drawn then waits for others, who may need a moment on a busy machine.
        await asyncio.sleep(0 if drawn < 2 else 0.005)


def press_key(app: App[None], key: str) -> None:
    """Have an application get a key as a pilot has it."""
    name = key if len(key) > 1 or key.isalnum() else _character_to_key(key)
    character: str | None
    try:
        character = unicodedata.lookup(_get_unicode_name_from_key(REPLACED_KEYS.get(name, name)))
    except KeyError:
        character = name if len(name) == 1 else None
    pressed = events.Key(name, character)
    pressed.set_sender(app)
    app.post_message(pressed)


def send(app: App[None], sequence: str) -> None:
    """Have an application get what a terminal sends of several keys and clicks at once."""
    for event in InputParser().feed(sequence):
        event.set_sender(app)
        app.post_message(event)


@asynccontextmanager
async def running(app: Explorer, size: tuple[int, int]) -> AsyncIterator[Pilot[None]]:
    """Run an explorer; no query of it is left in the end, for whoever opened the store closes it then."""
    try:
        app.stylesheet._parse_cache = _PARSED
        async with app.run_test(size=size) as pilot:
            yield pilot
    finally:
        while not app.worker.idle:
            await asyncio.sleep(0.01)


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
            press_key(self.app, key)
            await self.settle()

    async def settle(self) -> None:
        """Wait for every answer, also for those that others led to; what was given up has none."""
        await rest(self.app)
        while pending := [worker for worker in self.app.workers if not worker.is_finished]:
            with contextlib.suppress(WorkerCancelled):
                await self.app.workers.wait_for_complete(pending)
            await rest(self.app)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a state of the screen; a busy machine may take its time to get there."""
        async with asyncio.timeout(LONGEST_S):
            while not condition():
                await asyncio.sleep(0.01)
                await rest(self.app)
        await rest(self.app)

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
    start: Stack = START,
    *,
    size: tuple[int, int] = (100, 30),
    catalog: FakeCatalog | None = None,
    actions: Mapping[str, Action] = BY_ID,
) -> AsyncIterator[Walker]:
    catalog = catalog or FakeCatalog()
    app = Explorer(Backend(catalog.show, lambda: "3 min ago", place="/tmp/a store.db"), start=start, actions=actions)
    async with running(app, size) as pilot:
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
            Backend(
                lambda view, request: catalog.show(opened, view, request),
                case_text=partial(case_text_at, str(store)),
                names=KnownNames(opened),
                notes=NotesOfCalls(opened),
                notebook=Notebook(str(store), author) if author else None,
            ),
            start=start,
        )
        async with running(app, size) as pilot:
            at = Walker(app, pilot)
            await at.settle()
            yield at
