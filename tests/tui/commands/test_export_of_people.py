"""What people said of calls in the export: verdicts and codes as scores of theirs."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from pyarrow import parquet

from tests.support.facts import call, fresh, put
from tests.surface.store import Annotation, add_notes
from tests.surface.tui import ExitCode, run

Captured = pytest.CaptureFixture[str]
HOSTILE = "=1+1\x1b[31m\nb"


def noted(path: Path) -> Path:
    """A store of three calls: on one two people gave verdicts and codes, on an errored one somebody a code."""
    with fresh(path) as store:
        put(store, "calls.jsonl", [call("c-1", aspects={}), call("c-2", aspects={}, errored=True), call("c-3")])
        add_notes(store, [
            Annotation("1", "c-1", "ann", verdict="pass", at=1_000_000),
            Annotation("2", "c-1", "ann", verdict="fail", code="wrong day", at=2_000_000),
            Annotation("3", "c-1", "ann", code="rude", note="only here", at=3_000_000),
            Annotation("4", "c-1", "bo", verdict="pass", code="wrong day"),
            Annotation("5", "c-2", "=bo", code=HOSTILE),
            Annotation("6", "c-9", "ann", verdict="fail"),
        ])  # fmt: skip
    return path


def export(capsys: Captured, store: Path, *options: str) -> str:
    assert run(["export", "--store", str(store), *options]) == ExitCode.OK
    return capsys.readouterr().out


def exported(capsys: Captured, store: Path, *options: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(export(capsys, store, *options))))


def test_people_are_judges_of_verdicts_and_codes(tmp_path: Path, capsys: Captured) -> None:
    path = noted(tmp_path / "calls.db")
    found = exported(capsys, path, "--csv-raw", "--where", "judge:human")
    keys = ("conversation", "errored", "aspect", "judge", "value", "judged_at")
    assert [tuple(row[key] for key in keys) for row in found] == [
        ("c-1", "false", "code.rude", "human:ann", "1.0", "1970-01-01T00:00:03Z"),
        ("c-1", "false", "code.wrong day", "human:ann", "1.0", "1970-01-01T00:00:02Z"),
        ("c-1", "false", "code.wrong day", "human:bo", "1.0", ""),
        ("c-1", "false", "verdict", "human:ann", "0.0", "1970-01-01T00:00:02Z"),
        ("c-1", "false", "verdict", "human:bo", "10.0", ""),
        ("c-2", "true", "code.=1+1␛[31m⏎b", "human:=bo", "1.0", ""),
    ]
    assert exported(capsys, path, "--csv-raw", "--where", 'aspect="code.wrong day"') == found[1:3]
    assert exported(capsys, path, "--csv-raw", "--where", "aspect=verdict judge=human:bo") == found[4:5]
    assert {row["judge"] for row in exported(capsys, path, "--where", "c-3")} == {"(computed)"}


def test_codes_are_safe_in_text_and_whole_in_parquet(tmp_path: Path, capsys: Captured) -> None:
    path, out = noted(tmp_path / "calls.db"), tmp_path / "out.parquet"
    assert "\x1b" not in export(capsys, path)
    export(capsys, path, "--where", "judge:human", "-o", str(out))
    table = parquet.read_table(out)
    assert table.column("aspect").to_pylist()[-1] == f"code.{HOSTILE}"
    assert table.column("value").to_pylist() == [1.0, 1.0, 1.0, 0.0, 10.0, 1.0]
    assert table.column("judged_at").to_pylist()[-1] is None
