"""What one input may cost is limited, each limit is a setting, and whoever raises it gets the input in."""

from __future__ import annotations

import dataclasses
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.support import eva_records, inspect_logs, livekit_reports, retell_calls
from tests.support.dirty_inputs import packed, record, text_of, write_lines
from tests.support.limits import limited
from tests.support.pipecat_flows import PIZZA
from tests.surface.ingest import Conversation, Limits, ingest, plan_inputs, read_input
from tests.surface.store import DescribedFlow, Skipped, Writer, open_store

LONG = "x" * 1000


def _line(path: Path) -> Path:
    return write_lines(path / "flow-transcripts-a.jsonl", [record(scenario=LONG)])


def _report(path: Path) -> Path:
    path = path / "session_report.json"
    path.write_text(json.dumps(livekit_reports.handed_over(instructions=LONG), indent=2), "utf-8")
    return path


def _listed(path: Path) -> Path:
    return retell_calls.written(path / "calls.json", retell_calls.a_day_of_calls()[:2])


def _record(path: Path) -> Path:
    return eva_records.write_record(path / "records" / "r1")


def _yaml(path: Path) -> Path:
    path = path / "flow.yaml"
    path.write_text(PIZZA + f"# {LONG}\n", "utf-8")
    return path


def _deep(path: Path) -> Path:
    value: Any = "Tuesday"
    for _ in range(100):
        value = [value]
    return write_lines(path / "flow-transcripts-a.jsonl", [record(slots={"day": value})])


def _packed(path: Path) -> Path:
    path = path / "flow-transcripts-a.jsonl.gz"
    path.write_bytes(packed(text_of(record(scenario=LONG * 100)).encode()))
    return path


def _zip(path: Path) -> Path:
    return inspect_logs.write_eval(path / "log.eval", [inspect_logs.viewing(f"s{number}") for number in range(20)])


def _zip_with_reach(path: Path) -> Path:
    """A log of two calls, one of which is packed so that unpacking holds on to 4 MiB."""
    reach = zstandard.ZstdCompressionParameters(window_log=22)
    packer = zstandard.ZstdCompressor(compression_params=reach).compressobj()
    content = json.dumps(inspect_logs.viewing("s1")).encode()
    packed = packer.compress(content) + packer.flush()
    says = {"method": inspect_logs.ZSTD, "size": len(content), "crc": zlib.crc32(content)}
    far = inspect_logs.Member("samples/s1_epoch_1.json", packed, inspect_logs.STORED, says)
    path = path / "log.eval"
    path.write_bytes(inspect_logs.zip_of([*inspect_logs.members([inspect_logs.viewing("s2")]), far]))
    return path


TOO_MUCH: dict[str, tuple[Callable[[Path], Path], int, int]] = {
    # limit: what is too much, a limit that it does not meet (its MiB are KiB here), and one that it does
    "line_mib": (_line, 1, 10),
    "document_mib": (_report, 1, 100),
    "calls_mib": (_listed, 1, 100),
    "log_mib": (_record, 1, 100),
    "log_lines": (_record, 3, 100),
    "yaml_mib": (_yaml, 1, 10),
    "yaml_values": (_yaml, 5, 1000),
    "depth": (_deep, 64, 120),
    "expansion": (_packed, 2, 1000),
    "zip_members": (_zip, 20, 100),
    "zip_list_mib": (_zip, 1, 100),
    "zstd_window_mib": (_zip_with_reach, 1, 8192),
}


def _found(path: Path) -> tuple[list[str], str]:
    """What is taken of an input, and all the reasons for what was left out."""
    taken, reasons = [], []
    for plan in plan_inputs([path]):
        for item in read_input(plan):
            found = item[1] if isinstance(item, tuple) else item
            if isinstance(found, Conversation):
                reasons += list(found.defects)
                found.defects = {}
                taken.append(repr(found))
            elif isinstance(found, DescribedFlow):
                taken.append(repr(found))
            elif isinstance(found, Skipped):
                reasons.append(found.reason)
    return taken, "\n".join(reasons)


def test_each_limit_of_inputs_is_met_by_one_here() -> None:
    of_stores = {"statement_steps"}
    assert set(TOO_MUCH) | of_stores == {field.name for field in dataclasses.fields(Limits)}


@pytest.mark.parametrize("limit", TOO_MUCH)
def test_what_a_limit_leaves_out_names_it_and_is_taken_where_it_is_raised(
    limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if limit.endswith("_mib"):
        monkeypatch.setattr("riff_ingest.lines.MIB", 1024)
    monkeypatch.setattr("riff_ingest.lines.FREE_EXPANSION", 0)
    write, low, high = TOO_MUCH[limit]
    path = write(tmp_path)
    with limited(**{limit: low}):
        with_less, reasons = _found(path)
    assert f"(limits.{limit})" in reasons
    with limited(**{limit: high}):
        with_more, reasons = _found(path)
    assert "limits." not in reasons
    assert with_more != with_less


def test_a_file_is_read_again_where_a_limit_was_raised(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "flow-transcripts-a.jsonl", [record("c-1"), record("c-2", scenario=LONG * 1100)])
    with open_store(str(tmp_path / "s.db"), write=True, create=True) as opened:
        with limited(line_mib=1):
            assert [(r.status, r.conversations) for r in ingest([path], Writer(opened)).results] == [("taken", 1)]
        assert [(r.status, r.conversations) for r in ingest([path], Writer(opened)).results] == [("changed", 2)]
        assert [r.status for r in ingest([path], Writer(opened)).results] == ["unchanged"]


def test_processes_that_read_along_have_the_same_limits(tmp_path: Path) -> None:
    paths = [
        write_lines(
            tmp_path / f"flow-transcripts-{name}.jsonl", [record(name), record(f"{name}2", scenario=LONG * 1100)]
        )
        for name in "ab"
    ]
    with open_store(str(tmp_path / "s.db"), write=True, create=True) as opened, limited(line_mib=1):
        found = ingest(paths, Writer(opened), jobs=2)
    assert [(each.conversations, each.skipped) for each in found.results] == [(1, 1), (1, 1)]
