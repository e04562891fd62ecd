"""Reports of a gate: whole, in figures that say why, and never a way for a name to act."""

from __future__ import annotations

import io
import json
import os
import re
import stat
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.gate_decisions import check, decision
from tests.support.hostile import HOSTILE
from tests.surface.tui import (
    MOST,
    MOST_CHARACTERS,
    Decision,
    MissingFlow,
    OutputError,
    append_summary,
    commands,
    gate,
    messages,
    reports,
    short_summary,
    summary,
)
from tests.surface.tui import sinks_render as render

HELD: dict[str, Any] = {"status": "held", "change": 0.0, "candidate": 0.61}
LINE_ENDS = ["a\nb", "a\r\n::error::b", "\n::error title=x::y", "a\u2028b\x85c", "%0A::error::x", "##[error]x"]
COMMAND = "riff-tui ui conversations --where 'run=night-2 flow=dental' --sort success"
NAMES = st.sampled_from([*HOSTILE.values(), *LINE_ENDS]) | st.text(max_size=40)
FIGURES = "success_rate 61% → 37% (-24.2 pp, allowed 5 pp; n 160 and 158; p <0.0001, corrected 0.0005)"


def xml_of(decided: Decision) -> ElementTree.Element:
    out = io.StringIO()
    reports.write(decided, out)
    found = ElementTree.fromstring(out.getvalue().encode()).find("testsuite")
    assert found is not None
    return found


