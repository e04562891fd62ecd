"""What is measured of riff-tui, called the way its commands call it."""

from __future__ import annotations

from pathlib import Path

from riff_ingest.pipeline import ingest
from riff_store.database import open_store
from riff_store.writer import Writer


def ingest_file(transcripts: Path, location: Path, *, with_text: bool) -> None:
    """Read, score and store a file in this process, into a store that is made if it is missing."""
    with open_store(location, write=True, create=True) as store:
        ingest([transcripts], Writer(store), with_text=with_text)
