"""Open the store that a command reads, so that the interrupt key ends the command at once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from riff_store.signals import ENDED_BY

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_store.interruption import Interruption

# A statement that was just beginning did not notice that it was interrupted.
_INSISTS_AFTER_S = 0.02


@contextmanager
def reading(location: str) -> Iterator[Store]:
    """Open a store and answer everything inside from one state of it; raises as `open_store` does.

    The engine gives no signal a turn before a statement has ended: one that ends the command ends the statement.
    """
    from riff_store.interruption import Interruption
    from riff_tui.notes.kept_notes import open_to_read

    interruption = Interruption()
    with (
        open_to_read(location) as store,
        _interrupted_by_signals(interruption),
        interruption.in_force(),
        store.snapshot(),
    ):
        yield store


@contextmanager
def _interrupted_by_signals(interruption: Interruption) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    before = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    ended = threading.Event()
    listener = threading.Thread(
        target=_listen, args=(read_end, interruption, ended), name="riff-tui-signals", daemon=True
    )
    listener.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        ended.set()
        os.close(write_end)
        listener.join()
        os.close(read_end)


def _listen(read_end: int, interruption: Interruption, ended: threading.Event) -> None:
    """Interrupt once a signal came that ends the process, and until it has ended; each arrives as a byte."""
    while numbers := os.read(read_end, 64):
        while not ENDED_BY.keys().isdisjoint(numbers) and not ended.is_set():
            interruption.interrupt()
            ended.wait(_INSISTS_AFTER_S)
