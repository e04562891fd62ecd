"""Define the errors of the command line, and print them with their exit code.

The whole tree is drawn in riff_store/errors.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from riff_store.errors import (
    NO_ROOM,
    WRONG_PLACE,
    ExitCode,
    Interrupted,
    OutputError,
    OutputFull,
    RiffError,
    StoreError,
    UsageError,
    how_to_install,
    meant,
)

__all__ = [
    "ExitCode",
    "FilterError",
    "GateFailed",
    "InputSkipped",
    "Interrupted",
    "JudgeStopped",
    "NoTerminal",
    "OutputError",
    "OutputFull",
    "RiffError",
    "RunRefused",
    "RunWithoutAnswer",
    "StoreError",
    "Unhealthy",
    "UsageError",
    "ViewFailed",
    "describe",
    "how_to_install",
    "in_parts",
    "meant",
    "trace",
    "writing",
]


class FilterError(UsageError):
    """Refuse a filter that makes no sense; `position` is the offset of the culprit in the expression."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position

    def __str__(self) -> str:
        return f"filter, character {self.position + 1}: {self.message}"


class NoTerminal(UsageError):
    """Refuse the explorer without a terminal."""


class JudgeStopped(RiffError):
    """End a run whose judge cannot be asked any further; what it said is kept."""


class RunRefused(RiffError):
    """End a run whose agent or caller will not answer any further; what is complete is kept."""


class RunWithoutAnswer(RiffError):
    """Report a run of which every call was errored."""

    code = ExitCode.SKIPPED


class GateFailed(RiffError):
    """Fail a candidate that is worse than its baseline by more than it may be."""

    code = ExitCode.GATE_FAILED


class Unhealthy(RiffError):
    """Report a store that has something that it should not."""

    code = ExitCode.STORE


class InputSkipped(RiffError):
    """Fail under `--strict` where some input was not taken."""

    code = ExitCode.SKIPPED


class ViewFailed(RiffError):
    """Name the view of another distribution that fails, and where it comes from."""


@contextmanager
def writing(place: str) -> Iterator[None]:
    """Raise `OutputError` for an output that fails, as another thing than the store; leave a closed pipe what it is."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno in NO_ROOM:
            raise OutputFull(f"{place}: disk full", "make room and run it again") from error
        code = None if error.errno in WRONG_PLACE else ExitCode.UNEXPECTED
        raise OutputError(
            f"{place}: cannot be written ({error.strerror or type(error).__name__})", code=code
        ) from error


def describe(error: BaseException) -> tuple[ExitCode, str]:
    """Return the exit code and the message of an error; an unforeseen one is named by its type."""
    if isinstance(error, RiffError):
        return error.code, str(error)
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename is not None else ""
        if error.errno in NO_ROOM:
            return ExitCode.STORE, f"{place}disk full; make room and run it again"
        return ExitCode.UNEXPECTED, f"{place}{error.strerror}"
    return ExitCode.UNEXPECTED, f"unexpected {type(error).__name__}; run it again with --debug to see where"


def in_parts(message: str, error: BaseException) -> tuple[str, str]:
    """Return what is wrong and what to do next, of the message of an error; the second is empty if unknown."""
    hint = error.hint if isinstance(error, RiffError) else ""
    if hint and message.endswith(hint):
        return message.removesuffix(hint).removesuffix("; "), hint
    wrong, *advice = re.split(r"; |(?<=\?) (?=See )", message, maxsplit=1)
    return wrong, "".join(advice)


def trace(error: BaseException) -> str:
    """Return where an error came from, without values and without messages: both can contain callers' words."""
    import traceback

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
