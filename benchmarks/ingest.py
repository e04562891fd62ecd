"""How quickly calls get in: against a bare decode-and-insert, against DuckDB, against themselves.

If the other side has one thread as well, processor time is compared; else the time that one waits.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path
from typing import Literal, TypeAlias

from benchmarks import duckdb_job, floor
from benchmarks.load import NIGHTS, nightly_files, transcript_file
from benchmarks.ours import ingest_file, seconds_with_jobs
from benchmarks.ratio import Goal, Ratio, Stopwatch, in_turns, timed
from benchmarks.sizes import Sizes

Measured: TypeAlias = Literal["cpu", "seconds"]

_numbers = count()


def rows(folder: Path, sizes: Sizes) -> Iterator[Ratio]:
    """Ratios of the ingest of `NIGHTS` runs with their scores, about `sizes.few` calls."""
    calls = max(1, round(sizes.few / NIGHTS))
    nights = nightly_files(folder, NIGHTS, calls)
    n = f"{NIGHTS} runs of {calls} calls with the scores of three judges"
    for with_text in (True, False):
        yield from _first_time(folder, nights, sizes, n, with_text=with_text)
    yield from _two_jobs(folder, nights, sizes, n)
    yield from _again(folder, nights, sizes, n)


def _first_time(folder: Path, nights: Path, sizes: Sizes, n: str, *, with_text: bool) -> Iterator[Ratio]:
    reference = folder / "reference.db"
    reference.unlink(missing_ok=True)
    ingest_file(nights, reference, with_text=with_text)
    files, tables = sorted(nights.rglob("*.jsonl")), floor.rows_of(reference)
    calls = _check_same_job(nights, folder / "reference.duckdb", reference)
    size = reference.stat().st_size / calls
    reference.unlink()
    ours, bare, duck, waited, other_text, all_cores = in_turns(
        partial(_ingest, nights, folder, "cpu", with_text=with_text),
        partial(_floor, files, folder, tables, floor.batches_of(files)),
        partial(_duckdb, nights, folder, "cpu", with_text=with_text, threads=1),
        partial(_ingest, nights, folder, "seconds", with_text=with_text),
        partial(_ingest, nights, folder, "cpu", with_text=not with_text),
        partial(_duckdb, nights, folder, "seconds", with_text=with_text, threads=None),
        rounds=sizes.rounds,
    )
    what = f"ingest {'with transcripts' if with_text else 'without text'}"
    beside_floor, beside_duck, most = (None, 1.05, 2_200) if with_text else (2.0, 1.7, 900)
    goal = Goal("<=", beside_floor) if beside_floor else None
    yield Ratio(f"{what} ÷ orjson.loads + executemany of the same rows but sums", ours, bare, "s", goal, n)
    yield Ratio(f"{what} ÷ DuckDB doing the job on one thread", ours, duck, "s", Goal("<=", beside_duck), n)
    kept = what.removeprefix("ingest ")
    yield Ratio(f"bytes a call of a store {kept} ÷ their bound", size, most, "bytes", Goal("<=", 1.0), n)
    yield Ratio(f"{what} ÷ DuckDB doing the job on all cores", waited, all_cores, "s", note=n)
    if with_text:
        yield Ratio("ingest with transcripts ÷ without", ours, other_text, "s", Goal("<=", 1.6), n)


def _again(folder: Path, nights: Path, sizes: Sizes, n: str) -> Iterator[Ratio]:
    """A second ingest, of files that changed in their last line break only, and of files that did not."""
    files = {path: path.read_bytes() for path in sorted(nights.rglob("*.jsonl"))}
    changed = folder / "changed"
    store = folder / "again.db"

    def ingest_with(ending: bytes) -> float:
        for path, content in files.items():
            copy = changed / path.relative_to(nights)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content + ending)
        return _timed_ingest(changed, store).cpu

    def ingest_fresh() -> float:
        store.unlink(missing_ok=True)
        return ingest_with(b"")

    def ingest_unchanged() -> float:
        return _timed_ingest(changed, store).cpu

    first_time, all_again, nothing_new = in_turns(
        ingest_fresh, partial(ingest_with, b"\n"), ingest_unchanged, rounds=sizes.rounds
    )
    yield Ratio("re-ingest of all conversations ÷ first ingest", all_again, first_time, "s", Goal("<=", 1.25), n)
    yield Ratio("re-ingest of unchanged files ÷ first ingest", nothing_new, first_time, "s", Goal("<=", 0.15), n)


def _two_jobs(folder: Path, nights: Path, sizes: Sizes, n: str) -> Iterator[Ratio]:
    """What one waits for with two processes beside one, of many files and of a large one."""
    calls = 2 * sizes.few
    for files, what in ((nights, n), (transcript_file(folder, calls), f"one file of {calls:,} calls")):
        two, one = in_turns(
            *(partial(seconds_with_jobs, files, _fresh(folder, "db"), jobs) for jobs in (2, 1)), rounds=sizes.rounds
        )
        yield Ratio("ingest with --jobs 2 ÷ 1, as one waits", two, one, "s", Goal("<=", 0.7), what)


def _check_same_job(files: Path, peer: Path, reference: Path) -> int:
    """Return the number of calls; `ValueError` names what differs, as a peer that made other rows is not a peer."""
    duckdb_job.run(files, peer, with_text=False)
    theirs = duckdb_job.row_counts(peer)
    peer.unlink()
    with closing(sqlite3.connect(reference)) as connection:
        ours = {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in theirs}
    if ours != theirs:
        raise ValueError(f"DuckDB made other rows: {theirs}, not {ours}")
    return int(ours["conversation"])


def _ingest(files: Path, folder: Path, measured: Measured, *, with_text: bool) -> float:
    store = _fresh(folder, "db")
    try:
        return float(getattr(_timed_ingest(files, store, with_text=with_text), measured))
    finally:
        store.unlink(missing_ok=True)


def _timed_ingest(files: Path, store: Path, *, with_text: bool = False) -> Stopwatch:
    with timed() as watch:
        ingest_file(files, store, with_text=with_text)
    return watch


def _floor(files: list[Path], folder: Path, tables: list[floor.TableRows], batches: int) -> float:
    target = _fresh(folder, "floor")
    try:
        with timed() as watch:
            floor.decode_and_insert(files, tables, target, batches)
        return watch.cpu
    finally:
        target.unlink(missing_ok=True)


def _duckdb(files: Path, folder: Path, measured: Measured, *, with_text: bool, threads: int | None) -> float:
    target = _fresh(folder, "duckdb")
    try:
        with timed() as watch:
            duckdb_job.run(files, target, with_text=with_text, threads=threads)
        return float(getattr(watch, measured))
    finally:
        target.unlink(missing_ok=True)


def _fresh(folder: Path, kind: str) -> Path:
    return folder / f"run-{next(_numbers)}.{kind}"
