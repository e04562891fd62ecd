"""Speak JSON lines with a child process, and leave nothing of it behind whatever it does."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec

from riff_runner.processes.child_process import last_words, signal_group, without_secrets
from riff_runner.processes.reaper import reaper
from riff_store.errors import RiffError

STDERR_KEPT = 4096
LEAVING_S = 1.0
"""How long a program may take to end by itself once its stdin is closed, and again after SIGTERM."""
_KILLED_S = 10.0
"""How long a busy machine may take to tell that a program that was killed has ended."""
_STDIN, _STDOUT, _STDERR = 0, 1, 2
_LINGER_S = 0.2
_POLL_S = 0.02
_RUNS_OTHERS = frozenset(["python", "node", "deno", "bun", "perl", "ruby", "sh", "bash", "java", "uv", "run", "env"])
_PROGRAM_FOLLOWS = ("-c", "-e")


class CannotStart(RiffError):
    """Report a program that is not there, or that the system does not run."""


class ProcessFailed(RiffError):
    """Report a program that ended or that sent something else than a message."""


@dataclass(frozen=True, slots=True)
class Program:
    """Describe a program to be run without a shell; `environment` is all that it gets of the environment."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)

    @property
    def name(self) -> str:
        """Return the name of its file, or of the script where an interpreter runs one."""
        for word in self.argv:
            name = os.path.basename(word.rstrip("/"))
            if word in _PROGRAM_FOLLOWS:
                break
            if name and not word.startswith("-") and "=" not in word and name.rstrip("0123456789.") not in _RUNS_OTHERS:
                return name
        return os.path.basename(self.argv[0])

    def check(self) -> None:
        """Look whether it is there and may be run; raises `CannotStart`."""
        command = self.argv[0]
        if shutil.which(command, path=self.environment.get("PATH", os.defpath)) is not None:
            return
        if os.path.isfile(command) and "/" in command:
            raise CannotStart(f"{command} may not be executed", f"chmod +x {command}")
        where = "no such file" if "/" in command else "no such program on the PATH"
        raise CannotStart(f"{command} cannot be started: {where}")


class LineProcess:
    """Represent a child process, in a process group of its own, that is sent messages and sends some."""

    def __init__(self, transport: asyncio.SubprocessTransport, channel: _Channel) -> None:
        self._transport = transport
        self._channel = channel
        self._pid = transport.get_pid()

    @classmethod
    async def start(cls, program: Program) -> LineProcess:
        """Start a program; raises `CannotStart`."""
        environment = {**program.environment, **reaper().mark()}
        try:
            transport, channel = await asyncio.get_running_loop().subprocess_exec(
                _Channel, *program.argv, env=environment, start_new_session=True
            )
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise CannotStart(f"{program.argv[0]} cannot be started: {reason}") from error
        reaper().started(transport.get_pid(), environment)
        return cls(transport, channel)

    async def send(self, message: Mapping[str, Any]) -> None:
        """Send a message and wait until it is on its way; raises `BadLine` for one that is too long.

        A program that does not listen is found out by what it does not answer.
        """
        line = encoded(message)
        if not self._channel.closed[_STDIN].is_set():
            cast(asyncio.WriteTransport, self._transport.get_pipe_transport(_STDIN)).write(line)
            await self._channel.writable.wait()

    async def receive(self) -> dict[str, Any]:
        """Return the next message; raises `ProcessFailed` if there will be none."""
        channel = self._channel
        while not channel.lines:
            if channel.problem is not None:
                raise ProcessFailed(channel.problem)
            if channel.silent:
                raise ProcessFailed(await self._how_it_ended())
            channel.arrived.clear()
            await channel.arrived.wait()
        try:
            return decoded(channel.next_line(), os.environ)
        except BadLine as error:
            raise ProcessFailed(str(error)) from None

    @property
    def has_message(self) -> bool:
        """Return whether something that the program sent waits to be received."""
        return bool(self._channel.lines)

    async def close(self) -> None:
        """End the program and all of its group: by closing its stdin, then SIGTERM, then SIGKILL; raises nothing."""
        try:
            self.close_stdin()
            if not await self._ends_within(LEAVING_S) or signal_group(self._pid, 0):
                signal_group(self._pid, signal.SIGTERM)
                await self._group_ends_within(LEAVING_S)
        finally:
            self.kill()
            # For who is cancelled as well, and as often as that may be: nobody can be shown what becomes of a process
            # once the loop is closed, and one that was killed ends soon.
            cancelled: asyncio.CancelledError | None = None
            while not self._channel.exited.is_set():
                try:
                    if not await self._ends_within(_KILLED_S):
                        break
                except asyncio.CancelledError as error:
                    cancelled = error
            if cancelled is not None:
                raise cancelled

    def kill(self) -> None:
        """Kill all of the group at once, and let go of the pipes, which one that left the group may still contain."""
        signal_group(self._pid, signal.SIGKILL)
        reaper().ended(self._pid)
        self._transport.close()

    def close_stdin(self) -> None:
        """Let the program read to the end of its stdin."""
        if (pipe := self._transport.get_pipe_transport(_STDIN)) is not None:
            pipe.close()

    async def _ends_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._channel.exited.wait()
        return self._channel.exited.is_set()

    async def _group_ends_within(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while signal_group(self._pid, 0):
                    await asyncio.sleep(_POLL_S)

    async def _how_it_ended(self) -> str:
        if not await self._ends_within(LEAVING_S):
            return "it closed its stdout"
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LINGER_S):
                await self._channel.closed[_STDERR].wait()
        code = self._transport.get_returncode() or 0
        names = {each.value: each.name for each in signal.Signals}
        how = f"killed by {names.get(-code, f'signal {-code}')}" if code < 0 else f"exit status {code}"
        last = last_words(bytes(self._channel.complained))
        return f"it ended, {how}{f': {last}' if last else ''}"


