"""Describe which signals end a process, what they are raised as, and hand them to an event loop and back."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from riff_store.errors import ExitCode, HungUp, Terminated

ENDED_BY: Mapping[int, type[KeyboardInterrupt]] = {
    int(signal.SIGINT): KeyboardInterrupt,
    int(signal.SIGTERM): Terminated,
    int(signal.SIGHUP): HungUp,
}
"""What each signal that ends a command is raised as."""


def exit_code_of(number: int) -> ExitCode:
    """Return the exit code of a process that a signal of this number ended."""
    return ExitCode(128 + number)


def ending_signals() -> list[int]:
    """Return those that end this process: all but those that it was started to ignore, as SIGHUP is by nohup.

    The interrupt is none of these. Shells have it ignored by every job in the background, where who sends it means it.
    """
    return [n for n in ENDED_BY if n == signal.SIGINT or signal.getsignal(n) not in (signal.SIG_IGN, None)]


@contextmanager
def signals_held() -> Iterator[None]:
    """Block these signals in this thread, and in what it starts, while the block runs; they come afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDED_BY)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def handlers_given_back() -> Iterator[None]:
    """Run a block in an event loop that takes signals; then they are taken as before, without a moment in between."""
    import asyncio

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in ENDED_BY}
    try:
        yield
    finally:
        with signals_held():
            for number, handler in before.items():
                if loop.remove_signal_handler(number) and handler is not None:
                    signal.signal(number, handler)
