"""A folder with calls of every kind: what each file is taken for is told, and what is not taken, with why."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.mixed_folder import NOT_LOOKED_AT, REFUSED, TAKEN, write_mixed
from tests.surface.tui import LEFT_OUT, LISTED_FILES, ExitCode, run

Captured = pytest.CaptureFixture[str]


def told(folder: Path, store: Path, capsys: Captured, *options: str) -> list[str]:
    """Return what an ingest of a folder says, with paths from the folder on."""
    run(["ingest", str(folder), "--store", str(store), *options])
    return capsys.readouterr().err.replace(f"{folder}/", "").splitlines()


def test_every_file_is_told_with_what_it_was_taken_for(tmp_path: Path, capsys: Captured) -> None:
    lines = told(write_mixed(tmp_path / "in"), tmp_path / "calls.db", capsys)
    found = {line.split()[2].removesuffix(":"): line.split()[:2] for line in lines if line[:5] in ("taken", "skipp")}
    assert {path: kind for path, (became, kind) in found.items() if became == "taken"} == TAKEN
    assert {path for path, (became, _) in found.items() if became == "skipped"} == set(REFUSED)
    for path, reason in REFUSED.items():
        assert any(path in line and reason in line for line in lines)
    assert f"Not looked at (no input has such a name): {', '.join(NOT_LOOKED_AT)}." in lines
    transcripts = next(place for place, line in enumerate(lines) if line.endswith("1 conversation, 1 skipped"))
    assert lines[transcripts + 1].strip() == "line 2: flow is missing"


def test_of_many_files_the_kinds_are_counted_and_what_was_not_taken_is_listed(tmp_path: Path, capsys: Captured) -> None:
    folder = write_mixed(tmp_path / "in")
    for number in range(LISTED_FILES):
        shutil.copyfile(folder / "cut.json", folder / f"more-{number:02}.json")
    lines = told(folder, tmp_path / "calls.db", capsys)
    kinds = [line.split(maxsplit=2)[1:] for line in lines if " file" in line and line[:5] in ("taken", "skipp")]
    assert ["inspect", "2 files: 2 conversations, 4 scores"] in kinds
    assert ["inspect", "1 file: 1 skipped"] in kinds
    assert {kind for kind, _ in kinds} >= set(TAKEN.values())
    reasons = [line for line in lines if line.endswith("it ends too early")]
    assert 0 < len(reasons) < LEFT_OUT
    assert f"skipped    …            of {len(REFUSED) + 1 + LISTED_FILES - LEFT_OUT} other files" in lines
    assert lines[-2].endswith(f"{len(REFUSED) + 1 + LISTED_FILES} skipped (why: riff-tui dump skipped).")


def test_the_same_folder_again_changes_nothing(tmp_path: Path, capsys: Captured) -> None:
    folder, store = write_mixed(tmp_path / "in"), tmp_path / "calls.db"
    told(folder, store, capsys)
    again = told(folder, store, capsys)
    assert [line for line in again if line.startswith("taken")] == []
    assert again[-2].startswith("0 conversations and 0 scores stored")


def test_strict_minds_what_was_refused_and_not_what_was_not_looked_at(tmp_path: Path, capsys: Captured) -> None:
    folder, store = write_mixed(tmp_path / "in"), str(tmp_path / "calls.db")
    assert run(["ingest", str(folder), "--store", store, "--strict"]) == ExitCode.SKIPPED
    for name in (*REFUSED, "nightly/flow-transcripts-1.jsonl"):
        (folder / name).unlink()
    assert run(["ingest", str(folder), "--store", store, "--strict"]) == ExitCode.OK
    assert "notes.txt" in capsys.readouterr().err
