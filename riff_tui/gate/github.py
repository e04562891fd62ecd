"""Report a gate to GitHub: annotations in a job's log, and a summary that a pull request takes.

Annotations are workflow commands, a line each, none of which data can write.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from riff_tui.errors import OutputError, writing
from riff_tui.gate import messages
from riff_tui.gate.decision import Check, Decision
from riff_tui.output.sinks import markdown
from riff_tui.output.sinks.options import Options
from riff_tui.table import Table
from riff_tui.text.safe_text import one_line

MOST = 10
"""As many of one level as GitHub shows of a step."""
MOST_CHARACTERS = 60_000
"""GitHub takes 65,536 in a comment."""


def commands(decision: Decision) -> list[str]:
    """Return an error for each flow that fails, a warning for each that was not called, a notice where all is well."""
    lines = list(_errors(decision))
    if not decision.strict:
        warnings = [("warning", _title(each.flow), [_not_called(decision, each.flow)]) for each in decision.missing]
        lines += [_command(*each) for each in _most(warnings, "flows were not called either")]
    if decision.passed:
        lines.append(_command("notice", "riff-tui gate", [messages.outcome(decision)]))
    return lines


def _errors(decision: Decision) -> Iterator[str]:
    annotations = []
    for flow in decision.failing:
        failed = [check for check in decision.of("failed") if check.flow == flow]
        message = [line for check in failed for line in _told(check)] or [_not_called(decision, flow)]
        annotations.append(("error", _title(flow), message))
    if not annotations and not decision.passed:
        annotations.append(("error", "riff-tui gate", [messages.outcome(decision)]))
    return (_command(*each) for each in _most(annotations, "flows fail as well"))


def _told(check: Check) -> list[str]:
    """Return what a check found, and the command that opens its calls."""
    return [messages.figures(check), *([check.command] if check.command else [])]


def _most(annotations: Sequence[tuple[str, str, list[str]]], rest: str) -> list[tuple[str, str, list[str]]]:
    if len(annotations) <= MOST:
        return list(annotations)
    more = len(annotations) - MOST + 1
    return [*annotations[: MOST - 1], (annotations[0][0], "riff-tui gate", [f"{more} more {rest}"])]


def _not_called(decision: Decision, flow: str) -> str:
    missing = next(each for each in decision.missing if each.flow == flow)
    return f"{messages.missing_flow(missing)} was not called in {messages.short(decision.candidate)}"


def _title(flow: str) -> str:
    return f"riff-tui gate: {messages.short(flow)}"


def _command(level: str, title: str, message: Sequence[str]) -> str:
    return f"::{level} title={_property(title)}::{_message(chr(10).join(map(messages.unarmed, message)))}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(one_line(text)).replace(":", "%3A").replace(",", "%2C")


def summary(table: Table, *, ascii_only: bool = False, most: int = MOST_CHARACTERS) -> str:
    """Return the table as Markdown of at most so many characters; rows that did not fit are counted below it.

    With no room for one row, there are none. Commands take half of the room at most.
    """
    options = Options(ascii_only=ascii_only)
    table = replace(table, commands=_within(table.commands, most // 2))
    whole = _printed(table, len(table.rows), options)
    if len(whole) <= most:
        return whole
    # The most rows that fit: each row makes the text longer.
    low, high = 0, len(table.rows) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(_printed(table, middle, options)) <= most else (low, middle - 1)
    return _printed(table, low, options)


def _within(commands: Sequence[tuple[str, str]], most: int) -> Sequence[tuple[str, str]]:
    """Return the first commands that take at most so many characters together."""
    taken = list(accumulate(len(of) + len(command) for of, command in commands))
    return commands[: sum(length <= most for length in taken)]


def _printed(table: Table, count: int, options: Options) -> str:
    left_out = len(table.rows) - count
    notes = list(table.notes)
    if left_out:
        rows = "1 row is" if left_out == 1 else f"{left_out} rows are"
        notes.insert(0, f"{rows} left out here, the least severe: the text would be too long for a pull request.")
    out = io.StringIO()
    markdown.write(replace(table, rows=table.rows[:count], notes=notes), out, options)
    return out.getvalue()


def append_summary(path: Path, text: str) -> None:
    """Put text at the end of a file, whole and on a line of its own; the file is made if it is missing.

    Never through a link, and only a plain file; raises `OutputError`.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with writing(str(path)):
        if path.is_symlink():
            raise OutputError(f"{path}: is a link, which is never written through; name the file itself")
        with open(os.open(path, flags, 0o600), "r+b", buffering=0) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OutputError(f"{path}: is not a plain file")
            before = os.fstat(file.fileno()).st_size
            data = (_gap(file.fileno()) + text).encode("utf-8", "replace")
            try:
                while data:
                    data = data[file.write(data) or 0 :]
            except OSError:
                file.truncate(before)
                raise


def _gap(descriptor: int) -> str:
    """Return what sets the text apart from what stands there: nothing, or the end of a line and an empty one."""
    size = os.fstat(descriptor).st_size
    if not size:
        return ""
    return "\n" if os.pread(descriptor, 1, size - 1) == b"\n" else "\n\n"
