"""How quickly results of tau2-bench get in, against a bare decode of the same files, and in how much memory."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path

from benchmarks.ours import ingest_paths
from benchmarks.ratio import Goal, Ratio, in_turns, timed
from benchmarks.sizes import Sizes
from benchmarks.tau_load import write_results, write_voice_run

REAL = Path(__file__).parents[2] / "shared" / "data" / "tau2"
MEMORY = 300_000_000
"""Bytes that an ingest may hold, however large the results are."""

TICKS = 6000
"""Ticks of a voice call of 20 minutes, the longest that the benchmark makes."""

_MEGABYTE = 1_000_000
_numbers = count()


def rows(folder: Path, sizes: Sizes) -> Iterator[Ratio]:
    """Ratios of the ingest of real results, of made ones if there are none, and of large ones that are made."""
    files = sorted(REAL.glob("*.json"))
    note = f"{len(files)} real files"
    if not files:
        files = [write_results(folder / f"tau-{number}.json", 2 * _MEGABYTE) for number in range(7)]
        note = f"{len(files)} made files"
    ours, bare = in_turns(partial(_ingest, files, folder), partial(_decode, files), rounds=sizes.rounds)
    yield Ratio(
        "ingest of results of tau2-bench ÷ json.loads of the same files", ours, bare, "s", Goal("<=", 3.0), note
    )
    large = write_results(folder / "tau-large.json", sizes.results * _MEGABYTE)
    size = f"one file of {sizes.results} MB"
    yield Ratio(
        "peak memory of an ingest of results ÷ its bound", _peak(large, folder), MEMORY, "B", Goal("<=", 1.0), size
    )
    large.unlink()
    yield from _voice(folder, sizes)


def _voice(folder: Path, sizes: Sizes) -> Iterator[Ratio]:
    """Ratios of the ingest of long voice calls, each in a file of its own."""
    run = write_voice_run(folder / "tau-voice", sizes.voice_calls, TICKS)
    files = sorted((run / "simulations").iterdir())
    note = f"{len(files)} calls of {files[0].stat().st_size // _MEGABYTE} MB"
    ours, bare = in_turns(partial(_ingest, [run], folder), partial(_decode, files), rounds=sizes.rounds)
    yield Ratio(
        "ingest of voice calls tick by tick ÷ json.loads of the same files", ours, bare, "s", Goal("<=", 3.0), note
    )
    peak = _peak(run, folder)
    yield Ratio("peak memory of an ingest of voice calls ÷ its bound", peak, MEMORY, "B", Goal("<=", 1.0), note)
    shutil.rmtree(run)


def _ingest(files: Sequence[Path], folder: Path) -> float:
    store = folder / f"tau-{next(_numbers)}.db"
    try:
        with timed() as watch:
            ingest_paths(files, store, with_text=True)
        return watch.seconds
    finally:
        store.unlink(missing_ok=True)


def _decode(files: Sequence[Path]) -> float:
    with timed() as watch:
        for file in files:
            json.loads(file.read_bytes())
    return watch.seconds


def _peak(results: Path, folder: Path) -> float:
    """Bytes, measured in a process that does nothing else."""
    command = [sys.executable, "-m", "benchmarks.alone", str(results), str(folder / "tau-large.db")]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
