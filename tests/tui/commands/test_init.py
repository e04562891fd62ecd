"""What `init` writes runs as it is, by the real program, also as its CI job runs it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import riff_tui

WRITTEN = ["flow.toml", "agent.py", "riff-tui.toml", ".github/workflows/riff-tui.yml"]


def ran(command: str, directory: Path) -> str:
    """Run a command as a shell in that directory does, and return what it printed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    known = {**os.environ, "PATH": path, "RIFF_TUI_CONFIG": "riff-tui.toml"}
    known.pop("RIFF_TUI_STORE", None)
    ended = subprocess.run(["sh", "-c", command], cwd=directory, env=known, capture_output=True, encoding="utf-8")
    assert ended.returncode == 0, (command, ended.stderr)
    return ended.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    assert riff_tui("init", tmp_path / "project").returncode == 0
    return tmp_path / "project"


def test_what_it_proposes_next_leads_from_the_files_to_the_worklist(tmp_path: Path) -> None:
    said = riff_tui("init", "my project", directory=tmp_path).stderr.splitlines()
    assert said[:4] == [f"my project/{name}" for name in WRITTEN]
    assert (said[4], said[5]) == ("Next:", "  cd 'my project'")
    for command in said[6:]:
        printed = ran(command.strip(), tmp_path / "my project")
    assert "table_booking" in printed


def test_the_job_runs_from_the_check_of_the_flow_to_the_gate(project: Path) -> None:
    (project / "base").mkdir()
    shutil.copy(project / "agent.py", project / "base")
    job = (project / WRITTEN[-1]).read_text()
    commands = [each for each in re.findall(r"run: (.+)", job) if each.startswith("riff-tui ") and ">>" not in each]
    assert [command.split()[1] for command in commands] == ["flows", "run", "run", "ingest", "gate"]
    for command in commands:
        ran(command, project)
    (row,) = json.loads(ran("riff-tui dump flows --format json", project))["rows"]
    assert (row["flow"], row["agent"], row["n"]) == ("table_booking", "Desk", 40)
    assert row["completion"] == 10


def test_a_folder_that_has_such_files_stays_as_it_is(project: Path) -> None:
    (project / "agent.py").write_text("mine")
    (project / "flow.toml").unlink()
    ended = riff_tui("init", project)
    assert ended.returncode == 2
    assert "has agent.py, riff-tui.toml, .github/workflows/riff-tui.yml; nothing was written" in ended.stderr
    assert (project / "agent.py").read_text() == "mine"
    assert not (project / "flow.toml").exists()
