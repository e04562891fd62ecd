"""Measure everything and write RESULTS.md.

usage: python -m benchmarks [--quick] [--only GROUP,GROUP] [--rounds N] [-o FILE] [--work DIR]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import (
    bulk,
    dump,
    eva,
    export,
    footprint,
    growth,
    ingest,
    inspect_log,
    judge,
    machine,
    matrix,
    pages,
    postgres,
    report,
    run,
    said,
    tau,
    ui,
)
from benchmarks.explorer import group as explorer
from benchmarks.ratio import Ratio
from benchmarks.scale import group as scale
from benchmarks.sizes import FULL, QUICK, Sizes

GROUPS: dict[str, Callable[[Path, Sizes], Iterator[Ratio]]] = {
    "ingest": ingest.rows,
    "eva": eva.rows,
    "tau": tau.rows,
    "inspect": inspect_log.rows,
    "footprint": footprint.rows,
    "bulk": bulk.rows,
    "matrix": matrix.rows,
    "dump": dump.rows,
    "export": export.rows,
    "ui": ui.rows,
    "run": run.rows,
    "said": said.rows,
    "growth": growth.rows,
    "judge": judge.rows,
    "postgres": postgres.rows,
}
TABLES: dict[str, Callable[[Path, Sizes], str]] = {"scale": scale.part, "explorer": explorer.part}
"""Groups that are tables of their own."""
NAMES = (*GROUPS, *TABLES)
ON_PAGES = {"postgres": (pages.SCALE, "server")}
"""Groups that a part of a page shows as well."""
RESULTS = Path(__file__).parent / "RESULTS.md"
SCRATCH = Path(__file__).parent.parent / ".bench"


def main() -> int:
    """Run the groups that were asked for; at full size they are kept among the results, or where `-o` says."""
    chosen = _arguments().parse_args()
    sizes = QUICK if chosen.quick else FULL
    sizes = replace(sizes, rounds=chosen.rounds or sizes.rounds)
    measured: dict[str, str] = {}
    SCRATCH.mkdir(exist_ok=True)
    made_in = nullcontext(chosen.work) if chosen.work else TemporaryDirectory(prefix="work-", dir=SCRATCH)
    with made_in as folder:
        for group in chosen.only.split(",") if chosen.only else NAMES:
            print(f"measuring {group} ...", file=sys.stderr)
            body = TABLES[group](Path(folder), sizes) if group in TABLES else _table(group, Path(folder), sizes)
            measured[group] = report.part(body, machine.today(), str(sizes))
            if group in ON_PAGES and not chosen.quick and chosen.output is None:
                pages.write(*ON_PAGES[group], body)
    target = chosen.output or (None if chosen.quick else RESULTS)
    if target:
        kept = report.parts_of(RESULTS.read_text(encoding="utf-8")) if target == RESULTS and RESULTS.exists() else {}
        parts = {group: (kept | measured)[group] for group in NAMES if group in kept or group in measured}
        target.write_text(report.markdown(parts, machine.facts()), encoding="utf-8")
        print(f"wrote {target}", file=sys.stderr)
    return 0


def _table(group: str, folder: Path, sizes: Sizes) -> str:
    """Measure the ratios of a group, and tell each as soon as it is known."""
    ratios = []
    for ratio in GROUPS[group](folder, sizes):
        ratios.append(ratio)
        print(report.table_row(ratio), flush=True)
    return report.table(ratios)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure ratios against floors and peers."
    )
    parser.add_argument("--quick", action="store_true", help=f"small sizes ({QUICK})")
    parser.add_argument("--only", metavar="GROUPS", help=f"of {','.join(NAMES)}, those named")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="where to write the results")
    parser.add_argument("--rounds", type=int, metavar="N", help="how often each job is run; else as its size says")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep what is made to measure on, for the next time")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
