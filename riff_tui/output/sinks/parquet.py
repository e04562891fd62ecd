"""Write Parquet: typed columns for programs that compute, a group of rows at a time, so that nothing is kept whole.

Values are raw: text is not made safe for a display, for none reads this. What makes the file is an extra.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO

from riff_tui.errors import RiffError, how_to_install
from riff_tui.table import Batch, Column

ROWS = 65_536
MISSING = "parquet needs a package that is not installed"


def check() -> None:
    """Raise `RiffError`, which shows what to install, where the package is missing."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise RiffError(MISSING, how_to_install("parquet")) from error


def write_batches(columns: Sequence[Column], batches: Iterable[Batch], out: BinaryIO, rows: int = ROWS) -> None:
    """Write batches, so many rows to a group; what was not measured is null.

    Times are microseconds in UTC, numbers doubles, flags booleans, counts whole numbers, all else text.
    """
    check()
    import pyarrow as pa
    from pyarrow import parquet

    types = {"time": pa.timestamp("us", tz="UTC"), "number": pa.float64(), "count": pa.int64(), "flag": pa.bool_()}
    schema = pa.schema([(column.key, types.get(column.kind, pa.string())) for column in columns])

    def table(batch: Batch) -> Any:
        group = pa.array(batch.spread(range(len(batch.counts))), pa.int32(), size=batch.size)
        arrays = [
            pa.array(batch.shared[field.name], field.type).take(group)
            if field.name in batch.shared
            else pa.array(batch.single[field.name], field.type)
            for field in schema
        ]
        return pa.Table.from_arrays(arrays, schema=schema)

    with parquet.ParquetWriter(_Forwards(out), schema, compression="zstd") as writer:
        for group in _groups(map(table, batches), rows, pa.concat_tables):
            writer.write_table(group)


def _groups(tables: Iterable[Any], rows: int, concat: Any) -> Iterator[Any]:
    """Cut tables into such of so many rows; the last one may have fewer."""
    held: list[Any] = []
    for table in tables:
        held.append(table)
        while sum(map(len, held)) >= rows:
            whole = concat(held)
            yield whole.slice(0, rows)
            held = [whole.slice(rows)]
    if any(map(len, held)):
        yield concat(held)


class _Forwards:
    """Wrap a file that is only written to, from its beginning on, as a pipe is; its owner closes it."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._at = 0
        self.closed = False

    def write(self, data: bytes) -> int:
        self._out.write(data)
        self._at += len(data)
        return len(data)

    def tell(self) -> int:
        return self._at

    def flush(self) -> None:
        self._out.flush()

    def close(self) -> None:
        self.closed = True
