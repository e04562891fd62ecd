"""What is known to be flaky decides no build, is told beside it, and does not stay there for ever."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.support.facts import call, fresh, put
from tests.surface.store import ConversationFacts
from tests.surface.tui import ExitCode, UsageError, read_quarantine, run

Captured = pytest.CaptureFixture[str]
GOOD = {"correctness": 10.0, "completion": 10.0, "errors": 10.0}
BAD = {"correctness": 0.0, "completion": 0.0, "errors": 10.0}
ENTRY = """
[[quarantine]]
flow = "dental"
scenario = "rebook"
owner = "ana"
reason = "the calendar stub is flaky"
until = 2026-06-30
"""
DAY = ("--day", "2026-06-30")


def night(number: int, bad: bool = False, scenario: str | None = "rebook", **given: Any) -> list[ConversationFacts]:
    """One night of 12 calls of `dental / rebook`, good or bad, and as many good ones of the flow beside them."""
    return [
        call(f"{number}-{name}-{task}", run=f"night-{number}", flow=flow, scenario=name, trial=task,
             started_at=number * 86_400 * 10**6, aspects=BAD if bad and name == scenario else GOOD, **given)
        for flow, name in (("dental", scenario), ("dental", "book"), ("weather", "rebook 2"))
        for task in range(12)
    ]  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Two nights, in the second of which one scenario of a flow fell."""
    with fresh(tmp_path / "nights.db") as opened:
        for number in (1, 2):
            put(opened, f"{number}.jsonl", night(number, bad=number == 2))
    return tmp_path / "nights.db"


def gate(store: Path, *options: str) -> int:
    return run(["gate", "--store", str(store), "--baseline", "night-1", "--candidate", "night-2", *options])


def written(folder: Path, text: str) -> str:
    path = folder / "flaky.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_what_is_in_quarantine_decides_nothing_and_is_told(store: Path, tmp_path: Path, capsys: Captured) -> None:
    assert gate(store) == ExitCode.GATE_FAILED
    capsys.readouterr()
    assert gate(store, "--quarantine", written(tmp_path, ENTRY), *DAY) == ExitCode.OK
    out, err = capsys.readouterr()
    assert err == "gate passed: night-2 against night-1; 6 checks of 2 flows, 1 in quarantine\n"
    assert (
        "In quarantine, decides nothing: dental / rebook, 0 of 12 succeeded, 12 of 12 before"
        " (ana, until 2026-06-30: the calendar stub is flaky).\n"
    ) in out
    rows = [line.split() for line in out.splitlines() if line.startswith("dental")]
    assert {(row[-5], row[-4]) for row in rows} == {("12", "12")}


def test_every_report_shows_it_apart(store: Path, tmp_path: Path, capsys: Captured) -> None:
    files = {name: tmp_path / name for name in ("gate.md", "gate.json", "gate.xml", "comment.md", "message.md")}
    quarantine = ("--quarantine", written(tmp_path, ENTRY), *DAY)
    assert gate(
        store, *quarantine, "--github", "--junit", str(files["gate.xml"]), "--comment", str(files["comment.md"]),
        "--summary-md", str(files["message.md"]), "-o", str(files["gate.json"]),
    ) == ExitCode.OK  # fmt: skip
    assert "::notice title=riff-tui gate%3A quarantine::decides nothing: dental / rebook, 0 of 12" in (
        capsys.readouterr().out
    )
    assert gate(store, *quarantine, "-o", str(files["gate.md"])) == ExitCode.OK
    for name in ("gate.md", "comment.md", "message.md"):
        assert "In quarantine, decides nothing: dental / rebook, 0 of 12" in files[name].read_text(encoding="utf-8")
    found = json.loads(files["gate.json"].read_text(encoding="utf-8"))
    assert found["schema_version"] == 1
    assert found["quarantined"] == [
        {
            "flow": "dental", "scenario": "rebook", "owner": "ana", "reason": "the calendar stub is flaky",
            "until": "2026-06-30", "ended": False, "n_baseline": 12, "n_candidate": 12, "before": 1.0, "after": 0.0,
            "matched": 24, "nights": 0, "recovered": False,
        }
    ]  # fmt: skip
    (case,) = [
        case for case in ElementTree.parse(files["gate.xml"]).iter("testcase") if "quarantine" in case.get("name", "")
    ]
    skipped = case.find("skipped")
    assert skipped is not None
    assert (case.get("classname"), case.get("name")) == ("dental", "quarantine of rebook")
    assert "the calendar stub is flaky" in skipped.get("message", "")


