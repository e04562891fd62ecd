"""The part on scale: its table in the results, and those in docs/performance.md and docs/scale.md, written here."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks import machine, report
from benchmarks.scale.measure import Measured, measured
from benchmarks.scale.more import added, text_of_a_night
from benchmarks.scale.stores import made
from benchmarks.scale.tables import beside_peer, growth, more_calls, sizes_of_stores
from benchmarks.sizes import FULL, Sizes

_DOCS = Path(__file__).parent.parent.parent / "docs"
GROWTH, SIZES = _DOCS / "performance.md", _DOCS / "scale.md"


def part(folder: Path, sizes: Sizes) -> str:
    """Measure every question at three sizes; at full size the pages are written anew as well."""
    stores = made(folder, sizes)
    text = text_of_a_night(folder, sizes)
    grew = [added(sized, folder, sizes.rounds, text) for sized in stores]
    found = [list(_told(measured(sized, sizes.rounds))) for sized in stores]
    if found[-1][0].calls > FULL.many:
        when = f"Measured {machine.today()} on {machine.in_short()}.\n\n"
        _write(GROWTH, "growth", when + growth(found))
        _write(SIZES, "sizes", when + sizes_of_stores(grew))
    return f"{beside_peer(found[-1])}\n{report.table([more_calls(grew)])}"


def _told(measurements: Iterator[Measured]) -> Iterator[Measured]:
    for each in measurements:
        seconds = f"{each.ours:.2f} s, DuckDB {each.peer:.2f} s"
        print(f"{each.calls:,} calls: {each.question.name}: {seconds}, {each.peak / 2**20:.0f} MiB", file=sys.stderr)
        yield each


def _write(page: Path, name: str, text: str) -> None:
    page.write_text(with_part(page.read_text(encoding="utf-8"), name, text), encoding="utf-8")


def with_part(page: str, name: str, text: str) -> str:
    """The page with another text between the marks of a part; `ValueError` where it has none."""
    begin, end = f"<!-- {name}: written by python -m benchmarks --only scale -->\n", f"<!-- end of {name} -->\n"
    pattern = re.compile(f"(?<={re.escape(begin)}).*(?={re.escape(end)})", re.DOTALL)
    if not pattern.search(page):
        raise ValueError(f"the page has no place for {name}")
    return pattern.sub(lambda _: text, page)
