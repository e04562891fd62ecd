"""Bring the calls of a run into a store while it is made, from a process of its own so that no latency suffers."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable
from pathlib import Path

from riff_tui.output.streams import SAID_BEFORE_ERRORS

PAUSE = 10
"""The least pause between two ingests, as a multiple of what the last one took."""
SHORTEST_PAUSE_S = 1.0
_NICENESS = 10
_ENDING_S = 60.0


class LiveIngest:
    """Ingest a directory again and again; `count` says how many calls are in it, so that nothing is done in vain."""

    def __init__(self, out: Path, location: str, count: Callable[[], int]) -> None:
        self._out = out
        self._location = location
        self._count = count
        self._ingested = 0

    async def follow(self) -> None:
        """Ingest what is new, with a pause after each time, until it is cancelled."""
        pause = SHORTEST_PAUSE_S
        while True:
            await asyncio.sleep(pause)
            due = self._count()
            if due == self._ingested:
                continue
            began = time.monotonic()
            if await self._ingest() is None:
                self._ingested = due
            pause = max(SHORTEST_PAUSE_S, PAUSE * (time.monotonic() - began))

    def finish(self) -> str | None:
        """Ingest what is left, and return what went wrong, `None` where nothing did."""
        return asyncio.run(self._ingest())

    async def _ingest(self) -> str | None:
        """Run `ingest` once, with less priority than the run."""
        argv = [sys.executable, "-m", "riff_tui", "ingest", str(self._out)]
        # Arguments are read by everybody on the machine, and the address of a store may hold a password.
        own = {**os.environ, "RIFF_TUI_STORE": self._location}
        process = await asyncio.create_subprocess_exec(
            *argv, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE, start_new_session=True, env=own
        )
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, process.pid, _NICENESS)
        try:
            _, said = await process.communicate()
        except asyncio.CancelledError:
            await _end(process)
            raise
        if not process.returncode:
            return None
        lines = said.decode(errors="replace").strip().splitlines()
        return lines[-1].removeprefix(SAID_BEFORE_ERRORS) if lines else f"ingest ended with {process.returncode}"


async def _end(process: asyncio.subprocess.Process) -> None:
    """Let an ingest that is under way end, since what it has read would be read again."""
    with contextlib.suppress(asyncio.TimeoutError, asyncio.CancelledError):
        await asyncio.wait_for(process.communicate(), _ENDING_S)
        return
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()
