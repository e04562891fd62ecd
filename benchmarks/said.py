"""A search in what was said, beside reading and unpacking the same transcripts and nothing else.

What is measured is processor time, with that of the process that looks for regular expressions: nobody waits longer on
a machine that does nothing else.
"""

from __future__ import annotations

import resource
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import zstandard

from benchmarks.grow import grown
from benchmarks.load import nightly_files
from benchmarks.machine import peak_memory
from benchmarks.ours import ingest_file
from benchmarks.ratio import Goal, Ratio, in_turns
from benchmarks.sizes import Sizes
from riff_store.database import open_store
from riff_store.filters.said import Search
from riff_tui.filters.parser import parse

NIGHTS = 5
_BODIES = "SELECT conversation_id, body, dictionary_id FROM transcript ORDER BY conversation_id DESC"
_BUDGET_S = 2.5
"""So long may a search of 100,000 calls take."""


def rows(folder: Path, sizes: Sizes) -> Iterator[Ratio]:
    """A word that nobody says, words that many say, a regular expression, and what a filter leaves fewer calls for."""
    small, large = folder / "said-few.db", folder / "said-many.db"
    if not large.exists():
        small.unlink(missing_ok=True)
        ingest_file(nightly_files(folder, NIGHTS, sizes.few // 10), small, with_text=True)
        grown(small, large, sizes.many // (NIGHTS * sizes.few // 10))
    many = f"{sizes.many:,} calls"
    found = in_turns(
        partial(_unpacked, large),
        *(partial(_searched, large, where) for where in _ASKED),
        rounds=sizes.rounds,
    )
    floor = found[0]
    for (where, goal), seconds in zip(_ASKED.items(), found[1:], strict=True):
        yield Ratio(f"{where} ÷ reading and unpacking all transcripts", seconds, floor, "s", goal, many)
    budget = _BUDGET_S * sizes.many / 100_000
    yield Ratio("said:'wrong number' ÷ its budget", found[1], budget, "s", Goal("<=", 1.0), many)
    grown_by = f"{sizes.many:,} ÷ {NIGHTS * sizes.few // 10:,} calls"
    peaks = (_peak(large), _peak(small))
    yield Ratio("peak memory of a search", *peaks, "B", Goal("<=", 1.3), grown_by)


_ASKED = {
    "said:'wrong number'": Goal("<=", 2.5),
    "said:babe": Goal("<=", 2.5),
    "said:本": Goal("<=", 2.5),
    "said:/wrong\\s+number/": Goal("<=", 2.5),
    "said:/(?:wrong) number/": None,
    "said:'wrong number' flow:flow_03 success=false": Goal("<=", 0.3),
}


def _unpacked(store: Path) -> float:
    """How long it takes to read and to unpack all transcripts, each by the dictionary that it was packed with."""
    begin = _processor_time()
    with closing(sqlite3.connect(store.absolute().as_uri() + "?mode=ro", uri=True)) as connection:
        engines = {None: zstandard.ZstdDecompressor()} | {
            key: zstandard.ZstdDecompressor(dict_data=zstandard.ZstdCompressionDict(body))
            for key, body in connection.execute("SELECT id, body FROM text_dictionary")
        }
        for _, body, dictionary in connection.execute(_BODIES):
            engines[dictionary].decompress(body)
    return _processor_time() - begin


def _searched(store: Path, where: str) -> float:
    begin = _processor_time()
    with open_store(store) as opened:
        for _ in Search(opened, parse(where)).found():
            pass
    return _processor_time() - begin


def _processor_time() -> float:
    """Seconds that this process and those that it waited for have used."""
    used = (resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def _peak(store: Path) -> float:
    """Bytes, measured in a process that does nothing else."""
    command = [sys.executable, "-m", "benchmarks.said", str(store)]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


if __name__ == "__main__":
    _searched(Path(sys.argv[1]), "said:'wrong number'")
    print(peak_memory())
