"""Escape text for the log of a build, whose runner reads it line by line and obeys what looks like a command."""

from __future__ import annotations

import os
import stat
from typing import TextIO

VARIABLE = "GITHUB_ACTIONS"


def is_build_log(stream: TextIO) -> bool:
    """Return whether a runner reads what is written there; it does not read a file that output is redirected to."""
    if os.environ.get(VARIABLE) != "true":
        return False
    try:
        return not stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):
        return True


def escape_commands(line: str) -> str:
    """Escape a line so that the runner obeys no part of it: new commands begin a line, old ones stand anywhere."""
    text = line.lstrip()
    indent = line[: len(line) - len(text)]
    return indent + ("'" if text.startswith("::") else "") + text.replace("##[", "## [")
