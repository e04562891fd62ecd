"""How quickly runs of EVA get in: against a bare decode of the same files, and from two processes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path

from benchmarks.eva_load import write_run
from benchmarks.ours import ingest_file, seconds_with_jobs
from benchmarks.ratio import Goal, Ratio, in_turns, timed
from benchmarks.sizes import Sizes

BUDGET = 0.05
"""Seconds for one record, all told."""

_numbers = count()


def rows(folder: Path, sizes: Sizes) -> Iterator[Ratio]:
    """Ratios of the ingest of a run with `sizes.records` records."""
    run = write_run(folder / "eva", sizes.records)
    n = f"{sizes.records} records"
    ours, alone, bare, two, one = in_turns(
        partial(_ingest, run, folder, with_text=True),
        partial(_ingest, run, folder, with_text=False),
        partial(_decode, run),
        *(partial(seconds_with_jobs, run, folder / f"eva-{jobs}.db", jobs) for jobs in (2, 1)),
        rounds=sizes.rounds,
    )
    yield Ratio("ingest of a run of EVA ÷ json.loads of its files", ours, bare, "s", Goal("<=", 4.0), n)
    yield Ratio("ingest of a run of EVA without text ÷ json.loads of its files", alone, bare, "s", note=n)
    yield Ratio("ingest of a record of EVA ÷ its budget", ours / sizes.records, BUDGET, "s", Goal("<=", 1.0), n)
    yield Ratio("ingest of a run of EVA with --jobs 2 ÷ with --jobs 1, as one waits", two, one, "s", note=n)
    store = folder / "eva-again.db"
    ingest_file(run, store, with_text=True)
    again, first = in_turns(
        partial(_timed, run, store), partial(_ingest, run, folder, with_text=True), rounds=sizes.rounds
    )
    yield Ratio("re-ingest of an unchanged run of EVA ÷ first ingest", again, first, "s", Goal("<=", 0.3), n)


def _ingest(run: Path, folder: Path, *, with_text: bool) -> float:
    store = folder / f"eva-{next(_numbers)}.db"
    try:
        return _timed(run, store, with_text=with_text)
    finally:
        store.unlink(missing_ok=True)


def _timed(run: Path, store: Path, *, with_text: bool = True) -> float:
    with timed() as watch:
        ingest_file(run, store, with_text=with_text)
    return watch.seconds


def _decode(run: Path) -> float:
    with timed() as watch:
        for directory in sorted((run / "records").iterdir()):
            with closing(os.scandir(directory)) as entries:
                for entry in entries:
                    content = Path(entry.path).read_bytes()
                    if entry.name.endswith(".jsonl"):
                        for line in content.splitlines():
                            json.loads(line)
                    else:
                        json.loads(content)
    return watch.seconds