def unescaped(text: str) -> str:
    for code, sign in (("%3A", ":"), ("%2C", ","), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        text = text.replace(code, sign)
    return text


# words


def test_the_outcome_is_one_line_that_names_the_flows() -> None:
    failed = decision(
        check(), check("weather", "errors", "held"), check("dental", "errors", baseline=8.0, candidate=7.0)
    )
    assert messages.outcome(failed) == (
        "gate failed: dental (success_rate 61% → 37%, errors 8.0 → 7.0); night-2 against night-1"
    )
    few = check("weather", "errors", "too few")
    assert messages.outcome(decision(check(**HELD), few)) == (
        "gate passed: night-2 against night-1; 2 checks of 2 flows, 1 too few to decide"
    )
    assert messages.outcome(decision(few)).endswith(
        "1 check of 1 flow, none of which could be decided with fewer than 5 calls on a side"
    )


def test_a_flow_that_was_not_called_fails_a_strict_gate_alone() -> None:
    missing = (MissingFlow("weather"), MissingFlow("broken", 12))
    lax, strict = (decision(check(**HELD), missing=missing, strict=strict) for strict in (False, True))
    assert lax.passed
    assert messages.notes(lax) == [
        "Not called in night-2, so it is not checked (--strict fails then): weather,"
        " broken (all 12 calls of it errored).",
        "A fall of success_rate of less than 13 points with 158 calls could not be distinguished from chance"
        " (power 80 %).",
    ]
    assert not strict.passed
    assert messages.outcome(strict) == "gate failed: weather (not called); broken (not called); night-2 against night-1"


def test_a_strict_gate_that_could_decide_nothing_fails() -> None:
    few = check(status="too few")
    assert decision(few).passed
    assert not decision(few, strict=True).passed
    assert "none of which could be decided" in messages.outcome(decision(few, strict=True))


@given(NAMES)
def test_no_name_makes_the_outcome_more_than_a_line(name: str) -> None:
    for decided in (
        decision(check(name)), decision(check(**HELD), baseline=name, candidate=name),
        decision(check(aspect="humanness", judge=name)),
    ):  # fmt: skip
        line = messages.unarmed(messages.outcome(decided))
        assert len(line.splitlines()) == 1
        assert line.isprintable() or not line.isascii()
        assert "##[" not in line


# GitHub


def test_a_flow_that_fails_is_an_error_with_its_figures() -> None:
    more = check(aspect="errors", baseline=8.0, candidate=7.0, change=-1.0, allowed=0.0)
    (line,) = commands(decision(check(), more, check("weather", "errors", "held")))
    assert line == (
        "::error title=riff-tui gate%3A dental::success_rate 61%25 → 37%25 (-24.2 pp, allowed 5 pp; n 160 and 158;"
        " p <0.0001, corrected 0.0005)"
        "%0Aerrors 8.0 → 7.0 (-1.00, allowed 0; n 160 and 158; p <0.0001, corrected 0.0005)"
    )


def test_an_error_names_the_command_of_each_check_and_no_command_is_obeyed() -> None:
    told = decision(
        check(command=COMMAND), check(aspect="errors", command="riff-tui ui x --where '##[error]\n::error::y'")
    )
    (line,) = commands(told)
    lines = unescaped(line).split("\n")
    assert lines[1] == COMMAND
    assert lines[3] == "riff-tui ui x --where '## [error]⏎::error::y'"


def test_a_gate_that_passes_is_a_notice_and_a_missing_flow_a_warning() -> None:
    warning, notice = commands(decision(check(**HELD), missing=(MissingFlow("weather"),)))
    assert warning == "::warning title=riff-tui gate%3A weather::weather was not called in night-2"
    assert notice.startswith("::notice title=riff-tui gate::gate passed: night-2 against night-1")


@given(NAMES)
def test_a_name_starts_no_command_and_ends_none(name: str) -> None:
    decided = decision(
        check(name), check("other", "humanness", judge=name), baseline=name, candidate=name,
        missing=(MissingFlow(name + "x"),),
    )  # fmt: skip
    for line in commands(decided):
        assert len(line.splitlines()) == 1
        found = re.fullmatch(r"::(error|warning) title=([^:,\r\n]*)::(.*)", line)
        assert found
        assert not re.search("%(?!25|0A|3A|2C)", found[2] + found[3])
        assert unescaped(found[2]).startswith("riff-tui gate: ")


def test_more_flows_than_github_shows_are_counted() -> None:
    lines = commands(decision(*(check(f"flow-{number}") for number in range(25))))
    assert len(lines) == MOST
    assert lines[-1] == "::error title=riff-tui gate::16 more flows fail as well"


# JUnit


def test_junit_has_a_case_for_each_check() -> None:
    suite = xml_of(
        decision(
            check(), check("weather", "errors", "held"), check("few", "errors", "too few", n_candidate=3),
            missing=(MissingFlow("gone"),),
        )
    )  # fmt: skip
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4", "failures": "1", "errors": "0", "skipped": "2",
    }  # fmt: skip
    cases = {(case.get("classname"), case.get("name")): case for case in suite.iter("testcase")}
    failure = cases["dental", "success_rate"].find("failure")
    assert failure is not None
    assert failure.get("message") == FIGURES
    assert failure.text == f"dental: {FIGURES}"
    assert [child.tag for child in cases["weather", "errors"]] == ["system-out"]
    skipped = cases["few", "errors"].find("skipped")
    assert skipped is not None
    assert skipped.get("message") == "n 160 and 3, and it takes 5 on both sides"
    assert cases["gone", "called"].find("skipped") is not None


def test_junit_has_the_command_below_the_figures() -> None:
    (case,) = xml_of(decision(check(command=f"{COMMAND}\n]]>")))[1:]
    failure = case.find("failure")
    assert failure is not None
    assert failure.text == f"dental: {FIGURES}\n{COMMAND}⏎]]>"


@pytest.mark.parametrize("fails", [{"missing": (MissingFlow("gone"),)}, {}])
def test_junit_of_a_strict_gate_fails_where_the_gate_does(fails: dict[str, tuple[MissingFlow, ...]]) -> None:
    assert xml_of(decision(check(status="too few"), strict=True, **fails)).get("failures") == str(1 + len(fails))


@given(NAMES)
def test_junit_is_xml_whatever_the_names(name: str) -> None:
    suite = xml_of(
        decision(check(name), check(name, "humanness", "held", judge=name), missing=(MissingFlow(name),), baseline=name)
    )
    assert len(suite.findall("testcase")) == 3


