"""A demo needs nothing but itself, and a simulation leaves files to ingest."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.surface.tui import ExitCode, run

Captured = pytest.CaptureFixture[str]


def test_a_demo_without_a_terminal_prints_worklist_and_flows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["demo", "--conversations", "60"]) == ExitCode.OK
    out, err = capsys.readouterr()
    assert out.startswith("What to work on")
    assert "\nEvaluation matrix" in out
    assert "60 simulated conversations below demo." in err
    assert (tmp_path / "demo" / "demo.db").is_file()
    assert run(["demo", "--conversations", "60"]) == ExitCode.OK
    assert capsys.readouterr().out == out


def test_a_demo_says_where_its_store_is_to_be_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["demo", "--conversations", "8", "--out", "try it"]) == ExitCode.OK
    command, view, *options = shlex.split(capsys.readouterr().err.splitlines()[-1].removeprefix("Next: "))
    assert (command, view) == ("riff-tui", "ui")
    assert run(["dump", "worklist", *options]) == ExitCode.OK


def test_a_simulation_leaves_files_to_ingest(tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "two words"
    assert run(["simulate", "--out", str(out), "--conversations", "8", "--flows", "dental_clinic"]) == ExitCode.OK
    assert capsys.readouterr().err == f"8 conversations in {len(list(out.rglob('*.jsonl')))} files below {out}.\n" + (
        f"Next: riff-tui ingest '{out}'\n"
    )
