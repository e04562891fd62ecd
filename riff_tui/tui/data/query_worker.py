"""Query the store on one thread, so that keys never wait for it."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

from riff_store.interruption import Interruption

T = TypeVar("T")
Step = TypeVar("Step")
Work: TypeAlias = Callable[[], Coroutine[Any, Any, Any]]
"""What is done in the background: a function, since one that is given up before it begins is then never called."""
# A statement that was just beginning did not notice that it was interrupted.
_INSISTS_AFTER_S = 0.02


class _Job(NamedTuple):
    run: Callable[[], Any]
    future: asyncio.Future[Any]
    interruption: Interruption | None
    ended: threading.Event


class QueryWorker:
    """Run queries one after the other; one that nobody waits for any more is not run, or ends where it is.

    The thread is a daemon: leaving the program never waits for a slow query.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._pending = 0
        self._lock = threading.Lock()
        threading.Thread(target=self._work, name="riff-tui-query-worker", daemon=True).start()

    async def ask(self, query: Callable[[], T]) -> T:
        """Run a query; return its result or raise its error. Whoever is cancelled meanwhile leaves nothing running."""
        job = self._begin(query, Interruption())
        try:
            return cast(T, await job.future)
        except asyncio.CancelledError:
            _end(job)
            raise

    async def do(self, act: Callable[[], T]) -> T:
        """Do what changes something, to its end once it has begun; return its result or raise its error."""
        return cast(T, await self._begin(act, None).future)

    def _begin(self, run: Callable[[], Any], interruption: Interruption | None) -> _Job:
        job = _Job(run, asyncio.get_running_loop().create_future(), interruption, threading.Event())
        with self._lock:
            self._pending += 1
        self._jobs.put(job)
        return job

    async def follow(self, steps: Generator[Step, None, T], progress: Callable[[Step], None]) -> T:
        """Run a query in steps, other queries between them; pass what each step yields on, and return the result."""
        while True:
            step, result = await self.ask(partial(_next, steps))
            if step is None:
                return cast(T, result)
            progress(step)

    @property
    def idle(self) -> bool:
        """Return whether no query is running or waiting."""
        return self._pending == 0

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            if job.future.cancelled():
                job.ended.set()
                self._count_down()
            else:
                self._run(job)
            # Until the next one comes, nothing keeps what this one has found.
            del job

    def _count_down(self) -> None:
        with self._lock:
            self._pending -= 1

    def _run(self, job: _Job) -> None:
        future = job.future
        try:
            with job.interruption.in_force() if job.interruption is not None else contextlib.nullcontext():
                result = job.run()
        except BaseException as error:  # handed over whole to the one who waits
            job.ended.set()
            self._settle(future, future.set_exception, error)
        else:
            job.ended.set()
            self._settle(future, future.set_result, result)

    def _settle(self, future: asyncio.Future[Any], settle: Callable[[Any], None], value: Any) -> None:
        def unless_done() -> None:
            if not future.done():
                settle(value)

        # Idle before whoever waited goes on, who may ask for that; or they may be gone, and the loop with them.
        self._count_down()
        with contextlib.suppress(RuntimeError):
            future.get_loop().call_soon_threadsafe(unless_done)


def _end(job: _Job) -> None:
    """Interrupt a query until it has ended."""
    if job.interruption is not None and not job.ended.is_set():
        job.interruption.interrupt()
        asyncio.get_running_loop().call_later(_INSISTS_AFTER_S, _end, job)


def _next(steps: Generator[Step, None, T]) -> tuple[Step | None, T | None]:
    """Return what one more step yields, or nothing and the result if there is no more of them."""
    try:
        return next(steps), None
    except StopIteration as end:
        return None, end.value
