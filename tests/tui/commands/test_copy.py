"""A store that is copied from a file to a server, back, and over what was there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.facts import call, contents, fresh, put
from tests.support.golden import printed
from tests.support.postgresql_server import Server
from tests.surface.store import open_store
from tests.surface.tui import ExitCode, Request, run, show


@pytest.fixture
def few(tmp_path: Path) -> Path:
    with fresh(tmp_path / "few.db") as store:
        put(store, "/in/a.jsonl", [call("c-1"), call("c-2", errored=True)])
    return tmp_path / "few.db"


def flows(location: str | Path) -> str:
    with open_store(location) as store:
        return printed(show(store, "flows", Request()), "json")


def test_a_store_goes_to_a_server_and_comes_back(
    tiny: Path, postgresql: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there, back = postgresql.store(password="s3cret"), tmp_path / "back.db"
    assert run(["copy", str(tiny), there]) == ExitCode.OK
    assert run(["copy", there, str(back)]) == ExitCode.OK
    said = capsys.readouterr()
    assert said.err.startswith("Copied 20 calls in ")
    assert "s3cret" not in said.err
    assert said.out == ""
    assert flows(tiny) == flows(there) == flows(back)
    assert contents(back) == contents(tiny)


def test_what_is_there_is_lost_only_when_that_is_said(
    few: Path, tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    full = tmp_path / "full.db"
    assert run(["copy", str(tiny), str(full)]) == ExitCode.OK
    assert run(["copy", str(few), str(full)]) == ExitCode.USAGE
    assert "--replace" in capsys.readouterr().err
    assert contents(full) == contents(tiny)
    assert run(["copy", str(few), str(full), "--replace"]) == ExitCode.OK
    assert contents(full) == contents(few)
    assert run(["copy", str(few), str(few), "--replace"]) == ExitCode.USAGE
    assert contents(full) == contents(few)


def test_a_copy_that_fails_leaves_no_new_store(few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: object, **options: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("riff_store.write.copying.copy_store", fail)
    assert run(["copy", str(few), str(tmp_path / "new.db")]) == ExitCode.INTERRUPTED
    assert run(["copy", str(tmp_path / "missing.db"), str(tmp_path / "new.db")]) == ExitCode.STORE
    assert sorted(os.listdir(tmp_path)) == ["few.db"]


def test_a_copy_that_is_killed_leaves_what_was_there(few: Path, tiny: Path, tmp_path: Path) -> None:
    full = tmp_path / "full.db"
    assert run(["copy", str(few), str(full)]) == ExitCode.OK
    killed = "import os, signal, sys; from riff_store.write import copying; from riff_tui.cli import run\n"
    killed += "copy = copying.copy_store\n"
    killed += "kill = lambda rows: os.kill(os.getpid(), signal.SIGKILL)\n"
    killed += "copying.copy_store = lambda a, b, replace, progress: copy(a, b, replace=replace, progress=kill)\n"
    killed += "run(['copy', sys.argv[1], sys.argv[2], '--replace'])"
    ended = subprocess.run([sys.executable, "-c", killed, str(tiny), str(full)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert contents(full) == contents(few)
