"""Speak with a program that plays one part of calls, within the time that it has for each turn."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any

from riff_runner.processes.child_process import told
from riff_runner.processes.process import CannotStart, LineProcess, ProcessFailed, Program
from riff_runner.protocol import EndpointRefused, Side, Unavailable

PROTOCOL = 1
CLOSING_S = 5.0
"""How long a program may take, once the call is over, to say how it ended."""


class Wire:
    """Represent the line to a program; `note` is shown of errors that it reports and survives."""

    def __init__(
        self, side: Side, process: LineProcess, turn_timeout_s: float, note: Callable[[str, str], None]
    ) -> None:
        self._side = side
        self._process = process
        self._turn_timeout_s = turn_timeout_s
        self._note = note
        self._timeout: asyncio.Timeout | None = None
        self._is_broken = False

    @classmethod
    async def open(cls, side: Side, program: Program, turn_timeout_s: float, note: Callable[[str, str], None]) -> Wire:
        """Start the program; raises `EndpointRefused` if it cannot be."""
        try:
            return cls(side, await LineProcess.start(program), turn_timeout_s, note)
        except CannotStart as error:
            raise EndpointRefused(side, str(error)) from error

    async def introduce(
        self, start: Mapping[str, Any], take: Callable[[dict[str, Any]], Awaitable[object]]
    ) -> dict[str, Any]:
        """Send what a call begins with and return the answer; what comes before it goes to `take`.

        Raises `Unavailable`, and `EndpointRefused` where the program speaks another version of the protocol; then the
        program has ended.
        """
        try:
            async with self.turn('"ready" in answer to "start"'):
                await self.send({"type": "start", "protocol": PROTOCOL, **start})
                while (message := await self.receive()).get("type") != "ready":
                    await take(message)
            if (spoken := message.get("protocol", PROTOCOL)) != PROTOCOL:
                told = f"the program speaks protocol {str(spoken)[:20]}, and riff-tui protocol {PROTOCOL}"
                raise EndpointRefused(self._side, told)
        except BaseException:
            await self._process.close()
            raise
        return message

    @contextlib.asynccontextmanager
    async def turn(self, awaited: str = "answer") -> AsyncIterator[None]:
        """Bound what happens within by the time that a turn may take; raises `Unavailable` beyond it."""
        try:
            async with asyncio.timeout(self._turn_timeout_s) as self._timeout:
                yield
        except TimeoutError:
            if self._timeout is None or not self._timeout.expired():
                raise
            self._is_broken = True
            raise Unavailable(self._side, f"no {awaited} within {self._turn_timeout_s:g} s") from None
        except BaseException:
            self._is_broken = True
            raise
        finally:
            self._timeout = None

    @contextlib.contextmanager
    def not_counted(self) -> Iterator[None]:
        """Let what others take meanwhile not count against the turn."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        try:
            yield
        finally:
            if self._timeout is not None and (deadline := self._timeout.when()) is not None:
                self._timeout.reschedule(deadline + loop.time() - begun)

    async def send(self, message: Mapping[str, Any]) -> None:
        """Send a message; raises `BadLine` for one that is too long."""
        await self._process.send(message)

    async def receive(self) -> dict[str, Any]:
        """Return the next message that is not a report of an error; raises `Unavailable`."""
        while True:
            try:
                message = await self._process.receive()
            except ProcessFailed as error:
                self._is_broken = True
                raise Unavailable(self._side, str(error)) from None
            if message.get("type") != "error":
                return message
            kind, text = (told(message.get(name) or "error") for name in ("kind", "message"))
            if message.get("fatal") is True:
                self._is_broken = True
                raise Unavailable(self._side, f"{kind}: {text}")
            self._note(kind, text)

    def has_message(self) -> bool:
        """Return whether a message waits to be received."""
        return self._process.has_message

    async def message_within(self, seconds: float) -> dict[str, Any] | None:
        """Return the next message, `None` if there is none for so long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await self.receive()
        return None

    async def close(
        self, end: Mapping[str, Any], take: Callable[[dict[str, Any]], Awaitable[bool]] | None = None
    ) -> None:
        """Report that the call is over, hand what comes to `take` until it returns true, and end the program.

        Raises nothing; a program that did not answer before is not waited for.
        """
        try:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(min(self._turn_timeout_s, CLOSING_S)):
                    await self.send(end)
                    self._process.close_stdin()
                    if take is not None and not self._is_broken:
                        while not await take(await self.receive()):
                            pass
        finally:
            await self._process.close()


async def look_up(side: Side, program: Program) -> None:
    """Raise `EndpointRefused` if the program cannot be started."""
    try:
        program.check()
    except CannotStart as error:
        raise EndpointRefused(side, str(error)) from error
