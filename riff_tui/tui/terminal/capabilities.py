"""Detect what the terminal can show: colours, Unicode, a mouse."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

from riff_tui.browser import is_in_browser
from riff_tui.settings import wants_color
from riff_tui.text.glyphs import Glyphs, glyphs
from riff_tui.tui.render.palette import PALETTES, Palette

_NEEDED = "·…›▲█▒─◆●⏎"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Hold what to draw with and whether to take the mouse."""

    palette: Palette
    glyphs: Glyphs
    mouse: bool


def detect_capabilities(
    *,
    theme: str | None = None,
    remembered: str | None = None,
    ascii_only: bool | None = None,
    mouse: bool | None = None,
    environ: Mapping[str, str] = os.environ,
    stream: TextIO | None = None,
) -> Capabilities:
    """Return what the environment says, overridden by what the user asked for.

    Over SSH the mouse stays with the terminal, and its own colours are taken whatever theme is
    `remembered`. A page is black and has no colours of its own. Without colours there are reverse, bold and the marks.
    """
    remote = bool(environ.get("SSH_CONNECTION"))
    usual = "dark" if is_in_browser(environ) else "ansi"
    theme = theme or (None if remote else remembered)
    named = "plain" if not wants_color(True, environ) else usual if theme not in PALETTES else str(theme)
    if ascii_only is None:
        ascii_only = environ.get("TERM") == "linux" or not _can_show(stream or sys.stderr)
    return Capabilities(PALETTES[named], glyphs(ascii_only), not remote if mouse is None else mouse)


def _can_show(stream: TextIO) -> bool:
    try:
        encoding = codecs.lookup(stream.encoding or "ascii").name
        _NEEDED.encode(encoding)
    except (LookupError, UnicodeEncodeError, AttributeError):
        return False
    return True
