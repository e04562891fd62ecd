"""Lists of very many calls: the first ones are there before all are counted."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.walker import LONGEST_S, Walker, running
from tests.surface.explorer import Backend, Explorer, open_link
from tests.surface.store import CallList, open_store
from tests.surface.tui import catalog
from tests.surface.tui import views_conversations as conversations


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Have every list count as long, and count it only once the event is set."""
    may_count = threading.Event()
    settle = CallList.settle

    def wait(self: CallList) -> None:
        assert may_count.wait(LONGEST_S)
        settle(self)

    monkeypatch.setattr(conversations, "LOOKED_AT", 1)
    monkeypatch.setattr(conversations, "BEGUN", 3)
    monkeypatch.setattr(CallList, "settle", wait)
    return may_count


@asynccontextmanager
async def listing(store: Path, where: str) -> AsyncIterator[Walker]:
    with open_store(store) as opened:
        app = Explorer(
            Backend(lambda view, request: catalog.show(opened, view, request)), start=open_link("conversations", where)
        )
        async with running(app, (80, 24)) as pilot:
            yield Walker(app, pilot)


async def test_the_first_calls_can_be_walked_while_others_are_counted(tiny: Path, counting: threading.Event) -> None:
    async with listing(tiny, "correctness>5") as at:
        await at.until(lambda: "1 of 3 conversations so far" in at.path)
        await at.pilot.press("j", "j")
        at_third = at.row
        assert at_third
        counting.set()
        await at.settle()
        assert "3 of 15 match" in at.path
        assert at.row == at_third
        await at.press("G")
        assert "15 of 15" in at.path


async def test_escape_leaves_the_others_uncounted(tiny: Path, counting: threading.Event) -> None:
    async with listing(tiny, "correctness>5") as at:
        await at.until(lambda: "1 of 3 conversations so far" in at.path)
        await at.pilot.press("escape")
        await at.until(lambda: "stopped; r reads it again" in at.bottom)
        counting.set()
        await at.settle()
        assert "1 of 3 conversations so far" in at.path
        await at.press("r")
        assert "1 of 15 match" in at.path


async def test_a_call_of_a_list_that_is_not_counted_yet_says_so(tiny: Path, counting: threading.Event) -> None:
    async with listing(tiny, "correctness>5") as at:
        await at.until(lambda: "1 of 3 conversations so far" in at.path)
        await at.pilot.press("escape")
        await at.until(lambda: "stopped; r reads it again" in at.bottom)
        counting.set()
        await at.press("G", "enter")
        assert at.path.endswith("3 of 3 so far")
        await at.press("n")
        assert at.bottom.strip().endswith("this is the last of the list so far")
        await at.press("escape")
        assert "3 of 15 match" in at.path


async def test_a_list_that_sums_can_count_is_counted_at_once(tiny: Path, counting: threading.Event) -> None:
    counting.set()
    async with listing(tiny, "flow=weather") as at:
        await at.settle()
        assert "1 of 10 conversations" in at.path
