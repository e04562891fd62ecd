"""What is read of a record beside its context."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pytest

from tests.support.eva_records import AUDIT, SIMULATOR_LOG, goodbye, write_record
from tests.surface.ingest import RecordFiles, read_files


def test_a_record_without_files_says_nothing(tmp_path: Path) -> None:
    files = read_files(tmp_path)
    assert (files.simulator_end, files.audit_entries, files.output_tokens, files.stored_final_hash) == (
        None,
        [],
        [],
        None,
    )
    assert files.simulator_log == str(tmp_path / SIMULATOR_LOG)


def test_what_a_record_says_beside_its_context(tmp_path: Path) -> None:
    files = read_files(write_record(tmp_path, result={"final_scenario_db_hash": "abc"}))
    assert files.audit_entries == AUDIT
    assert files.stored_final_hash == "abc"
    assert files.simulator_end == json.dumps(goodbye(6)) + "\n"


@pytest.mark.parametrize(
    ("content", "end"),
    [
        ("", ""),
        ("a", "a"),
        ("a\n", "a\n"),
        ("a\nb", "b"),
        ("a\r\nb\r\n", "b\n"),
        ("a\n\n", "\n"),
        ("a\n \n", " \n"),
        ("\n", "\n"),
    ],
)
def test_the_last_physical_line_is_the_last_one_even_if_it_is_empty(tmp_path: Path, content: str, end: str) -> None:
    (tmp_path / "elevenlabs_events.jsonl").write_bytes(content.encode())
    files = read_files(tmp_path)
    assert files.simulator_end == end
    assert files.simulator_log == str(tmp_path / "elevenlabs_events.jsonl")


def test_tokens_are_read_from_cells_of_any_size(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    prompt = '"' + 'a ""quoted""\nprompt, ' * 20_000 + '"'
    rows = [
        "prompt,output_tokens,reasoning_tokens",
        f"{prompt},12,3",
        "x,,",
        "x,many,nan",
        "x,1.5,-inf",
        "short",
        "a,b,c,d,e",
    ]
    (tmp_path / "agent_perf_stats.csv.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
    files = read_files(tmp_path)
    assert (files.output_tokens, files.reasoning_tokens) == ([12.0, 1.5], [3.0])
    assert csv.field_size_limit() == before


def test_an_old_file_has_no_reasoning(tmp_path: Path) -> None:
    (tmp_path / "agent_perf_stats.csv").write_text("prompt,output_tokens\nx,5\n")
    assert (read_files(tmp_path).output_tokens, read_files(tmp_path).reasoning_tokens) == ([5.0], [])
    (tmp_path / "agent_perf_stats.csv").write_bytes(b'\xff\x00\n"')
    assert read_files(tmp_path).output_tokens == []


def test_files_that_cannot_be_read_say_nothing(tmp_path: Path) -> None:
    record = write_record(tmp_path)
    for name in ("audit_log.json", SIMULATOR_LOG, "result.json", "agent_perf_stats.csv"):
        (record / name).unlink(missing_ok=True)
        (record / f"{name}.gz").write_bytes(b"\x1f\x8b broken")
    assert read_files(record) == RecordFiles(simulator_log=str(record / f"{SIMULATOR_LOG}.gz"))


def test_a_table_that_breaks_off_is_read_that_far(tmp_path: Path) -> None:
    huge = '"' + "x" * 65 * 1024 * 1024 + '"'
    (tmp_path / "agent_perf_stats.csv").write_text(f"prompt,output_tokens\nx,5\n{huge},6\nx,7\n")
    assert read_files(tmp_path).output_tokens == [5.0]
