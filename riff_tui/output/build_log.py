"""Words for the log of a build: GitHub's runner reads it line by line and does what looks like a command to it."""

from __future__ import annotations

import os
import stat
from typing import TextIO

VARIABLE = "GITHUB_ACTIONS"


def is_log(stream: TextIO) -> bool:
    """Whether a runner may read what is written there; a file that somebody redirected to is none of its business."""
    if os.environ.get(VARIABLE) != "true":
        return False
    try:
        return not stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):
        return True


def harmless(line: str) -> str:
    """A line of which the runner takes no part for a command: new ones begin a line, old ones stand anywhere in it."""
    text = line.lstrip()
    indent = line[: len(line) - len(text)]
    return indent + ("'" if text.startswith("::") else "") + text.replace("##[", "## [")
