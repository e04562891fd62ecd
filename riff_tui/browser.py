"""Name what the explorer in a browser and the server that starts it have to agree on."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlencode

DRIVER = "riff_tui.tui.terminal.browser_driver:BrowserDriver"
"""What draws the explorer there, as Textual finds it."""
DRIVER_VARIABLE = "TEXTUAL_DRIVER"

LINK_PREFIX = "/v/"
PLACE = "place"
"""What an explorer tells its page as it goes somewhere: the address that leads there, and a title."""


def link_address(view: str, query: Sequence[tuple[str, str]]) -> str:
    """Return the address of a view below the server's own; parameters without a value are left out."""
    given = urlencode([(name, value) for name, value in query if value], quote_via=quote, safe=":,=", errors="replace")
    return f"{LINK_PREFIX}{quote(view)}{'?' if given else ''}{given}"


def is_in_browser(environ: Mapping[str, str] | None = None) -> bool:
    """Return whether a server started this process to draw the explorer in a browser."""
    return (os.environ if environ is None else environ).get(DRIVER_VARIABLE) == DRIVER