def test_past_its_day_it_fails_the_gate_in_every_report(store: Path, tmp_path: Path, capsys: Captured) -> None:
    report = tmp_path / "gate.xml"
    options = ("--quarantine", written(tmp_path, ENTRY), "--day", "2026-07-01")
    assert gate(store, *options, "--github", "--junit", str(report)) == ExitCode.GATE_FAILED
    out, err = capsys.readouterr()
    ended = (
        "the quarantine of dental / rebook (ana: the calendar stub is flaky) ended on 2026-06-30,"
        " so fix it or give it another day"
    )
    assert out == f"::error title=riff-tui gate%3A quarantine::{ended}\n"
    assert err.splitlines()[-1] == f"riff-tui: error: gate failed: {ended}; night-2 against night-1"
    suite = ElementTree.parse(report).find("testsuite")
    assert suite is not None
    assert suite.get("failures") == "1"
    assert gate(store, *options, "--json") == ExitCode.GATE_FAILED
    found = json.loads(capsys.readouterr().out)
    assert (found["passed"], found["failing"], found["quarantined"][0]["ended"]) == (False, [], True)
    assert any(ended in note for note in found["notes"])


@pytest.mark.parametrize(("bad", "said"), [((), True), ((12,), False), ((6,), False), ((2,), True)])
def test_what_passes_ten_nights_in_a_row_is_named_for_removal(
    tmp_path: Path, capsys: Captured, bad: tuple[int, ...], said: bool
) -> None:
    with fresh(tmp_path / "n.db") as opened:
        for number in range(1, 13):
            put(opened, f"{number}.jsonl", night(number, bad=number in bad))
        put(opened, "branch.jsonl", night(13, bad=True, branch="other"))
    command = ["gate", "--store", str(tmp_path / "n.db"), "--baseline", "night-1", "--candidate", "night-12"]
    assert run([*command, "--quarantine", written(tmp_path, ENTRY), *DAY]) == ExitCode.OK
    found = capsys.readouterr().out
    assert ("Take out of the quarantine: dental / rebook passed 10 nights in a row.\n" in found) == said


def test_a_night_without_its_calls_neither_counts_nor_breaks_the_row(tmp_path: Path, capsys: Captured) -> None:
    with fresh(tmp_path / "n.db") as opened:
        for number in range(1, 13):
            errored = {"errored": True} if number == 7 else {}
            put(opened, f"{number}.jsonl", night(number, scenario="other" if number == 5 else "rebook", **errored))
    command = ["gate", "--store", str(tmp_path / "n.db"), "--baseline", "night-1", "--candidate", "night-12", "--json"]
    run([*command, "--quarantine", written(tmp_path, ENTRY), *DAY])
    (entry,) = json.loads(capsys.readouterr().out)["quarantined"]
    assert (entry["nights"], entry["recovered"]) == (10, True)


def test_an_entry_that_no_call_is_of_is_named(store: Path, tmp_path: Path, capsys: Captured) -> None:
    text = ENTRY + ENTRY.replace('"dental"', '"dentall"')
    assert gate(store, "--quarantine", written(tmp_path, text), *DAY) == ExitCode.OK
    assert "Take out of the quarantine: dentall / rebook matches no call of either side.\n" in capsys.readouterr().out


def test_calls_without_a_scenario_stay_where_one_is_in_quarantine(tmp_path: Path, capsys: Captured) -> None:
    with fresh(tmp_path / "n.db") as opened:
        for number in (1, 2):
            nameless = [call(f"x-{number}-{n}", run=f"night-{number}", flow="dental", trial=n) for n in range(12)]
            put(opened, f"{number}.jsonl", [*night(number, bad=number == 2), *nameless])
    assert gate(tmp_path / "n.db", "--quarantine", written(tmp_path, ENTRY), *DAY, "--json") == ExitCode.OK
    found = json.loads(capsys.readouterr().out)
    assert any("left out of paired checks: 12 of the baseline's calls" in note for note in found["notes"])


def test_the_command_of_a_check_opens_no_call_that_is_in_quarantine(tmp_path: Path, capsys: Captured) -> None:
    with fresh(tmp_path / "n.db") as opened:
        put(opened, "1.jsonl", night(1))
        put(opened, "2.jsonl", [*night(2, bad=True), *night(2, bad=True, scenario="cancel")][:48])
        put(opened, "3.jsonl", night(1, scenario="cancel")[:12])
    assert gate(tmp_path / "n.db", "--quarantine", written(tmp_path, ENTRY), *DAY, "--json") == ExitCode.GATE_FAILED
    because = json.loads(capsys.readouterr().out)["because"]
    assert because
    for told in because:
        assert told["n"] == 24
        assert "!(flow=dental scenario=rebook)" in told["command"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ENTRY.replace("owner", "ownr"), "entry 1 has an unknown key 'ownr'; did you mean owner?"),
        (ENTRY.replace("until", "expires"), "entry 1 has an unknown key 'expires'; known are flow, scenario, owner"),
        (ENTRY.replace('owner = "ana"\n', ""), "entry 1 has no owner"),
        (ENTRY.replace('"the calendar stub is flaky"', '" "'), "entry 1 has no reason"),
        (ENTRY.replace("until = 2026-06-30", ""), "entry 1 has no until"),
        (ENTRY.replace("2026-06-30", '"soon"'), "entry 1: until is not a day; write it as 2026-12-24"),
        (ENTRY.replace("2026-06-30", "7"), "entry 1: until is not a day"),
        (ENTRY.replace('flow = "dental"\nscenario = "rebook"\n', ""), "entry 1 names neither flow nor scenario"),
        (ENTRY.replace('"dental"', "7"), "entry 1: flow must be text"),
        (ENTRY + ENTRY, "entry 2 names the same calls as entry 1"),
        (ENTRY.replace("[[quarantine]]", "[[quarantined]]"), "no key 'quarantined'; entries are tables [[quarantine]]"),
        (ENTRY.replace("[[quarantine]]", "[quarantine]"), "quarantine is not a list of tables"),
        ("\n".join(ENTRY.replace("rebook", f"s{n}") for n in range(101)), "101 entries are more than 100"),
        ("[[quarantine", "flaky.toml: "),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_with_the_place(
    store: Path, tmp_path: Path, capsys: Captured, text: str, said: str
) -> None:
    assert gate(store, "--quarantine", written(tmp_path, text), *DAY) == ExitCode.USAGE
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err


