"""JSON lines: the records alone, one a line, for programs that read a stream."""

from __future__ import annotations

from typing import TextIO

from riff_tui.sinks.json import dumped
from riff_tui.sinks.options import Options
from riff_tui.table import Table


def write(table: Table, out: TextIO, options: Options) -> None:
    """Print each record on a line of its own."""
    for row in table.rows:
        out.write(dumped(row.record, options) + "\n")
