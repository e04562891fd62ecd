"""End every command with its exit code: whatever stops one early becomes one line on stderr and a code here.

Only what takes no time is imported before signals are taken; until then they end the process as they please.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import NoReturn

from riff_tui.signals import end_at_once

_COMPLETE = "_RIFF_TUI_COMPLETE"
_OF_OTHERS = frozenset(("judge", "run"))
"""The commands that run programs of others, or code of theirs in this process, in the environment as it is."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command line and end the process with its exit code."""
    end_at_once()
    import gc

    given = sys.argv[1:] if arguments is None else list(arguments)
    if _COMPLETE in os.environ:
        from riff_tui.command_line import complete

        complete(os.environ[_COMPLETE], given)
        sys.exit()
    if None in (sys.stdin, sys.stdout, sys.stderr):
        from riff_tui.output.streams import replace_closed

        replace_closed()
    if not _OF_OTHERS.intersection(given[:1]):
        # The matrices are small, and threads of numpy that wait for larger ones take processor time all the same.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Most of what a command makes lasts as long as the command, so it is searched for garbage seldom.
    gc.set_threshold(50_000)
    code = run(given)
    # The memory goes back whole; looking through it for cycles first would take a tenth of a short dump.
    gc.freeze()
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run a command line; whatever stops it early is printed on stderr."""
    try:
        ended = _invoked(arguments)
        sys.stdout.flush()
    except BaseException as error:  # the one place where every end becomes an exit code
        return _ended_by(error, debug="--debug" in arguments, as_json=_is_for_programs(arguments))
    return ended


def _invoked(arguments: Sequence[str]) -> int:
    if list(arguments) == ["--version"]:  # what reads command lines takes five times as long to load
        from riff_tui import __version__

        print(f"riff-tui {__version__}")
        return 0
    from riff_tui.command_line import invoke

    return invoke(arguments)


def _is_for_programs(arguments: Sequence[str]) -> bool:
    """Return whether a command line asks for JSON, of which the error is some then, whatever else is wrong with it."""
    formats = ("json", "jsonl")
    spelled = {"--json", *(f"--format={form}" for form in formats)}
    pairs = {("--format", form) for form in formats}
    return not spelled.isdisjoint(arguments) or not pairs.isdisjoint(pairwise(arguments))


def _ended_by(error: BaseException, *, debug: bool, as_json: bool) -> int:
    import errno

    import click

    from riff_tui.command_line import usage_message
    from riff_tui.errors import ExitCode, Interrupted, describe
    from riff_tui.output.streams import finish_output, say_error, say_error_as_json

    finish_output()
    if isinstance(error, OSError) and error.errno == errno.EPIPE:
        return ExitCode.BROKEN_PIPE
    if isinstance(error, Interrupted):
        # The signal whose turn it was not comes behind it.
        return ExitCode.INTERRUPTED
    if isinstance(error, (KeyboardInterrupt, click.exceptions.Abort)):
        return getattr(error, "code", ExitCode.INTERRUPTED)
    if isinstance(error, click.ClickException):
        code, message = ExitCode.USAGE, usage_message(error)
    elif isinstance(error, (Exception, GeneratorExit)):
        code, message = describe(error)
    else:
        raise error
    if as_json:
        from riff_tui.errors import in_parts

        say_error_as_json(code, *in_parts(message, error), error if debug else None)
    else:
        say_error(code, message, error if debug else None)
    return code