def test_a_file_that_is_not_there_and_a_day_that_is_none_are_refused(store: Path, tmp_path: Path) -> None:
    assert gate(store, "--quarantine", str(tmp_path / "none.toml")) == ExitCode.USAGE
    assert gate(store, "--quarantine", str(tmp_path)) == ExitCode.USAGE
    assert gate(store, *DAY) == ExitCode.USAGE
    assert gate(store, "--quarantine", written(tmp_path, ENTRY), "--day", "yesterday") == ExitCode.USAGE


def test_the_day_is_this_one_where_none_is_given(tmp_path: Path) -> None:
    path = Path(written(tmp_path, ENTRY))
    assert read_quarantine(path, "2026-06-30").day == date(2026, 6, 30)
    assert read_quarantine(path).day > date(2026, 6, 1)
    with pytest.raises(UsageError):
        read_quarantine(path, "2026-06-31")


def test_nothing_left_outside_decides_nothing(store: Path, tmp_path: Path, capsys: Captured) -> None:
    text = "".join(
        ENTRY.replace('"dental"\nscenario = "rebook"', f'"{name}"') for name in ("dental", "weather")
    )  # fmt: skip
    assert gate(store, "--quarantine", written(tmp_path, text), *DAY) == ExitCode.USAGE
    assert "the options leave no call that counts" in capsys.readouterr().err


# what repeats propose


def test_what_repeats_propose_is_taken_as_it_is(tmp_path: Path, capsys: Captured) -> None:
    odd = 'odd "name"\\ \u202e\x1b[2J\n'
    with fresh(tmp_path / "n.db") as opened:
        for number in (1, 2):
            put(
                opened,
                f"{number}.jsonl",
                [*night(number, bad=number == 2), *night(number, bad=number == 2, scenario=odd)],
            )
    path = tmp_path / "flaky.toml"
    command = ["dump", "repeats", "--store", str(tmp_path / "n.db"), "--format", "quarantine"]
    assert run([*command, "-o", str(path)]) == ExitCode.OK
    assert run(command) == ExitCode.OK
    text = path.read_text(encoding="utf-8")
    assert capsys.readouterr().out == text
    assert text.isascii()
    assert all(sign.isprintable() for sign in text.replace("\n", ""))
    found = read_quarantine(path, "1970-01-17")
    assert {(entry.flow, entry.scenario) for entry in found.entries} == {("dental", "rebook"), ("dental", odd)}
    assert {entry.until for entry in found.entries} == {date(1970, 1, 17)}
    assert run([*command, "--limit", "1"]) == ExitCode.OK
    fewer = capsys.readouterr().out
    assert (fewer.count("[[quarantine]]"), "\n# Left out: 1 more; " in fewer) == (1, True)
    assert gate(tmp_path / "n.db", "--quarantine", str(path), "--day", "1970-01-17") == ExitCode.OK


def test_a_store_in_which_nothing_is_flaky_proposes_nothing(tmp_path: Path, capsys: Captured) -> None:
    with fresh(tmp_path / "n.db") as opened:
        put(opened, "1.jsonl", night(1))
    assert run(["dump", "repeats", "--store", str(tmp_path / "n.db"), "--format", "quarantine"]) == ExitCode.OK
    assert capsys.readouterr().out.endswith("\n\n# Nothing is flaky.\n")


@pytest.mark.parametrize("view", ["flows", "worklist", "conversations", "runs"])
def test_no_other_view_has_that_format(store: Path, capsys: Captured, view: str) -> None:
    assert run(["dump", view, "--store", str(store), "--format", "quarantine"]) == ExitCode.USAGE
    assert capsys.readouterr() == (
        "",
        f"riff-tui: error: --format quarantine: there is no quarantine in {view};"
        " it has text, markdown, json, jsonl, csv, svg\n",
    )
