"""Take Ctrl-C and SIGTERM inside an event loop, so that work can be ended in order."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

TERMINATED_SECONDS = 5.0
"""How long work that is under way may go on after a SIGTERM."""


@contextmanager
def stop_signals(handle: Callable[[int], None]) -> Iterator[None]:
    """Have `handle` called with the number of a signal while the block runs; do nothing outside of the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        loop.add_signal_handler(number, handle, number)
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            if handler is not None:
                signal.signal(number, handler)
