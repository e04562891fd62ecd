"""Commands that run in this process, where none has to be started to show what they say."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from subprocess import CompletedProcess

from riff_tui.cli import run


def riff_tui(*arguments: str | Path, directory: Path | None = None) -> CompletedProcess[str]:
    """Return what a command, in that directory, says on each stream, and its exit code."""
    words = list(map(str, arguments))
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8", newline=""), io.TextIOWrapper(io.BytesIO(), "utf-8", newline="")
    with (
        contextlib.chdir(directory or Path.cwd()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = run(words)
    return CompletedProcess(words, code, _text(out), _text(err))


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8")
