"""The part on scale: the table of the results, and those of docs/performance.md, which this writes."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks import machine
from benchmarks.scale.measure import Measured, measured
from benchmarks.scale.stores import made
from benchmarks.scale.tables import beside_peer, growth
from benchmarks.sizes import FULL, Sizes

PAGE = Path(__file__).parent.parent.parent / "docs" / "performance.md"
_BEGIN, _END = "<!-- growth: written by python -m benchmarks --only scale -->\n", "<!-- end of growth -->\n"


def part(folder: Path, sizes: Sizes) -> str:
    """Measure every question at three sizes; at full size docs/performance.md is written anew as well."""
    found = [list(_told(measured(sized, sizes.rounds))) for sized in made(folder, sizes)]
    if sizes == FULL:
        text = f"Measured {machine.today()} on {machine.in_short()}.\n\n{growth(found)}"
        PAGE.write_text(with_growth(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")
    return beside_peer(found[-1])


def _told(measurements: Iterator[Measured]) -> Iterator[Measured]:
    for each in measurements:
        seconds = f"{each.ours:.2f} s, DuckDB {each.peer:.2f} s"
        print(f"{each.calls:,} calls: {each.question.name}: {seconds}, {each.peak / 2**20:.0f} MiB", file=sys.stderr)
        yield each


def with_growth(page: str, text: str) -> str:
    """The page with another growth table between its marks; `ValueError` where it has none."""
    pattern = re.compile(f"(?<={re.escape(_BEGIN)}).*(?={re.escape(_END)})", re.DOTALL)
    if not pattern.search(page):
        raise ValueError("the page has no place for the growth table")
    return pattern.sub(lambda _: text, page)
