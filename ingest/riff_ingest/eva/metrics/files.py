"""Read what metrics need of a record's files beside its context."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from riff_ingest.eva.history import Warnings
from riff_ingest.eva.logs import SIMULATOR_LOGS, find, last_line, read_object, simulator_log, transcript_of
from riff_ingest.lines import BrokenInput, limits, read_whole

AGENT_CALLS = "agent_perf_stats.csv"


@dataclass(frozen=True, slots=True)
class RecordFiles:
    """Describe the files of a record as far as they are not in its context.

    `simulator_log` is where the simulator's log is or would be, `simulator_end` its last line with the line's end,
    `None` if it cannot be read. `audit_entries` are those of the audit log. `output_tokens` and `reasoning_tokens` have
    a value for each call of the agent's model that reports them. `stored_final_hash` is the database's in result.json.
    """

    simulator_log: str = SIMULATOR_LOGS[-1]
    simulator_end: str | None = None
    audit_entries: list[dict[str, Any]] = field(default_factory=list)
    output_tokens: list[float] = field(default_factory=list)
    reasoning_tokens: list[float] = field(default_factory=list)
    stored_final_hash: str | None = None


def read_files(directory: Path) -> RecordFiles:
    """Return what the files in a record's directory contain; a file that is missing or cannot be read shows nothing."""
    log = simulator_log(directory)
    calls = list(_rows(directory))
    return RecordFiles(
        simulator_log=str(log if log is not None else directory / SIMULATOR_LOGS[0]),
        simulator_end=last_line(log) if log is not None else None,
        audit_entries=transcript_of(directory, Warnings()),
        output_tokens=_numbers(calls, "output_tokens"),
        reasoning_tokens=_numbers(calls, "reasoning_tokens"),
        stored_final_hash=_stored_final_hash(directory),
    )


def _stored_final_hash(directory: Path) -> str | None:
    path = find(directory, "result.json")
    try:
        stored = read_object(path).get("final_scenario_db_hash") if path is not None else None
    except BrokenInput:
        return None
    return stored if isinstance(stored, str) and stored else None


def _rows(directory: Path) -> Iterator[dict[str, str]]:
    path = find(directory, AGENT_CALLS)
    if path is None:
        return
    try:
        text = read_whole(path, "log_mib").decode(errors="replace")
    except BrokenInput:
        return
    # Cells contain whole prompts, and how large they may be is a setting of the process.
    before = csv.field_size_limit(limits().bytes("line_mib"))
    try:
        for row in csv.DictReader(io.StringIO(text, newline="")):
            yield {name: row.get(name) or "" for name in ("output_tokens", "reasoning_tokens")}
    except csv.Error:
        return
    finally:
        csv.field_size_limit(before)


def _numbers(rows: list[dict[str, str]], name: str) -> list[float]:
    found = []
    for row in rows:
        try:
            value = float(row[name])
        except ValueError:
            continue
        if isfinite(value):
            found.append(value)
    return found
