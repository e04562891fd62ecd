"""Name what the explorer in a browser and the server that starts it have to agree on."""

from __future__ import annotations

import os
from collections.abc import Mapping

DRIVER = "riff_tui.tui.terminal.browser_driver:BrowserDriver"
"""What draws the explorer there, as Textual finds it."""
DRIVER_VARIABLE = "TEXTUAL_DRIVER"


def is_in_browser(environ: Mapping[str, str] | None = None) -> bool:
    """Return whether a server started this process to draw the explorer in a browser."""
    return (os.environ if environ is None else environ).get(DRIVER_VARIABLE) == DRIVER