# Markdown


def test_the_summary_is_the_table_with_what_fails_first() -> None:
    text = summary(gate(decision(check(), check("weather", "errors", "held"))))
    assert text.startswith("# Gate FAILED: night-2 against night-1\n\n| Flow")
    assert re.search(r"\| dental +\| success_rate \| FAILED +\| 61% +\| 37% +\| -24\.2 pp \| 5 pp", text)
    assert "left out" not in text


@pytest.mark.parametrize("count", [100, 1000])
@pytest.mark.parametrize("name", ["flow", "<" * 60, "日本" * 500, "x" * 5000], ids=["short", "markup", "wide", "long"])
def test_the_summary_fits_a_pull_request_in_whole_rows(count: int, name: str) -> None:
    text = summary(gate(decision(*(check(f"{number}-{name}", "errors", "noise") for number in range(count)))))
    assert len(text) <= MOST_CHARACTERS
    rows = [line for line in text.splitlines() if re.match(r"\| \d+-", line)]
    assert all(line.endswith("|") and len(re.findall(r"(?<!\\)\|", line)) == 14 for line in rows)
    left_out = count - len(rows)
    assert rows
    assert (f"{left_out} rows are left out here" in text) == bool(left_out)


def test_names_beyond_all_measure_leave_room_for_the_rest() -> None:
    decided = decision(
        *(check("f" * 100_000, "errors") for _ in range(3)), baseline="b" * 100_000, candidate="c" * 100_000,
        missing=tuple(MissingFlow(f"{number}" * 50_000) for number in range(40)),
    )  # fmt: skip
    text = summary(gate(decided))
    assert len(text) <= 10_000
    assert len(re.findall(r"^\| f+…", text, re.MULTILINE)) == 3
    assert "28 more" in text


@given(NAMES)
def test_no_name_leaves_its_cell(name: str) -> None:
    text = summary(gate(decision(check(name), check("other", "errors", "held"), baseline=name)))
    rows = [line for line in text.split("\n") if line.startswith("| ")]
    assert len(rows) == 3
    assert "<!--" not in text
    assert "<img" not in text


@given(NAMES)
def test_no_line_of_the_table_is_a_command_of_github(name: str) -> None:
    out = io.StringIO()
    more = decision(check(name, status="held"), check("x", "humanness", "held", judge=name), baseline=name)
    render(gate(more._replace(missing=(MissingFlow(name),), added=(name,))), "text", out)
    for line in out.getvalue().split("\n"):
        assert not line.strip().startswith("::")
        assert "##[" not in line


@given(NAMES, st.text(alphabet="`' a\n|<", max_size=30))
def test_a_command_is_code_that_nothing_in_it_ends(name: str, odd: str) -> None:
    text = summary(gate(decision(check(name, command=f"{COMMAND} {odd}x"), check("other", "errors", "held"))))
    line = text.split("\n\n")[2]
    assert code_in(line) == f"{COMMAND} {odd}x".replace("\n", "⏎")


def code_in(line: str) -> str:
    """The code that the last item of a list ends with, as CommonMark reads it."""
    mark = re.search(r"(?<![`\\])`+", line)
    assert mark
    end = re.compile(f"(?<!`){mark[0]}(?!`)").search(line, mark.end())
    assert end
    assert end.end() == len(line)
    code = line[mark.end() : end.start()]
    return code[1:-1] if code.startswith(" ") and code.endswith(" ") and code.strip() else code


def test_commands_leave_room_for_rows() -> None:
    text = summary(gate(decision(*(check(f"{n}", command="x" * 9_000) for n in range(9)))))
    assert len(text) <= MOST_CHARACTERS
    assert text.count("x" * 9_000) == 3
    assert sum(line.startswith("| ") for line in text.split("\n")) == 10


# the message for a chat


