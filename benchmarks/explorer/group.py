"""The part on the explorer's keys: its table in the results, and that in docs/performance.md, written here."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks import pages
from benchmarks.explorer.measure import Seen, seen, waited
from benchmarks.explorer.tables import growth, of_largest
from benchmarks.explorer.walk import Waited
from benchmarks.scale.stores import made_alone
from benchmarks.sizes import FULL, Sizes

MOST_ROUNDS = 3


def part(folder: Path, sizes: Sizes) -> str:
    """Walk through the smallest and the largest store; at full size the page is rewritten as well.

    Dumps, and leaving what takes a while, are measured of the largest store alone, and once.
    """
    smallest, *_, largest = made_alone(folder, sizes)
    more = min(MOST_ROUNDS, sizes.rounds) - 1
    of_smallest = [_told(waited(smallest), smallest.calls) for _ in range(more + 1)]
    of_all = [_told(seen(largest), largest.calls), *(_told(waited(largest), largest.calls) for _ in range(more))]
    found = {smallest.calls: _medians(of_smallest), largest.calls: _medians(of_all)}
    if largest.calls > FULL.many:
        pages.write(pages.PERFORMANCE, "explorer", growth(found))
    return of_largest(found[largest.calls], largest.calls)


def _told(found: Iterator[Seen], calls: int) -> list[Seen]:
    told = []
    for each in found:
        first, filled, first_cpu, cpu = each.waited
        took = [f"{first:.2f} s ({first_cpu:.2f} s)", f"{filled:.2f} s ({cpu:.2f} s)"]
        took += [f"dumps {each.dump:.2f} s"] if each.dump else []
        took += [f"Esc {each.left.rests:.2f} s ({each.left.cpu:.2f} s)"] if each.left else []
        print(f"{calls:,} calls: {each.step}: {', '.join(took)}", file=sys.stderr)
        told.append(each)
    return told


def _medians(rounds: Sequence[Sequence[Seen]]) -> list[Seen]:
    """Return the first round with medians of the times of all of them."""
    others = [{each.step: each for each in taken} for taken in rounds]
    return [
        replace(each, waited=_median([taken[each.step] for taken in others if each.step in taken]))
        for each in rounds[0]
    ]


def _median(several: Sequence[Seen]) -> Waited:
    return Waited(*map(statistics.median, zip(*(each.waited for each in several), strict=True)))
