"""Run functions that may block in a thread of their own, which nobody waits for should one of them never return."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

_Task: TypeAlias = Callable[[], None]


class Worker:
    """Call functions of somebody else, those that may block one after the other in one thread."""

    def __init__(self) -> None:
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._running = 0

    @property
    def is_busy(self) -> bool:
        """Return whether a function has not returned yet."""
        return self._running > 0

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a function, or the coroutine that it begins, returns; raises what it raises."""
        if inspect.iscoroutinefunction(function):
            return await function(*arguments)
        result = await self._in_thread(function, *arguments)
        return await result if inspect.isawaitable(result) else result

    def stop(self) -> None:
        """Let the thread end once its function returned."""
        if self._thread is not None:
            self._tasks.put(None)

    def _in_thread(self, function: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()

        def settle(result: Any, error: BaseException | None) -> None:
            self._running -= 1
            if future.done():
                return
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)

        def run() -> None:
            result: Any = None
            failed: BaseException | None = None
            try:
                result = function(*arguments)
            except StopIteration as error:  # which no future takes
                failed = RuntimeError(f"StopIteration: {error}".rstrip(": ")).with_traceback(error.__traceback__)
            except BaseException as error:
                failed = error
            with contextlib.suppress(RuntimeError):  # the loop may be closed by then
                loop.call_soon_threadsafe(settle, result, failed)

        self._running += 1
        self._tasks.put(run)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="agent", daemon=True)
            self._thread.start()
        return future

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            task()
