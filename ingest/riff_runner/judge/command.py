"""Judge with a command-line model: the prompt on its stdin, the verdict on its stdout."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence

from riff_runner.judge.protocol import Answer, Question, Refused, Unanswered
from riff_runner.processes.child_process import last_words, signal_group
from riff_runner.processes.reaper import reaper

LARGEST_OUTPUT = 1024 * 1024
ENDING_SECONDS = 2.0
_PIECE = 64 * 1024


class CommandJudge:
    """Run a program once a try, without a shell, in a process group of its own that is killed where the try fails."""

    def __init__(self, argv: Sequence[str], environ: Mapping[str, str] | None = None) -> None:
        self._argv = tuple(argv)
        self._environ = os.environ if environ is None else environ

    async def ask(self, question: Question) -> Answer:
        """Return what the program printed; raise `Unanswered` if it failed."""
        environment = {**self._environ, **reaper().mark()}
        try:
            process = await asyncio.create_subprocess_exec(
                *self._argv, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, start_new_session=True
            )
        except OSError as error:
            raise Refused(f"{self._argv[0]} cannot be run: {error.strerror or type(error).__name__}") from error
        reaper().started(process.pid, environment)
        try:
            printed, complained = await _talk(process, question.prompt.as_one())
            code = await process.wait()
        except BaseException:
            await _end(process)
            raise
        finally:
            reaper().ended(process.pid)
        if len(printed) > LARGEST_OUTPUT:
            raise Unanswered("the command printed too much", again=False)
        if code:
            how, last = f"signal {-code}" if code < 0 else f"exit code {code}", last_words(complained)
            raise Unanswered(f"the command ended with {how}{f': {last}' if last else ''}")
        return Answer(printed.decode(errors="replace"))

    async def close(self) -> None:
        """Do nothing: nothing is kept between two tries."""


async def _talk(process: Process, prompt: str) -> tuple[bytes, bytes]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    _, printed, complained = await asyncio.gather(
        _write(process.stdin, prompt.encode(errors="replace")),
        _read(process, process.stdout),
        _read_last(process.stderr),
    )
    return printed, complained


async def _write(stream: asyncio.StreamWriter, data: bytes) -> None:
    with contextlib.suppress(ConnectionError):  # it may answer without reading to the end
        stream.write(data)
        await stream.drain()
    stream.close()


async def _read(process: Process, stream: asyncio.StreamReader) -> bytes:
    """Read all that is printed; who prints more than `LARGEST_OUTPUT` is stopped, and the rest is thrown away."""
    found = b""
    while piece := await stream.read(_PIECE):
        if len(found) <= LARGEST_OUTPUT:
            found += piece
            if len(found) > LARGEST_OUTPUT:
                signal_group(process.pid, signal.SIGKILL)
    return found


async def _read_last(stream: asyncio.StreamReader | None) -> bytes:
    found = b""
    while stream is not None and (piece := await stream.read(_PIECE)):
        found = (found + piece)[-_PIECE:]
    return found


async def _end(process: Process) -> None:
    """Leave nothing of the group behind, whatever it started."""
    signal_group(process.pid, signal.SIGKILL)
    with contextlib.suppress(TimeoutError):  # one that left the group may still have the pipes open
        async with asyncio.timeout(ENDING_SECONDS):
            await _read_last(process.stdout)
            await _read_last(process.stderr)
            await process.wait()
