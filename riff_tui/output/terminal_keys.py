"""Wait for a key of the terminal while something else goes on."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Keys:
    """Wait for keys on a file descriptor, or just wait where there is none."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    def wait(self, seconds: float) -> str:
        """Return what was typed, nothing where that took longer."""
        if self._descriptor is None:
            time.sleep(seconds)
            return ""
        ready, _, _ = select.select([self._descriptor], [], [], seconds)
        if not ready:
            return ""
        typed = os.read(self._descriptor, 64)
        if not typed:
            self._descriptor = None
        return typed.decode("ascii", "replace")


@contextmanager
def terminal_keys() -> Iterator[Keys]:
    """Take single keys from stdin while the block runs, and leave the terminal as it was."""
    try:
        import termios
        import tty

        descriptor = sys.stdin.fileno()
        before = termios.tcgetattr(descriptor)
        is_ours = os.tcgetpgrp(descriptor) == os.getpgrp()
    except Exception:  # without a terminal there are no keys to wait for
        is_ours = False
    if not is_ours:
        yield Keys(None)
        return
    try:
        tty.setcbreak(descriptor)
        yield Keys(descriptor)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
