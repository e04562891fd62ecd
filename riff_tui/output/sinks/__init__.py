"""Printing a table: one module per format, found by name, none of which knows a view."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TextIO

from riff_tui.errors import UsageError
from riff_tui.output.sinks.options import Options, Sink
from riff_tui.table import GraphFigure, Table

FORMATS = ("text", "markdown", "json", "jsonl", "csv", "svg")
GRAPH_FORMATS = ("dot", "mermaid")
"""Each is `write` in the module of its name, which is loaded only when something is printed in it."""

__all__ = ["FORMATS", "GRAPH_FORMATS", "Options", "formats", "render"]


def formats(table: Table) -> Sequence[str]:
    """Every format that a table has: those for graphs only where its figure is one."""
    return (*FORMATS, *GRAPH_FORMATS) if isinstance(table.figure, GraphFigure) else FORMATS


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
    """Print a table; the same table with the same options gives the same bytes, whatever the surroundings.

    `width` is that of a terminal: the text format cuts itself to it and says so; without it nothing
    is cut. `color` is for the text format, `csv_raw` leaves out the apostrophe before what a
    spreadsheet would take for a formula. `out` has to take Unicode (or `ascii_only` be set).
    Raises `UsageError` for a format that the table does not have.
    """
    known = formats(table)
    if format not in known:
        raise UsageError(f"--format {format}: there is no graph in {table.view}; it has {', '.join(known)}")
    write: Sink = importlib.import_module(f"riff_tui.output.sinks.{format}").write
    write(table, out, Options(width=width, ascii_only=ascii_only, color=color, csv_raw=csv_raw))
