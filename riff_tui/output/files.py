"""Write a file whole or not at all, readable by its owner only, and never through a link."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TextIO, TypeGuard

from riff_tui.errors import OutputError, writing

_ATTEMPTS = 20


def write_whole(path: Path, write: Callable[[TextIO], object]) -> None:
    """Let `write` fill a draft next to `path`, then put it in its place.

    The text is UTF-8 with plain newlines, the mode 0600. Raises `OutputError` if something other than a plain file is
    there; a failure leaves what was there before.
    """
    with writing(str(path)):
        _refuse_other_than_file(path)
        draft, descriptor = _draft(path)
        try:
            with open(descriptor, "w", encoding="utf-8", errors="replace", newline="\n") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(draft)
            raise


def names_file(output: Path | None) -> TypeGuard[Path]:
    """Return whether an output is a file: without one, and as `-`, it is stdout."""
    return output is not None and str(output) != "-"


def write_output(output: Path | None, write: Callable[[TextIO], object]) -> None:
    """Let `write` fill a file, whole or not at all, or stdout if none is named."""
    if names_file(output):
        write_whole(output, write)
        return
    from riff_tui.output.streams import standard_output

    with writing("stdout"):
        stream = standard_output().stream
        write(stream)
        stream.flush()


def _refuse_other_than_file(path: Path) -> None:
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISLNK(mode):
        raise OutputError(f"{path}: is a link, which is never written through; name the file itself")
    if not stat.S_ISREG(mode):
        raise OutputError(f"{path}: is not a plain file; name another one, or leave -o out and redirect")


def _draft(path: Path) -> tuple[Path, int]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    for _ in range(_ATTEMPTS):
        draft = path.with_name(f".{path.name[:80]}.{os.urandom(4).hex()}")
        try:
            return draft, os.open(draft, flags, 0o600)
        except FileExistsError:
            continue
        except FileNotFoundError as error:
            import shlex

            if path.parent.exists():  # such as /proc if nothing can be made
                raise
            missing = f"{path}: its directory does not exist"
            raise OutputError(f"{missing}; make it with mkdir -p {shlex.quote(str(path.parent))}") from error
    raise OutputError(f"{path}: no free name for a draft next to it")
