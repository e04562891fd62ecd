"""How quickly calls get in: against a bare decode-and-insert, against DuckDB, against themselves."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path

from benchmarks import duckdb_job, floor
from benchmarks.load import transcript_file
from benchmarks.ours import ingest_file
from benchmarks.ratio import Goal, Ratio, in_turns, timed
from benchmarks.sizes import Sizes

_numbers = count()


def rows(folder: Path, sizes: Sizes) -> Iterator[Ratio]:
    """Ratios of the ingest of `sizes.few` conversations."""
    transcripts = transcript_file(folder, sizes.few)
    reference = folder / "reference.db"
    reference.unlink(missing_ok=True)
    ingest_file(transcripts, reference, with_text=False)
    tables = floor.rows_of(reference)
    _check_same_job(transcripts, folder / "reference.duckdb", reference)
    n = f"{sizes.few:,} conversations"

    ours, bare, texts, duck, duck_alone = in_turns(
        partial(_ingest, transcripts, folder, with_text=False),
        partial(_floor, transcripts, folder, tables, sizes.few),
        partial(_ingest, transcripts, folder, with_text=True),
        partial(_duckdb, transcripts, folder, None),
        partial(_duckdb, transcripts, folder, 1),
        rounds=sizes.rounds,
    )
    yield Ratio(
        "ingest without text ÷ orjson.loads + executemany of the same rows", ours, bare, "s", Goal("<=", 1.8), n
    )
    yield Ratio("ingest without text ÷ DuckDB doing the job", ours, duck, "s", Goal("<=", 1.0), n)
    yield Ratio("ingest without text ÷ DuckDB doing the job on one thread", ours, duck_alone, "s", note=n)
    yield Ratio("ingest with transcripts ÷ without", texts, ours, "s", Goal("<=", 1.6), n)
    yield from _again(folder, transcripts, sizes, n)


def _again(folder: Path, transcripts: Path, sizes: Sizes, n: str) -> Iterator[Ratio]:
    """A second ingest, of a file that changed in its last line break only, and of one that did not."""
    changed = folder / "changed" / transcripts.name
    changed.parent.mkdir(exist_ok=True)
    content = transcripts.read_bytes()
    store = folder / "again.db"

    def ingest_fresh() -> float:
        store.unlink(missing_ok=True)
        changed.write_bytes(content)
        return _timed_ingest(changed, store)

    def ingest_changed() -> float:
        changed.write_bytes(content + b"\n")
        return _timed_ingest(changed, store)

    def ingest_unchanged() -> float:
        return _timed_ingest(changed, store)

    first_time, all_again, nothing_new = in_turns(ingest_fresh, ingest_changed, ingest_unchanged, rounds=sizes.rounds)
    yield Ratio("re-ingest of all conversations ÷ first ingest", all_again, first_time, "s", Goal("<=", 1.25), n)
    yield Ratio("re-ingest of unchanged files ÷ first ingest", nothing_new, first_time, "s", Goal("<=", 0.15), n)


def _check_same_job(transcripts: Path, peer: Path, reference: Path) -> None:
    """A peer that made other rows is no peer; `ValueError` names what differs."""
    duckdb_job.run(transcripts, peer)
    theirs = duckdb_job.row_counts(peer)
    peer.unlink()
    with closing(sqlite3.connect(reference)) as connection:
        ours = {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in theirs}
    if ours != theirs:
        raise ValueError(f"DuckDB made other rows: {theirs}, not {ours}")


def _ingest(transcripts: Path, folder: Path, *, with_text: bool) -> float:
    store = _fresh(folder, "db")
    try:
        return _timed_ingest(transcripts, store, with_text=with_text)
    finally:
        store.unlink(missing_ok=True)


def _timed_ingest(transcripts: Path, store: Path, *, with_text: bool = False) -> float:
    with timed() as watch:
        ingest_file(transcripts, store, with_text=with_text)
    return watch.seconds


def _floor(transcripts: Path, folder: Path, tables: list[floor.TableRows], conversations: int) -> float:
    target = _fresh(folder, "floor")
    try:
        with timed() as watch:
            floor.decode_and_insert(transcripts, tables, target, conversations)
        return watch.seconds
    finally:
        target.unlink(missing_ok=True)


def _duckdb(transcripts: Path, folder: Path, threads: int | None) -> float:
    target = _fresh(folder, "duckdb")
    try:
        with timed() as watch:
            duckdb_job.run(transcripts, target, threads=threads)
        return watch.seconds
    finally:
        target.unlink(missing_ok=True)


def _fresh(folder: Path, kind: str) -> Path:
    return folder / f"run-{next(_numbers)}.{kind}"
