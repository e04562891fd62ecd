"""The run that a file belongs to."""

from __future__ import annotations

import os
from pathlib import Path


def run_of(path: Path) -> str:
    """The run of what names none: the directory that holds the file."""
    directory = os.path.basename(os.path.dirname(os.path.abspath(path)))
    return os.fsencode(directory).decode(errors="backslashreplace") or "(root)"
