"""Let a write of a file fail in this process: opening, writing, forcing it to the disk, or putting it in its place."""

from __future__ import annotations

import builtins
import errno
import io
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.faults import Fault

SHORT = 0
"""In place of an error's number: a write that does no more than half of what it was given."""
REASONS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


@contextmanager
def file_faults(fault: Fault, within: Path, number: int = errno.ENOSPC) -> Iterator[None]:
    """Let a write below a folder fail while the block runs; half of what it wrote is there then.

    With `SHORT` it only shows that it wrote half.

    Files that are opened for writing are counted, and each write, sync and move of theirs, whatever wrote it: Python's
    files, or the functions of `os`.
    """
    root = os.path.realpath(within)

    def is_below(path: Any) -> bool:
        if isinstance(path, int):
            path = os.readlink(f"/proc/self/fd/{path}")
        return os.path.abspath(os.fsdecode(path)).startswith((f"{root}/", f"{os.path.abspath(within)}/"))

    def failure(*names: Any) -> OSError:
        return OSError(number, os.strerror(number), *names)

    write = os.write

    def failing_write(descriptor: int, data: Any) -> int:
        view = memoryview(data)
        if view.nbytes and is_below(descriptor) and fault.is_due():
            half = write(descriptor, view[: max(1, view.nbytes // 2)])
            if number == SHORT:
                return half
            raise failure()
        return write(descriptor, data)

    class FailingFile(io.FileIO):
        def write(self, data: Any) -> int:
            return failing_write(self.fileno(), data)

    def failing(act: Callable[..., Any], *, places: tuple[int, ...]) -> Callable[..., Any]:
        def acted(*given: Any, **settings: Any) -> Any:
            if number != SHORT and is_below(given[places[0]]) and fault.is_due():
                names = (given[0], None, given[1]) if len(places) > 1 else (given[0],)
                raise failure(*(names if isinstance(given[0], (str, Path)) else ()))
            return act(*given, **settings)

        return acted

    opened, opened_os, make_folder = builtins.open, os.open, os.mkdir

    def failing_os_open(path: Any, flags: int, *more: Any, **settings: Any) -> int:
        if number != SHORT and flags & _WRITES and is_below(path) and fault.is_due():
            raise failure(path)
        return opened_os(path, flags, *more, **settings)

    def failing_mkdir(path: Any, *more: Any, **settings: Any) -> None:
        if number != SHORT and is_below(path) and not os.path.exists(path) and fault.is_due():
            raise failure(path)
        make_folder(path, *more, **settings)

    def failing_open(file: Any, mode: str = "r", buffering: int = -1, *more: Any, **settings: Any) -> Any:
        if not set(mode) & set("wax+") or not is_below(file):
            return opened(file, mode, buffering, *more, **settings)
        if number != SHORT and not isinstance(file, int) and fault.is_due():
            raise failure(file)
        raw = FailingFile(file, mode.replace("b", "").replace("t", ""))
        if buffering == 0:
            return raw
        buffered = io.BufferedWriter(raw, max(buffering, 1) if buffering > 1 else io.DEFAULT_BUFFER_SIZE)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, *more, **settings)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "write", failing_write)
        patch.setattr(os, "open", failing_os_open)
        patch.setattr(os, "fsync", failing(os.fsync, places=(0,)))
        for name in ("replace", "rename", "link"):
            patch.setattr(os, name, failing(getattr(os, name), places=(0, 1)))
        patch.setattr(os, "mkdir", failing_mkdir)
        patch.setattr(io, "open", failing_open)
        patch.setattr(builtins, "open", failing_open)
        yield


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """Let no file grow beyond so many bytes while the block runs, whoever writes it, as a quota would."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
