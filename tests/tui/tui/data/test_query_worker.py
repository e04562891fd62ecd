"""Questions that one has left: they end where they are, and the next one has the store to itself."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from tests.support.endless import ENDLESS, announced
from tests.surface.explorer import QueryWorker
from tests.surface.store import open_store

HANGS_AFTER_S = 60


async def idle(worker: QueryWorker) -> None:
    async with asyncio.timeout(HANGS_AFTER_S):
        while not worker.idle:
            await asyncio.sleep(0.001)


async def test_a_question_that_is_left_ends_and_the_next_is_answered(tiny: Path) -> None:
    worker = QueryWorker()
    with open_store(tiny) as store:
        begun = announced(store)
        left = asyncio.create_task(worker.ask(lambda: store.execute_sql(ENDLESS)))
        assert await asyncio.to_thread(begun.wait, HANGS_AFTER_S)
        after = asyncio.create_task(worker.ask(lambda: store.execute_sql("SELECT count(*) FROM conversation")))
        left.cancel()
        with pytest.raises(asyncio.CancelledError):
            await left
        async with asyncio.timeout(HANGS_AFTER_S):
            assert await after == [(20,)]
        await idle(worker)


async def test_many_questions_left_at_once_leave_nothing_running(tiny: Path) -> None:
    worker = QueryWorker()
    with open_store(tiny) as store:
        begun = announced(store)
        for _ in range(50):
            begun.clear()
            left = asyncio.create_task(worker.ask(lambda: store.execute_sql(ENDLESS)))
            assert await asyncio.to_thread(begun.wait, HANGS_AFTER_S)
            left.cancel()
            await idle(worker)


async def test_what_changes_something_is_done_to_its_end(tiny: Path) -> None:
    worker, halfway, go_on, done = QueryWorker(), threading.Event(), threading.Event(), []

    def act() -> None:
        with open_store(tiny) as store:
            halfway.set()
            assert go_on.wait(HANGS_AFTER_S)
            done.extend(store.execute_sql("SELECT count(*) FROM conversation"))

    left = asyncio.create_task(worker.do(act))
    assert await asyncio.to_thread(halfway.wait, HANGS_AFTER_S)
    left.cancel()
    with pytest.raises(asyncio.CancelledError):
        await left
    go_on.set()
    await idle(worker)
    assert done == [(20,)]
