"""Stores of the same kind of nights at three sizes, and the peer's file of each."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.grow import grown
from benchmarks.load import nightly_files
from benchmarks.ours import ingest_file
from benchmarks.sizes import Sizes


@dataclass(frozen=True, slots=True)
class Sized:
    """Hold a store with its peer: so many calls, the last run of them, and three o'clock on its day."""

    store: Path
    peer: Path
    calls: int
    runs: int
    last_run: str
    since: datetime


def calls_of_a_night(sizes: Sizes) -> int:
    """Return so many calls that each agent plays nearly every task in each flow once."""
    return sizes.few * 91 // 100


def made(folder: Path, sizes: Sizes) -> list[Sized]:
    """The stores of `sizes.few`, `sizes.many` and `sizes.huge` calls, roughly, with their peers; what is there is kept.

    The smallest is one night and the others are more of them, without transcripts, which no question here looks at.
    """
    stores = made_alone(folder, sizes)
    for each in stores:
        if not each.peer.exists():
            # In a process of its own: this one stays small.
            subprocess.run([sys.executable, "-m", "benchmarks.scale.peer", str(each.store), str(each.peer)], check=True)
    return stores


def made_alone(folder: Path, sizes: Sizes) -> list[Sized]:
    """The same stores, whose peers may be missing."""
    night = calls_of_a_night(sizes)
    small = folder / f"scale-1-{night}.db"
    if not small.exists():
        ingest_file(nightly_files(folder, 1, night), small, with_text=False)
    return [_sized(small, folder, max(1, round(calls / night))) for calls in (sizes.few, sizes.many, sizes.huge)]


def _sized(small: Path, folder: Path, runs: int) -> Sized:
    store = folder / f"scale-{runs}{small.name.removeprefix('scale-1')}"
    if not store.exists():
        part = store.with_suffix(".part")
        grown(small, part, runs)
        part.rename(store)
    with closing(sqlite3.connect(store)) as connection:
        calls = connection.execute("SELECT COUNT(*) FROM conversation").fetchone()[0]
        last_run, begun = connection.execute(
            "SELECT run.name, MAX(started_at) AS at FROM conversation JOIN run ON run.id = run_id"
            " GROUP BY run.name ORDER BY at DESC LIMIT 1"
        ).fetchone()
    day = datetime.fromtimestamp(begun / 1e6, UTC)
    return Sized(
        store,
        store.with_suffix(".duckdb"),
        calls,
        runs,
        last_run,
        day.replace(hour=3, minute=0, second=0, microsecond=0),
    )
