"""Report what a gate decided to those who read it elsewhere: GitHub, JUnit's XML, a short summary."""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TextIO
from xml.etree import ElementTree

from riff_tui.errors import OutputError, writing
from riff_tui.gate import messages
from riff_tui.gate.decision import Check, Decision, MissingFlow, Quarantined
from riff_tui.output.sinks import markdown
from riff_tui.output.sinks.markdown import code_span, escape
from riff_tui.output.sinks.parts import Options
from riff_tui.table import Table
from riff_tui.text.numbers import counted
from riff_tui.text.safe_text import file_name, one_line

MOST = 10
"""As many of one level as GitHub shows of a step."""
QUARANTINE = "riff-tui gate: quarantine"
MOST_CHARACTERS = 60_000
"""GitHub takes 65,536 in a comment."""


def commands(decision: Decision) -> list[str]:
    """Return an error for each flow that fails, a warning for each that was not called, a notice where all is well."""
    lines = list(_errors(decision))
    if not decision.strict:
        warnings = [("warning", _title(each.flow), [_not_called(decision, each.flow)]) for each in decision.missing]
        lines += [_command(*each) for each in _most(warnings, "flows were not called either")]
    told = [("notice", QUARANTINE, _told(each)) for each in decision.quarantined if not each.ended]
    lines += [_command(*each) for each in _most(told, "entries of the quarantine decide nothing either")]
    if decision.passed:
        lines.append(_command("notice", "riff-tui gate", [messages.outcome(decision)]))
    return lines


def _told(each: Quarantined) -> list[str]:
    return [f"decides nothing: {messages.quarantined(each)}", *filter(None, [messages.advice(each)])]


