"""No command says the password of a store, whatever becomes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surface.tui import ExitCode, run

SECRET = "hunter2"
STORE = f"postgresql://bob:{SECRET}@host/db?password={SECRET}&sslmode=require"


@pytest.mark.parametrize(
    "words",
    [
        ["dump", "flows"],
        ["ui", "flows"],
        ["compare", "a", "b"],
        ["gate", "--baseline", "a", "--candidate", "b", "--github"],
        ["export"],
        ["doctor"],
        ["doctor", "--migrate"],
        ["case", "--where", "conversation=c"],
        ["ingest", "calls"],
        ["sample", "--n", "10"],
        ["notes", "export"],
        ["watch", "--run", "r"],
    ],
    ids=" ".join,
)
def test_an_error_names_the_store_without_its_password(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "calls").mkdir()
    (tmp_path / "calls" / "flow-transcripts-a.jsonl").write_text('{"conversation_id":"c","flow":"f","turns":[]}\n')
    monkeypatch.chdir(tmp_path)
    for given in (["--store", STORE], []):
        monkeypatch.setenv("RIFF_TUI_STORE", STORE)
        assert run([*words, *given]) != ExitCode.OK
        found = capsys.readouterr()
        assert SECRET not in found.out + found.err
        assert "bob" not in found.out + found.err


def test_a_store_that_was_named_too_early_is_told_without_its_password(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--store", STORE, "dump", "flows"]) == ExitCode.USAGE
    said = capsys.readouterr().err
    assert "riff-tui dump --store 'postgresql://host/db?sslmode=require'" in said
    assert SECRET not in said


def test_the_next_command_of_a_simulation_names_no_password(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "runs")
    assert run(["simulate", "--out", out, "--conversations", "8", "--store", STORE]) == ExitCode.OK
    said = capsys.readouterr().err
    assert f"riff-tui ingest {out} --store 'postgresql://host/db?sslmode=require'" in said
    assert SECRET not in said
