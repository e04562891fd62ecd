"""Report each program that is started to the one that ends what others leave running."""

from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
import os
import secrets
import subprocess
import sys
from collections.abc import Mapping

from riff_runner.processes.program import VARIABLE

_PATIENCE_S = 5.0


class Reaper:
    """Represent the process that outlives this one to end what it started; without one nothing is reported."""

    def __init__(self, process: subprocess.Popen[bytes] | None) -> None:
        self._process = process
        self._token = secrets.token_hex(16)
        self._numbers = itertools.count(1)
        self._tell(f"{self._token}\n")

    @classmethod
    def start(cls) -> Reaper:
        """Start the process, of no group and with nothing in its environment, where the system lets it."""
        program = os.path.join(os.path.dirname(__file__), "program.py")
        if not sys.executable:
            return cls(None)
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", program], bufsize=0, cwd="/", env={}, start_new_session=True,
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except OSError:
            return cls(None)
        return cls(process)

    def mark(self) -> dict[str, str]:
        """Return what the environment of a new program has to contain besides."""
        return {VARIABLE: f"{self._token}.{next(self._numbers)}"}

    def started(self, pid: int, environment: Mapping[str, str]) -> None:
        """Report a program that leads a group of its own and has the mark in its environment."""
        self._tell(f"+ {pid} {environment[VARIABLE]}\n")

    def ended(self, pid: int) -> None:
        """Report that the group of a program was ended."""
        self._tell(f"- {pid}\n")

    def close(self) -> None:
        """Have everything ended that is left, and wait for that."""
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None
            with contextlib.suppress(OSError):
                process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_PATIENCE_S)

    def _tell(self, line: str) -> None:
        if self._process is not None:
            assert self._process.stdin is not None
            with contextlib.suppress(OSError):
                self._process.stdin.write(line.encode())


@functools.cache
def reaper() -> Reaper:
    """Return the one of this process, which is started for the first program and closed at the end."""
    started = Reaper.start()
    atexit.register(started.close)
    return started
