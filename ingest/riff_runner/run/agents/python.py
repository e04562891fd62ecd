"""Take part in calls with an object of Python: a function, a class regenerated for each call, or an `Agent`."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import queue
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from riff_runner.processes.child_process import told
from riff_runner.protocol import Agent, AgentReply, AgentStopped, CallProblem, EndpointRefused, StopReason, Unavailable
from riff_runner.run.agent_call import AgentCall
from riff_runner.run.tools import ToolFailed
from riff_store.errors import UsageError

_OURS = "riff_runner."
_OUR_PACKAGES = frozenset({"riff_ingest", "riff_runner"})
_FORMS = (
    "an agent is a function of the call and of what the caller said, a class with a method `reply`, of which every "
    "call gets an object of its own, or an object with `begin`"
)


def as_agent(thing: Any, name: str | None = None) -> Agent:
    """Return an agent made of a function, a class or an object; raises `UsageError` if it is none of an agent.

    What goes wrong in it is `Unavailable`, and so is a turn that takes longer than a turn may.
    """
    if inspect.isclass(thing) and hasattr(thing, "begin"):
        _refuse_unless_it_takes(thing)
        thing = thing()
    if hasattr(thing, "begin"):
        if type(thing).__module__.startswith(_OURS) and name is None:
            return thing  # type: ignore[no-any-return]
        own = str(getattr(thing, "name", type(thing).__name__))
        return PythonAgent(thing.begin, name or own, thing)
    if inspect.isclass(thing) and callable(getattr(thing, "reply", None)):
        _refuse_unless_it_takes(thing, "the call")
        return PythonAgent(thing, name or thing.__name__)
    if callable(thing) and not inspect.isclass(thing):
        _refuse_unless_it_takes(thing, "the call", "what the caller said")
        return PythonAgent(functools.partial(_OneFunction, thing), name or str(getattr(thing, "__name__", "agent")))
    raise UsageError(f"{_described(thing)} is not an agent", _FORMS)


class PythonAgent:
    """Begin each call with what `begin` returns for it; `whole` is the agent that this belongs to, if any."""

    def __init__(self, begin: Callable[[AgentCall], object], name: str, whole: object = None) -> None:
        self._begin = begin
        self._name = name
        self._whole = whole
        self._worker = Worker()

    @property
    def name(self) -> str:
        """Return the name that was given, else that of the object."""
        return self._name

    async def check(self) -> None:
        """Ask an agent that has a check whether it is there; raises `EndpointRefused`."""
        if (check := getattr(self._whole, "check", None)) is not None:
            try:
                await self._worker.call(check)
            except CallProblem:
                raise
            except Exception as error:
                raise EndpointRefused("agent", _told(error)) from error

    async def begin(self, call: AgentCall) -> PythonSession:
        """Begin a call; raises as `AgentSession.reply` does."""
        session = PythonSession(call)
        await session.begin(self._begin)
        return session

    async def close(self) -> None:
        """Close an agent that can be closed; what goes wrong then changes no call any more."""
        if (close := getattr(self._whole, "close", None)) is not None:
            with contextlib.suppress(Exception):
                await self._worker.call(close)
        self._worker.stop()


class PythonSession:
    """Ask an object of Python in one call."""

    def __init__(self, call: AgentCall) -> None:
        self._call = call
        self._part: Any = None
        self._worker = Worker()

    async def begin(self, begin: Callable[[AgentCall], object]) -> None:
        """Make the object that takes part in this call."""
        self._part = await self._asked(begin, self._call)

    async def greet(self) -> AgentReply | None:
        """Return what an object that greets says first."""
        greet = getattr(self._part, "greet", None)
        said = await self._asked(greet) if greet is not None else None
        return None if said is None else _reply(said)

    async def reply(self, text: str) -> AgentReply:
        """Return what the object answers: text, nothing, or an `AgentReply`.

        One that does not catch that a tool has no result shows nothing in this turn: that is its own doing.
        """
        try:
            reply = _reply(await self._asked(self._part.reply, text))
        except Unavailable as problem:
            if not isinstance(failed := problem.__cause__, ToolFailed):
                raise
            self._call.note("tool_failed", str(failed))
            reply = AgentReply("")
        if self._call.errors > self._call.limits.agent_errors:  # which it caught itself
            raise AgentStopped("too_many_errors")
        return reply

    async def end(self, reason: StopReason) -> str | None:
        """Notify an object that wants to know, and return the status that it reports; raises nothing."""
        status = None
        if (end := getattr(self._part, "end", None)) is not None and not self._worker.is_busy:
            with contextlib.suppress(Exception):
                status = await self._asked(end, reason)
        self._worker.stop()
        return status if isinstance(status, str) else None

    async def _asked(self, function: Callable[..., Any], *arguments: Any) -> Any:
        timeout_s = self._call.limits.turn_timeout_s
        try:
            async with asyncio.timeout(timeout_s) as timeout:
                return await self._worker.call(function, *arguments)
        except (CallProblem, AgentStopped):
            raise
        except (Exception, SystemExit) as error:
            if isinstance(error, TimeoutError) and timeout.expired():
                raise Unavailable("agent", f"no answer within {timeout_s:g} s") from None
            raise Unavailable("agent", _told(error)) from error


class _OneFunction:
    """Answer every turn of a call with one function."""

    def __init__(self, function: Callable[[AgentCall, str], object], call: AgentCall) -> None:
        self.reply = functools.partial(function, call)


def _reply(said: object) -> AgentReply:
    if isinstance(said, AgentReply):
        return said
    if said is None or isinstance(said, str):
        return AgentReply(said or "")
    raise Unavailable("agent", f"it answered with {_described(said)}, where text or an AgentReply is expected")


def _told(error: BaseException) -> str:
    """Return what went wrong in the code of others, and where."""
    message = str(error).strip().splitlines()
    words = told(f"{type(error).__name__}: {message[0]}" if message else type(error).__name__)
    frames = traceback.extract_tb(error.__traceback__)
    place = next((frame for frame in reversed(frames) if _OUR_PACKAGES.isdisjoint(Path(frame.filename).parts)), None)
    where = f" ({Path(place.filename).name}, line {place.lineno})" if place is not None else ""
    return f"{words}{where}"


def _refuse_unless_it_takes(thing: Callable[..., Any], *what: str) -> None:
    try:
        inspect.signature(thing).bind(*what)
    except TypeError:
        taken = " and ".join(what) or "nothing"
        raise UsageError(f"{_described(thing)} is called with {taken}, which it does not take", _FORMS) from None
    except ValueError:  # some of what is written in C does not show what it takes
        return


def _described(thing: object) -> str:
    name = getattr(thing, "__name__", None)
    return name if isinstance(name, str) else f"an object of type {type(thing).__name__}"


# Run functions that may block in a thread of their own, which nobody waits for should one of them never return.
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
