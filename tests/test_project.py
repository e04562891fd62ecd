"""What applies for the project as a whole: what it reports of itself is so, and it builds into what it should."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.markers import Marker
from packaging.requirements import Requirement

import riff_tui
from tests.conftest import ROOT

GITHUB = ROOT / ".github"
PACKAGES = {
    "riff_tui": ROOT,
    "riff_store": ROOT / "store",
    "riff_ingest": ROOT / "ingest",
    "riff_runner": ROOT / "ingest",
}
TEXT_ENDINGS = {"", ".py", ".md", ".toml", ".txt", ".json", ".jsonl", ".cfg", ".yml", ".yaml", ".csv"}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def needed(extras: set[str]) -> Iterator[str]:
    """Every distribution that the installed project needs, directly or not, where this Python needs it."""
    seen: set[tuple[str, str]] = set()
    pending = [("riff-tui", extra) for extra in ("", *sorted(extras))]
    while pending:
        name, extra = pending.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        try:
            requirements = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue  # of an extra that is not installed
        for requirement in requirements:
            found = re.match(r"([A-Za-z0-9._-]+)\s*(?:\[([^\]]*)\])?[^;]*(?:;(.*))?$", requirement)
            assert found, requirement
            if _applies(found[3] or "", extra):
                wanted = canonical(found[1])
                yield wanted
                pending += [(wanted, part.strip()) for part in ["", *(found[2] or "").split(",")]]


def _applies(marker: str, extra: str) -> bool:
    return not marker.strip() or Marker(marker).evaluate({"extra": extra})


def project_files() -> list[Path]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("needs a git checkout")
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def project_texts() -> list[Path]:
    return [path for path in project_files() if path.suffix in TEXT_ENDINGS]


def test_constraints_name_versions_and_nothing_else() -> None:
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        assert re.fullmatch(r"(#.*|[a-z0-9][a-z0-9-]*==[0-9][0-9a-z.]*|)", line), line


def test_constraints_pin_every_distribution_that_the_project_installs() -> None:
    missing = set(needed({"dev", "bench", "docs"})) - set(pinned())
    assert not missing


def test_constraints_are_what_is_installed() -> None:
    installed = {name: metadata.version(name) for name in pinned() if _is_installed(name)}
    assert {name: pinned()[name] for name in installed} == installed


def _is_installed(name: str) -> bool:
    return bool(list(metadata.distributions(name=name)))


def test_nothing_names_an_index_or_a_place_on_some_machine() -> None:
    hosts = ("py" + "pi.", "python" + "hosted", "index" + "-url", "find" + "-links")
    places = ("/wo" + "rk/", "/ro" + "ot/", "/Us" + "ers/", str(ROOT))
    found = [
        f"{path.relative_to(ROOT)}: {words}"
        for path in project_texts()
        for words in (*hosts, *places)
        if words in path.read_text(encoding="utf-8", errors="replace")
    ]
    assert not found


def test_the_changelog_tells_of_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## [{riff_tui.__version__}] - 20" in changelog
    assert changelog.index("## [Unreleased]") < changelog.index(f"## [{riff_tui.__version__}]")


def test_an_entry_of_the_changelog_has_25_words_at_most() -> None:
    entries = re.findall(r"^- (.*(?:\n  .*)*)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert not [entry for entry in entries if len(entry.split()) > 25]


def test_make_has_every_target_that_the_pages_name() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in ("README.md", "CONTRIBUTING.md", "docs/reference.md"):
        named = set(re.findall(r"`make ([a-z]+)", (ROOT / page).read_text(encoding="utf-8")))
        assert named <= targets, page


def test_ci_runs_every_make_target_in_one_go() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    assert "make check test dist" in script.read_text(encoding="utf-8")


def test_workflows_run_ci_with_every_python_that_is_promised() -> None:
    workflows = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in (GITHUB / "workflows").iterdir()}
    assert workflows.keys() == {"ci", "release"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    promised = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert workflows["ci"]["jobs"]["check"]["strategy"]["matrix"]["python"] == promised
    for name, workflow in workflows.items():
        steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
        assert ".ci/run" in [step.get("run") for step in steps], name
        assert workflow["permissions"] == {"contents": "read"}, name


def test_a_tag_is_released_only_as_its_version(tmp_path: Path) -> None:
    workflow = yaml.safe_load((GITHUB / "workflows" / "release.yml").read_text("utf-8"))
    [check] = [step["run"] for step in workflow["jobs"]["release"]["steps"] if "tag" in step.get("name", "")]
    for tag, code in ((f"v{riff_tui.__version__}", 0), (riff_tui.__version__, 1), ("v0.0.1", 1)):
        surroundings = os.environ | {"GITHUB_REF_NAME": tag}
        assert subprocess.run(["bash", "-c", check], cwd=ROOT, env=surroundings, check=False).returncode == code, tag


def test_issue_forms_ask_for_what_is_needed_first() -> None:
    forms = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in (GITHUB / "ISSUE_TEMPLATE").iterdir()}
    asked = {name: {field["id"] for field in form["body"]} for name, form in forms.items() if name != "config"}
    assert asked["bug"] >= {"version", "doctor"}
    assert asked["format"] >= {"sample"}
    for name in asked:
        assert forms[name].keys() >= {"name", "description", "body"}


def test_hooks_before_a_commit_run_what_make_check_runs() -> None:
    [repository] = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    hooks = {hook["entry"].removeprefix(".venv/bin/").split()[0] for hook in repository["hooks"]}
    assert hooks == {"ruff", "mypy", "lint-imports"}


def test_the_wheel_holds_the_packages_with_their_data(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    tracked = {
        str(path.relative_to(parent))
        for package, parent in PACKAGES.items()
        for path in project_files()
        if path.is_relative_to(parent / package)
    }
    assert tracked <= held
    assert {name.split("/")[0] for name in held} == set(PACKAGES)


def test_the_project_asks_for_the_versions_that_it_pins() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"], *(each for extra in project["optional-dependencies"].values() for each in extra)]
    asked = [each for each in asked if not each.startswith("riff-tui[")]
    for requirement in map(Requirement, asked):
        assert requirement.specifier.contains(pinned()[canonical(requirement.name)]), requirement


def test_architecture_is_short_and_names_what_there_is() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    known = {str(path.relative_to(ROOT)) for path in project_files()}
    for page in ("ARCHITECTURE.md", "CONTRIBUTING.md"):
        named = re.findall(r"`([a-z_/]+(?:\.(?:py|md|toml|txt)|/))`", (ROOT / page).read_text(encoding="utf-8"))
        missing = [name for name in named if not any(_leads_to(name, path) for path in known)]
        assert not missing, page


def _leads_to(name: str, path: str) -> bool:
    return f"/{name}" in f"/{path}" if name.endswith("/") else f"/{path}".endswith(f"/{name}")


def test_the_root_holds_what_belongs_there() -> None:
    pages = {"README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "SECURITY.md"}
    settings = {".gitignore", ".pre-commit-config.yaml", "Makefile", "constraints.txt", "mkdocs.yml", "pyproject.toml"}
    assert {path.name for path in project_files() if path.parent == ROOT} == pages | settings


def test_no_test_module_imports_another() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {node.module}"
        for path in project_files()
        if path.suffix == ".py"
        and path.is_relative_to(ROOT / "tests")
        and re.search(r"\bfrom\s+tests\.\S*\btest_", text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and re.fullmatch(r"tests\.(.*\.)?test_\w+", node.module or "")
    ]
    assert not found, "what tests share belongs into tests/support"
