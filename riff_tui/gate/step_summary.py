"""Add to the summary of a GitHub step: a file that several commands of the step write to, one after the other."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from riff_tui.errors import OutputError, writing


def append(path: Path, text: str) -> None:
    """Put text at the end of a file in one write, on a line of its own; the file is made if it is missing.

    Never through a link, and only a plain file; raises `OutputError`.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with writing(str(path)):
        if path.is_symlink():
            raise OutputError(f"{path}: is a link, which is never written through; name the file itself")
        with open(os.open(path, flags, 0o600), "r+b", buffering=0) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OutputError(f"{path}: is not a plain file")
            data = (_gap(file.fileno()) + text).encode("utf-8", "replace")
            while data:
                data = data[file.write(data) or 0 :]


def _gap(descriptor: int) -> str:
    """Return what sets the text apart from what stands there: nothing, or the end of a line and an empty one."""
    size = os.fstat(descriptor).st_size
    if not size:
        return ""
    return "\n" if os.pread(descriptor, 1, size - 1) == b"\n" else "\n\n"