def _errors(decision: Decision) -> Iterator[str]:
    annotations = []
    for flow in decision.failing:
        failed = [check for check in decision.of("failed") if check.flow == flow]
        # What each check found, and the command that opens its calls.
        found = (line for check in failed for line in (messages.figures(check), check.command) if line)
        message = list(found) or [_not_called(decision, flow)]
        annotations.append(("error", _title(flow), message))
    annotations += [("error", QUARANTINE, [messages.ended(each)]) for each in decision.ended]
    if not annotations and not decision.passed:
        annotations.append(("error", "riff-tui gate", [messages.outcome(decision)]))
    return (_command(*each) for each in _most(annotations, "flows fail as well"))


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
    named = _message(one_line(title)).replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={named}::{_message(chr(10).join(map(messages.unarmed, message)))}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def summary(table: Table, *, ascii_only: bool = False, most: int = MOST_CHARACTERS) -> str:
    """Return the table as Markdown of at most so many characters; rows that did not fit are counted below it.

    With no room for one row, there are none. Commands take half of the room at most.
    """
    options = Options(ascii_only=ascii_only)
    taken = accumulate(len(of) + len(command) for of, command in table.commands)
    table = table._replace(commands=table.commands[: sum(length <= most // 2 for length in taken)])
    whole = _printed(table, len(table.rows), options)
    if len(whole) <= most:
        return whole
    # The most rows that fit: each row makes the text longer.
    low, high = 0, len(table.rows) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(_printed(table, middle, options)) <= most else (low, middle - 1)
    return _printed(table, low, options)


def comment(table: Table, where: str = "", *, ascii_only: bool = False) -> str:
    """Return the table as Markdown below a line that is the same in every build of a gate with this filter.

    What posts it finds the comment of the build before by this line.
    """
    name = file_name(where.strip()) if where.strip() else "all-calls"
    # Two hyphens end what is hidden.
    marker = f"<!-- riff-tui gate {re.sub('-+', '-', name)} -->\n\n"
    return marker + summary(table, ascii_only=ascii_only, most=MOST_CHARACTERS - len(marker))


def _printed(table: Table, count: int, options: Options) -> str:
    left_out = len(table.rows) - count
    notes = list(table.notes)
    if left_out:
        rows = "1 row is" if left_out == 1 else f"{left_out} rows are"
        notes.insert(0, f"{rows} left out here, the least severe: the text would be too long for a pull request.")
    out = io.StringIO()
    markdown.write(table._replace(rows=table.rows[:count], notes=notes), out, options)
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
    """Return what sets the text apart from what is there: nothing, or the end of a line and an empty one."""
    size = os.fstat(descriptor).st_size
    if not size:
        return ""
    return "\n" if os.pread(descriptor, 1, size - 1) == b"\n" else "\n\n"


def write(decision: Decision, out: TextIO) -> None:
    """Write one test suite: a failed check with figures and command, one of too few calls skipped."""
    cases = [_case(check, decision) for check in decision.checks]
    cases += [_missing_case(missing, decision) for missing in decision.missing]
    cases += map(_quarantined_case, decision.quarantined)
    if decision.strict and decision.undecided:
        cases.append(_failure("gate", "decided", messages.outcome(decision)))
    suite = ElementTree.Element(
        "testsuite",
        name=one_line(f"riff-tui gate: {decision.candidate} against {decision.baseline}"),
        tests=str(len(cases)),
        failures=str(sum(case.find("failure") is not None for case in cases)),
        errors="0",
        skipped=str(sum(case.find("skipped") is not None for case in cases)),
    )
    properties = ElementTree.SubElement(suite, "properties")
    for name, text in (("baseline", decision.baseline), ("candidate", decision.candidate)):
        ElementTree.SubElement(properties, "property", name=name, value=one_line(text))
    suite.extend(cases)
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n")


def _case(check: Check, decision: Decision) -> ElementTree.Element:
    if check.status == "failed":
        return _failure(check.flow, check.name, messages.figures(check), check.command, check.missing)
    case = _bare(check.flow, check.name)
    if check.status == "too few":
        ElementTree.SubElement(case, "skipped", message=one_line(messages.too_few(check, decision.min_n)))
    else:
        ElementTree.SubElement(case, "system-out").text = one_line(messages.figures(check))
    return case


def _missing_case(missing: MissingFlow, decision: Decision) -> ElementTree.Element:
    said = f"{messages.missing_flow(missing)} was not called in {messages.short(decision.candidate)}"
    if decision.strict:
        return _failure(missing.flow, "called", said)
    case = _bare(missing.flow, "called")
    ElementTree.SubElement(case, "skipped", message=one_line(said))
    return case


def _quarantined_case(each: Quarantined) -> ElementTree.Element:
    flow, name = each.flow or "(any flow)", f"quarantine of {each.scenario or 'all scenarios'}"
    if each.ended:
        return _failure(flow, name, messages.ended(each))
    case = _bare(flow, name)
    ElementTree.SubElement(case, "skipped", message=one_line("; ".join(_told(each))))
    return case


def _failure(flow: str, name: str, message: str, command: str = "", missing: Sequence[str] = ()) -> ElementTree.Element:
    case = _bare(flow, name)
    lines = [f"{flow}: {message}", *missing, *([command] if command else [])]
    failure = ElementTree.SubElement(case, "failure", type="gate", message=one_line(message))
    failure.text = "\n".join(map(one_line, lines))
    return case


def _bare(flow: str, name: str) -> ElementTree.Element:
    return ElementTree.Element("testcase", classname=one_line(flow), name=one_line(name))


SHORT_CHARACTERS = 3_000
"""As much as Slack takes in one block of a message."""
LISTED = 3


def short_summary(decision: Decision) -> str:
    """Return Markdown of at most 3,000 characters: the worst three checks, how many more, and what recovered.

    Commands are put in from the worst on as long as there is room, each whole or not at all.
    """
    failed = decision.of("failed")
    head = (
        f"Gate {'passed' if decision.passed else 'FAILED'}: {messages.against(decision)}; {messages.counts(decision)}"
    )
    told = [
        f"- {escape(messages.fall(check, decision))} ({escape(messages.grounds(check))})" for check in failed[:LISTED]
    ]
    more = [escape(line) for line in _more(decision, failed)]
    text = _joined(_fitting([escape(head), *told]), more)
    for place, check in enumerate(failed[:LISTED]):
        if check.command:
            longer = [*told[:place], f"{told[place]}: {code_span(one_line(check.command))}", *told[place + 1 :]]
            found = _joined([escape(head), *longer], more)
            if len(found) <= SHORT_CHARACTERS:
                told, text = longer, found
    return text


def _more(decision: Decision, failed: Sequence[Check]) -> Iterator[str]:
    if len(failed) > LISTED:
        yield f"{counted(len(failed) - LISTED, 'more check')} failed."
    yield from messages.of_quarantine(decision, LISTED)
    if decision.recovered:
        yield messages.recovered(decision, LISTED)
    if decision.missing:
        yield messages.not_called(decision, LISTED)


def _fitting(lines: Sequence[str]) -> list[str]:
    """Return as many of the first lines as a message takes."""
    kept: list[str] = []
    for line in lines:
        if len("\n".join([*kept, line])) + 2 > SHORT_CHARACTERS:
            break
        kept.append(line)
    return kept


def _joined(lines: Sequence[str], more: Sequence[str]) -> str:
    """Return a paragraph of the head, a list, and sentences, of which those that do not fit are left out."""
    text = "\n".join([*lines[:1], *([""] if lines[1:] else []), *lines[1:]]) + "\n"
    for sentence in more:
        longer = f"{text}\n{sentence}\n"
        text = longer if len(longer) <= SHORT_CHARACTERS else text
    return text
