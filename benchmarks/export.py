"""Export every score, beside what it takes to write the same rows once they are in memory."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from pyarrow import Table, parquet

from benchmarks.grow import grown
from benchmarks.load import nightly_files
from benchmarks.ours import ingest_file
from benchmarks.ratio import Goal, Ratio, in_turns, timed
from benchmarks.sizes import Sizes


def rows(folder: Path, sizes: Sizes) -> Iterator[Ratio]:
    """Seconds for each format, with the rows a second in the note, and the peak memory as the store grows.

    One night is in memory for the floors, which write it as often as the store has nights.
    """
    few, many = folder / "export-few.db", folder / "export-many.db"
    times = sizes.many // sizes.few
    few.unlink(missing_ok=True)
    ingest_file(nightly_files(folder, 1, sizes.few), few, with_text=False)
    grown(few, many, times)
    goals = {"csv": Goal("<=", 4), "parquet": Goal("<=", 8)}
    for form, floor in (("csv", _csv_floor(folder, few)), ("parquet", _parquet_floor(folder, few))):
        peaks: list[float] = []
        ours, bare = in_turns(
            partial(_export, many, folder / f"export.{form}", peaks), partial(floor, times), rounds=min(3, sizes.rounds)
        )
        written = _rows_of(few) * times
        note = f"{written:,} rows, {written / ours:,.0f} a second"
        yield Ratio(f"export to {form} ÷ writing the same rows from memory", ours, bare, "s", goals[form], note)
        small: list[float] = []
        _export(few, folder / f"export.{form}", small)
        grown_by = f"{sizes.many:,} ÷ {sizes.few:,} conversations"
        yield Ratio(f"peak memory of an export to {form}", median(peaks), small[0], "B", note=grown_by)
    for path in (few, many):
        path.unlink()


def _export(store: Path, out: Path, peaks: list[float]) -> float:
    """Export in a process of its own, and return the seconds without its start."""
    command = [sys.executable, "-m", "benchmarks.export_alone", str(store), str(out)]
    told = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    peaks.append(told["bytes"])
    return float(told["seconds"])


def _rows_of(store: Path) -> int:
    return parquet.ParquetFile(store.with_suffix(".parquet")).metadata.num_rows  # type: ignore[no-any-return]


def _csv_floor(folder: Path, store: Path) -> Callable[[int], float]:
    path = store.with_suffix(".csv")
    _export(store, path, [])
    with path.open(encoding="utf-8", newline="") as file:
        held = list(csv.reader(file))

    def write(times: int) -> float:
        with timed() as watch, (folder / "floor.csv").open("w", encoding="utf-8", newline="") as out:
            for _ in range(times):
                csv.writer(out, lineterminator="\n").writerows(held)
        return watch.seconds

    return write


def _parquet_floor(folder: Path, store: Path) -> Callable[[int], float]:
    path = store.with_suffix(".parquet")
    _export(store, path, [])
    table = parquet.ParquetFile(path).read()
    columns: dict[str, list[Any]] = {name: table.column(name).to_pylist() for name in table.column_names}

    def write(times: int) -> float:
        with (
            timed() as watch,
            parquet.ParquetWriter(folder / "floor.parquet", table.schema, compression="zstd") as writer,
        ):
            for _ in range(times):
                writer.write_table(Table.from_pydict(columns, table.schema))
        return watch.seconds

    return write
