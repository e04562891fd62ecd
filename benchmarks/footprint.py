"""What an ingest needs of memory and of disk."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.load import transcript_file
from benchmarks.ours import ingest_file
from benchmarks.ratio import Goal, Ratio
from benchmarks.sizes import Sizes


def rows(folder: Path, sizes: Sizes) -> Iterator[Ratio]:
    """Peak memory as the input grows, and bytes of the store beside bytes of the transcripts."""
    few, many = transcript_file(folder, sizes.few), transcript_file(folder, sizes.many)
    store = folder / "footprint.db"
    small, large = _peak_of_ingest(few, store), _peak_of_ingest(many, store)
    grown = f"{sizes.many:,} ÷ {sizes.few:,} conversations"
    yield Ratio("peak memory of an ingest", large, small, "B", Goal("<=", 1.3), grown)
    for with_text, bound in ((False, 0.08), (True, 0.4)):
        text = "with transcripts" if with_text else "without text"
        yield _size(f"store bytes ÷ transcript bytes, {text}", few, store, with_text=with_text, goal=Goal("<=", bound))
    store.unlink()


def _peak_of_ingest(transcripts: Path, store: Path) -> float:
    """Bytes, measured in a process that does nothing else."""
    store.unlink(missing_ok=True)
    command = [sys.executable, "-m", "benchmarks.alone", str(transcripts), str(store)]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def _size(what: str, transcripts: Path, store: Path, *, with_text: bool, goal: Goal) -> Ratio:
    store.unlink(missing_ok=True)
    ingest_file(transcripts, store, with_text=with_text)
    return Ratio(what, store.stat().st_size, transcripts.stat().st_size, "B", goal)
