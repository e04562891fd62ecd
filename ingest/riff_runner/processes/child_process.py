"""Treat programs of others with care: what they get to see, how they are ended, and what is shown of their end."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import re
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

from riff_store.errors import UsageError
from riff_store.signals import ending_signals, handlers_given_back

LONGEST_COMPLAINT = 200
PASSED_ON = (
    "PATH", "HOME", "LANG", "TZ", "TMPDIR", "TERM", "VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "PYTHONUTF8",
    "PYTHONIOENCODING", "PYTHONUNBUFFERED", "PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE",
)  # fmt: skip
"""The variables that a program gets besides those of its language (`LC_*`) and those that were asked for."""
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH(?!OR)", re.IGNORECASE)
_SHORTEST_SECRET = 6


def environment_of(names: Iterable[str], environ: Mapping[str, str], *, option: str) -> dict[str, str]:
    """Return what of an environment a program gets to see, with the variables that `option` names.

    Raises `UsageError` for one that is not set.
    """
    wanted = tuple(names)
    for name in wanted:
        if name not in environ:
            raise UsageError(f"{option}: there is no variable {name!r} in the environment", f"set it, or omit {option}")
    passed = (*PASSED_ON, *wanted)
    return {name: value for name, value in environ.items() if name in passed or name.startswith("LC_")}


def signal_group(pid: int, number: int) -> bool:
    """Send a signal, 0 for none, to the group that a process leads; return whether any of it was still there."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
        return True
    return False


def last_words(complained: bytes) -> str:
    """Return the last line of what a program said on stderr, cut, and without keys of this environment."""
    lines = complained.decode(errors="replace").strip().splitlines()
    return told(lines[-1].strip()) if lines else ""


def told(complaint: object) -> str:
    """Return what others report as wrong, cut, and without keys of this environment, which many repeat."""
    return without_secrets(str(complaint), os.environ)[:LONGEST_COMPLAINT]


def without_secrets(text: str, environ: Mapping[str, str]) -> str:
    """Return the text without the values of variables that are named as keys, tokens or passwords."""
    for name, value in environ.items():
        if _SECRET.search(name) and len(value) >= _SHORTEST_SECRET:
            text = text.replace(value, f"${name}")
    return text


TERMINATED_SECONDS = 5.0
"""How long work that is under way may go on after a signal that nobody types: SIGTERM, SIGHUP."""
_SAME_SECONDS = 0.25
"""What of these comes so soon after the first is the same one: `timeout` tells the process, and then its group."""


@contextmanager
def stop_signals(handle: Callable[[int], None]) -> Iterator[None]:
    """Have `handle` called with the number of a signal while the block runs; do nothing outside of the main thread.

    One that the process was started to ignore stays so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    numbers = ending_signals()
    came = dict.fromkeys(numbers, -math.inf)

    def take(number: int) -> None:
        if number == signal.SIGINT or loop.time() - came[number] > _SAME_SECONDS:
            came[number] = loop.time()
            handle(number)

    with handlers_given_back():
        for number in numbers:
            loop.add_signal_handler(number, take, number)
        yield
