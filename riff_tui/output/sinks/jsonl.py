"""JSON lines: the records alone, one a line, for programs that read a stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TextIO

from riff_tui.output.sinks.json import dumped
from riff_tui.output.sinks.options import Options
from riff_tui.table import Table


def write(table: Table, out: TextIO, options: Options) -> None:
    """Print each record on a line of its own."""
    write_records((row.record for row in table.rows), out, options)


def write_records(records: Iterable[Mapping[str, Any]], out: TextIO, options: Options) -> None:
    """The same of records that need not be held at once."""
    for record in records:
        out.write(dumped(record, options) + "\n")
