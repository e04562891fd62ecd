"""Measure everything and write RESULTS.md.

usage: python -m benchmarks [--quick] [--only GROUP,GROUP] [-o FILE]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import bulk, dump, eva, export, footprint, ingest, inspect_log, machine, matrix, report, run, tau, ui
from benchmarks.ratio import Ratio
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
}
RESULTS = Path(__file__).parent / "RESULTS.md"
SCRATCH = Path(__file__).parent.parent / ".bench"


def main() -> int:
    """Run the groups that were asked for; at full size they are kept among the results, or where `-o` says."""
    chosen = _arguments().parse_args()
    sizes = QUICK if chosen.quick else FULL
    groups = chosen.only.split(",") if chosen.only else list(GROUPS)
    measured: dict[str, str] = {}
    with TemporaryDirectory(prefix="work-", dir=SCRATCH) as folder:
        for group in groups:
            print(f"measuring {group} ...", file=sys.stderr)
            ratios = []
            for ratio in GROUPS[group](Path(folder), sizes):
                ratios.append(ratio)
                print(report.table_row(ratio), flush=True)
            measured[group] = report.part(ratios, machine.today(), str(sizes))
    target = chosen.output or (None if chosen.quick else RESULTS)
    if target:
        kept = report.parts_of(RESULTS.read_text(encoding="utf-8")) if target == RESULTS and RESULTS.exists() else {}
        parts = {group: (kept | measured)[group] for group in GROUPS if group in kept or group in measured}
        target.write_text(report.markdown(parts, machine.facts()), encoding="utf-8")
        print(f"wrote {target}", file=sys.stderr)
    return 0


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure ratios against floors and peers."
    )
    parser.add_argument("--quick", action="store_true", help=f"small sizes ({QUICK})")
    parser.add_argument("--only", metavar="GROUPS", help=f"of {','.join(GROUPS)}, those named")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="where to write the results")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
