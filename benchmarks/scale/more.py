"""What a store weighs, and what another thousand calls cost as it grows."""

from __future__ import annotations

import sqlite3
import statistics
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile

from benchmarks.load import Load, run_name
from benchmarks.processes import riff_tui, take
from benchmarks.scale.stores import Sized

MORE = 1_000
_NIGHTS = 500
"""Nights from here on are in no store."""


@dataclass(frozen=True, slots=True)
class Added:
    """Hold the calls of a store, its bytes, those of its transcripts, and the processor time of `MORE` calls more."""

    calls: int
    bytes: int
    text: int
    cpu: float
    seconds: float


def added(sized: Sized, folder: Path, rounds: int) -> Added:
    """Ingest a thousand calls of another night into a copy of a store, and again of another one."""
    copy = folder / "more.db"
    copyfile(sized.store, copy)
    taken = []
    for night in range(_NIGHTS, _NIGHTS + rounds):
        file = folder / f"flow-transcripts-{run_name(night)}.jsonl"
        file.write_bytes(b"".join(line + b"\n" for line in Load(night, night).lines(MORE)))
        taken.append(take([*riff_tui("ingest", str(file)), "--store", str(copy)]))
        file.unlink()
    copy.unlink()
    with closing(sqlite3.connect(sized.store)) as connection:
        text = connection.execute("SELECT SUM(LENGTH(body)) FROM transcript").fetchone()[0]
    cpu, seconds = (
        statistics.median(times) for times in zip(*((each.cpu, each.seconds) for each in taken), strict=True)
    )
    return Added(sized.calls, sized.store.stat().st_size, text, cpu, seconds)
