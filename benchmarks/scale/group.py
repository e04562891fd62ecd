"""The part on scale: its table in the results, and those in docs/performance.md and docs/scale.md, written here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks import pages, report
from benchmarks.scale.measure import Measured, measured
from benchmarks.scale.more import added, text_of_a_night
from benchmarks.scale.stores import made
from benchmarks.scale.tables import beside_peer, growth, more_calls, sizes_of_stores
from benchmarks.sizes import FULL, Sizes


def part(folder: Path, sizes: Sizes) -> str:
    """Measure every question at three sizes; at full size the pages are written anew as well."""
    stores = made(folder, sizes)
    text = text_of_a_night(folder, sizes)
    grew = [added(sized, folder, sizes.rounds, text) for sized in stores]
    found = [list(_told(measured(sized, sizes.rounds))) for sized in stores]
    if found[-1][0].calls > FULL.many:
        pages.write(pages.PERFORMANCE, "growth", growth(found))
        pages.write(pages.SCALE, "sizes", sizes_of_stores(grew))
    return f"{beside_peer(found[-1])}\n{report.table([more_calls(grew)])}"


def _told(measurements: Iterator[Measured]) -> Iterator[Measured]:
    for each in measurements:
        seconds = f"{each.ours:.2f} s, DuckDB {each.peer:.2f} s"
        print(f"{each.calls:,} calls: {each.question.name}: {seconds}, {each.peak / 2**20:.0f} MiB", file=sys.stderr)
        yield each
