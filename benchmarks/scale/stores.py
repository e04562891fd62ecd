"""Stores of the same kind of nights at three sizes, and the peer's file of each."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

from benchmarks.load import Shape, files_of_a_night
from benchmarks.ours import ingest_file
from benchmarks.sizes import Sizes


@dataclass(frozen=True, slots=True)
class Sized:
    """Describe a store with its peer: so many calls, the last run of them, and three o'clock on its day."""

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

    No call is a copy of another. There are no transcripts, at which no question here looks.
    """
    stores = made_alone(folder, sizes)
    for each in stores:
        if not each.peer.exists():
            # In a process of its own: this one stays small.
            subprocess.run([sys.executable, "-m", "benchmarks.scale.peer", str(each.store), str(each.peer)], check=True)
    return stores


def made_alone(folder: Path, sizes: Sizes) -> list[Sized]:
    """The same stores, whose peers may be missing; each has the nights of the one before, and more."""
    night = calls_of_a_night(sizes)
    stores: list[Sized] = []
    for runs in (max(1, round(calls / night)) for calls in (sizes.few, sizes.many, sizes.huge)):
        store = folder / f"scale-{runs}-{night}.db"
        if not store.exists():
            part = store.with_suffix(".part")
            part.unlink(missing_ok=True)
            if stores:
                copyfile(stores[-1].store, part)
            for number in range(stores[-1].runs if stores else 0, runs):
                _ingest_night(folder, number, night, part)
            part.rename(store)
        stores.append(_sized(store, runs))
    return stores


def _ingest_night(folder: Path, number: int, calls: int, store: Path) -> None:
    with TemporaryDirectory(dir=folder) as made_in:
        files = files_of_a_night(Path(made_in), number, calls, Shape(wordy=False))
        ingest_file(files, store, with_text=False)


def _sized(store: Path, runs: int) -> Sized:
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
