"""Take the signals that end a process inside an event loop, so that work can be ended in order."""

from __future__ import annotations

import asyncio
import math
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from riff_store.errors import ENDED_BY

TERMINATED_SECONDS = 5.0
"""How long work that is under way may go on after a signal that nobody types: SIGTERM, SIGHUP."""
_SAME_SECONDS = 0.25
"""What of these comes so soon after the first is the same one: `timeout` tells the process, and then its group."""


@contextmanager
def stop_signals(handle: Callable[[int], None]) -> Iterator[None]:
    """Have `handle` called with the number of a signal while the block runs; do nothing outside of the main thread.

    A signal that is ignored stays so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in ENDED_BY}
    before = {number: handler for number, handler in before.items() if handler is not signal.SIG_IGN}
    came = dict.fromkeys(before, -math.inf)

    def take(number: int) -> None:
        if number == signal.SIGINT or loop.time() - came[number] > _SAME_SECONDS:
            came[number] = loop.time()
            handle(number)

    for number in before:
        loop.add_signal_handler(number, take, number)
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            if handler is not None:
                signal.signal(number, handler)
