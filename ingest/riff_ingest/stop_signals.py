"""Take the signals that end a process inside an event loop, so that work can be ended in order."""

from __future__ import annotations

import asyncio
import math
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from riff_store.signals import ending_signals, handlers_given_back

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
