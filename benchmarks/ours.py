"""What is measured of riff-tui, called the way its commands call it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.processes import riff_tui, take
from riff_ingest.pipeline import ingest
from riff_store.database import open_store
from riff_store.write.writer import Writer


def ingest_file(path: Path, location: str | Path, *, with_text: bool) -> None:
    """Read, score and store a file or a directory, into a store that is made if it is missing."""
    ingest_paths([path], location, with_text=with_text)


def ingest_paths(paths: Sequence[Path], location: str | Path, *, with_text: bool) -> None:
    """Read, score and store several of them at once."""
    with open_store(location, write=True, create=True) as store:
        ingest(paths, Writer(store), with_text=with_text)


def seconds_with_jobs(path: Path, store: Path, jobs: int) -> float:
    """Return how long one waits for the command; each process started from here would load the benchmarks first."""
    try:
        return take(riff_tui("ingest", str(path), "--store", str(store), "--jobs", str(jobs))).seconds
    finally:
        store.unlink(missing_ok=True)
