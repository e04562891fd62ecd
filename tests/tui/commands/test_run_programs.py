"""Agents that are programs, seen from outside a run: what they are given, what they leave, what is kept of them."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.programs import is_alive, preamble
from tests.surface.tui import ExitCode, run

GIVEN, KEPT_BACK = "given-4f1b8c", "kept-back-93ad07"
_FAMILY = """
def family():
    "A child that hears no signal but the last, and a grandchild that left for a session of its own."
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for leaves in (False, True):
        if os.fork() == 0:
            if leaves:
                os.setsid()
                if os.fork():
                    os._exit(0)
                os.closerange(0, 3)
            with open(sys.argv[1], "a") as file: file.write(f"{os.getpid()}\\n")
            time.sleep(600)
    with open(sys.argv[1], "a") as file: file.write(f"{os.getpid()}\\n")
"""
_STOPS = f"{_FAMILY}hear(); family(); os.kill(os.getpid(), signal.SIGSTOP)"
_ENDS = f"{_FAMILY}hear(); family(); tell(type='ready'); hear(); tell(type='bye', text='Bye.')"
_COMPLAINS = """
key = os.environ["AGENT_KEY"]
call = hear()
tell(type="ready")
hear()
tell(type="error", kind="backend", message=f"401: {key} is wrong", fatal=False)
if call["trial"] == 0: sys.exit(f"401: {key} is wrong")
if call["trial"] == 1: print(f"401: {key} is wrong", flush=True)
if call["trial"] == 2: tell(type="error", kind="backend", message=f"401: {key} is wrong", fatal=True)
sys.stdin.read()
"""


@pytest.fixture
def pids(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "pids"
    yield path
    for process in told(path):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def told(path: Path) -> list[int]:
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def until(path: Path, number: int) -> list[int]:
    ends = time.monotonic() + 60
    while len(told(path)) < number:
        assert time.monotonic() < ends
        time.sleep(0.01)
    return told(path)


def gone(processes: list[int]) -> bool:
    ends = time.monotonic() + 60
    while any(map(is_alive, processes)) and time.monotonic() < ends:
        time.sleep(0.02)
    return not any(map(is_alive, processes))


def words(source: str, out: Path, *arguments: str) -> list[str]:
    agent = f"command:{shlex.join([sys.executable, '-c', preamble + source, *arguments])}"
    return ["run", "--flows", "apartment_viewing", "--scenarios", "relocating", "--agent", agent, "--out", str(out)]


def started(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "riff_tui", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=lambda number: number.name)
def test_nothing_of_an_agent_is_left_however_its_run_ends(number: signal.Signals, pids: Path, tmp_path: Path) -> None:
    process = started(*words(_STOPS, tmp_path / "made", str(pids)), "--ingest", str(tmp_path / "calls.db"))
    family = until(pids, 3)
    process.send_signal(number)
    if number == signal.SIGINT:
        assert process.stderr is not None
        while b"still under way" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(number)
    _, said = process.communicate()
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    assert b"Traceback" not in said
    assert b"Loop" not in said
    assert gone(family)
    assert (tmp_path / "calls.db").exists() == (number == signal.SIGKILL)


def test_nothing_of_an_agent_is_left_after_its_call(pids: Path, tmp_path: Path) -> None:
    process = started(*words(_ENDS, tmp_path / "made", str(pids)))
    process.communicate(timeout=60)
    assert process.returncode == ExitCode.OK
    assert len(told(pids)) == 3
    assert gone(told(pids))


def test_a_key_is_in_the_environment_of_the_agent_it_was_given_to_and_nowhere_else(
    pids: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_KEY", GIVEN)
    monkeypatch.setenv("OTHER_KEY", KEPT_BACK)
    process = started(*words(_STOPS, tmp_path / "made", str(pids)), "--agent-env", "AGENT_KEY")
    try:
        family = until(pids, 3)
        [own] = [each for each in _children(process.pid) if each not in family]
        for each in (*family, own, process.pid):
            command, environ = (Path(f"/proc/{each}/{name}").read_bytes() for name in ("cmdline", "environ"))
            assert GIVEN.encode() not in command
            assert KEPT_BACK.encode() not in command
            assert (GIVEN.encode() in environ) == (each != own)
            assert (KEPT_BACK.encode() in environ) == (each == process.pid)
    finally:
        process.kill()
        process.communicate()


def test_a_key_is_in_nothing_that_is_written_whatever_an_agent_complains_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AGENT_KEY", GIVEN)
    out, store = tmp_path / "made", str(tmp_path / "calls.db")
    arguments = words(_COMPLAINS, out)
    assert (
        run([*arguments, "--agent-env", "AGENT_KEY", "--trials", "3", "--ingest", store, "--json", "--debug"])
        == ExitCode.SKIPPED
    )
    shown = capfd.readouterr()
    assert "$AGENT_KEY" in shown.out + shown.err
    assert GIVEN not in shown.out + shown.err
    written = {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert {"run.json", "progress.jsonl", "calls.db"} < written.keys()
    assert [name for name, content in written.items() if GIVEN.encode() in content] == []
    assert b"$AGENT_KEY is wrong" in written["flow-transcripts-apartment_viewing.jsonl"]


def _children(process: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