def test_the_message_tells_the_worst_three_how_many_more_and_what_recovered() -> None:
    told = [check(f"flow-{n}", since="night-2" if n else "night-1", command=f"{COMMAND} {n}") for n in range(5)]
    up = check("weather", "errors", "held", baseline=7.0, candidate=9.0, recovered=True)
    assert short_summary(decision(*told, up, missing=(MissingFlow("gone"),))) == (
        "Gate FAILED: night-2 against night-1; 6 checks of 6 flows, 1 flow not called\n"
        "\n"
        "- flow-0 success_rate 61% → 37%, since night-1 (-24.2 pp, allowed 5 pp; n 160 and 158):"
        f" `{COMMAND} 0`\n"
        "- flow-1 success_rate 61% → 37%, new in night-2 (-24.2 pp, allowed 5 pp; n 160 and 158):"
        f" `{COMMAND} 1`\n"
        "- flow-2 success_rate 61% → 37%, new in night-2 (-24.2 pp, allowed 5 pp; n 160 and 158):"
        f" `{COMMAND} 2`\n"
        "\n"
        "2 more checks failed.\n"
        "\n"
        "Recovered, as surely as a fall has to be: weather errors 7.0 → 9.0.\n"
        "\n"
        "Not called in night-2, so it is not checked (--strict fails then): gone.\n"
    )


def test_a_message_of_a_gate_that_passes_is_one_line() -> None:
    assert short_summary(decision(check(**HELD))) == "Gate passed: night-2 against night-1; 1 check of 1 flow\n"


def test_a_command_that_is_too_long_is_left_out_and_the_next_one_is_not() -> None:
    text = short_summary(decision(check("a", command="x" * 3_000), check("b", command=COMMAND)))
    assert len(text) < 3_000
    assert "xxx" not in text
    assert f"`{COMMAND}`" in text


@given(NAMES | st.sampled_from(["<!channel>", "@here" * 20, "#1" * 50]), st.integers(0, 3_000))
def test_no_name_makes_a_message_too_long_or_acts(name: str, length: int) -> None:
    told = [
        check(name, command=COMMAND + "x" * length),
        check(f"{name}2", since=name),
        check("c", "humanness", judge=name),
    ]
    up = [check(f"{name}{n}", status="held", recovered=True) for n in range(20)]
    text = short_summary(
        decision(*told, *up, baseline=name, candidate=name, missing=(MissingFlow(name),) * 20, strict=True)
    )
    assert len(text) <= 3_000
    assert text.startswith("Gate FAILED: ")
    assert "<" not in text
    assert not re.search(r"@\w|(?<!&)#\d", text.replace(COMMAND, ""))
    assert text.count("\n- ") == 3


# the step's summary


def test_a_summary_is_added_to_what_stands_there(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    append_summary(path, "one\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    append_summary(path, "two\n")
    assert path.read_text() == "one\n\ntwo\n"
    path.write_text("cut")
    append_summary(path, "three\n")
    assert path.read_text() == "cut\n\nthree\n"


def test_a_summary_goes_into_plain_files_alone(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("as it was")
    (tmp_path / "link").symlink_to(target)
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    for name in ("link", "fifo", "folder", "none/summary.md"):
        with pytest.raises(OutputError):
            append_summary(tmp_path / name, "x")
    assert target.read_text() == "as it was"


def test_the_record_of_a_row_is_unrounded_and_complete() -> None:
    table = gate(decision(check(judge=None)))
    assert json.loads(json.dumps(table.rows[0].record)) == {
        "flow": "dental", "aspect": "success_rate", "judge": None, "check": "aspect", "standing": "failed",
        "baseline": 0.61, "candidate": 0.368, "change": -0.242, "allowed": 0.05, "smallest_fall": 0.125,
        "n_baseline": 160, "n_candidate": 158, "pairs": None,
        "test": "Fisher", "p": 0.00002, "p_adjusted": 0.0005, "p_flow": 0.0002, "better": "higher",
        "interval": [-0.34, -0.13],
    }  # fmt: skip
    assert table.extras["failing"] == ["dental"]
    assert table.extras["passed"] is False
