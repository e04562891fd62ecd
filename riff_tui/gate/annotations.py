"""Write annotations for GitHub: workflow commands in a job's log, none of which data can write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from riff_tui.gate import messages
from riff_tui.gate.decision import Decision
from riff_tui.text.safe_text import one_line

MOST = 10
"""As many of one level as GitHub shows of a step."""


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
        message = [messages.figures(check) for check in failed] or [_not_called(decision, flow)]
        annotations.append(("error", _title(flow), message))
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
    return f"::{level} title={_property(title)}::{_message(chr(10).join(map(one_line, message)))}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(one_line(text)).replace(":", "%3A").replace(",", "%2C")
