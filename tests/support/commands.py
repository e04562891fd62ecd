"""Commands that run in this process, if none has to be started to show what they say."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Mapping
from pathlib import Path
from subprocess import CompletedProcess
from unittest import mock

from tests.surface.tui import run


def riff_tui(
    *arguments: str | Path,
    directory: Path | None = None,
    surroundings: Mapping[str, str] | None = None,
    together: bool = False,
) -> CompletedProcess[str]:
    """Return what a command, in that directory, says on each stream, and its exit code.

    The environment is `surroundings` where they are given; with `together` both streams are the first one.
    """
    words = list(map(str, arguments))
    said = io.BytesIO()
    out = io.TextIOWrapper(said, "utf-8", newline="")
    err = io.TextIOWrapper(said if together else io.BytesIO(), "utf-8", newline="", line_buffering=True)
    with (
        mock.patch.dict(os.environ, surroundings or {}, clear=surroundings is not None),
        contextlib.chdir(directory or Path.cwd()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = run(words)
    return CompletedProcess(words, code, _text(out), "" if together else _text(err))


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8")
