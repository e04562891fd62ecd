"""A source is added by the recipe of CONTRIBUTING.md, or by a distribution of somebody else, and by nothing else."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.dirty_inputs import GOOD
from tests.support.recipes import ROOT, carry_out, python, recipe, riff_tui, several

SPOKEN = "Which day suits you?"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return carry_out("Add a source", tmp_path_factory.mktemp("recipe"))


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Two logs of a call each, under names that nothing knows."""
    folder = tmp_path / "nightly"
    folder.mkdir()
    for number in (1, 2):
        call = {"call": f"c-{number}", "flow": "dental", "log": [{"who": "agent", "words": SPOKEN}]}
        (folder / f"{number}.jsonl").write_text(json.dumps(call) + "\n")
    return folder


def test_the_code_of_the_recipe_is_as_code_here_has_to_be(tree: Path) -> None:
    ruff = Path(sys.executable).parent / "ruff"
    for step in (["check"], ["format", "--check"]):
        done = subprocess.run([ruff, *step, *recipe("Add a source")], cwd=tree, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


@pytest.mark.nightly
def test_the_test_of_the_recipe_passes(tree: Path) -> None:
    done = python(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/ingest/sources/test_call_logs.py")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("options", [(), ("--jobs", "2"), ("--as", "call-log")])
def test_a_new_source_is_detected_and_its_transcripts_are_kept(
    tree: Path, logs: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    store = str(tmp_path / "calls.db")
    ingest = ("ingest", str(logs), *options, "--store", store)
    done, shown = several(tree, [ingest, ("dump", "conversation", "--where", "c-2", "--store", store)])
    assert f"taken      call-log     {logs / '1.jsonl'}: 1 conversation\n" in done.stderr
    assert SPOKEN in shown.stdout


def test_a_new_source_is_known_to_help_and_docs(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ingest = ("ingest", str(tmp_path / "empty"), "--store", str(tmp_path / "calls.db"))
    told, done = several(tree, [("ingest", "--help"), ingest])
    kinds = re.search(r"\[([^\[\]]*\|[^\[\]]*)\]", "".join(told.stdout.split()))
    assert kinds is not None
    assert "call-log" in kinds[1].split("|")
    assert re.search(r"call-log +files named calls-\*.log, or lines with call and log\n", done.stderr)
    written = python(tree, "-c", "from tests.readme import *; print(with_sources(FORMATS.read_text()))").stdout
    assert "| `call-log` | Call logs | files named calls-*.log, or lines with call and log |" in written


def installed(folder: Path, name: str, value: str, module: str = "") -> Path:
    """Leave below a folder what the installation of a distribution with one source leaves."""
    (folder / f"{name}-1.dist-info").mkdir(parents=True)
    (folder / f"{name}-1.dist-info" / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (folder / f"{name}-1.dist-info" / "entry_points.txt").write_text(f"[riff_tui.sources]\n{name} = {value}\n")
    (folder / f"{name}.py").write_text(module)
    return folder


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_installed_distribution_adds_a_source(logs: Path, tmp_path: Path, jobs: str) -> None:
    module = recipe("Add a source")["ingest/riff_ingest/sources/call_logs.py"]
    site = installed(tmp_path / "site", "tapes", "tapes:SOURCE", module)
    store = str(tmp_path / "calls.db")
    done = riff_tui(ROOT, "ingest", str(logs), "--jobs", jobs, "--store", store, path=(site,))
    assert f"taken      call-log     {logs / '2.jsonl'}: 1 conversation\n" in done.stderr
    assert SPOKEN in riff_tui(ROOT, "dump", "conversation", "--where", "c-1", "--store", store).stdout


def test_a_distribution_that_fails_on_a_file_costs_that_file_alone(logs: Path, tmp_path: Path) -> None:
    module = recipe("Add a source")["ingest/riff_ingest/sources/call_logs.py"]
    start = "    broken: list[BrokenInput] = []\n"
    assert start in module
    fails = module.replace(start, f'    1 / (path.name != "1.jsonl")\n{start}')
    site, store = installed(tmp_path / "site", "tapes", "tapes:SOURCE", fails), str(tmp_path / "calls.db")
    done = riff_tui(ROOT, "ingest", str(logs), "--store", store, path=(site,))
    assert done.returncode == 0
    assert f"{logs / '1.jsonl'}: 1 skipped (the source call-log failed with ZeroDivisionError" in done.stderr
    assert f"{logs / '2.jsonl'}: 1 conversation\n" in done.stderr
    why = riff_tui(ROOT, "dump", "skipped", "--store", store).stdout
    assert "the source call-log failed with ZeroDivisionError" in why


@pytest.mark.parametrize(
    ("value", "module", "problem"),
    [
        ("tapes:MISSING", "", "it fails with AttributeError"),
        ("tapes:SOURCE", "1 / 0", "it fails with ZeroDivisionError"),
        ("tapes:SOURCE", "SOURCE = 1", "it is not a Source"),
        ("tapes:SOURCE", "from riff_ingest.sources.transcripts import SOURCE", "the kind transcripts is taken"),
    ],
)
def test_a_broken_distribution_is_told_of_and_stops_nothing(
    tmp_path: Path, value: str, module: str, problem: str
) -> None:
    site = installed(tmp_path / "site", "tapes", value, module)
    calls = tmp_path / "flow-transcripts-a.jsonl"
    calls.write_bytes(GOOD)
    done = riff_tui(ROOT, "ingest", str(calls), "--store", str(tmp_path / "calls.db"), path=(site,))
    assert done.returncode == 0
    assert done.stderr.startswith(f"source plug-in tapes ({value}) is left out: {problem}\n")
    assert "3 conversations and" in done.stderr
