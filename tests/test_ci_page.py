"""docs/ci.md is true: its workflow is one, its commands are ours, and run one after the other they gate a build."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from tests.conftest import ROOT
from tests.surface.runner import custom_run
from tests.surface.runner import simulate_simulate as simulate
from tests.surface.tui import COMMANDS, ExitCode, build, configured

PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")


def workflow() -> dict[Any, Any]:
    (block,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    found: dict[Any, Any] = yaml.safe_load(block)
    return found


def steps() -> list[dict[str, Any]]:
    (job,) = workflow()["jobs"].values()
    found: list[dict[str, Any]] = job["steps"]
    return found


def scripts() -> list[str]:
    """What is run in the workflow, and in the blocks that show commands alone."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    shown = [block for language, block in blocks if not language]
    return [*(step["run"] for step in steps() if "run" in step), *shown]


def commands() -> Iterator[list[str]]:
    for script in scripts():
        for line in script.replace("\\\n", " ").splitlines():
            words = shlex.split(line.partition(" >>")[0], comments=True)
            if words[:1] == ["riff-tui"]:
                yield words


def test_the_workflow_has_what_github_asks_for() -> None:
    found = workflow()
    assert found["name"]
    assert found[True] == "pull_request"  # YAML takes `on` for yes
    assert all(("uses" in step) != ("run" in step) for step in steps())
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"]) for step in steps() if "uses" in step)
    uploads = [step["with"]["path"] for step in steps() if "upload-artifact" in step.get("uses", "")]
    assert uploads == ["gate.xml"]


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_a_command_can_be_given_as_it_stands(words: list[str]) -> None:
    assert words[1] in COMMANDS
    program = typer.main.get_command(build((words[1],)))
    assert isinstance(program, typer.core.TyperGroup)
    command = program.commands[words[1]]
    with command.make_context(words[1], words[2:]) as context:
        assert not context.args


@pytest.mark.parametrize(("weaken", "code"), [({}, 0), ({"dental_clinic": 0.6}, ExitCode.GATE_FAILED)])
def test_the_steps_gate_a_build(tmp_path: Path, weaken: dict[str, float], code: int) -> None:
    for number, name in enumerate(("baseline", "candidate"), 1):
        run = custom_run(f"run-{number}", number, weaken if number == 2 else {})
        simulate(tmp_path / "runs" / name, conversations=320, seed=number, run=run)
    (job,) = workflow()["jobs"].values()
    surroundings = os.environ | job["env"] | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }  # fmt: skip
    ours = [step["run"] for step in steps() if step.get("run", "").startswith("riff-tui")]
    ended = [
        subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, env=surroundings, capture_output=True, check=False)
        for script in ours
    ]
    assert [each.returncode for each in ended] == [0, code, 0]
    assert (b"::error title=riff-tui gate%3A dental_clinic::" in ended[1].stdout) == bool(code)
    assert (tmp_path / "gate.xml").exists()
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith(f"# Gate {'FAILED' if code else 'passed'}: run-2 against run-1\n")
    assert "# What to work on" in summary


def test_the_settings_that_are_shown_are_taken(tmp_path: Path) -> None:
    (block,) = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    path = tmp_path / "settings.toml"
    path.write_text(block, encoding="utf-8")
    found = configured([], environ={"RIFF_TUI_CONFIG": str(path)})
    assert found.min_n == tomllib.loads(block)["gate"]["min_n"]
    assert {"success_rate", "latency_p95", "humanness:codex"} <= {each.name for each in found.tolerances}


def test_the_example_ends_as_shown(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```\n(riff-tui simulate --out two.*?)^```$", text, re.MULTILINE | re.DOTALL)
    *given, told = block.splitlines()
    program = str(Path(sys.executable).parent / "riff-tui")
    for line in given:
        words = [program, *shlex.split(line)[1:]]
        ended = subprocess.run(words, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    assert ended.returncode == ExitCode.GATE_FAILED
    assert ended.stderr == f"{told}\n"
    (shown,) = re.findall(r"^```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    ended = subprocess.run([*words, "--json"], cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    assert_alike(json.loads(shown), json.loads(ended.stdout)["because"][0])


def assert_alike(shown: dict[str, Any], found: dict[str, Any]) -> None:
    """What the page shows is rounded to three decimals, and its commands are cut."""
    assert found.pop("command").startswith(shown.pop("command").removesuffix("…"))
    for key in ("argv", "open"):
        assert "\0".join(found.pop(key)).startswith("\0".join(shown.pop(key)).removesuffix("…"))
    rounded = {key: round(value, 3) if isinstance(value, float) else value for key, value in found.items()}
    assert shown == rounded | {"interval": [round(end, 3) for end in found["interval"]]}
