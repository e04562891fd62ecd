"""Ingest says what it took each file for and what became of it, and how much of it was skipped."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from riff_tui.cli import run
from riff_tui.errors import ExitCode
from tests.support.eva_runs import files, make_run

Captured = pytest.CaptureFixture[str]


def test_an_ingest_tells_what_became_of_each_file_on_stderr(tiny: Path, tmp_path: Path, capsys: Captured) -> None:
    folder, store = str(tiny.parent), str(tmp_path / "store.db")
    assert run(["ingest", folder, "--store", store]) == ExitCode.OK
    out, err = capsys.readouterr()
    assert out == ""
    assert "run-2/flow-transcripts-tiny.jsonl: 8 conversations, 1 skipped\n" in err
    assert "humanness    " in err
    assert "20 conversations and 4 scores stored" in err
    assert "skipped (why: riff-tui dump skipped)." in err
    assert stat.S_IMODE(os.stat(store).st_mode) == 0o600

    assert run(["ingest", folder, "--store", store]) == ExitCode.OK
    assert "0 conversations and 0 scores stored, 3 files unchanged" in capsys.readouterr().err


def test_strict_makes_a_skipped_line_an_exit_code_and_stores_the_rest(
    tiny: Path, tmp_path: Path, capsys: Captured
) -> None:
    store = str(tmp_path / "store.db")
    assert run(["ingest", str(tiny.parent / "run-2"), "--store", store, "--strict"]) == ExitCode.SKIPPED
    assert "1 input was skipped; `riff-tui doctor` lists what and why" in capsys.readouterr().err
    assert run(["dump", "conversations", "--store", store, "--format", "json"]) == ExitCode.OK
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 8


def test_without_text_a_conversation_says_why_it_is_silent(tiny: Path, tmp_path: Path, capsys: Captured) -> None:
    store = str(tmp_path / "store.db")
    run(["ingest", str(tiny.parent), "--no-text", "--store", store])
    capsys.readouterr()
    assert run(["dump", "conversation", "--where", "c-0000", "--store", store]) == ExitCode.OK
    assert "The store keeps no transcript of this call" in capsys.readouterr().out


def test_kinds_can_be_forced(tiny: Path, tmp_path: Path, capsys: Captured) -> None:
    scores = str(tiny.parent / "run-1" / "humanness-codex.jsonl")
    store = str(tmp_path / "store.db")
    assert run(["ingest", scores, "--as", "transcripts", "--strict", "--store", store]) == ExitCode.SKIPPED
    assert "transcripts" in capsys.readouterr().err


def test_a_folder_without_input_says_what_is_looked_for(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "empty").mkdir()
    store = str(tmp_path / "store.db")
    assert run(["ingest", str(tmp_path / "empty"), "--store", store]) == ExitCode.OK
    assert "Nothing to ingest was found there" in capsys.readouterr().err
    assert run(["dump", "flows", "--store", store]) == ExitCode.OK
    assert "riff-tui ingest PATH... fills it." in capsys.readouterr().out


def test_a_file_that_nothing_recognises_is_called_skipped(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello", encoding="utf-8")
    assert run(["ingest", str(path), "--store", str(tmp_path / "store.db")]) == ExitCode.OK
    assert capsys.readouterr().err.startswith("skipped    unknown ")


def test_a_run_of_eva_is_told_with_what_it_was_made_with(tmp_path: Path, capsys: Captured) -> None:
    run_directory = make_run(tmp_path / "run", {"1.1.2": files(), "1.2.1": files("1.2.1")})
    dataset = tmp_path / "data.json"
    dataset.write_text(json.dumps([{"id": "1.1.2"}]))
    store = str(tmp_path / "store.db")
    assert run(["ingest", str(run_directory), "--dataset", str(dataset), "--store", store]) == ExitCode.OK
    out, err = capsys.readouterr()
    assert out == ""
    assert f"taken      eva          {run_directory}/records/1.1.2: 1 conversation\n" in err
    assert "records/1.2.1: 1 conversation, 1 noted\n" in err
    assert f"used       with eva     {dataset}: for 2 conversations\n" in err
    assert err.endswith("2 conversations and 0 scores stored.\n")

    assert run(["dump", "skipped", "--store", store, "--format", "csv"]) == ExitCode.OK
    assert "dataset_record_missing: the dataset has no record 1.2.1" in capsys.readouterr().out
    assert run(["doctor", "--store", store]) == ExitCode.OK
    assert "dataset_record_missing" in capsys.readouterr().out


def test_a_dataset_that_is_not_there_is_an_error_before_anything_is_read(tmp_path: Path, capsys: Captured) -> None:
    store = tmp_path / "store.db"
    run_directory = make_run(tmp_path / "run", {"1.1.2": files()})
    arguments = ["ingest", str(run_directory), "--dataset", "nowhere.json", "--store", str(store)]
    assert run(arguments) == ExitCode.USAGE
    assert "nowhere.json: there is no such file or directory" in capsys.readouterr().err
    assert not store.exists()
