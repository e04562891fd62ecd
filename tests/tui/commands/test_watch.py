"""Watching a run from the command line: what is said of it, to whom, and how it ends."""

from __future__ import annotations

import json
import re
import signal
import time
from pathlib import Path

import pytest

from tests.support import two_runs
from tests.support.pty_terminal import Terminal
from tests.support.run_directories import RunDirectory, stamp
from tests.surface.tui import ExitCode, run

Captured = pytest.CaptureFixture[str]
COMMAND = ("-c", "from riff_tui.cli import main; main()", "watch", "--run")


@pytest.fixture
def growing(tmp_path: Path) -> RunDirectory:
    """A run of a process as old as the system: two calls are over, one of them errored, and two are under way."""
    now = time.time()
    found = RunDirectory(tmp_path / "night-2", began=now - 60, pid=1)
    found.progress("d-1", "running", now - 60)
    found.finish("d-1", now - 40, error=None)
    found.finish("d-2", now - 30, errored=True, completed=None, error="agent: 503 \x1b[31m\u202etry later")
    found.progress("d-3", "running", now - 21, state="collect_contact", turn=3)
    found.progress("p-1", "retrying", now - 2, flow="pizza", state="greeting", turn=1, why="429; again in 4 s")
    return found


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RIFF_TUI_STORE", str(tmp_path / "none.db"))
    return tmp_path / "none.db"


