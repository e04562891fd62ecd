"""What is printed into the log of a build, where the runner does whatever looks like a command to it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.facts import call, fresh, put, verdict
from tests.surface.tui import escape_commands

NAMES = ("::error::x", "  ::stop-commands::y", "##[error]z")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("::error::x  1.0\n", "'::error::x  1.0\n"),
        ("  ::add-mask::x", "  '::add-mask::x"),
        ("! a ##[error]x", "! a ## [error]x"),
        ("dental::x", "dental::x"),
        ("\n", "\n"),
    ],
)
def test_a_line_with_a_command_in_it_is_only_read(line: str, said: str) -> None:
    assert escape_commands(line) == said


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with fresh(tmp_path / "s.db") as opened:
        put(opened, "calls.jsonl", [call("c", flow=name, run=name, line=line) for line, name in enumerate(NAMES)])
        scores = [verdict("c", 5.0, run=name, judge=name, line=line) for line, name in enumerate(NAMES)]
        put(opened, "humanness.jsonl", scores)
    return tmp_path / "s.db"


def said(store: Path, *arguments: str, output: int = subprocess.PIPE, build: str = "true") -> list[str]:
    """The lines of stdout and stderr, where stdout goes to a pipe or to the file of a number."""
    code = "from riff_tui.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments, "--store", str(store)],
        stdout=output, stderr=subprocess.PIPE, check=False, text=True, env={**os.environ, "GITHUB_ACTIONS": build},
    )  # fmt: skip
    return [*(done.stdout or "").splitlines(), *done.stderr.splitlines()]


def commands(lines: list[str]) -> list[str]:
    return [line for line in lines if line.lstrip().startswith("::") or "##[" in line]


@pytest.mark.parametrize("arguments", [("dump", "judges"), ("dump", "flows"), ("compare", "##[error]z", "nobody")])
def test_no_name_is_a_command_in_the_log(store: Path, arguments: tuple[str, ...]) -> None:
    assert commands(said(store, *arguments, build="")), "without a build a name is what it is"
    assert not commands(said(store, *arguments))


def test_data_and_files_are_the_same_everywhere(store: Path, tmp_path: Path) -> None:
    assert said(store, "dump", "judges", "--format", "csv") == said(
        store, "dump", "judges", "--format", "csv", build=""
    )
    files = []
    for build in ("true", ""):
        with (tmp_path / f"judges{build}.txt").open("w+", encoding="utf-8") as file:
            said(store, "dump", "judges", output=file.fileno(), build=build)
            file.seek(0)
            files.append(file.read())
    assert files[0] == files[1]
    assert commands(files[0].splitlines())
