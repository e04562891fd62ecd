"""Who is said to have stored calls."""

from __future__ import annotations

import getpass
import socket
from pathlib import Path

import pytest

from tests.support import tiny_store
from tests.surface.store import open_store
from tests.surface.tui import run, written_by

GITHUB = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "a/b", "GITHUB_RUN_ID": "42"}


@pytest.mark.parametrize(
    ("setting", "environ", "expected"),
    [
        ("ci-42\n", GITHUB, "ci-42"),
        (None, GITHUB, "https://github.com/a/b/actions/runs/42"),
        (None, {"CI_JOB_URL": "https://bob:s3cret@git.example/-/jobs/7?token=s3cret"}, "https://git.example/-/jobs/7"),
        (None, {}, f"{getpass.getuser()}@{socket.gethostname().partition('.')[0]}"),
    ],
)
def test_it_is_whom_the_settings_name_else_the_job_else_the_user(
    setting: str | None, environ: dict[str, str], expected: str
) -> None:
    assert written_by(setting, environ) == expected


def test_it_is_kept_with_the_runs_of_an_ingest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny_store.write(tmp_path)
    monkeypatch.setenv("RIFF_TUI_WRITER", "ci-42")
    assert run(["ingest", str(tmp_path), "--store", str(tmp_path / "calls.db")]) == 0
    monkeypatch.setenv("RIFF_TUI_WRITER", "ci-43")
    assert run(["ingest", str(tmp_path), "--store", str(tmp_path / "calls.db")]) == 0
    with open_store(tmp_path / "calls.db") as store:
        assert store.execute_sql("SELECT DISTINCT written_by FROM run") == [("ci-42",)]
