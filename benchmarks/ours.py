"""What is measured of riff-tui, called the way its commands call it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from riff_ingest.pipeline import ingest
from riff_store.database import open_store
from riff_store.write.writer import Writer


def ingest_file(path: Path, location: str | Path, *, with_text: bool, jobs: int = 1) -> None:
    """Read, score and store a file or a directory, into a store that is made if it is missing."""
    ingest_paths([path], location, with_text=with_text, jobs=jobs)


def ingest_paths(paths: Sequence[Path], location: str | Path, *, with_text: bool, jobs: int = 1) -> None:
    """Read, score and store several of them at once."""
    with open_store(location, write=True, create=True) as store:
        ingest(paths, Writer(store), with_text=with_text, jobs=jobs)
