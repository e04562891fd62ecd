"""What ends a command early, and the exit code that says so.

RiffError              1  unexpected
├── UsageError         2  an option, a filter or a name that makes no sense here
├── NoTerminal         2  the explorer was asked for where there is no terminal
├── OutputError        1  what was asked for cannot be written
│   └── OutputFull     4  for there is no room left
├── JudgeStopped       1  a judge cannot be asked any further
├── GateFailed         3  a candidate is worse than its baseline
├── Unhealthy          4  the doctor found something
└── InputSkipped       5  `--strict`, and some input was not taken

riff_store.errors.StoreError   4
riff_tui.filters.FilterError 2
KeyboardInterrupt, SIGTERM     130, 143
"""

from __future__ import annotations

import enum
import errno
import traceback
from collections.abc import Iterator
from contextlib import contextmanager


class ExitCode(enum.IntEnum):
    """The process's answer to its caller (interface.md)."""

    OK = 0
    UNEXPECTED = 1
    USAGE = 2
    GATE_FAILED = 3
    STORE = 4
    SKIPPED = 5
    HUNG_UP = 129
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143


class RiffError(Exception):
    """An end that was foreseen; the message says what to do next."""

    code = ExitCode.UNEXPECTED


class UsageError(RiffError):
    """What was asked for makes no sense here."""

    code = ExitCode.USAGE


class NoTerminal(RiffError):
    """The explorer needs a terminal."""

    code = ExitCode.USAGE


class OutputError(RiffError):
    """What was asked for cannot be written."""


class OutputFull(OutputError):
    """There is no room left for it."""

    code = ExitCode.STORE


class JudgeStopped(RiffError):
    """A judge cannot be asked any further; what it said is kept."""


class GateFailed(RiffError):
    """A candidate is worse than its baseline, by more than it may be."""

    code = ExitCode.GATE_FAILED


class Unhealthy(RiffError):
    """The store holds something that it should not."""

    code = ExitCode.STORE


class InputSkipped(RiffError):
    """Under `--strict`, some input was not taken."""

    code = ExitCode.SKIPPED


class Terminated(BaseException):
    """SIGTERM asked the process to end."""


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def writing(place: str) -> Iterator[None]:
    """Tell an output that fails apart from a store that does; a closed pipe stays what it is."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise OutputFull(f"{place}: disk full; make room and run it again") from error
        raise OutputError(f"{place}: cannot be written ({error.strerror or type(error).__name__})") from error


def describe(error: BaseException) -> tuple[ExitCode, str]:
    """The exit code and the message of an error; an unforeseen one is named by its type."""
    if isinstance(error, RiffError):
        return error.code, str(error)
    from riff_store.errors import StoreError
    from riff_tui.filters import FilterError

    if isinstance(error, StoreError):
        return ExitCode.STORE, str(error)
    if isinstance(error, FilterError):
        return ExitCode.USAGE, str(error)
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename is not None else ""
        if error.errno in _NO_ROOM:
            return ExitCode.STORE, f"{place}disk full; make room and run it again"
        return ExitCode.UNEXPECTED, f"{place}{error.strerror}"
    return ExitCode.UNEXPECTED, f"unexpected {type(error).__name__}; run it again with --debug to see where"


def trace(error: BaseException) -> str:
    """Where an error came from, without values of variables and without messages: both can hold callers' words."""
    lines = []
    found: BaseException | None = error
    seen: set[int] = set()
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        lines += [line.rstrip("\n") for line in traceback.format_tb(found.__traceback__)]
        lines.append(type(found).__name__)
        found = found.__cause__ or (None if found.__suppress_context__ else found.__context__)
        if found is not None:
            lines.append("which came after:")
    return "\n".join(lines)
