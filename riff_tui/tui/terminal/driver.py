"""The terminal that is drawn on: its size is its own, and when it is gone nothing is left to wait for."""

from __future__ import annotations

import os
import select
import signal
import threading

from textual.drivers.linux_driver import LinuxDriver


class TerminalDriver(LinuxDriver):
    """Textual draws on stderr, but asks the environment and then stdout, which may be a file, how large that is.

    It also reads on, and does nothing else, where the terminal hung up and no signal came.
    """

    _watched = False

    def start_application_mode(self) -> None:
        super().start_application_mode()  # type: ignore[no-untyped-call]  # it has no annotations
        if not self._watched:
            self._watched = True
            threading.Thread(target=self._await_hangup, name="riff-tui-hangup", daemon=True).start()

    def _await_hangup(self) -> None:
        """The signal for a terminal that is gone reaches the leader of its session alone."""
        waiting = select.poll()
        waiting.register(self.fileno, 0)
        if any(found & select.POLLHUP for _, found in waiting.poll()):
            os.kill(os.getpid(), signal.SIGHUP)

    def _get_terminal_size(self) -> tuple[int, int]:
        for descriptor in (2, self.fileno):
            try:
                width, height = os.get_terminal_size(descriptor)
            except (OSError, ValueError):
                continue
            if width and height:
                return width, height
        return super()._get_terminal_size()
