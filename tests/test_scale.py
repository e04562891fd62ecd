"""Every view and every filter gives the figures that DuckDB gives of the same rows."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.grow import grown
from benchmarks.load import nightly_files
from benchmarks.ours import ingest_file
from benchmarks.scale.question import Question, differences
from benchmarks.scale.questions import questions
from tests.conftest import ROOT
from tests.surface.tui import run

ASKED = list(questions("nightly-000-001", "2026-03-03T02:10:00Z", 1_772_503_800_000_000))
CALLS = 1_000
"""Of a night, in which some tasks are led by two agents, so that these are compared in pairs."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scale")
    ingest_file(nightly_files(folder, 1, CALLS), folder / "small.db", with_text=False)
    grown(folder / "small.db", folder / "store.db", 2)
    return folder / "store.db"


@pytest.fixture(scope="module")
def answers(store: Path) -> Mapping[str, Any]:
    """What DuckDB says, asked in a process of its own."""
    peer = store.with_suffix(".duckdb")
    _module("peer", store, peer)
    answered = json.loads(_module("ask_peer", peer, 1, given=json.dumps([question.sql for question in ASKED])))
    return {question.name: answer["rows"] for question, answer in zip(ASKED, answered, strict=True)}


def _module(name: str, *arguments: object, given: str = "") -> str:
    command = [sys.executable, "-m", f"benchmarks.scale.{name}", *map(str, arguments)]
    return subprocess.run(command, input=given, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout


@pytest.mark.skipif(not importlib.util.find_spec("duckdb"), reason="DuckDB is what answers are held against")
@pytest.mark.parametrize("question", ASKED, ids=[question.name for question in ASKED])
def test_an_answer_is_that_of_duckdb_figure_by_figure(
    question: Question, store: Path, answers: Mapping[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*question.command, "--store", str(store)]) == 0
    assert answers[question.name]
    assert differences(question, json.loads(capsys.readouterr().out), answers[question.name]) == []
