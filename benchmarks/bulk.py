"""The way rows are inserted, beside Peewee's own way of inserting many."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.load import transcript_file
from benchmarks.ours import ingest_file
from benchmarks.ratio import Goal, Ratio, in_turns, timed
from benchmarks.sizes import Sizes
from riff_store.database import Store, open_store
from riff_store.schema import AspectScore

Inserter: TypeAlias = Callable[[Store, Sequence[tuple[Any, ...]]], None]

AT_ONCE = 100


def rows(folder: Path, sizes: Sizes) -> Iterator[Ratio]:
    """Rows a second into the table of aspect scores."""
    location = folder / "bulk.db"
    location.unlink(missing_ok=True)
    ingest_file(transcript_file(folder, sizes.few), location, with_text=False)
    with open_store(location, write=True) as store:
        scores = store.execute(AspectScore.select())
        bulk, many = in_turns(
            partial(rate, store, scores, in_bulk), partial(rate, store, scores, insert_many), rounds=sizes.rounds
        )
    location.unlink()
    yield Ratio(f"compiled SQL ÷ insert_many({AT_ONCE})", bulk, many, "rows/s", Goal(">=", 8), f"{len(scores):,} rows")


def rate(store: Store, scores: Sequence[tuple[Any, ...]], insert: Inserter) -> float:
    """Return the rows a second of one way to insert them, in one transaction."""
    with store.writing():
        store.execute_sql("DELETE FROM aspect_score")
    with timed() as watch, store.writing():
        insert(store, scores)
    return len(scores) / watch.seconds


def in_bulk(store: Store, scores: Sequence[tuple[Any, ...]]) -> None:
    """Insert them as a writer does."""
    store.connection.insert(AspectScore, list(chain.from_iterable(scores)))


def insert_many(store: Store, scores: Sequence[tuple[Any, ...]]) -> None:
    """Insert them as Peewee does."""
    fields = AspectScore._meta.sorted_fields
    for begin in range(0, len(scores), AT_ONCE):
        store.execute(AspectScore.insert_many(scores[begin : begin + AT_ONCE], fields=fields))
