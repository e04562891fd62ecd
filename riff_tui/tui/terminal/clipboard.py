"""Copy text out of the explorer: through tmux or the terminal, and always into a file."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TextIO

from riff_tui.browser import is_in_browser

FILE_NAME = "copied.txt"
_PATIENCE_S = 2.0
_IN_TURN = threading.Lock()


def copy(text: str, directory: Path, write: Callable[[str], None], environ: Mapping[str, str] = os.environ) -> str:
    """Copy safe text, and say how; `write` sends to the terminal, `directory` keeps the file."""
    with _IN_TURN:
        path = _to_file(text, directory)
        if environ.get("TMUX") and _through_tmux(text):
            return f"copied through tmux, and to {path}"
        encoded = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
        write(f"\x1b]52;c;{encoded}\x07")
    if is_in_browser(environ):
        return f"copied, if your browser lets it, and on the server to {path}"
    return f"copied, if the terminal takes it, and to {path}"


def _to_file(text: str, directory: Path) -> Path:
    from riff_tui.output.files import write_whole

    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = directory / FILE_NAME

    def fill(file: TextIO) -> None:
        file.write(text if text.endswith("\n") else f"{text}\n")

    write_whole(path, fill)
    return path


def _through_tmux(text: str) -> bool:
    program = shutil.which("tmux")
    if program is None:
        return False
    try:
        done = subprocess.run(
            [program, "load-buffer", "-w", "-"],
            input=text.encode("utf-8", "replace"),
            capture_output=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