def test_a_pipe_gets_one_look_for_people(growing: RunDirectory, nowhere: Path, capsys: Captured) -> None:
    assert run(["watch", "--run", str(growing.path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    where = r"run night-2  2/12 calls · 1 running · 1 errored · 1 retrying · (2.0|1.\d)/min · ETA \dmin"
    assert re.fullmatch(where, lines[0])
    assert lines[1] == "agent acme · caller scripted"
    assert lines[2].startswith("1 errored: agent: 503 ")
    assert not re.search("[\x1b\u202e]", "".join(lines))
    assert [line.split()[:5] for line in lines if line[:2] in ("d-", "p-")] == [
        ["p-1", "greeting", "1", "<5", "s"],
        ["d-3", "collect_contact", "3", "20", "s"],
        ["d-2", "·", "·", "·", "errored:"],
    ]
    assert [line.split() for line in lines[-2:]] == [["dental", "2", "1", "1", "1"], ["pizza", "0", "0", "0", "1"]]
    assert not nowhere.exists()


def test_programs_get_an_object_without_what_people_said(
    growing: RunDirectory, nowhere: Path, capsys: Captured
) -> None:
    assert run(["watch", "--run", str(growing.path), "--json"]) == 0
    out = capsys.readouterr().out
    found = json.loads(out)
    assert (found["run"], found["phase"], found["truncated"], found["cost"]) == ("night-2", "running", False, None)
    assert found["early_verdict"] is None
    counts = found["counts"]
    assert {key: counts[key] for key in ("planned", "done", "running", "retrying", "errored", "completed", "left")} == {
        "planned": 12, "done": 2, "running": 1, "retrying": 1, "errored": 1, "completed": 1, "left": 10,
    }  # fmt: skip
    assert [call["conversation_id"] for call in found["calls"]] == ["p-1", "d-3", "d-2", "d-1"]
    assert found["calls"][0]["why"] == "429; again in 4 s"
    assert found["calls"][2]["why"] == "agent: 503 ␛[31m<U+202E>try later"
    assert 20 < found["calls"][1]["idle_s"] < 90
    assert "555 0100" not in out
    assert "\x1b" not in out


def test_what_people_said_is_shown_where_that_is_asked(growing: RunDirectory, nowhere: Path, capsys: Captured) -> None:
    assert run(["watch", "--run", str(growing.path), "--json", "--text"]) == 0
    calls = {call["conversation_id"]: call["last"] for call in json.loads(capsys.readouterr().out)["calls"]}
    assert calls["d-1"] == {"role": "caller", "text": "My phone is 555 0100"}
    assert calls["d-3"] is None
    assert run(["watch", "--run", str(growing.path), "--text"]) == 0
    assert "caller: My phone is 555 0100" in capsys.readouterr().out


def test_what_it_cost_is_said_where_prices_are_known(
    growing: RunDirectory, nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    asked = {"agent": "acme", "requests": [{"prompt_tokens": 20_000, "completion_tokens": 500}]}
    growing.finish("d-4", time.time(), extra=asked)
    assert run(["watch", "--run", str(growing.path)]) == 0
    told = "agent acme (20k tokens in, 500 out) · caller scripted · cost unknown"
    assert capsys.readouterr().out.splitlines()[1] == told
    (tmp_path / "settings.toml").write_text("[prices.acme]\ninput = 1\noutput = 8.0\ncurrency = 'EUR'\n")
    monkeypatch.setenv("RIFF_TUI_CONFIG", str(tmp_path / "settings.toml"))
    assert run(["watch", "--run", str(growing.path)]) == 0
    assert capsys.readouterr().out.splitlines()[1] == told.replace("unknown", "0.0240 EUR")
    assert run(["watch", "--run", str(growing.path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["cost"], found["currency"]) == (pytest.approx(0.024), "EUR")


def test_the_most_frequent_reasons_are_of_the_lines_that_count(
    growing: RunDirectory, nowhere: Path, capsys: Captured
) -> None:
    for number, error in enumerate(["agent: 500 (request a000001)", "agent: 500 (request b000002)"]):
        growing.finish(f"d-{5 + number}", time.time(), errored=True, completed=None, error=error)
    growing.finish("d-2", time.time(), error=None)
    assert run(["watch", "--run", str(growing.path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["reasons"] == [{"error": "agent: 500 (request …)", "calls": 2}]


def test_since_leaves_the_calls_that_changed(growing: RunDirectory, nowhere: Path, capsys: Captured) -> None:
    since = stamp(time.time() - 25)
    assert run(["watch", "--run", str(growing.path), "--json", "--since", since]) == 0
    assert [call["conversation_id"] for call in json.loads(capsys.readouterr().out)["calls"]] == ["p-1", "d-3"]
    assert run(["watch", "--run", str(growing.path), "--since", "soon"]) == ExitCode.USAGE
    assert "'soon' is not a time" in capsys.readouterr().err


def test_no_more_than_a_hundred_calls_are_listed(tmp_path: Path, nowhere: Path, capsys: Captured) -> None:
    large = RunDirectory(tmp_path / "large", planned=200)
    for number in range(101):
        large.progress(f"{number}", "running", time.time())
    assert run(["watch", "--run", str(large.path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (len(found["calls"]), found["truncated"], found["counts"]["running"]) == (100, True, 101)


def test_a_run_is_compared_so_far_and_fails_nothing(growing: RunDirectory, tmp_path: Path, capsys: Captured) -> None:
    store = str(two_runs.build(tmp_path / "two.db"))
    assert run(["watch", "--run", str(growing.path), "--store", store]) == 0
    said = capsys.readouterr().out
    assert "so far, against night-1: 2 checks of " in said
    assert "dental success_rate 89% → 37% (-52.6 pp; n 19)" in said
    assert "success so far" in said
    assert run(["watch", "--run", str(growing.path), "--store", store, "--json"]) == 0
    verdict = json.loads(capsys.readouterr().out)["early_verdict"]
    assert (verdict["so_far"], verdict["baseline"]) == (True, "night-1")
    assert {(each["flow"], each["aspect"]) for each in verdict["worse"]} == {
        ("dental", "success_rate"), ("dental", "completion"),
    }  # fmt: skip
    assert all(each["n"] == 19 for each in verdict["worse"])


def test_a_store_that_is_not_there_yet_is_a_reason(growing: RunDirectory, nowhere: Path, capsys: Captured) -> None:
    assert run(["watch", "--run", str(growing.path), "--store", str(nowhere)]) == 0
    assert f"so far: not compared, {nowhere}: there is no store\n" in capsys.readouterr().out
    nowhere.write_text("no store")
    assert run(["watch", "--run", str(growing.path), "--store", str(nowhere)]) == ExitCode.STORE
    assert run(["watch", "--run", str(growing.path)]) == 0


def test_a_baseline_that_is_not_there_is_refused(growing: RunDirectory, tmp_path: Path, capsys: Captured) -> None:
    store = str(two_runs.build(tmp_path / "two.db"))
    assert run(["watch", "--run", str(growing.path), "--store", store, "--baseline", "moon"]) == ExitCode.USAGE
    assert "there is no run moon" in capsys.readouterr().err


def test_a_run_is_found_by_its_id_in_the_store(growing: RunDirectory, tmp_path: Path, capsys: Captured) -> None:
    store = str(tmp_path / "grows.db")
    transcript = growing.path / "flow-transcripts-dental.jsonl"
    assert run(["ingest", str(transcript), "--store", store]) == 0
    capsys.readouterr()
    for name in ("night-2", "latest"):
        assert run(["watch", "--run", name, "--store", store]) == 0
        said = capsys.readouterr().out
        assert said.startswith("run night-2  2/12 calls")
        assert "so far: not compared, the store has no earlier run to compare with" in said


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("moon", "--run moon: there is no such directory, and no store to look for a run of that id"),
        ("./moon", "--run ./moon: there is no such directory; riff-tui run --out DIR makes one"),
        (".", "there is no run in this directory, it has no run.json"),
    ],
)
def test_what_is_no_run_is_refused(
    name: str, complaint: str, nowhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(nowhere.parent)
    assert run(["watch", "--run", name]) == ExitCode.USAGE
    assert complaint in capsys.readouterr().err


def test_calls_that_no_run_made_are_not_watched(tmp_path: Path, capsys: Captured) -> None:
    store = str(two_runs.build(tmp_path / "two.db"))
    assert run(["watch", "--run", "night-1", "--store", store]) == ExitCode.USAGE
    assert "were not made by riff-tui run" in capsys.readouterr().err
    assert run(["watch", "--run", "night-9", "--store", store]) == ExitCode.USAGE
    assert "there is no run night-9; did you mean night-2" in capsys.readouterr().err


def test_a_run_that_was_killed_says_so(tmp_path: Path, nowhere: Path, capsys: Captured) -> None:
    killed = RunDirectory(tmp_path / "killed", pid=2**22 - 3)
    killed.progress("a", "running", time.time())
    assert run(["watch", "--run", str(killed.path), "--follow"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("run killed  0/12 calls · stopped (killed)\n")
    assert "dropped" in said


def test_following_prints_an_object_for_every_change(tmp_path: Path, nowhere: Path, capsys: Captured) -> None:
    done = RunDirectory(tmp_path / "done", planned=1)
    done.finish("a", time.time())
    done.end(time.time())
    assert run(["watch", "--run", str(done.path), "--json", "--follow"]) == 0
    assert [json.loads(line)["phase"] for line in capsys.readouterr().out.splitlines()] == ["ended"]


def test_a_terminal_is_kept_up_to_date_in_place(growing: RunDirectory, nowhere: Path) -> None:
    with Terminal([*COMMAND, str(growing.path)], environ={"RIFF_TUI_STORE": str(nowhere)}) as terminal:
        terminal.wait_for("2/12 calls")
        terminal.wait_for("pizza")
        before = len(terminal.sent)
        growing.finish("d-3", time.time())
        terminal.wait_for("3/12 calls")
        terminal.wait(lambda: "d-3" not in terminal.text)
        assert len(terminal.sent) - before < 1200
        assert terminal.text.count("run night-2") == 1
        terminal.resize(70, 20)
        terminal.wait(lambda: terminal.text.count("run night-2") == 1 and "pizza" in terminal.text)
        growing.end(time.time(), "interrupted")
        terminal.wait_for("stopped (interrupted)")
        assert terminal.end() == 0


@pytest.mark.parametrize(("leave", "code"), [("q", 0), ("\x03", ExitCode.INTERRUPTED)])
def test_one_leaves_by_a_key(growing: RunDirectory, nowhere: Path, leave: str, code: int) -> None:
    with Terminal([*COMMAND, str(growing.path)], environ={"RIFF_TUI_STORE": str(nowhere)}) as terminal:
        terminal.wait_for("2/12 calls")
        terminal.wait_for("pizza")
        terminal.send(leave)
        terminal.wait(lambda: terminal.is_as_before)
        assert terminal.end() == code


def test_a_signal_ends_it_as_it_ends_all_commands(growing: RunDirectory, nowhere: Path) -> None:
    with Terminal([*COMMAND, str(growing.path)], environ={"RIFF_TUI_STORE": str(nowhere)}) as terminal:
        terminal.wait_for("pizza")
        terminal.signal(signal.SIGTERM)
        assert terminal.end() == ExitCode.TERMINATED
