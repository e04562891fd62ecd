"""The terminal that is drawn on: its size is its own, not that of stdout or of a stale environment."""

from __future__ import annotations

import os

from textual.drivers.linux_driver import LinuxDriver


class TerminalDriver(LinuxDriver):
    """Textual draws on stderr, but asks the environment and then stdout, which may be a file, how large that is."""

    def _get_terminal_size(self) -> tuple[int, int]:
        for descriptor in (2, self.fileno):
            try:
                width, height = os.get_terminal_size(descriptor)
            except (OSError, ValueError):
                continue
            if width and height:
                return width, height
        return super()._get_terminal_size()
