"""A metric of one's own, as docs/eva.md shows it: printed, and as an aspect of the store."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.eva_runs import files, make_run

PROGRAM = Path(sys.executable).parent / "riff-tui"
PAGE = (Path(__file__).parents[3] / "docs" / "eva.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("\n10.11 ")[2].partition("\n## ")[0]
BLOCKS = re.findall(r"^```(python|sh)\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory with a run and the module of the page in it."""
    make_run(tmp_path / "runs", {"1.1.2": files(), "1.2.1": files("1.2.1", 2)}, name="nightly")
    code = [body for language, body in BLOCKS if language == "python"]
    assert len(code) == 2
    (tmp_path / "my_metrics.py").write_text("".join(code), encoding="utf-8")
    return tmp_path


def run(folder: Path, *arguments: str, installed: bool = False) -> str:
    surroundings = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    if installed:
        surroundings["PYTHONPATH"] = str(folder)
    done = subprocess.run(
        [PROGRAM, *arguments], cwd=folder, env=surroundings, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_function_of_the_page_is_printed_beside_the_others(folder: Path) -> None:
    (shell,) = (body for language, body in BLOCKS if language == "sh")
    printed = json.loads(run(folder, *shlex.split(shell)[1:]))
    context = json.loads(run(folder, "eva", "context", "runs/nightly/records/1.1.2"))
    assert list(printed) == ["1.1.2", "1.2.1"]
    assert printed["1.1.2"]["longest_wait"]["score"] == max(context["latency_assistant_turns"].values())
    assert printed["1.1.2"]["turn_taking"]["score"] > 0


def test_the_metric_of_the_page_is_an_aspect_where_its_distribution_is_installed(folder: Path) -> None:
    information = folder / "mine-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n", encoding="utf-8")
    found = re.search(r'entry-points\."(.*?)"\] (\S+) = "(.*?)"', SECTION)
    assert found is not None
    group, name, value = found.groups()
    (information / "entry_points.txt").write_text(f"[{group}]\n{name} = {value}\n", encoding="utf-8")
    printed = json.loads(run(folder, "eva", "metrics", "runs/nightly", installed=True))
    waits = {call: scores["longest_wait"]["score"] for call, scores in printed.items()}
    run(folder, "ingest", "runs", "--store", "calls.db", installed=True)
    (row,) = json.loads(run(folder, "dump", "flows", "--format", "json", "--store", "calls.db", installed=True))["rows"]
    assert row["longest_wait"] == pytest.approx(sum(waits.values()) / 2)
    asked = ("dump", "conversations", "--where", f"longest_wait>={max(waits.values())}", "--format", "csv")
    listed = run(folder, *asked, "--store", "calls.db", installed=True)
    assert [line.split(",")[1] for line in listed.splitlines()[1:]] == [max(waits, key=lambda call: waits[call])]
