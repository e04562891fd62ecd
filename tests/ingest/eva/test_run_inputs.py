"""Which dataset and which agent's file a run was made with: looked for near it, and never anywhere else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.surface.ingest import NONE_GIVEN, RunInputs, Warnings, agent_at, configuration, near, played_record


@pytest.fixture
def run(tmp_path: Path) -> Path:
    run = tmp_path / "project" / "output" / "run"
    run.mkdir(parents=True)
    (tmp_path / "project" / "data").mkdir()
    (tmp_path / "project" / "data" / "airline.jsonl").write_text('{"id": "1.1.2"}\n')
    (tmp_path / "secret.jsonl").write_text('{"id": "1.1.2"}\n')
    return run


@pytest.mark.parametrize("levels", [1, 2, 3, 4])
def test_a_path_is_looked_for_up_to_three_directories_above_the_run(tmp_path: Path, levels: int) -> None:
    run = tmp_path.joinpath("base", *"abcd"[: levels - 1], "run")
    run.mkdir(parents=True)
    (tmp_path / "base" / "data.json").write_text("[]")
    assert near(run, "data.json") == (str(tmp_path / "base" / "data.json") if levels <= 3 else None)


@pytest.mark.parametrize(
    "stored",
    ["../secret.jsonl", "data/../../secret.jsonl", "data", "nothing", "", "a\0b", "..\\secret.jsonl", "x" * 5000],
)
def test_no_path_leads_out_or_to_what_is_no_file(run: Path, stored: str) -> None:
    assert near(run, stored) is None


def test_no_absolute_path_and_no_link_is_followed(run: Path, tmp_path: Path) -> None:
    assert near(run, str(tmp_path / "secret.jsonl")) is None
    project = tmp_path / "project"
    (project / "link.jsonl").symlink_to(tmp_path / "secret.jsonl")
    (project / "folder").symlink_to(tmp_path)
    os.mkfifo(project / "pipe.jsonl")
    assert [near(run, name) for name in ("link.jsonl", "folder/secret.jsonl", "pipe.jsonl")] == [None] * 3
    assert near(run, "data/airline.jsonl") == str(project / "data" / "airline.jsonl")


def test_what_is_given_goes_before_what_the_run_names(run: Path) -> None:
    config = configuration({"dataset_path": "data/airline.jsonl"})
    assert (NONE_GIVEN.or_near(run, config).dataset or "").endswith("data/airline.jsonl")
    assert RunInputs("mine.json", None).or_near(run, config) == ("mine.json", None)
    assert NONE_GIVEN.or_near(None, config) == NONE_GIVEN


def test_their_content_is_part_of_what_was_read(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "project" / "data" / "airline.jsonl"
    given = RunInputs(str(path))
    first = given.digest()
    (path.parent / "airline_aliases").mkdir()
    (path.parent / "airline_aliases" / "places.json").write_text("{}")
    second = given.digest()
    path.write_text("{}")
    assert len({NONE_GIVEN.digest(), first, second, given.digest()}) == 4
    assert NONE_GIVEN.digest() == ""


@pytest.mark.parametrize(
    ("content", "warning"),
    [
        ("[{", "dataset_unreadable: file is not JSON: it ends too early"),
        ("[]", "dataset_record_missing: the dataset has no record 1.1.2"),
    ],
)
def test_a_dataset_that_does_not_help_is_told(tmp_path: Path, content: str, warning: str) -> None:
    path = tmp_path / "data.json"
    path.write_text(content)
    warnings = Warnings()
    assert played_record(str(path), "1.1.2", "en", warnings) is None
    assert warnings.lines() == [warning]


def test_an_agents_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "agent.yaml"
    path.write_text("tools: [")
    warnings = Warnings()
    assert agent_at(str(path), warnings) is None
    assert agent_at(None, warnings) is None
    assert len(warnings.lines()) == 1
    assert warnings.lines()[0].startswith("agent_file_unreadable: ")
