"""One thread that asks the store, so that keys never wait for it."""

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
    """Answers questions one after the other; one that nobody waits for any more is not asked.

    The thread is a daemon: leaving the program never waits for a slow question.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._unanswered = 0
        self._lock = threading.Lock()
        threading.Thread(target=self._work, name="riff-tui-worker", daemon=True).start()

    async def ask(self, question: Callable[[], T]) -> T:
        """What the question answers, or the error that it raised."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        with self._lock:
            self._unanswered += 1
        self._jobs.put((question, future))
        return await future

    async def follow(self, steps: Generator[str, None, T], told: Callable[[str], None]) -> T:
        """What steps end with; other questions have their turn between them, and `told` hears what each one says."""
        while True:
            said, ended, answer = await self.ask(partial(_next, steps))
            if ended:
                return cast(T, answer)
            told(said)

    @property
    def idle(self) -> bool:
        """Whether nothing is being asked."""
        return self._unanswered == 0

    def _work(self) -> None:
        while True:
            question, future = self._jobs.get()
            if future.cancelled():
                self._count_down()
            else:
                self._answer(question, future)

    def _count_down(self) -> None:
        with self._lock:
            self._unanswered -= 1

    def _answer(self, question: Callable[[], Any], future: asyncio.Future[Any]) -> None:
        try:
            answer = question()
        except BaseException as error:  # handed over whole to the one who asked
            self._settle(future, future.set_exception, error)
        else:
            self._settle(future, future.set_result, answer)

    def _settle(self, future: asyncio.Future[Any], settle: Callable[[Any], None], value: Any) -> None:
        def unless_done() -> None:
            if not future.done():
                settle(value)

        # Idle before whoever asked goes on, who may ask for that; or they may be gone, and the loop with them.
        self._count_down()
        with contextlib.suppress(RuntimeError):
            future.get_loop().call_soon_threadsafe(unless_done)


def _next(steps: Generator[str, None, T]) -> tuple[str, bool, T | None]:
    """What one more step says, whether it was the last one, and what that ended with."""
    try:
        return next(steps), False, None
    except StopIteration as end:
        return "", True, end.value
