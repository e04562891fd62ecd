"""Breaking a promise tells a test that fails from one that does not notice, whatever process the code runs in."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.promises.breaking import Copy
from tests.promises.descriptions import Break, Promise

TEST = """
import subprocess
import sys

def test_by_another_process() -> None:
    from riff_tui import PROMISED
    code = "from riff_tui import PROMISED; print(PROMISED)"
    said = subprocess.run([sys.executable, "-c", code], env={}, capture_output=True, check=True, encoding="utf-8")
    assert (PROMISED, said.stdout) == (True, "True\\n")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name in ("riff_tui", "tests"):
        (root / name).mkdir(parents=True)
    (root / "riff_tui" / "__init__.py").write_text("PROMISED = True\nOTHER = True\n", encoding="utf-8")
    (root / "tests" / "test_it.py").write_text(TEST, encoding="utf-8")
    (root / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '-p no:xdist'\n", encoding="utf-8")
    subprocess.run(["git", "init", "--quiet", root], check=True)
    return root


def test_only_a_test_that_fails_has_noticed(project: Path, tmp_path: Path) -> None:
    copy = Copy(project, tmp_path / "copy")
    promise = Promise("kept", "It is kept.", ("tests/test_it.py::test_by_another_process",))
    file = "riff_tui/__init__.py"

    def caught(name: str) -> str:
        return copy.outcome(promise, Break(f"riff_tui.{name}", replaces="True", replacement="None"), limit=60).caught_by

    assert caught("PROMISED") == promise.tests[0]
    assert caught("OTHER") == ""
    assert (project / file).read_text(encoding="utf-8") == "PROMISED = True\nOTHER = True\n"
