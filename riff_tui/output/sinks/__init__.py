"""Print a table in any format; no sink knows a view, and only the one that is needed is loaded."""

from __future__ import annotations

import importlib
from typing import TextIO

from riff_tui.errors import UsageError
from riff_tui.output.formats import FORMATS, Format
from riff_tui.output.sinks.options import Options, Sink
from riff_tui.table import GraphFigure, Table

__all__ = ["Options", "formats_of", "render"]


def formats_of(table: Table) -> tuple[Format, ...]:
    """Return every format that a table has: those for graphs only where its figure is one."""
    return tuple(Format) if isinstance(table.figure, GraphFigure) else FORMATS


def render(
    table: Table,
    format: str,
    out: TextIO,
    *,
    width: int | None = None,
    ascii_only: bool = False,
    color: bool = False,
    csv_raw: bool = False,
) -> None:
    """Print a table; the same table with the same options gives the same bytes, wherever it runs.

    `width` is that of a terminal in cells: the text format cuts itself to it and says so; without it nothing
    is cut. `color` is for the text format, `csv_raw` leaves out the apostrophe before what a
    spreadsheet would take for a formula. `out` has to take Unicode (or `ascii_only` be set).
    Raises `UsageError` for a format that the table does not have.
    """
    known = formats_of(table)
    if format not in known:
        raise UsageError(f"--format {format}: there is no graph in {table.view}; it has {', '.join(known)}")
    module, _, function = Format(format).writer.partition(":")
    write: Sink = getattr(importlib.import_module(f"riff_tui.output.sinks.{module}"), function)
    write(table, out, Options(width=width, ascii_only=ascii_only, color=color, csv_raw=csv_raw))
