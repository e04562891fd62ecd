"""The part on scale: its table in the results, and those in docs/performance.md and docs/scale.md, written here."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks import pages, report
from benchmarks.processes import riff_tui, take
from benchmarks.ratio import Goal, Ratio
from benchmarks.scale.measure import MOST_BYTES, Measured, measured
from benchmarks.scale.more import added, text_of_a_night
from benchmarks.scale.stores import Sized, made
from benchmarks.scale.tables import beside_peer, growth, more_calls, sizes_of_stores
from benchmarks.sizes import FULL, Sizes

BUDGETS = {
    "dump causes": 1.2,
    "dump failure-matrix --where flow=flow_03": 1.0,
    "dump states --by run --limit 20": 2.0,
    "dump repeats --by run --limit 20": 2.0,
    "doctor": 20.0,
    "doctor --quick": 2.0,
}
"""The seconds of processor time that may be taken."""


def part(folder: Path, sizes: Sizes) -> str:
    """Measure every question at three sizes; at full size the pages are rewritten as well."""
    stores = made(folder, sizes)
    text = text_of_a_night(folder, sizes)
    grew = [added(sized, folder, sizes.rounds, text) for sized in stores]
    found = [list(_told(measured(sized, sizes.rounds))) for sized in stores]
    if found[-1][0].calls > FULL.many:
        pages.write(pages.PERFORMANCE, "growth", growth(found))
        pages.write(pages.SCALE, "sizes", sizes_of_stores(grew))
    whole = [more_calls(grew), *_against_budgets(stores[-1], sizes.rounds)]
    return f"{beside_peer(found[-1])}\n{report.table(whole)}"


def _against_budgets(sized: Sized, rounds: int) -> Iterator[Ratio]:
    """What DuckDB cannot be asked, and what has a budget of its own, of the largest store."""
    for command, seconds in BUDGETS.items():
        taken = [take([*riff_tui(*shlex.split(command)), "--store", str(sized.store)]) for _ in range(rounds)]
        used, held = median(each.cpu for each in taken), max(each.peak for each in taken)
        note = f"processor time, {sized.calls:,} calls"
        yield Ratio(f"`{command}` ÷ its budget", used, seconds, "s", Goal("<=", 1.0), note)
        if "--by" in command:
            yield Ratio(f"peak memory of `{command}` ÷ its budget", held, MOST_BYTES, "B", Goal("<=", 1.0))


def _told(measurements: Iterator[Measured]) -> Iterator[Measured]:
    for each in measurements:
        seconds = f"{each.ours:.2f} s, DuckDB {each.peer:.2f} s"
        print(f"{each.calls:,} calls: {each.question.name}: {seconds}, {each.peak / 2**20:.0f} MiB", file=sys.stderr)
        yield each
