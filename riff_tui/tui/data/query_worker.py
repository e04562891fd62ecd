"""Query the store on one thread, so that keys never wait for it."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, TypeVar, cast

T = TypeVar("T")
_Job = tuple[Callable[[], Any], "asyncio.Future[Any]"]


class QueryWorker:
    """Run queries one after the other; one that nobody waits for any more is not run.

    The thread is a daemon: leaving the program never waits for a slow query.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._pending = 0
        self._lock = threading.Lock()
        threading.Thread(target=self._work, name="riff-tui-query-worker", daemon=True).start()

    async def ask(self, query: Callable[[], T]) -> T:
        """Run a query; return its result or raise its error."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        with self._lock:
            self._pending += 1
        self._jobs.put((query, future))
        return await future

    async def follow(self, steps: Generator[str, None, T], progress: Callable[[str], None]) -> T:
        """Run a query in steps, other queries between them; pass what each step yields on, and return the result."""
        while True:
            step, is_last, result = await self.ask(partial(_next, steps))
            if is_last:
                return cast(T, result)
            progress(step)

    @property
    def idle(self) -> bool:
        """Return whether no query is running or waiting."""
        return self._pending == 0

    def _work(self) -> None:
        while True:
            query, future = self._jobs.get()
            if future.cancelled():
                self._count_down()
            else:
                self._run(query, future)

    def _count_down(self) -> None:
        with self._lock:
            self._pending -= 1

    def _run(self, query: Callable[[], Any], future: asyncio.Future[Any]) -> None:
        try:
            result = query()
        except BaseException as error:  # handed over whole to the one who waits
            self._settle(future, future.set_exception, error)
        else:
            self._settle(future, future.set_result, result)

    def _settle(self, future: asyncio.Future[Any], settle: Callable[[Any], None], value: Any) -> None:
        def unless_done() -> None:
            if not future.done():
                settle(value)

        # Idle before whoever waited goes on, who may ask for that; or they may be gone, and the loop with them.
        self._count_down()
        with contextlib.suppress(RuntimeError):
            future.get_loop().call_soon_threadsafe(unless_done)


def _next(steps: Generator[str, None, T]) -> tuple[str, bool, T | None]:
    """Return what one more step yields, whether it was the last one, and the result of that."""
    try:
        return next(steps), False, None
    except StopIteration as end:
        return "", True, end.value
