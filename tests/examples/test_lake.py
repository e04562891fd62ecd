"""The lake of docs/scale.md: runs exported into partitions give the flow matrix that the store gives, to the digit."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.load import nightly_files
from benchmarks.ours import ingest_file
from riff_store import ask, open_store
from tests.conftest import ROOT
from tests.support.facts import call, fresh, put, verdict

LAKE = ROOT / "examples" / "lake"
needs_duckdb = pytest.mark.skipif(not importlib.util.find_spec("duckdb"), reason="the lake is asked by DuckDB")
HOSTILE = 'of "Ann"/../née=1'


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lake")
    nights = nightly_files(folder, 2, 300)
    for path in (nights / "nightly-001").iterdir():
        path.write_bytes(path.read_bytes().replace(b'"nightly-001"', json.dumps(HOSTILE).encode()))
    ingest_file(nights, folder / "store.db", with_text=False)
    return folder / "store.db"


def run(script: str, *arguments: Path) -> list[str]:
    command = [sys.executable, str(LAKE / script), *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout.splitlines()


@needs_duckdb
def test_the_lake_gives_the_flow_matrix_of_the_store_to_the_digit(store: Path, tmp_path: Path) -> None:
    assert len(run("export_runs.py", store, tmp_path)) == 2
    cells = [json.loads(line) for line in run("flow_matrix.py", tmp_path)]
    with open_store(store) as opened:
        expected = {(row["flow"], row["agent"]): row for row in ask(opened, "flows")}
    assert len(cells) == len(expected) == 96
    assert sum(cell["excluded"] for cell in cells) > 0
    for cell in cells:
        assert cell.items() <= expected[cell["flow"], cell["agent"]].items()


@needs_duckdb
def test_cells_without_a_call_that_counts_or_little_that_is_measured_are_as_in_the_store(
    tmp_path: Path,
) -> None:
    good, bad = {"correctness": 10.0, "completion": 10.0, "errors": 10.0}, {"completion": 0.0, "errors": 10.0}
    with fresh(tmp_path / "calls.db") as opened:
        cells = {"all errored": (good, True), "thin": (bad, False), "few errored": (good, False)}
        calls = [
            call(f"{flow}-{n}", flow=flow, run="night", aspects=good if not n else aspects, errored=errored or n == 3)
            for flow, (aspects, errored) in cells.items()
            for n in range(4)
        ]
        put(opened, "night.jsonl", calls)
        put(opened, "scores.jsonl", [verdict("few errored-1", 7.0, run="night", flow="few errored")])
        expected = {(row["flow"], row["agent"]): row for row in ask(opened, "flows")}
    run("export_runs.py", tmp_path / "calls.db", tmp_path / "lake")
    found = [json.loads(line) for line in run("flow_matrix.py", tmp_path / "lake")]
    assert [cell["n"] for cell in found] == [0, 3, 3]
    for cell in found:
        assert cell.items() <= expected[cell["flow"], cell["agent"]].items()


@pytest.mark.nightly
def test_a_run_is_a_partition_that_is_exported_once_and_stays_inside_the_lake(store: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    written = run("export_runs.py", store, lake)
    assert {Path(path).parent for path in written} == {lake}
    assert run("export_runs.py", store, lake) == []
    (lake / "run=nightly-000" / "scores.parquet").unlink()
    assert run("export_runs.py", store, lake) == [str(lake / "run=nightly-000")]