class _Channel(asyncio.SubprocessProtocol):
    """Collect what a process sends; it is not read any further while more than one longest line waits."""

    def __init__(self) -> None:
        self.lines: deque[bytes] = deque()
        self.complained = bytearray()
        self.problem: str | None = None
        self.silent = False
        self.arrived = asyncio.Event()
        self.exited = asyncio.Event()
        self.writable = asyncio.Event()
        self.writable.set()
        self.closed = {fd: asyncio.Event() for fd in (_STDIN, _STDOUT, _STDERR)}
        self._buffer = LineBuffer()
        self._waiting = 0
        self._pausing = False

    def next_line(self) -> bytes:
        line = self.lines.popleft()
        self._waiting -= len(line)
        if self._pausing and self._waiting <= LARGEST_LINE:
            self._pausing = False
            self._stdout.resume_reading()
        return line

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == _STDERR:
            self.complained += data
            del self.complained[:-STDERR_KEPT]
        elif self.problem is None:
            try:
                self._add(self._buffer.feed(data))
            except BadLine as error:
                self.problem = str(error)
                self._stdout.close()
            self.arrived.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self.closed[fd].set()
        if fd == _STDIN:
            self.writable.set()
        elif fd == _STDOUT:
            if rest := self._buffer.rest():
                self._add([rest])
            self._fall_silent()

    def process_exited(self) -> None:
        self.exited.set()
        # its stdout may stay open in a process that it started, from which nothing is wanted
        asyncio.get_running_loop().call_later(_LINGER_S, self._fall_silent)

    def pause_writing(self) -> None:
        self.writable.clear()

    def resume_writing(self) -> None:
        self.writable.set()

    @property
    def _stdout(self) -> asyncio.ReadTransport:
        return cast(asyncio.ReadTransport, self._transport.get_pipe_transport(_STDOUT))

    def _add(self, lines: list[bytes]) -> None:
        self.lines.extend(lines)
        self._waiting += sum(map(len, lines))
        if self._waiting > LARGEST_LINE and not self._pausing and not self.closed[_STDOUT].is_set():
            self._pausing = True
            self._stdout.pause_reading()

    def _fall_silent(self) -> None:
        self.silent = True
        self.arrived.set()


# Read and write the lines in which programs and the runner speak: one JSON object each, in UTF-8.
LARGEST_LINE = 1024 * 1024
_SHOWN = 80


class BadLine(RiffError):
    """Report a line that is not a message, or too long to be one."""


class LineBuffer:
    """Cut bytes into lines, whatever pieces they come in; blank lines are left out."""

    def __init__(self, largest: int = LARGEST_LINE) -> None:
        self._largest = largest
        self._begun = bytearray()

    def feed(self, piece: bytes) -> list[bytes]:
        """Return the lines that this piece completes; raises `BadLine` if one is too long."""
        *lines, rest = piece.split(b"\n")
        complete = []
        for line in lines:
            self._take(line)
            complete.append(bytes(self._begun))
            self._begun.clear()
        self._take(rest)
        return [line for line in complete if line.strip()]

    def rest(self) -> bytes:
        """Return what came after the last end of a line, for a program that forgot to end it."""
        rest = bytes(self._begun)
        self._begun.clear()
        return rest if rest.strip() else b""

    def _take(self, part: bytes) -> None:
        self._begun += part
        if len(self._begun) > self._largest:
            raise BadLine(f"a line is longer than {self._largest:,} bytes")


def encoded(message: Mapping[str, Any]) -> bytes:
    """Return a message as a line; raises `BadLine` if it is too long, or contains what JSON has no form for."""
    try:
        line = msgspec.json.encode(message)
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise BadLine(f"it has no form in JSON ({error})") from None
    if len(line) > LARGEST_LINE:
        raise BadLine(f"it is longer than {LARGEST_LINE:,} bytes")
    return line + b"\n"


def decoded(line: bytes, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the message of a line; raises `BadLine`, which shows the beginning of it without keys of `environ`."""
    try:
        message = msgspec.json.decode(line)
    except (ValueError, RecursionError):
        message = None
    if isinstance(message, dict):
        return message
    start = without_secrets(line[: LARGEST_LINE // 16].decode(errors="replace").strip(), environ)[:_SHOWN]
    raise BadLine(f"a line is not a JSON object: {start!r}", "what is not for riff-tui belongs on stderr")
