"""Write data to stdout and everything else to stderr, as the terminal can show it."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import re
import stat
import sys
from typing import TYPE_CHECKING, NamedTuple, TextIO, cast

from riff_tui.errors import ExitCode, trace, writing
from riff_tui.settings import wants_color

if TYPE_CHECKING:
    from riff_tui.table import Table


SAID_BEFORE_ERRORS = "riff-tui: error: "
_GLYPHS = "·…█→"
_COLUMNS = re.compile(r" *(?:\S+ {2,}){0,2}")


class Output(NamedTuple):
    """Describe a stream for data and what it can show; `width` is None if nothing may be cut."""

    stream: TextIO
    width: int | None
    color: bool
    ascii_only: bool
    ascii_asked: bool = False

    def print_table(self, table: Table, form: str = "text", *, csv_raw: bool = False) -> None:
        """Print a table in a format of the sinks; only text for people is cut, coloured and fitted to the terminal.

        In the log of a build text shows nothing that is taken for a command; data is what it is everywhere.
        """
        from riff_tui.output.sinks import render

        people = form == "text"
        logged = io.StringIO() if people and is_build_log(self.stream) else None
        with writing("stdout"):
            render(
                table,
                form,
                logged or self.stream,
                width=self.width if people else None,
                ascii_only=self.ascii_only if people else self.ascii_asked,
                color=self.color and people,
                csv_raw=csv_raw,
            )
            if logged is not None:
                self.stream.writelines(map(escape_commands, logged.getvalue().splitlines(keepends=True)))
            self.stream.flush()


def standard_output(*, ascii_only: bool = False) -> Output:
    """Return stdout as its terminal can show it; a file or a pipe gets the same bytes everywhere."""
    stream = sys.stdout
    reconfigure = getattr(stream, "reconfigure", None)
    if not stream.isatty():
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace", newline="\n")
        return Output(stream, None, wants_color(False), ascii_only, ascii_only)
    import shutil

    if reconfigure is not None:
        reconfigure(errors="replace")
    poor = os.environ.get("TERM") == "linux" or not _can_show(stream.encoding, _GLYPHS)
    return Output(stream, shutil.get_terminal_size().columns, wants_color(True), ascii_only or poor, ascii_only)


def replace_closed() -> None:
    """Put something in the place of standard streams that were closed, so that no file gets their numbers.

    There is nothing to read from stdin, writing to stdout fails, and what is printed on stderr is lost.
    """
    for number, flags in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)  # the lowest number that is free is this one
    sys.stdin = sys.stdin or _stream(0, "r")
    sys.stdout = sys.stdout or _stream(1, "w")
    sys.stderr = sys.stderr or _stream(2, "w")


def say(message: str, *, fits: bool = False) -> None:
    """Write one line for people to stderr; data in it cannot reach the terminal as anything but text.

    One that `fits` is broken at blanks where the terminal has no room for it.
    """
    from riff_tui.text.safe_text import one_line

    # A closed or full stderr must not change what the command did.
    with contextlib.suppress(OSError, ValueError):
        reconfigure = getattr(sys.stderr, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
        line = one_line(message)
        if fits and sys.stderr.isatty():
            line = "\n".join(_fitted(line, os.get_terminal_size(sys.stderr.fileno()).columns))
        print(escape_commands(line) if is_build_log(sys.stderr) else line, file=sys.stderr, flush=True)


def say_error(code: ExitCode, message: str, error: BaseException | None) -> None:
    """Write the one line that ends a command; with an error, where it came from is above it."""
    if error is not None:
        for line in trace(error).split("\n"):
            say(line)
    say(f"{SAID_BEFORE_ERRORS}{message}")


def say_error_as_json(code: ExitCode, message: str, hint: str, error: BaseException | None) -> None:
    """Write what ends a command as one line of JSON; with an error, where it came from is above it."""
    import json

    from riff_tui.text.safe_text import escaped_hidden, one_line

    if error is not None:
        for line in trace(error).split("\n"):
            say(line)
    found = {"error": one_line(message), "hint": one_line(hint), "exit": int(code)}
    with contextlib.suppress(OSError, ValueError):
        print(escaped_hidden(json.dumps(found)), file=sys.stderr, flush=True)


def finish_output() -> None:
    """Write what is still buffered; if that cannot be written send it nowhere, so that the process ends quietly."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)


def _fitted(line: str, width: int) -> list[str]:
    """Return the lines that a line is broken into; where it begins with columns they go on below the last of these."""
    from riff_tui.text.column_fit import wrap
    from riff_tui.text.safe_text import cell_width

    columns = _COLUMNS.match(line)
    indent = columns.end() if columns and 2 * columns.end() < width else 0
    if cell_width(line) <= width:
        return [line]
    first, *others = filter(None, wrap(line[indent:], width - indent))
    return [line[:indent] + first, *(" " * indent + each for each in others)]


def _stream(number: int, mode: str) -> TextIO:
    return cast(TextIO, open(number, mode, encoding="utf-8", closefd=False))


def _can_show(encoding: str | None, text: str) -> bool:
    try:
        codecs.lookup(encoding or "ascii")
        text.encode(encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


# Escape text for the log of a build, whose runner reads it line by line and obeys what looks like a command.
VARIABLE = "GITHUB_ACTIONS"


def is_build_log(stream: TextIO) -> bool:
    """Return whether a runner reads what is written there; it does not read a file that output is redirected to."""
    if os.environ.get(VARIABLE) != "true":
        return False
    try:
        return not stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):
        return True


def escape_commands(line: str) -> str:
    """Escape a line so that the runner obeys no part of it: new commands begin a line, old ones are anywhere."""
    text = line.lstrip()
    indent = line[: len(line) - len(text)]
    return indent + ("'" if text.startswith("::") else "") + text.replace("##[", "## [")
