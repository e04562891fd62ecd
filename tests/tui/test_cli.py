"""The command line's manners: data on stdout, one line on stderr, and an exit code that says how it ended."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from riff_tui import __version__
from tests.surface.tui import COMMANDS, ExitCode, run

Captured = pytest.CaptureFixture[str]
PROGRAM = str(Path(sys.executable).parent / "riff-tui")


def refused(captured: Captured, *arguments: str) -> tuple[int, str]:
    """Exit code and message of a command that prints nothing and says one line."""
    code = run(arguments)
    out, err = captured.readouterr()
    assert out == ""
    assert err.startswith("riff-tui: error: ")
    assert err.count("\n") == 1
    return code, err.removeprefix("riff-tui: error: ").rstrip("\n")


def test_the_version_is_data(capsys: Captured) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"riff-tui {__version__}\n"


def test_the_package_runs_as_the_program_does() -> None:
    done = subprocess.run([sys.executable, "-m", "riff_tui", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"riff-tui {__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example_of_its_own(command: str, capsys: Captured) -> None:
    assert run([command, "--help"]) == 0
    shown = capsys.readouterr().out
    examples = shown.partition("Examples:\n")[2].splitlines()
    assert examples
    assert all(line.startswith(f"    riff-tui {command}") for line in examples)
    assert "--debug" in shown


def test_help_of_the_whole_names_every_command(capsys: Captured) -> None:
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    listed = re.findall(r"^  ([a-z]+)  +(.*)$", shown.partition("Commands:\n")[2], re.MULTILINE)
    assert listed == [(name, line) for name, (_, line) in COMMANDS.items()]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_line_of_a_command_begins_its_help(command: str, capsys: Captured) -> None:
    assert run([command, "--help"]) == 0
    assert " ".join(capsys.readouterr().out.split("\n\n")[1].split()) == COMMANDS[command][1]


@pytest.mark.parametrize(
    "command",
    [name for name in COMMANDS if name not in ("simulate", "judge", "notes", "eva", "copy", "schema", "flows", "init")],
)
def test_every_command_that_needs_a_store_takes_one(command: str, capsys: Captured) -> None:
    run([command, "--help"])
    assert "--store PATH|URL" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["moonshine"], "No such command 'moonshine'; see `riff-tui --help`"),
        (["dump"], "Missing argument 'VIEW'; see `riff-tui dump --help`"),
        (["dump", "flows", "--limit", "-1"], "Invalid value for '--limit'"),
        (["dump", "flows", "--format", "pdf"], "Invalid value for '--format'"),
        (["dump", "moon"], "no view is called 'moon'"),
        (["dump", "flows", "--sort", "moon"], "--sort: there is no column moon here; there are flow, agent"),
        (["dump", "flows", "--by", "moon"], "--by: rows cannot be split by 'moon'"),
        (["dump", "flows", "--where", "flow=("], "filter, character 6: "),
        (["dump", "neighbors"], "neighbors needs flow= and state= in the filter, such as --where"),
        (["edit"], "No such command 'edit'. Did you mean 'edits'? See `riff-tui --help`"),
        (["ingest", "edits"], "command of their own: riff-tui edits --repo DIR --flows 'flows/{flow}.*'"),
        (
            ["ingest", "edits", "--repo", "my flows", "--flows", "{flow}/*"],
            "command of their own: riff-tui edits --repo 'my flows' --flows '{flow}/*'",
        ),
        (["ingest", "no-such-file"], "no-such-file: there is no such file or directory"),
        (["ingest"], "Missing argument 'PATH...'"),
        (["simulate", "--out", "x", "--flows", "moon"], "moon"),
        (["--store", "x", "dump", "flows"], "--store goes after the command: riff-tui dump --store x"),
        (["--store", "x", "notes", "export"], "--store goes after the command: riff-tui notes COMMAND --store x"),
    ],
)
def test_what_makes_no_sense_is_answered_in_a_line_with_exit_2(
    arguments: list[str], complaint: str, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RIFF_TUI_STORE", str(tiny))
    code, message = refused(capsys, *arguments)
    assert code == ExitCode.USAGE
    assert complaint in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "error", "hint", "code"),
    [
        ("dump flws --format json", "no view is called 'flws' (did you mean flows?)", "there are worklist", 2),
        ("dump flows --format=jsonl --where (", "filter, character 2: something to look for is missing here", "", 2),
        ("dump flows --format json --where nope=3", "filter, character 1: ", "", 2),
        ("dump flows --format json --store none.db", "none.db: there is no store", "make one with `riff-tui ingest", 4),
        ("gate --json --nope", "No such option '--nope'.", "ee `riff-tui gate --help`", 2),
        ("search x --json --where", "Option '--where' requires an argument", "see `riff-tui --help`", 2),
    ],
)
def test_who_asks_for_json_gets_errors_as_json(
    line: str, error: str, hint: str, code: int, tiny: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("RIFF_TUI_STORE", str(tiny))
    assert run(line.split()) == code
    said = capsys.readouterr()
    assert said.out == ""
    found = json.loads(said.err.splitlines()[-1])
    assert found.keys() == {"error", "hint", "exit"}
    assert (error in found["error"], hint in found["hint"], found["exit"]) == (True, True, code)


def test_reading_never_makes_a_store(tmp_path: Path, capsys: Captured) -> None:
    for command in (["dump", "flows"], ["doctor"]):
        code, message = refused(capsys, *command, "--store", str(tmp_path / "deep" / "store.db"))
        assert code == ExitCode.STORE
        assert "there is no store; make one with `riff-tui ingest" in message
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_store_is_called_so_and_left_alone(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a store, but text that is long enough for a header" * 3, encoding="utf-8")
    before = path.read_bytes()
    for command in (["dump", "flows"], ["ingest", str(tmp_path)]):
        code, message = refused(capsys, *command, "--store", str(path))
        assert (code, "not a riff-tui store" in message) == (ExitCode.STORE, True)
    assert path.read_bytes() == before


def test_an_empty_store_option_is_no_default(capsys: Captured) -> None:
    assert refused(capsys, "dump", "flows", "--store", "")[0] == ExitCode.USAGE


def test_the_store_comes_from_the_option_then_the_environment_then_the_users_directory(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    assert run(["dump", "flows"]) == ExitCode.STORE
    assert str(Path(os.environ["XDG_DATA_HOME"]) / "riff-tui" / "store.db") in capsys.readouterr().err
    monkeypatch.setenv("RIFF_TUI_STORE", str(tiny))
    assert run(["dump", "flows"]) == ExitCode.OK
    assert run(["dump", "flows", "--store", str(tmp_path / "none.db")]) == ExitCode.STORE


@pytest.mark.parametrize("arguments", [["ui"], [], ["ui", "matrix", "--where", "flow:'a b'"]])
def test_without_a_terminal_the_explorer_says_what_prints_the_same(
    arguments: list[str], capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, message = refused(capsys, *arguments)
    assert code == ExitCode.USAGE
    where = """ --where 'flow:'"'"'a b'"'"''""" if "--where" in arguments else ""
    assert message.endswith(f"this prints the same: riff-tui dump flows{where}")


def test_debug_shows_where_it_came_from_and_no_value(capsys: Captured) -> None:
    assert run(["dump", "flows", "--store", "secret-name.db", "--debug"]) == ExitCode.STORE
    *lines, last = capsys.readouterr().err.splitlines()
    assert any("in open_store" in line for line in lines)
    assert last.startswith("riff-tui: error: secret-name.db")
    assert not any("secret-name" in line for line in lines)


def test_hostile_names_reach_stderr_as_text(capsys: Captured, tmp_path: Path) -> None:
    run(["dump", "flows", "--store", str(tmp_path / "a\x1b[2J\n\x9bb.db")])
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "\x1b" not in err
    assert "\x9b" not in err


# whole processes


def process(*arguments: str, stdout: int | None = None, **environment: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [PROGRAM, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, ExitCode.TERMINATED), (signal.SIGINT, ExitCode.INTERRUPTED)]
)
def test_a_signal_ends_a_command_without_a_trace(number: signal.Signals, code: int, tmp_path: Path) -> None:
    out = tmp_path / "out"
    started = process("simulate", "--out", str(out), "--conversations", "100000")
    while not list(out.rglob("*.jsonl")):
        time.sleep(0.01)
    started.send_signal(number)
    _, err = started.communicate()
    assert (started.returncode, err) == (code, b"")


def test_a_full_disk_behind_stdout_is_named(tiny: Path) -> None:
    with open("/dev/full", "wb") as full:
        started = process("dump", "flows", "--store", str(tiny), stdout=full.fileno())
        _, err = started.communicate()
    assert (started.returncode, err) == (
        ExitCode.STORE,
        b"riff-tui: error: stdout: disk full; make room and run it again\n",
    )


def closing(redirections: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """A command as a shell starts it with streams closed."""
    script = f'exec "$0" "$@" {redirections}'
    return subprocess.run(["sh", "-c", script, PROGRAM, *arguments], capture_output=True, check=False)


def test_a_closed_stdout_is_named_unless_a_file_takes_the_dump(tiny: Path, tmp_path: Path) -> None:
    complaint = "stdout: cannot be written (Bad file descriptor)"
    for command in (["dump", "flows"], ["doctor"]):
        ended = closing(">&-", *command, "--store", str(tiny))
        assert (ended.returncode, ended.stderr.decode()) == (ExitCode.UNEXPECTED, f"riff-tui: error: {complaint}\n")
    ended = closing(">&-", "dump", "runs", "--format", "json", "--store", str(tiny))
    assert json.loads(ended.stderr) == {"error": complaint, "hint": "", "exit": ExitCode.UNEXPECTED}
    ended = closing("<&- >&-", "dump", "flows", "--store", str(tiny), "-o", str(tmp_path / "flows.md"))
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert (tmp_path / "flows.md").read_text(encoding="utf-8").startswith("# Evaluation matrix")


def test_what_a_closed_stderr_would_have_said_is_in_no_data(tiny: Path, tmp_path: Path) -> None:
    ended = closing("2>&-", "dump", "moon", "--store", str(tiny))
    assert (ended.returncode, ended.stdout) == (ExitCode.USAGE, b"")
    runs, own = str(tiny.parent / "run-2"), str(tmp_path / "own.db")
    assert closing("<&- >&- 2>&-", "ingest", runs, "--store", own, "--jobs", "2").returncode == 0
    assert closing("", "doctor", "--store", own).returncode == 0


@pytest.mark.parametrize(
    ("environment", "colored"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_a_terminal_gets_what_fits_in_colour_and_is_told_what_did_not(
    environment: dict[str, str], colored: bool, tiny: Path
) -> None:
    ours, theirs = os.openpty()
    around = {"COLUMNS": "60", "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **environment}
    started = process("dump", "flows", "--store", str(tiny), stdout=theirs, **around)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):
        while piece := os.read(ours, 65536):
            shown += piece
    os.close(ours)
    _, err = started.communicate()
    assert (started.returncode, err) == (0, b"")
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown.decode())
    assert (text != shown.decode()) is colored
    assert all(len(line) <= 60 for line in text.splitlines())
    assert "Cut to 60 cells: " in text


@pytest.mark.parametrize(
    ("command", "before", "after"),
    [("dump", "", "1"), ("dump", "4", "4"), ("ui", "", "1"), ("judge", "", ""), ("run", "", "")],
)
def test_threads_of_numpy_are_limited_but_for_programs_of_others(command: str, before: str, after: str) -> None:
    program = (
        "import os, riff_tui.cli as cli; cli.run = lambda given: 0\n"
        f"try: cli.main([{command!r}])\n"
        "finally: print(os.environ.get('OPENBLAS_NUM_THREADS', ''))"
    )
    environ = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env=environ | ({"OPENBLAS_NUM_THREADS": before} if before else {}),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ended.stdout.strip() == after
