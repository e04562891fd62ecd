"""Programs that take part in calls: what they are made of, and whether anything of them is left."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from tests.surface.runner import Program, environment_of

preamble = """
import json, os, signal, subprocess, sys, time
def tell(**message):
    sys.stdout.write(json.dumps(message) + "\\n")
    sys.stdout.flush()
def hear(): return json.loads(sys.stdin.readline() or "{}")
"""


def program(source: str, *, env: tuple[str, ...] = ()) -> Program:
    """Return a program in Python, to which `tell(**message)` and `hear()` are known."""
    environment = environment_of(env, os.environ, option="--agent-env")
    return Program((sys.executable, "-c", f"{preamble}{source}"), environment)


def is_alive(process: int) -> bool:
    """Return whether a process is there, and not merely waiting to be collected."""
    return _state(process) not in ("", "Z")


def is_waiting(process: int) -> bool:
    """Return whether a process waits for something other than its turn."""
    return _state(process) == "S"


def _state(process: int) -> str:
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return ""


async def is_gone(process: int) -> bool:
    """Wait until a process is no longer there."""
    async with asyncio.timeout(60):
        while is_alive(process):
            await asyncio.sleep(0.01)
    return True
