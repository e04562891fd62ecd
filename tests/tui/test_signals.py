"""Commands that are told to end: by every signal, from their first line on, with nothing left of what they began."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_HELD = """
import os, sys, threading, time

def hold():
    print("here", flush=True)
    time.sleep(120)
"""
_IMPORTING = """
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            hold()

sys.meta_path.insert(0, Finder())
"""
_READING = """
from riff_ingest import loader
loader.load = lambda plan: hold()
"""
_WAITING = """
import concurrent.futures
concurrent.futures.Future.result = lambda future, timeout=None: hold()
"""
_SWALLOWING = """
class Deaf:
    def __del__(self):
        hold()

from riff_tui import command_line
def command(arguments):
    with command_line.ending_in_order():
        Deaf()
        time.sleep(600)
command_line.invoke = command
"""
_WORKING = """
from riff_tui import command_line
def command(arguments):
    with command_line.ending_in_order():
        hold()
command_line.invoke = command
"""
_CLEANING = """
from riff_tui import command_line
def command(arguments):
    with command_line.ending_in_order():
        try:
            hold()
        finally:
            hold()
command_line.invoke = command
"""


def started(held: str, *arguments: str, inside: Path | None = None, before: str = "") -> subprocess.Popen[str]:
    """A command that says where it is held."""
    program = f"{_HELD}{before}{held}\nfrom riff_tui.cli import main\nmain()"
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments], cwd=inside, text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    return process


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def left(folder: Path) -> Sequence[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_command_ends_by_a_signal_while_it_is_still_being_loaded(number: signal.Signals) -> None:
    process = started(_IMPORTING, "dump", "flows")
    process.send_signal(number)
    assert ended(process) == (128 + number, "", "")


def test_an_ingest_that_stored_nothing_leaves_no_store(tiny: Path, tmp_path: Path) -> None:
    process = started(_READING, "ingest", str(tiny.parent / "run-2"), "--store", "calls.db", inside=tmp_path)
    assert left(tmp_path) == ["calls.db"]
    process.send_signal(signal.SIGTERM)
    assert ended(process) == (128 + signal.SIGTERM, "", "")
    assert left(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP], ids=lambda number: number.name)
def test_workers_are_gone_with_an_ingest_whose_whole_group_was_told(
    number: signal.Signals, tiny: Path, tmp_path: Path
) -> None:
    process = started(_WAITING, "ingest", str(tiny.parent), "--store", "calls.db", "--jobs", "2", inside=tmp_path)
    os.killpg(process.pid, number)
    # Its stderr is at an end where nobody holds it any more, a worker neither.
    code, _, said = ended(process)
    assert (code, "Traceback" in said, "Warning" in said) == (128 + number, False, False)
    assert left(tmp_path) == []


def test_workers_are_gone_with_an_ingest_that_was_killed(tiny: Path, tmp_path: Path) -> None:
    process = started(_WAITING, "ingest", str(tiny.parent), "--store", "calls.db", "--jobs", "2", inside=tmp_path)
    process.kill()
    assert ended(process)[0] == -signal.SIGKILL


def test_a_second_signal_ends_what_the_first_one_began_to_undo() -> None:
    process = started(_CLEANING)
    process.send_signal(signal.SIGTERM)
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    for _ in range(600):  # what comes at once is the same one, as `timeout` tells it to the group as well
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
            break
    if process.poll() is None:
        process.kill()
    assert ended(process) == (128 + signal.SIGTERM, "", "")


def test_a_signal_is_not_lost_where_nothing_can_be_raised() -> None:
    process = started(_SWALLOWING)
    process.send_signal(signal.SIGTERM)
    assert ended(process) == (128 + signal.SIGTERM, "", "")


def test_what_a_command_was_started_to_ignore_does_not_end_it() -> None:
    process = started(_WORKING, before="import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n")
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGINT)
    assert ended(process) == (128 + signal.SIGINT, "", "")
