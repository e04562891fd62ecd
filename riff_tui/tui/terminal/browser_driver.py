"""Draw the explorer in a browser: over the pipe to the server that started it, and end when that is gone."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import threading
import time
from functools import partial
from typing import Any

from textual.app import App
from textual.drivers import web_driver
from textual.drivers.web_driver import WebDriver

from riff_tui.tui.terminal.textual_internals import InputParser

PATIENCE_S = 5.0
_NO_MOUSE = "".join(f"\x1b[?{mode}l" for mode in (1000, 1003, 1006, 1015))
_STDIN, _STDOUT, _STDERR = 0, 1, 2
_SET_SIGNAL_OF_PARENTS_END = 1  # prctl(2)


class BrowserDriver(WebDriver):
    """Send whole packets and nothing else, take nothing that was pasted for a key, and outlive no server.

    Textual reads on, and does nothing else, where the server was killed; it reports the mouse whether it shall or not.
    """

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._takes_mouse = mouse
        # What anything prints would be read as a packet.
        self.fileno = os.dup(_STDOUT)
        os.dup2(_STDERR, _STDOUT)
        self._one_packet = threading.Lock()
        self._write = partial(self._write_whole)

    def run_input_thread(self) -> None:
        web_driver.XTermParser = InputParser  # type: ignore[attr-defined]
        super().run_input_thread()

    def start_application_mode(self) -> None:
        super().start_application_mode()
        if not self._takes_mouse:
            self.write(_NO_MOUSE)
        _go_on_without_parent()
        threading.Thread(target=self._await_end_of_server, name="riff-tui-server", daemon=True).start()

    def _write_whole(self, data: bytes) -> int:
        """Write a packet; two threads do, and a long one takes several writes."""
        with self._one_packet, contextlib.suppress(BrokenPipeError):
            left = memoryview(data)
            while left:
                left = left[os.write(self.fileno, left) :]
        return len(data)

    def _await_end_of_server(self) -> None:
        poll = select.poll()
        poll.register(_STDIN, 0)
        poll.poll()
        os.kill(os.getpid(), signal.SIGTERM)
        # What is being saved takes no longer; nobody is left to end what hangs.
        time.sleep(PATIENCE_S)
        os.kill(os.getpid(), signal.SIGKILL)


def _go_on_without_parent() -> None:
    """Have this process continued, where it is stopped, once the one that started it is gone; on Linux alone.

    One that is stopped would never notice, and stay.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_SIGNAL_OF_PARENTS_END, signal.SIGCONT, 0, 0, 0)
