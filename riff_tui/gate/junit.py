"""Write a decision as JUnit XML, which most CI systems show as tests: a case for each flow and aspect."""

from __future__ import annotations

from typing import TextIO
from xml.etree import ElementTree

from riff_tui.gate import messages
from riff_tui.gate.decision import Check, Decision, MissingFlow
from riff_tui.text.safe_text import one_line


def write(decision: Decision, out: TextIO) -> None:
    """Write one test suite: a failed check with figures and command, one of too few calls skipped."""
    cases = [_case(check, decision) for check in decision.checks]
    cases += [_missing_case(missing, decision) for missing in decision.missing]
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
        return _failure(check.flow, check.name, messages.figures(check), check.command)
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


def _failure(flow: str, name: str, message: str, command: str = "") -> ElementTree.Element:
    case = _bare(flow, name)
    lines = [f"{flow}: {message}", *([command] if command else [])]
    failure = ElementTree.SubElement(case, "failure", type="gate", message=one_line(message))
    failure.text = "\n".join(map(one_line, lines))
    return case


def _bare(flow: str, name: str) -> ElementTree.Element:
    return ElementTree.Element("testcase", classname=one_line(flow), name=one_line(name))
