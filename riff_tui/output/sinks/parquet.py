"""Write Parquet: typed columns for programs that compute, a group of rows at a time, so that nothing is held whole.

Values are raw: text is not made safe for a display, for none reads this. What makes the file is an extra.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import Any, BinaryIO

from riff_tui.errors import RiffError
from riff_tui.table import Column

ROWS = 65_536
MISSING = "parquet needs a package that is not installed: pip install 'riff-tui[parquet]'"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def check() -> None:
    """Raise `RiffError`, which says what to install, where the package is missing."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise RiffError(MISSING) from error


def write_records(
    columns: Sequence[Column], records: Iterable[Mapping[str, Any]], out: BinaryIO, rows: int = ROWS
) -> None:
    """Write the records, so many to a row group; what was not measured is null.

    Times are microseconds in UTC, numbers doubles, flags booleans, counts whole numbers, all else text.
    """
    check()
    import pyarrow as pa
    from pyarrow import parquet

    types = {"time": pa.timestamp("us", tz="UTC"), "number": pa.float64(), "count": pa.int64(), "flag": pa.bool_()}
    schema = pa.schema([(column.key, types.get(column.kind, pa.string())) for column in columns])
    remaining = iter(records)
    with parquet.ParquetWriter(_Forwards(out), schema, compression="zstd") as writer:
        while group := list(islice(remaining, rows)):
            writer.write_batch(
                pa.record_batch(
                    [
                        pa.array(map(_reader(column), group), type=kind, size=len(group))
                        for column, kind in zip(columns, schema.types, strict=True)
                    ],
                    schema=schema,
                )
            )


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


def _reader(column: Column) -> Callable[[Mapping[str, Any]], Any]:
    if column.kind != "time":
        return column.value
    return lambda record: _microseconds(column.value(record))


@lru_cache(maxsize=4096)
def _microseconds(time: str | None) -> int | None:
    """Read the text of a time as the data formats print it; one beyond the years that can be written is a number."""
    if time is None:
        return None
    try:
        return (datetime.fromisoformat(time) - _EPOCH) // _MICROSECOND
    except ValueError:
        return int(time)
