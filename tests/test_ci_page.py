"""docs/ci.md and docs/team.md are true: their jobs are such, their commands are ours, and in turn they gate a build."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT
from tests.surface.runner import custom_run
from tests.surface.runner import simulate_simulate as simulate
from tests.surface.tui import COMMANDS, ExitCode, Table, build, comment, configured, read_quarantine

PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
TEAM = (ROOT / "docs" / "team.md").read_text(encoding="utf-8")


def blocks(language: str, page: str = PAGE) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def workflow() -> dict[Any, Any]:
    found: dict[Any, Any] = yaml.safe_load(blocks("yaml", TEAM)[0])
    return found


def steps() -> list[dict[str, Any]]:
    (job,) = workflow()["jobs"].values()
    found: list[dict[str, Any]] = job["steps"]
    return found


def scripts() -> list[str]:
    """What is run in the workflows, and in the blocks that show commands alone."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    shown = [block for language, block in found if not language]
    gitlab = yaml.safe_load(blocks("yaml", TEAM)[1])["gate"]["script"]
    jenkins = re.findall(r"sh '(.*)'", blocks("groovy", TEAM)[0])
    assert all(any("riff-tui gate" in line for line in job) for job in (gitlab, jenkins))
    return [*(step["run"] for step in steps() if "run" in step), *shown, *blocks("sh", TEAM), *gitlab, *jenkins]


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
    command = build((words[1],)).commands[words[1]]
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
    block, _ = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    path = tmp_path / "settings.toml"
    path.write_text(block, encoding="utf-8")
    found = configured([], environ={"RIFF_TUI_CONFIG": str(path)})
    assert found.min_n == tomllib.loads(block)["gate"]["min_n"]
    assert {"success_rate", "latency_p95", "humanness:codex"} <= {each.name for each in found.tolerances}


def test_the_quarantine_that_is_shown_is_taken(tmp_path: Path) -> None:
    _, block = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    path = tmp_path / "flaky.toml"
    path.write_text(block, encoding="utf-8")
    (entry,) = read_quarantine(path).entries
    assert (entry.flow, entry.scenario) == ("dental_clinic", "matted-coat")


SITE = """#!{python}
import json, os, sys, urllib.parse
name, words = os.path.basename(sys.argv[0]), sys.argv[1:]
site = json.load(open("site.json"))
bodies = [word.split("@", 1)[1] for word in words if word.startswith(("body=@", "body@"))]
places = [word for word in words if word.startswith(("repos/", "https://"))]
method = words[words.index("--method" if name == "gh" else "--request") + 1] if bodies else "GET"
place = places[0].partition("?")[0]
assert (place.startswith("repos/me/it/issues/") if name == "gh" else place.startswith(
    "https://git.example/api/v4/projects/9/merge_requests/7/notes")), place
if method == "GET":
    print(json.dumps(site))
elif method == "POST":
    author = "github-actions[bot]" if name == "gh" else "gate"
    site.append({{"id": 100 + len(site), "user": {{"login": author}}, "body": open(bodies[0]).read()}})
else:
    (comment,) = [each for each in site if str(each["id"]) == place.rpartition("/")[2]]
    comment["body"] = open(bodies[0]).read()
json.dump(site, open("site.json", "w"))
"""


@pytest.mark.skipif(shutil.which("jq") is None, reason="the commands take jq, which runners of builds have")
@pytest.mark.parametrize(("number", "tool"), [(0, "gh"), (1, "curl")])
def test_the_comment_of_the_build_before_is_written_anew(tmp_path: Path, number: int, tool: str) -> None:
    script = [
        block for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) if "marker=" in block
    ]
    program = tmp_path / tool
    program.write_text(SITE.format(python=sys.executable), encoding="utf-8")
    program.chmod(0o700)
    others = [{"id": 1, "user": {"login": "someone"}, "body": "Looks good. <!-- riff-tui gate all-calls -->"}]
    (tmp_path / "site.json").write_text(json.dumps(others), encoding="utf-8")
    surroundings = os.environ | {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "GITHUB_REPOSITORY": "me/it", "PULL_REQUEST": "7",
        "CI_API_V4_URL": "https://git.example/api/v4", "CI_PROJECT_ID": "9", "CI_MERGE_REQUEST_IID": "7",
        "GATE_TOKEN": "t",
    }  # fmt: skip
    for where, text in (("", "one"), ("", "two"), ("agent:gemini", "three"), ("", "four")):
        table = Table("gate", text, [], [])
        (tmp_path / "comment.md").write_text(comment(table, where), encoding="utf-8")
        subprocess.run(["bash", "-e", "-c", script[number]], cwd=tmp_path, env=surroundings, check=True)
    found = [each["body"] for each in json.loads((tmp_path / "site.json").read_text(encoding="utf-8"))]
    assert found[0] == others[0]["body"]
    assert ["# " + text in body for text, body in zip(("four", "three"), found[1:], strict=True)] == [True, True]


@pytest.mark.nightly
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
