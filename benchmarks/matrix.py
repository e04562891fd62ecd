"""How quickly the flow matrix is asked for: from sums, from columns, from the calls' rows, and as the store grows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from shutil import copyfile

from benchmarks.grow import grown
from benchmarks.load import transcript_file
from benchmarks.ours import ingest_file
from benchmarks.ratio import Goal, Ratio, in_turns, timed
from benchmarks.sizes import Sizes
from riff_store.database import Store, open_store
from riff_store.filters.predicates import Predicate, Term
from riff_store.filters.sql import needs
from riff_store.queries.flows import flow_cells

EVERY_CALL = Term("trial", ">=", 0)
"""True for every call, and a thing that only the calls themselves can tell."""


def rows(folder: Path, sizes: Sizes) -> Iterator[Ratio]:
    """Ratios at `sizes.many` and at `sizes.huge` conversations."""
    assert needs(EVERY_CALL) == "base"
    many, plain, huge = (folder / f"{name}.db" for name in ("many", "plain", "huge"))
    many.unlink(missing_ok=True)
    ingest_file(transcript_file(folder, sizes.many), many, with_text=False)
    grown(many, huge, sizes.huge // sizes.many)
    copyfile(many, plain)
    with open_store(plain, write=True) as store, store.writing():
        store.execute_sql("DELETE FROM column_chunk")
    with open_store(many) as small, open_store(plain) as unpacked, open_store(huge) as large:
        for trend in (False, True):
            yield from _compared(small, unpacked, large, sizes, trend=trend)
    for path in (plain, huge):
        path.unlink()


def _compared(small: Store, unpacked: Store, large: Store, sizes: Sizes, *, trend: bool) -> Iterator[Ratio]:
    """The matrix alone, or with the trend over runs, as `dump flows` asks for it."""
    what = "flow × agent matrix with its trend" if trend else "flow × agent matrix"
    sums, columns, join, large_sums = in_turns(
        partial(_seconds, small, None, trend=trend),
        partial(_seconds, small, EVERY_CALL, trend=trend),
        partial(_seconds, unpacked, EVERY_CALL, trend=trend),
        partial(_seconds, large, None, trend=trend),
        rounds=sizes.rounds,
    )
    n = f"{sizes.many:,} conversations"
    yield Ratio(f"{what}, from rollups ÷ base join", sums, join, "s", Goal("<=", 1 / 50), n)
    yield Ratio(f"{what}, from columns ÷ base join", columns, join, "s", note=n)
    grew = f"{sizes.huge:,} ÷ {sizes.many:,} conversations"
    yield Ratio(f"{what}, as the store grows", large_sums, sums, "s", Goal("<=", 1.5), grew)


def _seconds(store: Store, calls: Predicate | None, *, trend: bool) -> float:
    with timed() as watch:
        flow_cells(store, calls, trend=trend)
    return watch.seconds
