"""What a store weighs, and what another thousand calls cost as it grows."""

from __future__ import annotations

import os
import statistics
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile

from benchmarks.load import Load, nightly_files, run_name
from benchmarks.ours import ingest_file
from benchmarks.processes import riff_tui, take
from benchmarks.scale.stores import Sized, calls_of_a_night
from benchmarks.sizes import Sizes

MORE = 1_000
_NIGHTS = 500
"""Nights from here on are in no store."""
_FEWEST = 7
"""One ingest of a second tells too little beside the next one."""


@dataclass(frozen=True, slots=True)
class Added:
    """Describe the calls of a store, its bytes, those that transcripts would add, and what `MORE` calls more took."""

    calls: int
    bytes: int
    text: int
    cpu: float
    seconds: float


def text_of_a_night(folder: Path, sizes: Sizes) -> int:
    """Return the bytes that transcripts add to the store of one night."""
    store, weighed = folder / "text.db", []
    for with_text in (False, True):
        store.unlink(missing_ok=True)
        ingest_file(nightly_files(folder, 1, calls_of_a_night(sizes)), store, with_text=with_text)
        weighed.append(store.stat().st_size)
    store.unlink()
    return weighed[1] - weighed[0]


def added(sized: Sized, folder: Path, rounds: int, text: int) -> Added:
    """Ingest a thousand calls of another night into a copy of a store, and again of another one.

    `text` are the bytes of the transcripts of one night.
    """
    copy = folder / "more.db"
    copyfile(sized.store, copy)
    with copy.open("rb+") as copied:
        os.fsync(copied.fileno())  # else the first ingest is the one that has the copy written to the disk
    taken = []
    for night in range(_NIGHTS, _NIGHTS + max(rounds, _FEWEST)):
        file = folder / f"flow-transcripts-{run_name(night)}.jsonl"
        file.write_bytes(b"".join(line + b"\n" for line in Load(night, night).lines(MORE)))
        taken.append(take([*riff_tui("ingest", str(file)), "--store", str(copy)]))
        file.unlink()
    copy.unlink()
    cpu, seconds = (
        statistics.median(times) for times in zip(*((each.cpu, each.seconds) for each in taken), strict=True)
    )
    return Added(sized.calls, sized.store.stat().st_size, text * sized.runs, cpu, seconds)
