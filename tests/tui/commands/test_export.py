"""The export: tidy records that join with the matrices, are safe in a spreadsheet, and come whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any

import pytest
from pyarrow import parquet

from tests.support.facts import call, fresh, put, verdict
from tests.surface.store import count_conversations, open_store, scores
from tests.surface.tui import EXPORT_COLUMNS as COLUMNS
from tests.surface.tui import MISSING, Batch, ExitCode, parse, run
from tests.surface.tui import output_progress as progress
from tests.surface.tui import parquet_write_batches as write_batches

PROGRAM = str(Path(sys.executable).parent / "riff-tui")
Captured = pytest.CaptureFixture[str]
EDITS = ("edit_commit", "edit_time", "edit_author", "edit_subject", "edit_basis")
CONTRACT = (
    "run", "commit", "started_at", "flow", "agent", "persona", "aspect", "judge", "value", "judged_at", *EDITS
)  # fmt: skip


def printed(capsys: Captured, *arguments: str) -> str:
    assert run(list(arguments)) == ExitCode.OK
    return capsys.readouterr().out


def exported(capsys: Captured, store: Path, *options: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(printed(capsys, "export", "--store", str(store), *options))))


def rows_of(capsys: Captured, store: Path, view: str) -> list[dict[str, Any]]:
    text = printed(capsys, "dump", view, "--format", "json", "--store", str(store))
    rows: list[dict[str, Any]] = json.loads(text)["rows"]
    return rows


def test_there_is_a_record_for_each_call_aspect_and_judge(tiny: Path, capsys: Captured) -> None:
    found = exported(capsys, tiny)
    assert set(CONTRACT) < found[0].keys() == {column.key for column in COLUMNS}
    keys = [(row["run"], row["conversation"], row["aspect"], row["judge"]) for row in found]
    assert len(set(keys)) == len(keys)
    assert keys == sorted(keys)
    assert len({key[:2] for key in keys}) == 20
    assert [row["value"] for row in found if row["judge"] == "codex"] == ["2.0", "3.0", "4.0", ""]
    assert {row["judged_at"] for row in found} == {"", "2026-06-23T00:00:00Z"}
    assert {row["judged_at"] for row in found if row["judge"] == "(computed)"} == {""}


def test_edits_of_flows_are_empty_while_the_store_holds_none(tiny: Path, capsys: Captured) -> None:
    assert {row[key] for row in exported(capsys, tiny) for key in EDITS} == {""}


def test_means_of_the_export_are_those_of_the_matrix(tiny: Path, capsys: Captured) -> None:
    found = [row for row in exported(capsys, tiny) if row["errored"] == "false" and row["value"]]
    for cell in rows_of(capsys, tiny, "flows"):
        for aspect in ("correctness", "completion", "errors", "latency_p95", "turn_count"):
            values = [
                float(row["value"])
                for row in found
                if (row["flow"], row["agent"], row["aspect"]) == (cell["flow"], cell["agent"], aspect)
            ]
            assert cell[aspect] == pytest.approx(fmean(values)), (cell["flow"], aspect)


def test_records_join_with_the_runs_and_the_calls(tiny: Path, capsys: Captured) -> None:
    found = exported(capsys, tiny)
    calls = {(row["run"], row["conversation"]): row for row in rows_of(capsys, tiny, "conversations")}
    commits = {row["run"]: row["commit"] for row in rows_of(capsys, tiny, "runs")}
    for row in found:
        known = calls[row["run"], row["conversation"]]
        assert row["commit"] == commits[row["run"]]
        assert all(row[key] == (known[key] or "") for key in ("started_at", "flow", "agent", "persona"))
        assert row["errored"] == str(bool(known["errored"])).lower()


def test_json_lines_say_the_same_with_null_where_nothing_was_measured(tiny: Path, capsys: Captured) -> None:
    lines = printed(capsys, "export", "--store", str(tiny), "--format", "jsonl").splitlines()
    records = [json.loads(line) for line in lines]
    assert [
        {key: "" if value is None else str(value).lower() if key == "errored" else str(value) for key, value in
         record.items()}
        for record in records
    ] == exported(capsys, tiny)  # fmt: skip
    assert [record["value"] for record in records if record["judge"] == "codex"] == [2.0, 3.0, 4.0, None]


def table_of(path: Path) -> Any:
    return parquet.ParquetFile(path).read()


def test_parquet_says_the_same_in_typed_columns(tiny: Path, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "scores.parquet"
    assert printed(capsys, "export", "--store", str(tiny), "-o", str(path)) == ""
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    found = table_of(path)
    kinds = {"value": "double", "errored": "bool", "trial": "int64"}
    kinds |= dict.fromkeys(("started_at", "judged_at", "edit_time"), "timestamp[us, tz=UTC]")
    assert {field.name: str(field.type) for field in found.schema} == {
        column.key: kinds.get(column.key, "string") for column in COLUMNS
    }
    lines = printed(capsys, "export", "--store", str(tiny), "--format", "jsonl").splitlines()
    assert [
        {key: value.isoformat().replace("+00:00", "Z") if key in kinds and kinds[key].startswith("time") and value
         else value for key, value in row.items()}
        for row in found.to_pylist()
    ] == [json.loads(line) for line in lines]  # fmt: skip


def test_parquet_comes_through_a_pipe_and_is_always_the_same(tiny: Path, tmp_path: Path) -> None:
    path = tmp_path / "scores.pq"
    assert run(["export", "--store", str(tiny), "-o", str(path)]) == ExitCode.OK
    command = [PROGRAM, "export", "--store", str(tiny), "--format", "parquet"]
    assert subprocess.run(command, check=True, capture_output=True).stdout == path.read_bytes()


def test_parquet_is_written_a_group_of_rows_at_a_time(tmp_path: Path) -> None:
    read: list[int] = []
    out = io.BytesIO()

    def batches() -> Iterator[Batch]:
        for number in range(0, 25, 5):
            read.append(out.tell())
            values = [float(number + place) for place in range(5)]
            yield Batch([2, 3], {"started_at": [None, 2**60]}, {"value": values})

    write_batches([column for column in COLUMNS if column.key in ("value", "started_at")], batches(), out, rows=10)
    assert len(set(read)) == 3
    found = parquet.ParquetFile(io.BytesIO(out.getvalue()))
    assert found.num_row_groups == 3
    assert found.read().column("value").to_pylist() == [float(number) for number in range(25)]
    assert found.read().column("started_at").cast("int64").to_pylist()[:5] == [None] * 2 + [2**60] * 3


def test_parquet_of_nothing_is_a_file_with_columns(tiny: Path, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "none.parquet"
    printed(capsys, "export", "--store", str(tiny), "--where", "flow=nowhere", "-o", str(path))
    assert (table_of(path).num_rows, table_of(path).num_columns) == (0, len(COLUMNS))


def test_parquet_keeps_text_as_it_is(tmp_path: Path, capsys: Captured) -> None:
    store, path = tmp_path / "hostile.db", tmp_path / "out.parquet"
    with fresh(store) as opened:
        put(opened, "calls.jsonl", [call("=1+1", agent="@SUM(A1)", persona="\x1b[31mred\nline")])
    printed(capsys, "export", "--store", str(store), "-o", str(path))
    row = table_of(path).to_pylist()[0]
    assert (row["conversation"], row["agent"], row["persona"]) == ("=1+1", "@SUM(A1)", "\x1b[31mred\nline")


def test_without_its_package_parquet_says_what_to_install(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    path = tmp_path / "scores.parquet"
    assert run(["export", "--store", str(tiny), "-o", str(path)]) == ExitCode.UNEXPECTED
    assert re.fullmatch(rf"riff-tui: error: {MISSING}; \S+ -m pip install pyarrow\n", capsys.readouterr().err)
    assert not path.exists()
    assert run(["export", "--store", str(tiny)]) == ExitCode.OK


def test_parquet_is_not_written_to_a_terminal(tiny: Path) -> None:
    ours, theirs = os.openpty()
    command = [PROGRAM, "export", "--store", str(tiny), "--format", "parquet"]
    ended = subprocess.run(command, stdout=theirs, stderr=subprocess.PIPE, text=True, check=False)
    os.close(theirs)
    os.close(ours)
    assert ended.returncode == ExitCode.USAGE
    assert "-o FILE" in ended.stderr


def test_a_filter_narrows_the_calls(tiny: Path, capsys: Captured) -> None:
    assert {row["run"] for row in exported(capsys, tiny, "--where", "agent:qwen flow=viewing")} == {"run-2"}
    every = exported(capsys, tiny)
    assert 0 < len(exported(capsys, tiny, "--where", "quality>3")) < len(every)
    assert run(["export", "--store", str(tiny), "--where", "operability>3"]) == ExitCode.USAGE


def test_a_filter_chooses_among_the_scores(tiny: Path, capsys: Captured) -> None:
    every = exported(capsys, tiny)
    found = exported(capsys, tiny, "--where", "judge=codex aspect=humanness")
    assert found == [row for row in every if row["judge"] == "codex"]
    assert found
    of_one = exported(capsys, tiny, "--where", "(aspect=correctness | aspect:latency) agent:qwen")
    assert of_one
    assert of_one == [
        row
        for row in every
        if "qwen" in row["agent"] and (row["aspect"] == "correctness" or "latency" in row["aspect"])
    ]
    assert exported(capsys, tiny, "--where", "!judge=codex") == [row for row in every if row["judge"] != "codex"]
    assert run(["export", "--store", str(tiny), "--where", "judge=codex | flow=viewing"]) == ExitCode.USAGE
    assert "judge chooses among scores here" in capsys.readouterr().err


def test_a_judge_is_found_by_its_name_in_every_version_of_its_prompt(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "calls.db"
    with fresh(path) as store:
        put(store, "/in/a.jsonl", [call("c-1")])
        put(store, "/in/h.jsonl", [
            verdict("c-1", 4.0, judge="codex", prompt_hash="aaaa"),
            verdict("c-1", 6.0, judge="codex", prompt_hash="bbbb", line=2),
            verdict("c-1", 8.0, judge="codexa", line=3),
        ])  # fmt: skip
    assert [row["value"] for row in exported(capsys, path, "--where", "judge=codex")] == ["4.0", "6.0"]


@pytest.mark.parametrize("name", ["a.json", "a.XLSX", "a.csv.gz"])
def test_a_file_is_not_named_as_what_it_would_not_be(tiny: Path, tmp_path: Path, capsys: Captured, name: str) -> None:
    path = tmp_path / name
    assert run(["export", "--store", str(tiny), "-o", str(path)]) == ExitCode.USAGE
    assert "an export is csv, jsonl or parquet" in capsys.readouterr().err
    assert not path.exists()
    assert run(["export", "--store", str(tiny), "-o", str(path), "--format", "jsonl"]) == ExitCode.OK


@pytest.mark.parametrize(("name", "start"), [("a.csv", "run,commit,"), ("a.jsonl", '{"run": '), ("a", "run,commit,")])
def test_a_file_is_in_the_form_that_its_name_asks_for(
    tiny: Path, tmp_path: Path, capsys: Captured, name: str, start: str
) -> None:
    path = tmp_path / name
    assert printed(capsys, "export", "--store", str(tiny), "-o", str(path)) == ""
    assert path.read_text(encoding="utf-8").startswith(start)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_an_export_that_fails_leaves_the_file_as_it_was(
    tiny: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> object:
        yield from ()
        raise OSError(28, "No space left on device")

    path = tmp_path / "scores.csv"
    path.write_text("before", encoding="utf-8")
    monkeypatch.setattr(scores, "score_pages", failing)
    assert run(["export", "--store", str(tiny), "-o", str(path)]) == ExitCode.STORE
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]
    capsys.readouterr()


@pytest.mark.usefixtures("capsys")
def test_on_a_terminal_it_says_how_many_of_the_calls_are_in_the_file(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[tuple[int, int]] = []
    line = SimpleNamespace(counting=lambda done, total: shown.append((done, total)))
    monkeypatch.setattr(progress, "terminal_progress", lambda: nullcontext(line))
    paged = scores.score_pages
    monkeypatch.setattr(scores, "score_pages", lambda store, calls: paged(store, calls, 4))
    command = ["export", "--store", str(tiny), "--where", "run=run-2"]
    assert run(command) == ExitCode.OK
    assert not shown, "what is shown beside it would be drawn over"
    assert run([*command, "-o", str(tmp_path / "scores.csv")]) == ExitCode.OK
    with open_store(tiny) as store:
        calls = count_conversations(store, parse("run=run-2"))
    assert shown == [(done, calls) for done in [*range(4, calls, 4), calls]]


def test_pages_do_not_show_and_the_bytes_are_always_the_same(
    tiny: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = printed(capsys, "export", "--store", str(tiny))
    paged = scores.score_pages
    monkeypatch.setattr(scores, "score_pages", lambda store, calls: paged(store, calls, 3))
    assert printed(capsys, "export", "--store", str(tiny)) == whole


def test_names_cannot_become_formulas_unless_asked(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "hostile.db"
    with fresh(path) as store:
        put(store, "calls.jsonl", [call("=1+1", agent="@SUM(A1)", persona="\x1b[31mred\nline", commit="-cmd")])
        put(store, "verdicts.jsonl", [verdict("=1+1", 5.0, judge="+judge")])
    guarded = exported(capsys, path)
    assert {row["conversation"] for row in guarded} == {"'=1+1"}
    assert {row["agent"] for row in guarded} == {"'@SUM(A1)"}
    assert {row["commit"] for row in guarded} == {"'-cmd"}
    assert {row["judge"] for row in guarded} == {"(computed)", "'+judge"}
    assert not any("\x1b" in row["persona"] or "\n" in row["persona"] for row in guarded)
    assert {row["conversation"] for row in exported(capsys, path, "--csv-raw")} == {"=1+1"}


def test_an_empty_store_gives_a_header_alone(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "none.db"
    with open_store(path, write=True, create=True):
        pass
    assert printed(capsys, "export", "--store", str(path)).splitlines() == [",".join(column.key for column in COLUMNS)]
    assert printed(capsys, "export", "--store", str(path), "--format", "jsonl") == ""
